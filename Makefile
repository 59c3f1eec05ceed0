# Two commands do all the set-up on a fresh machine: `make trial` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --no-compile --disable-pip-version-check --constraint constraints.txt
TARGETS := reference litellm openai-sdk anthropic-sdk langchain pydantic-ai openai-agents

.PHONY: trial test lint docs bench mutants changed-mutants clean

trial: $(VENV)/trial
	$(BIN)/loopcheck run builtin:core $(TARGETS:%=--target %)

test: $(VENV)/test
	$(BIN)/python -m pytest -n 2 $(PYTEST)

lint: $(VENV)/lint
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/docs
	$(BIN)/zensical build --strict --clean

bench: $(VENV)/test
	for bench in tests/bench/bench_*.py; do $(BIN)/python $$bench || exit 1; done

# All of them take about an hour; it goes on where it was interrupted.
mutants: $(VENV)/mutation
	$(BIN)/python tests/mutation/mutate.py all

# Those of the lines that differ from BASE.
changed-mutants:
	@if [ -n "$$($(BIN)/python tests/mutation/mutate.py list $(BASE))" ]; then \
		$(MAKE) $(VENV)/mutation && $(BIN)/python tests/mutation/mutate.py changed $(BASE); \
	fi

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

$(VENV)/docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[docs]'
	touch $@

$(VENV)/mutation: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[mutation]'
	touch $@

clean:
	rm -rf $(VENV) .loopcheck .pytest_cache .mypy_cache .ruff_cache .hypothesis .cache site dist mutants
