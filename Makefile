# `make run` and `make test` set up everything they need inside this checkout.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ../shared/data
UV     := $(shell command -v uv 2>/dev/null)

.PHONY: run demo papers debian-music test test-pythons pytest lint bench docs package package-core clean system-packages
.DEFAULT_GOAL := run
unexport PYTHONDONTWRITEBYTECODE # hundreds of processes start in a test run; each would compile everything anew

run: $(VENV)/.ready            ## the web app on the embedded demo: judge clips, watch the ranking settle
	@$(BIN)/adjudge serve --demo --open

demo: $(VENV)/.ready           ## score the embedded demo collection
	@$(BIN)/adjudge demo

papers: $(VENV)/.ready-test    ## the papers' tables and figures from public data, as a page; minutes
	$(BIN)/adjudge reproduce $(DATA) -o reproduction.html

debian-music: $(VENV)/.ready-test ## a campaign from freely licensed music in Debian's packages; downloads 450 MB
	$(BIN)/python -m examples.debian_music debian-music

test: $(VENV)/.ready-test system-packages ## lint, types and layers beside the tests
	@$(MAKE) --no-print-directory -j2 lint pytest

test-pythons: $(VENV)/.ready-test ## what depends on the version of Python, on every other Python of this machine
	$(BIN)/python scripts/other_pythons.py

pytest: $(VENV)/.ready-test
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.ready-test     ## side by side with the peers, as ratios
	$(BIN)/python -m benchmarks

docs: $(VENV)/.ready-test      ## the documentation, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

package: $(VENV)/.ready-test   ## wheel and sdist, installed into clean environments and used; minutes
	$(BIN)/python scripts/check_package.py

package-core: $(VENV)/.ready-test ## only the wheel without extras
	$(BIN)/python scripts/check_package.py --core

system-packages:               ## a browser, PostgreSQL and TeX for the tests, where the machine allows
	@bash scripts/system_packages.sh

clean:
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf benchmarks/data dist docs/_build docs/_figures reproduction.html

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Adjudge needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12" >&2; exit 2; }
ifdef UV
	@$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "Python's venv module is missing (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
endif

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
ifdef UV
	@$(UV) pip install --quiet --python $(BIN)/python --editable '.[web]'
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[web]'
endif
	@touch $@

$(VENV)/.ready-test: pyproject.toml | $(VENV)/bin/python
ifdef UV
	@$(UV) pip install --quiet --python $(BIN)/python --editable '.[all]' --group test
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group test
endif
	@touch $@ $(VENV)/.ready
