"""The page: `python -m streamlit run ui/page.py`.

Python lays out the page and lets callers in. Everything that is seen of a call is drawn by the
component in the browser as it happens, so nothing of a call waits for a run of this script.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))  # `streamlit run` puts only this file's own folder on the path

from ui import call, chrome, navigation  # noqa: E402
from ui.admission import sees_all_views  # noqa: E402
from ui.settings import BadSettings, PageSettings  # noqa: E402


def main() -> None:
    try:
        settings = PageSettings.load()
    except BadSettings as error:
        st.set_page_config(page_title="Settings", layout="wide")
        call.show_bad_settings(error)
        return
    all_views = sees_all_views(
        settings.page_views, st.context.ip_address, st.context.headers.to_dict()
    )
    st.set_page_config(page_title=settings.hotel_name, page_icon="⚓", layout="wide")
    view = st.navigation(navigation.views(all_views), position="top")
    st.html(chrome.style(navigates=all_views))
    call.keep(is_shown=view.url_path == "")
    view.run()


main()
