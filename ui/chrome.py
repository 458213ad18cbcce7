"""What is left of Streamlit's own surroundings: its dialogs, such as a lost connection, stay."""

from __future__ import annotations

import streamlit as st

_ALWAYS = """
  [data-testid="stDecoration"], [data-testid="stAppDeployButton"] { display: none; }
  [data-testid="stMainBlockContainer"] {
    max-width: none;
    padding: var(--page-top) 1.25rem 1.25rem;
  }
  @media (max-width: 30rem) {
    [data-testid="stMainBlockContainer"] { padding: var(--page-top) 0.75rem 0.75rem; }
  }
  [data-testid="stElementContainer"]:has(style) { display: none; }
  [data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0; }
  .st-key-view { max-width: 72rem; margin: 0 auto; }
  .st-key-view h1, .st-key-view h2, .st-key-view h3 {
    padding: 0; font-weight: 600; line-height: 1.2;
  }
  .st-key-view h1 { font-family: "Source Serif", Georgia, serif; font-size: 1.6rem; }
  .st-key-view h2 { font-size: 1.15rem; }
  .st-key-view h3 { font-size: 1.05rem; }
  .st-key-view [data-testid="stPageLink-NavLink"] { min-height: 2.25rem; }
  .st-key-view [data-testid="stPageLink-NavLink"] * {
    white-space: normal; overflow: visible; text-overflow: clip;
  }
  .parts, .parts > div { display: grid; gap: 1rem; align-content: start; }
  .parts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
  .part {
    padding: 1rem 1.25rem; border: 1px solid color-mix(in oklab, currentColor 14%, transparent);
    border-radius: 1rem; background: light-dark(LIGHT_CARD, DARK_CARD);
  }
  .part header { display: flex; justify-content: space-between; align-items: center; gap: 1rem; }
  .st-key-view .part :is(h3, dt, dd) { margin: 0; padding: 0; }
  .st-key-view .part :is(p, dl, details) { margin: 0.4rem 0 0; padding: 0; }
  .part p, .part dt, .part th { opacity: 0.75; font-size: 0.9rem; font-weight: 400; }
  .part code { font-size: 0.85rem; background: none; padding: 0; overflow-wrap: anywhere; }
  .part dl { display: grid; grid-template-columns: auto 1fr; gap: 0.15rem 0.9rem; }
  .part table { width: 100%; margin-top: 0.75rem; border-collapse: collapse; font-size: 0.9rem; }
  .part :is(th, td) {
    padding: 0.35rem 0.4rem 0.35rem 0; text-align: left;
    border-bottom: 1px solid color-mix(in oklab, currentColor 10%, transparent);
  }
  .part :is(th, td):nth-child(n + 3) { text-align: right; }
  :is(.requests, .request) :is(th, td):nth-child(n + 3) { text-align: left; }
  .requests { overflow-x: auto; }
  .part summary { cursor: pointer; padding: 0.3rem 0; }
  .part .state { padding: 0.1rem 0.7rem; border-radius: 99rem; font-size: 0.9rem; }
  .part .state i { font-style: normal; font-weight: 700; }
  .part .good { background: light-dark(#d9efe2, #123b29); color: light-dark(#10583a, #7fdcae); }
  .part .waits { background: light-dark(#f8e6cd, #47310f); color: light-dark(#77450c, #f0c384); }
  .part .bad { background: light-dark(#f7dcd8, #4a1c18); color: light-dark(#8c261b, #f5a79f); }
  .part .neutral { background: color-mix(in oklab, currentColor 10%, transparent); }
  .st-key-view [data-testid="stHeadingWithActionElements"] { margin: 0; }
"""

_WITHOUT_NAVIGATION = """
  :root { --page-top: 1rem; }
  @media (max-width: 30rem) { :root { --page-top: 0.75rem; } }
  [data-testid="stHeader"], [data-testid="stToolbar"] { display: none; }
"""

# The header is a thin bar with the views' names; on a phone Streamlit folds them into a drawer.
_WITH_NAVIGATION = """
  :root { --page-top: 3.5rem; }
  [data-testid="stHeader"] { height: 3rem; min-height: 3rem; }
  [data-testid="stToolbar"] {
    max-width: 74.5rem; height: 3rem; margin: 0 auto; padding: 0 0.75rem;
  }
  [data-testid="stTopNav"] a, [data-testid="stSidebarNav"] a { min-height: 2.25rem; }
  [data-testid="stExpandSidebarButton"] { width: auto; padding: 0 0.5rem; }
  [data-testid="stExpandSidebarButton"]::after { content: "Views"; padding-left: 0.35rem; }
"""


def style(navigates: bool) -> str:
    """The page's style sheet.

    Args:
        navigates: whether there is more than one view to go to.
    """
    sheet = _ALWAYS + (_WITH_NAVIGATION if navigates else _WITHOUT_NAVIGATION)
    for name in ("light", "dark"):
        colour = st.get_option(f"theme.{name}.secondaryBackgroundColor") or "transparent"
        sheet = sheet.replace(f"{name.upper()}_CARD", colour)
    return f"<style>{sheet}</style>"
