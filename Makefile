# make demo    set up and play every offline game, with the table at the end
# make test    set up and run all tests
# make check   lint, types, layers, Python 3.10, documentation
# make bench   ratios to other libraries, in docs/benchmarks.md's form
# make mutants one-line faults that the tests must catch
# make dist    sdist and wheel
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# Test processes: as many as there are cores.
JOBS ?= auto
.DEFAULT_GOAL := help
.PHONY: help demo test check bench mutants dist clean

help:
	@sed -n 's/^# //p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "gem needs Python 3.10 or later; this is $$($(PYTHON) --version). Name another: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing. On Debian and Ubuntu: sudo apt-get install -y python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing gem into $(VENV) ..."
	$(PY) -m pip install --quiet -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing gem and what its tests need into $(VENV) ..."
	$(PY) -m pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(PY) -m gem eval 'game:*' --agent oracle,random --tasks 20

test: $(VENV)/.dev
	$(PY) -m pytest -n $(JOBS) $(PYTEST_ARGS)

check: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/mypy gem_gym_doctor.py
	$(VENV)/bin/lint-imports
	$(VENV)/bin/vermin --quiet --no-tips --target=3.10- --violations --eval-annotations gem gem_gym_doctor.py
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

bench: $(VENV)/.dev
	$(PY) benchmarks/core.py

mutants: $(VENV)/.dev
	$(PY) tests/mutants/run.py

dist: $(VENV)/.dev
	rm -rf dist && $(PY) -m build

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache
