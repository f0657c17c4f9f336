# `make demo` measures this machine; `make test` is the whole suite. Both create what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The linters call each other by name; the environment need not be active.
export PATH := $(CURDIR)/$(BIN):$(PATH)
RUNS ?= runs

.DEFAULT_GOAL := help
.PHONY: help demo test check unit integration lab-up lab-down examples bench-harness bench-scale build clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/runtime: pyproject.toml tools/make_venv.sh
	tools/make_venv.sh $(PYTHON) $(VENV) .
	@touch $@

$(VENV)/dev: pyproject.toml tools/make_venv.sh
	tools/make_venv.sh $(PYTHON) $(VENV) '.[dev]'
	@touch $@ $(VENV)/runtime

demo: $(VENV)/runtime ## Provision Redis here, sweep the CPU frequency (quick profile), print the table
	$(BIN)/python -m collector run freq_sweep -i inventory/local --profile quick --runs-dir $(RUNS)

test: $(VENV)/dev ## The whole suite
	$(MAKE) --jobs=2 --output-sync=target check unit
	$(MAKE) integration

check: $(VENV)/dev ## Linters, types and documentation
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/yamllint --strict .
	$(BIN)/ansible-lint --offline --profile production
	$(BIN)/antsibull-docs lint-collection-docs --plugin-docs --skip-rstcheck --validate-collection-refs self .

unit: $(VENV)/dev ## Tests that need nothing but Python
	$(BIN)/pytest tests/unit

integration: $(VENV)/dev ## Tests that provision and measure this machine (root or sudo)
	$(BIN)/pytest tests/integration

lab-up: $(VENV)/dev ## Bring up the test hosts and guests (root); tests/lab/README.md
	$(BIN)/python -m tests.lab up

lab-down: $(VENV)/dev ## Take them away again, also what a killed run left
	$(BIN)/python -m tests.lab down

examples: $(VENV)/runtime ## Show the published results: what `summarize` makes of examples/
	@for run in examples/*/run.json; do $(BIN)/python -m collector summarize "$$(dirname "$$run")"; done

bench-harness: $(VENV)/dev ## What a point costs beyond its benchmark, and whether measuring disturbs
	$(BIN)/python tools/bench_harness.py

bench-scale: $(VENV)/dev ## What a further host costs the controller (root): 1, 4, 16 and 64 light hosts
	$(BIN)/python -m tools.bench_scale

build: $(VENV)/dev ## Build the collection's archive into dist/
	$(BIN)/ansible-galaxy collection build --force --output-path dist

clean: ## Remove what was made here; runs/ is kept
	rm -rf $(VENV) .cache build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
