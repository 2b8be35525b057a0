# Commands for people and for CI. `make demo` and `make test` are all a fresh machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEBIAN := chromium-headless-shell postgresql default-jre-headless fonts-dejavu-core
PYTEST_WORKERS ?= 2
REFERENCE ?= ../shared/data
# Where Python may not keep what it compiles, every process that a test starts compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long lint types imports unit docs serve bench reproduce system clean constraints stubs pictures outputs changelog dist trust bounds mutants

$(BIN)/celosia: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

# Python compiles what is imported; pip would compile all of it, which takes a minute.
$(VENV)/.dev: pyproject.toml packages/reproduce/pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]' -e packages/reproduce
	touch $@ $(BIN)/celosia

demo: $(BIN)/celosia
	$(BIN)/celosia demo

# Debian packages that the tests of databases, Spark and pages need; without root they are skipped with a reason.
system:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		missing=""; for p in $(DEBIAN); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
		if [ -n "$$missing" ]; then \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
		fi; \
	fi

# The tests build the documentation too: tests/docs/test_site.py.
test: system $(VENV)/.dev lint imports
	$(MAKE) --no-print-directory --jobs=2 types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/audit.py
	$(BIN)/python tools/figures.py --check

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not long" -n $(PYTEST_WORKERS) --dist loadgroup

# Thousands of generated cases (some hours on two cores); what was counted is printed at the end.
test-long: system $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -rP -m long -n $(PYTEST_WORKERS) --dist loadgroup

# What the tests tried against Celosia and how often it failed, as they counted it, into the documentation.
trust: $(VENV)/.dev
	$(BIN)/python -m tests.trust.tried

# The compiled kernels with every index checked, and as plain Python: an index out of bounds is silent otherwise.
bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/bounds OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not long" -n $(PYTEST_WORKERS) tests/kernels/test_*.py
	NUMBA_DISABLE_JIT=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not long" -n $(PYTEST_WORKERS) tests/kernels/test_*.py

# How many small faults the tests notice (hours): a seeded sample, and those that were put in by hand.
mutants: $(VENV)/.dev
	$(BIN)/python tools/mutate.py --faults tools/faults.toml
	$(BIN)/python tools/reached.py --out build/reached
	$(BIN)/python tools/mutate.py --reached build/reached --number 300 --seed 1 --out build/mutants.json

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site

serve: docs
	$(BIN)/python -m http.server --directory site --bind 127.0.0.1 8000

# Celosia beside its peers, each in an environment of its own below build/bench: build/bench/index.html. BENCH takes options.
bench: $(VENV)/.dev
	$(BIN)/python -m bench $(BENCH)

# The source documents repeated: build/reproduced/index.html over all of them, and its numbers for the documentation.
# REFERENCE is the directory with census.csv and adult.data; what needs a file that is not there is left out.
reproduce: $(VENV)/.dev
	$(BIN)/celosia reproduce --all --data $(REFERENCE) --out build/reproduced
	cp build/reproduced/index.json docs/assets/reproduced.json

constraints: $(VENV)/.dev
	$(BIN)/python tools/constraints.py > constraints.txt

# The type stubs of the lazy packages.
stubs: $(VENV)/.dev
	$(BIN)/python tools/stubs.py

# Every picture of the README and the documentation, anew; then look at them.
pictures: $(VENV)/.dev
	$(BIN)/python tools/pictures.py

# What commands print in the README and the tutorials, and the table beside ARX and sdcMicro in the README, anew.
outputs: $(VENV)/.dev
	$(BIN)/python tools/outputs.py

# CHANGELOG.md from the fragments in changelog.d; `make changelog VERSION=1.0.0` makes them a release.
changelog: $(VENV)/.dev
	$(BIN)/python tools/changelog.py $(if $(VERSION),--release $(VERSION))

# What is published: docs/developers/releasing.md. CELOSIA_FILES is the address of the files of the released version.
dist: $(VENV)/.dev
	$(BIN)/python -m hatchling build -d dist

clean:
	rm -rf $(VENV) site build dist demo .mypy_cache .ruff_cache .pytest_cache
