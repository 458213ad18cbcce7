"""What Streamlit runs for each page that is opened: the layout, and the view that is chosen.

Python lays out the page and lets callers in. Everything that is seen of a call is drawn by the
component in the browser as it happens, so nothing of a call waits for a run of this script.
"""

from __future__ import annotations

import streamlit as st

from ui import call, chrome, navigation
from ui.admission import sees_all_views
from ui.settings import BadSettings, PageSettings


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
