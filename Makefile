# Every target makes its own environment: nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo room test test-slow test-lowest test-newest mutants docs check format bench clean

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet torch -e '.[dev]'
	@touch $@

demo: .venv/ready ## explain the bundled images and write a page to look at
	$(BIN)/ssplain demo --out out/demo

room: .venv/ready ## open the reading room on the bundled models and images
	$(BIN)/ssplain serve

test: .venv/ready ## run the tests (under ten minutes on two cores)
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow" -n 2 --dist loadfile

test-slow: .venv/ready ## run the checks that take minutes each
	$(BIN)/pytest -m slow

test-lowest:     ## run the tests on the lowest versions that pyproject.toml allows, torch as pinned
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	PIP_CONSTRAINT=.venv-lowest/constraints.txt .venv-lowest/bin/pip install --quiet torch -e '.[dev]'
	OMP_NUM_THREADS=1 .venv-lowest/bin/pytest -m "not slow" -n 2 --dist loadfile

test-newest:     ## run the tests on the newest versions that pyproject.toml allows, torch as pinned
	$(PYTHON) -m venv .venv-newest
	grep '^torch==' constraints.txt > .venv-newest/constraints.txt
	PIP_CONSTRAINT=.venv-newest/constraints.txt .venv-newest/bin/pip install --quiet torch -e '.[dev]'
	OMP_NUM_THREADS=1 .venv-newest/bin/pytest -m "not slow" -n 2 --dist loadfile

mutants: .venv/ready ## put 300 small faults into the code, one at a time, and see which are noticed
	OMP_NUM_THREADS=1 nice $(BIN)/python tests/mutants.py --count 300

docs: .venv/docs ## build the site, with the gallery; warnings are errors
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

.venv/docs: .venv/ready
	$(BIN)/pip install --quiet -e '.[dev,docs]'
	@touch $@

check: .venv/ready ## lint, types, order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/ready ## format the code and sort the imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready ## measure the solver against the bare cost of the model
	$(BIN)/ssplain bench core

clean:           ## remove the environment and the caches
	rm -rf .venv out .mypy_cache .ruff_cache .pytest_cache .hypothesis
