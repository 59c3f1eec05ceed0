# Two commands do all the set-up on a fresh machine: `make trial` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt
TARGETS := reference litellm openai-sdk anthropic-sdk langchain pydantic-ai openai-agents

.PHONY: trial test lint bench clean

trial: $(VENV)/trial
	$(BIN)/loopcheck run builtin:core $(TARGETS:%=--target %)

test: $(VENV)/test
	$(BIN)/python -m pytest -n 2 $(PYTEST)

lint: $(VENV)/lint
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/test
	for bench in tests/bench/bench_*.py; do $(BIN)/python $$bench || exit 1; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/trial: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[trial]'
	touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[trial,test]'
	touch $@

$(VENV)/lint: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[trial,test,lint]'
	touch $@

clean:
	rm -rf $(VENV) .loopcheck .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
