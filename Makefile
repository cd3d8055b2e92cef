# Two commands to know: `make demo` and `make test`. The rest is listed by `make help`.
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Without compiled files, every process that a test starts would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: FORCE help env demo test test-browser test-attacks test-compiled test-portable test-install test-image release lint proto lock bench neighbours scale soak fuzz search goldens names clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# Always looked at, and changed only where there is no complete environment of the right Python.
.venv/pyvenv.cfg: FORCE
	@sh requirements/environment.sh "$(PYTHON)" "$(origin PYTHON)" "$(MAKECMDGOALS)"

.venv/runtime: .venv/pyvenv.cfg requirements/runtime.txt pyproject.toml function_script/texts/release.py
	@echo "installing what requirements/runtime.txt locks into .venv, once: 100 MB, some 20 s of CPU time" >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/runtime.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@pwd > $@

.venv/dev: .venv/runtime requirements/dev.txt
	@echo "installing what requirements/dev.txt locks for tests" >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

FORCE:

env: .venv/dev ## Make the environment of all other targets in .venv, and nothing else

demo: .venv/runtime ## Set up .venv and render an example to the terminal
	@$(BIN)/function-script render examples/starlark-robots

# CI names retries, since many tests measure time or memory on a machine that others use: each runs
# what failed once more, alone. A fault fails in all of them.
RETRIES ?=
python = $(or $(2),$(BIN))/python
pytest = $(python) -m pytest -q $(1) $(foreach retry,$(RETRIES),|| $(python) -m pytest -q $(1) -n 0 --last-failed)

# Only the files that have such tests are collected.
marked = $(shell grep -rl --include='test_*.py' 'mark\.$(1)' $(2))

# Three processes for two CPUs, since many tests wait for a server or for a limit.
test: .venv/dev ## Run the whole test suite
	@$(call pytest,-n 3 --dist worksteal -m "not serial and not attack")
	@$(call pytest,-m "serial and not attack" $(call marked,serial,tests))

test-browser: .venv/dev ## Drive the playground in a real browser (Chromium)
	@$(call pytest,-n 2 tests/browser)

# Commands that tests start in this directory must not find the sources there instead.
COMPILED = export PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/build/compiled/lib;

build/compiled/done: .venv/dev setup.py pyproject.toml $(shell find function_script input_crds -type f -not -name '*.pyc')
	@rm -rf build/compiled
	@FUNCTION_SCRIPT_COMPILE=1 $(BIN)/python setup.py -q build --build-base build/compiled --build-lib build/compiled/lib
	@touch $@

# What takes all CPUs, or bounds how long others wait meanwhile.
ALONE = $(addprefix tests/hostile/test_served_,bombs.py clients.py floods.py neighbours.py) \
	tests/hostile/test_pool_faults.py tests/e2e/test_serve_fairness.py
# Ratios of costs in plain Python.
RATIOS = tests/benchmarks/test_ratios.py

test-attacks: build/compiled/done ## Flood and load a real server, on compiled modules, in every way that its tests know
	@$(COMPILED) $(call pytest,-n 2 --dist loadscope --compiled -m attack $(filter-out $(ALONE) $(RATIOS),$(call marked,attack,tests)))
	@$(COMPILED) $(call pytest,--compiled -m "attack or serial" $(ALONE))
	@$(call pytest,-n 2 -m attack $(RATIOS))

# What passes through most compiled modules, and can show that they differ from their source:
# oracles of engines and of the codec, workers, steps, a server. Neither tools nor words.
COMPILED_TESTS = $(addprefix tests/unit/,wire documents contribution) \
	$(addprefix tests/unit/sandbox/test_,batches.py dispatcher.py history.py plain.py pool.py \
		report.py scheduler.py shared_memory.py worker_process.py) \
	$(wildcard tests/unit/request/test_*.py tests/unit/step/test_*.py) \
	$(addprefix tests/unit/server/test_,admission.py compression.py grpc.py handler.py) \
	$(addprefix tests/behaviour/test_,defer.py defer_starlark.py defer_structures.py input_references.py \
		limits.py missing_sequences.py moved_sequences.py operations.py reconciles.py ttl.py value_positions.py) \
	$(filter-out $(addprefix tests/property/test_,schemas_oracle.py unpacking_laws.py),$(wildcard tests/property/test_*.py)) \
	$(addprefix tests/conformance/,gotemplate test_builtin_functions.py test_coverage.py test_gotemplate_corpus.py \
		test_gotemplating_as_written.py test_gotemplating_cases.py test_jinja_peer_cases.py test_yaml_corpus.py) \
	$(addprefix tests/hostile/test_,leaks.py pool_faults.py pool_programs.py) tests/scripts tests/test_examples.py \
	$(addprefix tests/e2e/test_,serve.py serve_faults.py serve_processes.py serve_versions.py)

test-compiled: build/compiled/done ## Run the tests of the request path once more, on compiled modules
	@$(COMPILED) $(call pytest,-n 2 --dist worksteal --compiled -m "not serial and not attack" $(COMPILED_TESTS))

