# Everything a fresh clone needs is made by the first target that needs it: a virtual environment in .venv with the
# project and what the target runs, each in the version that requirements.lock says.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock
PYTEST_ARGS ?= -n 3 --dist loadgroup
SHARE ?= 100
# The tests that run in one process: those of servers and of killed programs measure nothing here, and cost more.
COVERED := tests/unit tests/properties tests/contracts tests/stateful tests/end_to_end tests/meta/test_doctests.py
DATA ?= ../shared/data

.PHONY: demo test faults coverage check lint types imports format bench bench-quality bench-speed serve lock clean docs help

help: ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { echo "Quarry needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing Quarry into $(VENV)"
	@$(INSTALL) -e .
	@$(INSTALL) -e '.[graph]' >$(VENV)/graph.log 2>&1 || echo "No C++ compiler, or no Python headers: without hnswlib every vector is scanned, which is exact. Large namespaces are slower ($(VENV)/graph.log)."
	@touch $(READY)

$(DEV): $(READY)
	@echo "Installing what tests and checks need"
	@$(INSTALL) -e '.[dev,bench,files,mcp,langchain,llamaindex,openai,docs]'
	@touch $(DEV)

demo: $(READY) ## Index the documentation of this Python's standard library and ask it questions.
	$(BIN)/quarry demo

test: $(DEV) ## Run every test.
	$(BIN)/python -m pytest $(PYTEST_ARGS)

coverage: $(DEV) ## Run the quick tests and list what none of them reaches; fails below the share of branches in pyproject.toml.
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=term-missing $(COVERED)

faults: $(DEV) ## The long form of the fault tests, or SHARE per cent of it; prints a table of what was survived.
	QUARRY_FAULTS=$(SHARE) $(BIN)/python -m pytest $(PYTEST_ARGS) --timeout 7200 tests/faults tests/shared tests/unit/store/test_postgres_cut.py

check: lint types imports test ## Everything that must be green before a change lands.

lint: $(DEV) ## Format and style.
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(DEV) ## Strict types of engine and api.
	$(BIN)/pyright

imports: $(DEV) ## The direction of imports.
	$(BIN)/lint-imports

format: $(DEV) ## Format, then fix what can be fixed.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: bench-speed bench-quality ## All benchmarks.

bench-quality: $(DEV) ## Answer and ranking quality over the collections in $(DATA).
	$(BIN)/python -m benchmarks.quality --data $(DATA)
	$(BIN)/python -m benchmarks.answers --data $(DATA)

bench-speed: $(DEV) ## Upload, retrieval, memory, cold open.
	$(BIN)/python -m benchmarks.speed

docs: $(READY) ## Build the documentation site into site/; see it with: python -m http.server -d site
	@$(INSTALL) -e '.[docs]'
	$(BIN)/python -m tools.http_reference docs/reference/http.md
	$(BIN)/zensical build --strict --clean

serve: $(READY) ## Serve /v1 on localhost:8000.
	$(BIN)/quarry serve

lock: ## Resolve requirements.lock anew (needs uv): every version that any extra of ours takes.
	uv pip compile pyproject.toml --extra graph --extra dev --extra bench --extra files --extra mcp --extra langchain --extra llamaindex --extra openai --extra docs --extra fastembed --extra postgres --universal --python-version 3.11 --no-header --quiet -o requirements.lock

clean: ## Remove what the targets made.
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .demo-data
