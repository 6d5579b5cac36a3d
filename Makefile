# Every target makes its own environment: nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo room test test-slow test-lowest test-newest mutants docs release-check check format bench clean

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

# a few minutes over every dependency that users have; warnings of other versions are no faults of ours
TOUCHED := tests/explain/test_captum.py tests/rivals/test_hooked.py tests/rivals/test_sampled.py tests/vessels/test_tracing.py \
  tests/vessels/test_territory.py tests/data/test_dicom.py tests/data/test_images.py tests/models/test_onnx.py \
  tests/models/test_load.py tests/report/test_render.py tests/pages/test_page.py tests/jobs/test_engine.py \
  tests/app/test_server.py tests/cli/test_app.py tests/cli/test_explain.py tests/test_package.py
WITH := '.[app,cluster,dicom,onnx]' pytest pytest-xdist hypothesis httpx httpx2 onnx playwright axe-playwright-python
TRY = OMP_NUM_THREADS=1 $(TMP)/bin/pytest -m "not slow" -W default -n 2 --dist loadfile $(TOUCHED)

test-lowest: TMP := .venv-lowest
test-lowest:     ## a quick selection of tests on the lowest versions that pyproject.toml allows, torch as pinned
	$(PYTHON) -m venv $(TMP)
	$(PYTHON) tests/lowest.py > $(TMP)/constraints.txt
	PIP_CONSTRAINT=$(TMP)/constraints.txt $(TMP)/bin/pip install --quiet torch -e $(WITH)
	$(TRY)

test-newest: TMP := .venv-newest
test-newest:     ## the same on the newest versions that pyproject.toml allows, torch as pinned
	$(PYTHON) -m venv $(TMP)
	grep '^torch==' constraints.txt > $(TMP)/constraints.txt
	PIP_CONSTRAINT=$(TMP)/constraints.txt $(TMP)/bin/pip install --quiet --upgrade torch -e $(WITH)
	$(TRY)

mutants: .venv/ready ## put 300 small faults into the code, one at a time, and see which are noticed
	OMP_NUM_THREADS=1 nice $(BIN)/python tests/mutants.py --count 300

docs: .venv/docs ## build the site, with the gallery; warnings are errors
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

.venv/docs: .venv/ready
	$(BIN)/pip install --quiet -e '.[dev,docs]'
	@touch $@

release-check: .venv/release ## build what a package index gets, and ask for every link that it will show
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tests/release.py dist

.venv/release: .venv/ready
	$(BIN)/pip install --quiet 'twine>=6.1'
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
