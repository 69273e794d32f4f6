# Every target does its own set-up: on a fresh machine `make test` is all there is to type.
# Needed: Python >= 3.10 with venv, cargo (as new as Cargo.toml says), a C++ compiler.
# PYTHON=python3.12 picks an interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Files of tests run side by side, one more than there are cores, since some wait for a browser or for a process to die.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1)))
CCA ?= TcpNewReno
# What `make bench` compares; CCA=one alone runs that.
CCAS := $(if $(filter command line environment,$(origin CCA)),$(CCA),TcpNewReno,TcpCubic,TcpBbr)

RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
PYTHON_SOURCES := $(shell find python -name '*.py')
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -path crates/guest -prune -o -name '*.rs' -print -o -name Cargo.toml -print)
GUEST_SOURCES := $(RUST_SOURCES) $(shell find crates/guest -name '*.rs' -o -name Cargo.toml)

# How cargo builds the engine: as it is shipped, unless `make develop` says for who changes it.
PROFILE ?= release

WASM := python/ccperf/data/engine.wasm
WASM_TARGET := wasm32-unknown-unknown

GUEST := python/ccperf/data/guest

.DEFAULT_GOAL := help
.PHONY: help setup parts develop bench test test-quick test-python test-rust tests-built lint clippy format fuzz fingerprints mutants curves docs docs-site perf verify record releases coverage wasm guest wheel sbom reproducible lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# The two engines at the same time: each has a phase that keeps one core busy.
setup: ## .venv with ccperf in it, built from this checkout
	@$(MAKE) --no-print-directory -j2 parts

parts: $(VENV)/.native $(VENV)/.bytecode $(WASM)
	@:

# The engine for browsers would take as long again: where it is of other sources than these, pages do without.
develop: ## the same with an engine for who changes it: there sooner, and slower; `make wasm` for pages
	@$(MAKE) --no-print-directory PROFILE=develop $(VENV)/.native $(VENV)/.bytecode
	@$(MAKE) --no-print-directory --question $(WASM) || rm -f $(WASM)

# One seed leaves open what chance decides: with five, most comparisons have an answer.
SEEDS ?= 1..5
bench: setup ## the catalogue for $(CCAS) (2,123 runs: two minutes of one core), then the site
	$(BIN)/ccperf bench $(CCAS) --seed $(SEEDS)

# What pytest makes of the sources of tests is kept, whatever the environment says of bytecode: 5 s for each process.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(JOBS)

# What cargo builds is built first, by all cores; then cargo's tests and pytest's run side by side.
test: setup tests-built ## all tests, the comparison with real ns-3 included
	@$(MAKE) --no-print-directory -j2 test-rust test-python

test-quick: develop ## the files of tests that take less than a second: half a minute, after each change
	$(PYTEST) -q --quick

# The engine's own tests and those of scenarios check sums and assertions. All others link the engine that `make setup`
# has built; the binding is named so that what both depend on has the same features.
ENGINE_TESTS = cargo test --locked --quiet --package ccperf-engine --package ccperf-scenario --package ccperf-schema --lib
LINKED_TESTS = cargo test --locked --quiet --release --package ccperf-engine --package ccperf-py --test '*'
OTHER_TESTS = cargo test --locked --quiet --release --workspace --exclude ccperf-engine --exclude ccperf-scenario --exclude ccperf-schema

test-rust: $(VENV)/.tools
	@$(OWN_JOBS) $(ENGINE_TESTS)
	@$(OWN_JOBS) $(LINKED_TESTS)
	@$(OWN_JOBS) $(OTHER_TESTS)

tests-built: $(VENV)/.tools
	$(ENGINE_TESTS) --no-run
	$(LINKED_TESTS) --no-run
	$(OTHER_TESTS) --no-run

test-python: setup
	@$(OWN_JOBS) $(PYTEST) --dist loadfile --no-loadscope-reorder -q --durations 40 --durations-min 1

