# Two commands to know: `make demo` and `make test`. The rest is listed by `make help`.
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help demo test test-compiled lint proto lock bench soak fuzz goldens clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.venv/runtime: requirements/runtime.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet -r requirements/runtime.txt
	@FUNCTION_SCRIPT_COMPILE=0 $(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	@$(BIN)/pip install --quiet -r requirements/dev.txt
	@touch $@

demo: .venv/runtime ## Set up .venv and render an example to the terminal
	@$(BIN)/function-script render examples/starlark-robots

test: .venv/dev ## Run the whole test suite
	@$(BIN)/python -m pytest -q -n 2 -m "not serial"
	@$(BIN)/python -m pytest -q -m serial

# Commands that tests start in this directory must not find the sources there instead.
COMPILED = PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/build/compiled/lib

test-compiled: .venv/dev ## Run the whole test suite once more with the way of a request compiled
	@rm -rf build/compiled
	@FUNCTION_SCRIPT_COMPILE=1 $(BIN)/python setup.py -q build --build-base build/compiled --build-lib build/compiled/lib
	@$(COMPILED) $(BIN)/pytest -q -n 2 --compiled -m "not serial"
	@$(COMPILED) $(BIN)/pytest -q --compiled -m serial

lint: .venv/dev ## Check style, types and floors only
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: .venv/dev ## Measure CPU, latency and memory of a real server; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python run.py $(BENCH)

soak: .venv/dev ## Load a real server with good and hostile requests while its workers are killed; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python soak.py $(SOAK)

FUZZ_SECONDS = 300

fuzz: .venv/dev ## Look for bytes that break the function, for FUZZ_SECONDS (Linux, x86-64)
	@$(BIN)/pip install --quiet atheris
	@$(BIN)/python tests/fuzz/run.py handle --seconds $(FUZZ_SECONDS)

goldens: .venv/dev ## Write the golden files anew; review the difference as behaviour
	@$(BIN)/python -m pytest -q --update-goldens tests/scripts tests/test_examples.py

proto: .venv/dev ## Generate the protobuf stubs anew
	@$(BIN)/python proto/generate.py

lock: .venv/dev ## Resolve the locked versions anew
	@$(BIN)/pip install --quiet pip-tools
	@$(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-find-links --no-header --allow-unsafe --upgrade \
		--output-file requirements/runtime.txt pyproject.toml requirements/build.in
	@$(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-find-links --no-header --allow-unsafe --upgrade \
		--output-file requirements/dev.txt requirements/dev.in

clean: ## Remove what the targets above made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
