# make demo | test | lint | types | docs | build | wheel-test | bench | papers | clean
# Needs Python 3.11 or later with pip; everything else is installed into .venv on first use.

ifndef PYTHON
PYTHON := $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
endif
JOBS ?= 2
DATA ?= ../shared/data
EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1577836800)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint types docs build wheel-test bench papers clean

demo: .venv/installed
	$(BIN)/cepts demo
	@echo "To put cepts on your PATH: . $(BIN)/activate"

test: lint types .venv/installed-decoders
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -rs --hypothesis-profile=ci -n $(JOBS) --dist loadgroup

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

# The site: docs/_build/html/index.html.
docs: .venv/installed-dev
	rm -rf docs/reference/api/generated
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html docs docs/_build/html

# The same commit gives the same bytes: files carry the time of the commit.
build: .venv/installed-dev
	rm -rf dist
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/python -m hatchling build -d dist

# The wheel in an environment of its own, without extras, outside the checkout: every command of README.
wheel-test: build
	rm -rf build/wheel-venv
	$(BIN)/python -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl
	build/wheel-venv/bin/python -m pip check
	build/wheel-venv/bin/cepts doctor
	build/wheel-venv/bin/python docs/sessions.py README.md

bench: .venv/installed
	$(BIN)/python benchmarks/words.py --data $(DATA)
	$(BIN)/python benchmarks/words_stages.py --data $(DATA)
	$(BIN)/python benchmarks/fertility.py --data $(DATA)
	$(BIN)/python benchmarks/onmf.py --data $(DATA)
	$(BIN)/python benchmarks/spaces.py --data $(DATA)
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/phrases.py --data $(DATA)
	$(BIN)/python benchmarks/tagging.py --data $(DATA)
	$(BIN)/python benchmarks/lm.py --data $(DATA)

# The tables and figures of the five papers, into docs/papers; QUICK=1 uses a part of the data and writes no pages.
papers: .venv/installed-dev
	$(BIN)/python benchmarks/papers.py --data $(DATA) $(if $(QUICK),--quick,--write docs/papers)

clean:
	rm -rf .venv .bench-venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/_build docs/reference/api/generated
	find src tests benchmarks examples docs -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later was found; say where it is: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(PIP) install --editable .
	@touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(PIP) install --editable '.[dev,docs]'
	@touch $@ .venv/installed

# What the language models and decoders of others are tested against. Nothing else needs them, so that the lack of a C++
# compiler (kenlm) or of a wheel (flashlight-text) only leaves their tests out. pyctcdecode asks for numpy<2 and works
# with later ones.
.venv/installed-decoders: .venv/installed-dev
	@: > .venv/decoders.log
	$(call optional,kenlm,--editable '.[lm]')
	$(call optional,pyctcdecode,--no-deps 'pyctcdecode==0.5.*' 'pygtrie==2.*')
	$(call optional,flashlight-text,--only-binary :all: 'flashlight-text==0.0.*')
	@touch $@

optional = @echo "Installing $(1) for the tests"; $(PIP) install $(2) >> .venv/decoders.log 2>&1 || \
	echo "$(1) cannot be installed, so its tests are skipped. Why: .venv/decoders.log; again: rm $@ and make."
