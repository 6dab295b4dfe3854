# Everything a fresh clone needs is made by the first target that needs it: a virtual environment in .venv with the
# locked versions of requirements.lock, and the project itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST_ARGS ?= -n 2 --dist loadgroup
DATA ?= ../shared/data

.PHONY: demo test check lint types imports format bench bench-quality bench-speed serve lock clean help

help: ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quarry needs Python 3.11 or newer; set PYTHON=python3.12, say." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $(READY)

demo: $(READY) ## Index the documentation of this Python's standard library and ask it questions.
	$(BIN)/quarry demo

test: $(READY) ## Run every test.
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint types imports test ## Everything that must be green before a change lands.

lint: $(READY) ## Format and style.
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(READY) ## Strict types of engine and api.
	$(BIN)/pyright

imports: $(READY) ## The direction of imports.
	$(BIN)/lint-imports

format: $(READY) ## Format, then fix what can be fixed.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: bench-speed bench-quality ## All benchmarks.

bench-quality: $(READY) ## Answer and ranking quality over the collections in $(DATA).
	$(BIN)/python -m benchmarks.quality --data $(DATA)
	$(BIN)/python -m benchmarks.answers --data $(DATA)

bench-speed: $(READY) ## Upload, retrieval, memory, cold open.
	$(BIN)/python -m benchmarks.speed

serve: $(READY) ## Serve /v1 on localhost:8000.
	$(BIN)/quarry serve

lock: ## Resolve requirements.lock anew (needs uv).
	uv pip compile pyproject.toml --extra dev --extra bench --universal --python-version 3.11 --no-header --quiet -o requirements.lock

clean: ## Remove what the targets made.
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .demo-data
