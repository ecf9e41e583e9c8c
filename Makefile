# Every target makes the environment in .venv first, if it is not there or pyproject.toml is newer.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint docs bench player chromium clean

.venv/.made: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Porthos needs Python >= 3.11; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/.ready: .venv/.made
	$(PIP) -e '.[dev]'
	touch $@

demo: .venv/.made
	$(BIN)/python -m gallery.slider_crank

test: .venv/.ready lint chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/test_uncompiled.py

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The browser tests of the report need Chromium of the system.
chromium:
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; \
	  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null; \
	  else echo "The tests of the report need Chromium: install the package 'chromium' of your system (Debian: apt-get install chromium)."; exit 1; \
	  fi; }

# Bundle the player of the report again, after a change in player/; needs Node.js >= 20 and npm.
player:
	npm ci --prefix player --ignore-scripts --no-audit --no-fund
	npm run build --prefix player

# The documentation site in build/docs: runs the gallery and the pages, then Sphinx, for which warnings are errors.
docs: .venv/.made
	$(PIP) -e '.[docs]'
	$(BIN)/python -m docs.site

bench: .venv/.made
	$(PIP) -e '.[bench]'
	$(BIN)/python -m benchmarks --figure

clean:
	rm -rf .venv .numba_cache build docs/generated player/node_modules
