#!/usr/bin/env bash
# What the tests drive besides this product: a browser for the page, strace to prove that nothing
# leaves the machine. Taken from PATH; on Debian as root they are installed.
set -euo pipefail

has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

missing=()
has_browser >/dev/null || missing+=(chromium)
[[ "$(uname)" != Linux ]] || command -v strace >/dev/null || missing+=(strace)
((${#missing[@]})) || exit 0

if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "installing for the tests: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    exit 0
fi

if [[ " ${missing[*]} " == *" chromium "* ]]; then
    echo "no chromium on PATH: fetching Playwright's own"
    .venv/bin/python -m playwright install chromium || {
        echo "The page's tests need a browser: put chromium on PATH (Debian: apt-get install chromium)." >&2
        exit 1
    }
fi
if [[ " ${missing[*]} " == *" strace "* ]]; then
    echo "The tests need strace: install it (Debian: sudo apt-get install strace)." >&2
    exit 1
fi