# Everything that tests the tools, and what they are made of; tests/support/linux_only.py has what is left out.
PORTABLE = tests/unit tests/test_examples.py tests/test_example_cases.py tests/test_walk.py \
	tests/scripts tests/diagnostics tests/browser $(wildcard tests/hostile/test_*.py) tests/e2e/test_package_push.py \
	tests/conformance/test_function_spec.py tests/conformance/test_input_crds.py \
	tests/conformance/test_input_reference.py tests/conformance/test_xpkg_spec.py
# What asks the system for something: Linux plays another one for these, and the Mac runs all.
OF_SYSTEM = $(addprefix tests/unit/,sandbox test_testing.py tools/playground/test_server.py) \
	$(addprefix tests/unit/tools/test_,console.py local_pool.py run.py watcher.py) \
	$(addprefix tests/unit/tools/render/test_,command.py container.py servers.py watch.py) \
	tests/unit/tools/cases/test_command.py tests/hostile/test_pool_programs.py tests/test_example_cases.py

test-portable: .venv/dev ## Run the tests of the tools on a Python without what only Linux has, as on macOS
	@if [ "$$(uname)" = Linux ]; then $(BIN)/python tests/portable/interpreter.py build/portable darwin; \
	else mkdir -p build && ln -sfn ../.venv build/portable; fi
	@$(call pytest,-n 2 tests/portable)
	@$(call pytest,-n 2 -m "not serial and not attack" $(if $(filter Linux,$(shell uname)),$(OF_SYSTEM),$(PORTABLE)),build/portable/bin)

test-install: .venv/dev ## Build, install and run as users do, on every Python that the machine has
	@$(call pytest,-n 2 --dist worksteal --durations 0 tests/install)

test-image: .venv/dev ## Carry out the lines of package/Dockerfile without Docker, and run its images locked down (Linux, root)
	@PYTHONPATH=tests $(BIN)/python -m image

# TEST=no where the tests of the commit have run already.
TEST = yes

release: .venv/dev $(if $(filter yes,$(TEST)),test) ## Make what a release publishes in dist/, up to the pushes (Linux, root)
	@rm -rf dist
	@$(BIN)/python package/release.py $(RELEASE)

lint: .venv/dev ## Check style, types, the layers of imports and the budget of lines
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports && $(BIN)/python -m pytest -q tests/architecture/test_budget.py

bench: .venv/dev ## Measure CPU, latency and memory of a real server; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python run.py $(BENCH)

neighbours: .venv/dev ## Measure sound programs beside loops of others and in a flood; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python neighbours.py $(NEIGHBOURS)

scale: .venv/dev ## Compute how many XRs a replica bears, or find the knee of a server; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python scale.py $(SCALE)

soak: .venv/dev ## Load a real server with good and hostile requests while its workers are killed; see benchmarks/README.md
	@cd benchmarks && ../$(BIN)/python soak.py $(SOAK)

FUZZ_SECONDS = 300

fuzz: .venv/dev ## Look for bytes that break the function, for FUZZ_SECONDS (Linux, x86-64)
	@$(BIN)/pip install --quiet atheris
	@$(BIN)/python tests/fuzz/run.py handle --seconds $(FUZZ_SECONDS)

SEARCH_EXAMPLES = 80

search: .venv/dev ## Try the property tests on random examples, SEARCH_EXAMPLES times as many as `make test` does
	@SEARCH_EXAMPLES=$(SEARCH_EXAMPLES) $(BIN)/python -m pytest -q -n 2 -m hypothesis --timeout 0 tests

# Only the files that write golden files are collected; GOLDENS=PATH names some of them.
GOLDENS = $(shell grep -rl --include='test_*.py' 'update_goldens' tests)

goldens: .venv/dev ## Write golden files, generated pages and CRDs anew; review the difference as behaviour
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --update-goldens $(GOLDENS)

names: .venv/dev ## Rewrite what repeats a name or the version of function_script/texts/release.py
	@$(BIN)/python -m pytest -q --update-goldens tests/architecture/test_names.py tests/unit/cli/test_cli.py

proto: .venv/dev ## Generate the protobuf stubs anew
	@$(BIN)/python proto/generate.py

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links

lock: .venv/dev ## Resolve the locked versions anew, for every platform, with hashes
	@$(LOCK) --output-file requirements/build.txt requirements/build.in
	@$(LOCK) --output-file requirements/runtime.txt pyproject.toml requirements/runtime.in --constraint requirements/build.txt
	@$(LOCK) --output-file requirements/dev.txt requirements/dev.in
	@$(LOCK) --output-file requirements/sbom.txt requirements/sbom.in
	@$(LOCK) --output-file requirements/publish.txt requirements/publish.in
	@$(LOCK) --output-file requirements/image.txt pyproject.toml --extra crypto \
		--constraint requirements/runtime.txt --constraint requirements/dev.txt
	@$(LOCK) --output-file requirements/image-otel.txt pyproject.toml --extra crypto --extra otel \
		--constraint requirements/runtime.txt --constraint requirements/dev.txt

clean: ## Remove what the targets above made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
