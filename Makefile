# Simwright. `make` alone lists the targets; `make demo` and `make test` need nothing but Python 3.11+.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# one more than two cores: some tests wait for a limit of time
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help setup parsers demo test pytest judge bench lint style types docs site samples schemas clean

# Tests start thousands of commands: the source is compiled once, not by each of them.
unexport PYTHONDONTWRITEBYTECODE

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Create the virtual environment and install everything

$(READY): pyproject.toml constraints.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/setup.sh
	@touch $@

parsers: ## Install the parsers of other projects that tests ask (urdfdom, libsdformat, gltf-validator)
	@sh scripts/install_parsers.sh

demo: $(READY) ## Show the whole product on the sample assets
	@$(BIN)/python scripts/demo.py

test: ## Lint, types, import contracts and all tests
	@$(MAKE) --no-print-directory --jobs 3 lint pytest

pytest: $(READY) parsers
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

judge: $(READY) ## Let other projects judge: Newton, PhysX, MuJoCo's USD reader ... (kept in the user's cache)
	@$(BIN)/python scripts/judge

lint: style types ## Ruff, types and import contracts

style: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache

types: $(READY)
	@$(BIN)/mypy

bench: $(READY) ## Run the benchmarks and print a table of ratios
	@$(BIN)/python -m benchmarks

docs: $(READY) ## Regenerate the pages and schemas that come from code
	@$(BIN)/python scripts/generate_docs.py

site: $(READY) ## Build the documentation site into out/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet && echo "open out/site/index.html"

samples: $(READY) ## Regenerate the sample assets
	@$(BIN)/python scripts/make_samples.py

schemas: $(READY) ## Regenerate the USD schema plugins from their schema.usda
	@$(BIN)/python scripts/generate_schemas.py

clean: ## Remove the environment, caches and results (not what make judge keeps in the user's cache)
	@rm -rf $(VENV) .parsers out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
