"""The page's server: `python -m streamlit run ui/page.py`.

Beside what Streamlit serves, it streams the calls that go on to whoever looks on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:
    sys.path.append(str(HERE.parent))  # `streamlit run` puts only this file's folder on the path

from ui import live  # noqa: E402

app = st.App(HERE / "script.py", routes=live.ROUTES)
