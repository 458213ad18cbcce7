"""Who sees more than the call: recordings hold what callers said, which is personal data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Views(StrEnum):
    """Who is offered the views beside the call."""

    LOCAL = "local"  # only whoever opens the page on the machine that serves it
    ALL = "all"  # everyone who can open the page
    CALL = "call"  # nobody


def sees_all_views(views: Views, remote_ip: str | None, headers: Mapping[str, str]) -> bool:
    """Whether a page that was asked for in this way shows more than the call.

    Args:
        views: the setting.
        remote_ip: the other end's address; None for this machine, as Streamlit has it.
        headers: the request's, with names in any case.

    A proxy on this machine makes everybody look local. It says so in a header, or passes on the
    name that it was called by.
    """
    if views is not Views.LOCAL:
        return views is Views.ALL
    lower = {name.lower(): value for name, value in headers.items()}
    host = lower.get("host", "")
    name = host if host.endswith("]") else host.rsplit(":", 1)[0]
    return (
        remote_ip is None and name in LOOPBACK_HOSTS and not any(one in lower for one in FORWARDED)
    )
