"""The page: `python -m streamlit run ui/page.py`.

Python lays out the page and lets callers in. Everything that is seen of a call is drawn by the
component in the browser as it happens, so nothing of a call waits for a run of this script.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))  # `streamlit run` puts only this file's own folder on the path

from ui.reception import admit  # noqa: E402
from ui.settings import BadSettings, Settings  # noqa: E402

BUILT = Path(__file__).resolve().parent / "component" / "dist"
KEY = "call"

# Streamlit's own header and margins; its dialogs, such as a lost connection, stay.
CHROME = """
<style>
  [data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stDecoration"] {
    display: none;
  }
  [data-testid="stMainBlockContainer"] { max-width: none; padding: 1rem 1.25rem 1.25rem; }
  @media (max-width: 30rem) {
    [data-testid="stMainBlockContainer"] { padding: 0.75rem; }
  }
  [data-testid="stElementContainer"]:has(style) { display: none; }
  [data-testid="stVerticalBlock"] { gap: 0; }
</style>
"""


@st.cache_resource
def call_screen() -> Any:
    """The component, registered once for all sessions."""
    return st.components.v2.component(
        "hotel_voice_call",
        css=(BUILT / "styles.css").read_text(encoding="utf-8"),
        js=(BUILT / "call.js").read_text(encoding="utf-8"),
    )


def answer_call() -> None:
    """Answer the caller who has just pressed the button.

    The token is signed now and not with the page, which may have been open for hours.
    """
    asked = st.session_state[KEY].call
    if asked:
        st.session_state.answer = {
            "request": asked["request"],
            "pass": admit(Settings.load()).to_dict(),
        }


def main() -> None:
    try:
        settings = Settings.load()
    except BadSettings as error:
        st.set_page_config(page_title="Settings", layout="wide")
        st.error(f"The page's settings cannot work.\n\n{error}")
        st.markdown("They come from the environment and `.env`; `.env.example` lists them all.")
        return
    st.set_page_config(page_title=settings.hotel_name, page_icon="⚓", layout="wide")
    st.html(CHROME)
    call_screen()(
        key=KEY,
        # An answer is sent once: a token is of no use to a later run of this script.
        data={
            "hotel_name": settings.hotel_name,
            "answer": st.session_state.pop("answer", None),
        },
        on_call_change=answer_call,
    )


main()