lint: setup clippy ## ruff, mypy, rustfmt, clippy, licences and origins of what is used
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(RUSTFMT) --check
	$(BIN)/python tools/dependencies.py

clippy: $(VENV)/.tools
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

fingerprints: setup ## the engine against its recorded runs of the whole matrix, in seconds
	$(BIN)/python tools/fingerprints.py --packets

# A share of the mistakes that the tool can think of, or with ALL=1 each of them (an hour or two).
mutants: setup ## one-line mistakes planted in the engine: does the recorded comparison notice?
	$(BIN)/python tools/mutants.py $(if $(ALL),--share 1,--share 0.1) $(if $(SEED),--seed $(SEED))

# Needs a nightly compiler and `cargo install cargo-fuzz`; CI has a short run of each on any compiler.
TARGET ?= run
SECONDS ?= 600
fuzz: ## what reads untrusted input, guided by coverage: TARGET=scenario SECONDS=60
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	  cargo +nightly fuzz run -O --sanitizer none $(TARGET) target/fuzz/$(TARGET) \
	  fuzz/corpus/$(patsubst run,scenario,$(TARGET)) -- -max_total_time=$(SECONDS)

curves: setup ## tests/curves anew: what each algorithm does in standard situations, for review
	$(BIN)/python tools/curves.py --write

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(RUSTFMT)

verify: setup ## compare with the published tables and with real ns-3
	$(BIN)/ccperf verify seeds
	$(BIN)/ccperf verify ns3

docs: setup ## the parts of the documentation that come from data
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/interface.py

docs-site: setup $(VENV)/.docs ## all documents, the reference of Python and the notebook as one site: dist/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html -c docs . dist/docs
	@echo dist/docs/docs/index.html

perf: $(VENV)/.optimised ## speed against real ns-3 (and htsim: HTSIM=its checkout), of the engine as in the wheel
	$(BIN)/python -m benchmarks.perf --cc $(CCA) $(if $(HTSIM),--htsim $(HTSIM))

# The wheel's ns-3, or that of a built tree: NS3=PATH. What is interrupted goes on where it was.
N ?= 1000
record: setup ## the whole comparison with ns-3, for the page on fidelity; NS3=PATH N=1000 SEED=1: a tree's
	$(BIN)/ccperf verify ns3 --full --fuzz $(N) --seed $(or $(SEED),1) --record python/ccperf/data \
	  $(if $(NS3),--ns3 $(NS3))
	$(if $(NS3),,$(BIN)/python tools/coverage.py --record python/ccperf/data/coverage.json)
	$(BIN)/python tools/docs.py

# Half an hour of one core, in dist/releases; what is there is not made again.
RELEASES := ns3-3.44 ns3-3.48 ns3-dev
releases: setup ## what the releases of ns-3 change in the catalogue, for docs/releases.md
	@mkdir -p dist/releases
	for release in $(RELEASES); do $(BIN)/ccperf bench --profile $$release --no-site \
	  --db dist/releases/$$release.db cubic,bbr,dctcp,newreno,TcpLinuxReno,bic,highspeed,scalable,illinois,yeah,htcp,hybla,veno,westwood,vegas,ledbat,lp \
	  || exit 1; done
	for release in ns3-3.44 ns3-dev; do $(BIN)/ccperf bench --profile $$release --no-site \
	  --seed 1,2 --db dist/releases/$$release.db cubic,bbr,dctcp || exit 1; done
	$(BIN)/python tools/releases.py dist/releases
	$(BIN)/python tools/docs.py

coverage: setup ## how much of the TCP and queue code the ns-3 comparison reaches
	$(BIN)/python tools/coverage.py

wasm: $(WASM) ## the engine for browsers, which pages of the site simulate with

guest: $(GUEST) ## the engine as the only program of a Linux kernel, for the backend linux

wheel: $(VENV)/.python ## dist/ccperf-*.whl, which installs without cargo
	@$(GET_PROFDATA)
	@rm -f $(WASM) $(GUEST) && $(MAKE) --no-print-directory $(WASM) $(GUEST)
	$(GUIDED) $(BIN)/maturin build --release --locked --out dist $(PGO)

