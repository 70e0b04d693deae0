# `make demo` and `make test` need Python 3.11, Rust and make, and nothing else.
# All paths are relative, so that a blank in the path of the checkout does no harm.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
RUST := --manifest-path rust/Cargo.toml
SOURCES := pyproject.toml rust/Cargo.toml rust/Cargo.lock $(shell find rust -path rust/target -prune -o -path rust/fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.PHONY: help demo test test-oldest check format-check rust-test python-test bench fuzz lab format clean

help:
	@echo "make demo    set up, run examples/quickstart.ipynb in the NIT kernel, print every cell"
	@echo "make test    check, and the Rust and Python tests; CI runs it with NIT_REQUIRE_ALL=1"
	@echo "make test-oldest  the notebook's tests with the oldest ipykernel that it takes; CI runs it, too"
	@echo "make check   formatting, lint, layers and types only"
	@echo "make format  rewrite the sources in the house's layout"
	@echo "make lab     JupyterLab on the examples"
	@echo "make bench   the benchmarks, each against its peers"
	@echo "make fuzz    the fuzz targets, FUZZ_SECONDS each (needs a nightly toolchain)"

# --- set-up: one virtual environment, in two steps ------------------------------------------------

$(VENV)/.made:
	"$(PYTHON)" -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/.installed: $(VENV)/.made $(SOURCES)
	$(PY) -m pip install --quiet --group demo --editable ".[all]"
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PY) -m pip install --quiet --group dev
	touch $@

# --- what people run ------------------------------------------------------------------------------

demo: $(VENV)/.installed
	$(PY) examples/run_notebook.py examples/quickstart.ipynb

lab: $(VENV)/.dev
	$(PY) -m jupyterlab --notebook-dir examples

test: check rust-test python-test

check: format-check
	$(PY) -m ruff check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright
	$(PY) -m mypy.stubtest nit_kernel._syntax --allowlist rust/nit_python/stubtest-allowlist.txt

format-check: $(VENV)/.dev
	$(PY) -m ruff format --check .
	cargo fmt $(RUST) --all --check
	cargo clippy $(RUST) --workspace --all-targets --quiet -- -D warnings

rust-test: $(VENV)/.dev
	cargo test $(RUST) --workspace --quiet

python-test: $(VENV)/.dev
	$(PY) -m pytest

# The newest packages are what `make test` has installed.
OLDEST := .venv-oldest
OLDEST_PINS := "ipykernel==7.1.0" "ipython==9.6.0" "ipywidgets==8.1.5"

$(OLDEST)/.made: $(SOURCES)
	"$(PYTHON)" -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(OLDEST)/bin/python -m pip install --quiet --group test $(OLDEST_PINS) --editable ".[all]"
	touch $@

test-oldest: $(OLDEST)/.made
	$(OLDEST)/bin/python -m pytest tests/notebook tests/e2e -m "not browser" --ignore tests/e2e/test_packaging.py

format: $(VENV)/.dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	cargo fmt $(RUST) --all

bench: $(VENV)/.dev
	$(PY) -m pip install --quiet --group bench
	for script in benchmarks/[a-z]*.py; do $(PY) "$$script" || exit 1; done

FUZZ_SECONDS ?= 300
fuzz:
	cd rust/fuzz && for target in $$(cargo +nightly fuzz list); do cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

clean:
	rm -rf $(VENV) $(OLDEST) rust/target dist build
	rm -f nit_kernel/_syntax*.so
