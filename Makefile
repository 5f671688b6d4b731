# make serve    builds the site and serves it (PORT=8000)
# make test     sets up what is missing, checks the code, builds, and runs the everyday suite
# make site     builds only          make bench     measures          make test-all  the long runs too
#
# Everything lives in the checkout: .venv, node_modules, .cache. A stamp in each tells that it fits its lock.

PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check -q
BUILD_STAMP := .venv/.build-stamp
TEST_STAMP := .venv/.test-stamp
NPM_STAMP := node_modules/.stamp
WHEEL_STAMP := .cache/wheels/.stamp
BROWSER_STAMP := .cache/browser
JOBS ?= 2
PYTEST_ARGS ?=

.PHONY: site serve setup setup-test lint test test-all pictures bench lock clean machine

site: setup
	$(PY) build.py

serve: setup
	@exec $(PY) build.py --serve

setup: $(BUILD_STAMP) $(NPM_STAMP) $(WHEEL_STAMP)
setup-test: setup $(TEST_STAMP) $(BROWSER_STAMP)

machine:
	@$(PYTHON) build.py --check-machine

$(BUILD_STAMP): requirements.txt | machine
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PIP) install --require-hashes -r requirements.txt
	touch $@

$(TEST_STAMP): requirements-test.txt $(BUILD_STAMP)
	$(PIP) install --require-hashes -r requirements-test.txt
	touch $@

$(NPM_STAMP): package.json package-lock.json .npmrc | machine
	npm ci --ignore-scripts --no-progress --loglevel=error
	touch $@

# One fixed file of each package, whatever machine builds: the browser's wheels must be the same everywhere.
$(WHEEL_STAMP): requirements-browser.txt $(BUILD_STAMP)
	rm -rf .cache/wheels
	mkdir -p .cache/wheels
	$(PIP) download --require-hashes --no-deps --only-binary=:all: --implementation cp --python-version 3.14 \
	  --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 -d .cache/wheels -r requirements-browser.txt
	touch $@

$(BROWSER_STAMP): stages/browser.py $(TEST_STAMP)
	$(PY) -m stages.browser > $@.new
	mv $@.new $@

lint: setup-test
	$(BIN)/ruff check .
	$(BIN)/mypy
	node_modules/.bin/biome lint --error-on-warnings site stages
	node_modules/.bin/tsc -p .

# pytest is the last thing that prints.
test: lint site
	$(PY) -m pytest -n $(JOBS) -m "not slow" $(PYTEST_ARGS)

test-all: lint site
	$(PY) -m pytest -n $(JOBS) $(PYTEST_ARGS)

# Renew the pictures that the tests hold the pages to; look at each before committing it. VIEWS="quiz or print" for some.
pictures: setup-test site
	PICTURES=renew $(PY) -m pytest -n $(JOBS) $(if $(VIEWS),-k "$(VIEWS)") tests/looks/test_pictures.py

bench: setup-test site
	$(PY) -m bench.boot
	$(PY) -m bench.engine
	$(PY) -m bench.ladder

# For maintainers: renew the locks after a change to a *.in file or to package.json. Needs uv.
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements.in -o requirements.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements-test.in -o requirements-test.txt
	uv pip compile -q --universal --python-version 3.14 --no-deps --generate-hashes --no-emit-index-url --no-header requirements-browser.in -o requirements-browser.txt
	npm install --package-lock-only --ignore-scripts

clean:
	rm -rf dist .cache .venv node_modules