# pip's lock: one file for every Python from 3.10 on. `--no-deps` at installation because the file is
# complete, and because the wheel of ns-3 is used for its headers and libraries only: its Python
# binding (cppyy, which compiles for minutes) stays out.
lock: $(VENV)/.python ## resolve requirements.lock and Cargo.lock again
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.10 --upgrade \
	  --all-extras --generate-hashes --no-emit-find-links \
	  --no-emit-package cppyy --no-emit-package cppyy-backend --no-emit-package cppyy-cling \
	  --no-emit-package cpycppyy --custom-compile-command 'make lock' -o requirements.lock
	$(BIN)/uv pip compile docs/requirements.in --quiet --universal --python-version 3.11 --upgrade \
	  --generate-hashes -c requirements.lock --custom-compile-command 'make lock' \
	  -o docs/requirements.lock
	cargo update
	$(BIN)/python tools/notices.py

sbom: $(VENV)/.python ## dist/sbom.json: what ccperf is made of, with hashes and licences (CycloneDX)
	$(BIN)/python tools/sbom.py

# Two builds from nothing in the same place: what differs would be the compiler's, or ours.
reproducible: $(VENV)/.python ## builds the wheel twice and compares the bytes (some minutes)
	@$(OWN_JOBS) for n in 1 2; do \
	  rm -rf target/reproducible && SOURCE_DATE_EPOCH=315532800 CARGO_TARGET_DIR=target/reproducible \
	    $(BIN)/maturin build --release --locked --quiet --out dist/reproducible-$$n || exit 1; \
	done; cmp dist/reproducible-1/*.whl dist/reproducible-2/*.whl && sha256sum dist/reproducible-1/*.whl

clean:
	rm -rf $(VENV) dist target python/ccperf/_native*.so $(WASM) $(GUEST)

# Every file: `cargo fmt` does not see the modules that a macro declares.
RUSTFMT = git ls-files -z '*.rs' | xargs -0 rustfmt --edition 2024

# --- what the targets stand on -------------------------------------------------------------------

# The one place that says what is absent. It runs once: the stamps below depend on it.
$(VENV)/.tools:
	@missing=; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	  || missing="$$missing\n  Python >= 3.10        $(PYTHON) is absent or older: make PYTHON=/path/to/python3.12"; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || missing="$$missing\n  Python's venv module  apt-get install python3-venv"; \
	cargo --version 2>/dev/null | awk -v needed=$(RUST_VERSION) '{ split($$2, is, "."); split(needed, min, "."); \
	    ok = is[1] + 0 > min[1] + 0 || is[1] == min[1] && is[2] + 0 >= min[2] + 0 } END { exit !ok }' \
	  || missing="$$missing\n  cargo >= $(RUST_VERSION)         absent or older: https://rustup.rs, then rustup update"; \
	command -v c++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 \
	  || missing="$$missing\n  a C++ compiler        apt-get install g++"; \
	if [ -n "$$missing" ]; then \
	  printf "ccperf cannot be built here. Absent:$$missing\n" >&2; exit 1; \
	fi
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.python: requirements.lock | $(VENV)/.tools
	@echo "Installing Python packages into $(VENV) (once; a few minutes on a slow line)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	@touch $@

# cargo takes all cores, not those that make has left of its two.
OWN_JOBS = unset MAKEFLAGS MFLAGS;

# Sphinx and a kernel for notebooks: nobody else needs them.
$(VENV)/.docs: docs/requirements.lock $(VENV)/.python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r docs/requirements.lock
	@touch $@

# What is built is as old as its sources were read: an edit while it is built makes it old.
BEGUN = @touch $(VENV)/$(@F).begun
AS_OLD_AS_BEGUN = touch -r $(VENV)/$(@F).begun $@

# The stamp says how the engine was built: after `make develop`, `make setup` builds the one that is shipped.
SLOWER := $(if $(filter-out develop,$(PROFILE)),$(filter develop,$(shell cat $(VENV)/.native 2>/dev/null)))
.PHONY: an-engine-of-develop
an-engine-of-develop:

$(VENV)/.native: $(RUST_SOURCES) pyproject.toml $(VENV)/.python $(SLOWER:develop=an-engine-of-develop)
	@echo "Building the engine"
	$(BEGUN)
	@$(OWN_JOBS) VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile $(PROFILE) --locked --quiet >/dev/null \
	  || { echo "The engine did not build; the compiler's message is above." >&2; exit 1; }
	@echo $(PROFILE) > $@; $(AS_OLD_AS_BEGUN)

# What Python keeps of a module once it has read it. Where it is told to keep nothing
# (PYTHONDONTWRITEBYTECODE, as in many containers), every command would compile all modules again.
$(VENV)/.bytecode: $(PYTHON_SOURCES) $(VENV)/.python
	@$(BIN)/python -m compileall -q python/ccperf
	@touch $@

# A part of the package, which is whole without it: an empty file stands for none. The site then has no
# simulation in its pages, and says so.
$(WASM): $(RUST_SOURCES) | $(VENV)/.tools
	$(BEGUN)
	@$(OWN_JOBS) [ -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM_TARGET)" ] \
	  || rustup target add $(WASM_TARGET) >/dev/null 2>&1 || true
	@$(OWN_JOBS) if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM_TARGET)" ]; then \
	  echo "Building the engine for browsers"; \
	  cargo build --profile wasm --locked --quiet --package ccperf-wasm --target $(WASM_TARGET) \
	    && cp target/$(WASM_TARGET)/wasm/ccperf_wasm.wasm $@ && $(AS_OLD_AS_BEGUN); \
	else \
	  echo "No target $(WASM_TARGET) for this Rust, and rustup does not get it: pages will not simulate"; \
	  : > $@; \
	fi

# Static, because in the kernel there are no libraries: it alone, so that what it links is as the binding has compiled it.
# An empty file, as above, where no kernel could run.
$(GUEST): $(GUEST_SOURCES) | $(VENV)/.tools
	$(BEGUN)
	@$(OWN_JOBS) if [ "$$(uname -sm)" = "Linux x86_64" ]; then \
	  echo "Building the guest for Linux kernels"; \
	  cargo rustc --profile $(PROFILE) --locked --quiet --package ccperf-guest --bin ccperf-guest \
	      -- -C target-feature=+crt-static \
	    && cp target/$(PROFILE)/ccperf-guest $@ && $(AS_OLD_AS_BEGUN); \
	else \
	  : > $@; \
	fi

# Guided by a profile the engine is about a sixth faster, and takes three times as long to build.
# That needs a tool of the Rust toolchain, which rustup adds; without it the build is the plain one.
PGO = $$(rustc --print sysroot | xargs -I@ sh -c 'ls @/lib/rustlib/*/bin/llvm-profdata' \
  >/dev/null 2>&1 && echo --pgo)
# The published figures are of crates optimised together, which without a profile brings nothing.
GUIDED = CARGO_PROFILE_RELEASE_LTO=fat
GET_PROFDATA = [ -n "$(PGO)" ] || rustup component add llvm-tools 2>/dev/null \
  || echo "No llvm-tools for this Rust: building without a profile"

$(VENV)/.optimised: $(RUST_SOURCES) pyproject.toml benchmarks/train.py benchmarks/scenarios.py $(VENV)/.python
	@echo "Building the engine, guided by a profile (some minutes)"
	$(BEGUN)
	@$(GET_PROFDATA)
	@$(GUIDED) VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet $(PGO) >/dev/null \
	  || { echo "That failed; the message is above. Building without a profile"; \
	       rm -f $(VENV)/.native; $(MAKE) --no-print-directory PROFILE=release $(VENV)/.native; }
	@echo $(PROFILE) > $@; $(AS_OLD_AS_BEGUN); cp -p $@ $(VENV)/.native
