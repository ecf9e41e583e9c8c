# Every target makes the environment in .venv first, if it is not there or pyproject.toml is newer.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint docs bench clean

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

test: .venv/.ready lint
	$(BIN)/python -m pytest -n 2 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/test_uncompiled.py

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.made
	$(PIP) -e '.[docs]'
	$(BIN)/python docs/make_docs.py

bench: .venv/.made
	$(PIP) -e '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .numba_cache build
