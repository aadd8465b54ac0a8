# SPDX-License-Identifier: BSD-3-Clause
# The everyday commands. Everything they make is in build*/, .venv/ and demo/.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_MINUTES ?= 30
FUZZ_TARGETS ?=
PYTHON := .venv/bin/python
# A file of tests stays with one worker, since its tests share what they have made. Most wait for programs that they start:
# three workers a core.
PYTEST := $(PYTHON) -m pytest -q -n $$((3 * $(JOBS))) --dist loadfile
# What these see follows from speeds, which other tests beside them would change.
measuring := tests/cli/test_mpi_pays.py
others_than_measuring := $(measuring:%=--ignore=%)
measure := $(PYTHON) -m pytest -q -p no:xdist $(measuring)

# Open MPI refuses to run as root, and to start more ranks than cores, unless told. Tests do both. It also waits a quarter
# of a second for networks when ranks start, and two when one ends with an error.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_btl_vader_single_copy_mechanism := none
export OMPI_MCA_pml := ob1
export OMPI_MCA_odls_base_sigkill_timeout := 0

# Processes of Open MPI share a folder, and remove it when it is empty: just when others are about to use it.
keep_sessions := mkdir -p "$${TMPDIR:-/tmp}/ompi.$$(uname -n | cut -d. -f1).$$(id -u)/neve-tests"

.PHONY: build demo test test-long test-rtl rtl-report test-mpich fuzz sanitize bench format lint install bootstrap library clean help

help:            ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

bootstrap:
	@scripts/bootstrap.sh

library: bootstrap
	@cmake --preset default >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }; rm -f build.log
	@cmake --build build -j $(JOBS)

build: library   ## the command, the libraries, the plugin, the benchmarks, the tests, and Python with neve

demo:            ## convert a real AMReX plotfile and back, with a table and a picture
	@echo "demo: installs packages where they are missing, builds the command and the Python package (some 4 minutes on 2"
	@echo "demo: cores), writes a real plotfile compressed, checks and draws it. What it leaves is in demo/."
	@scripts/bootstrap.sh demo
	@[[ -f build/CMakeCache.txt ]] || cmake --preset demo >/dev/null
	@cmake --build build -j $(JOBS) --target neve neve_h5plugin neve_python
	@$(PYTHON) scripts/demo.py

formatted_sources := git ls-files -- include src bindings tools bench tests examples rtl | \
  grep -E '\.(cpp|hpp|h|c)$$'

lint: bootstrap  ## formatting and Python style
	@$(formatted_sources) | xargs clang-format --dry-run --Werror
	@.venv/bin/ruff check . && .venv/bin/ruff format --check .

format: bootstrap  ## put the sources into the project's format
	@$(formatted_sources) | xargs clang-format -i
	@.venv/bin/ruff check --fix . ; .venv/bin/ruff format .

sanitize: bootstrap  ## the core and its unit tests under ASan and UBSan
	@cmake --preset asan >/dev/null
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS)

# The parallel rooms once more, against the other MPI. Its ranks poll without yielding, so that more of them than
# cores take long: 2 ranks, 3 where a test is short.
test-mpich: bootstrap  ## the MPI tests and the command against MPICH, in build-mpich
	@cmake --preset mpich >/dev/null
	@cmake --build build-mpich -j $(JOBS) --target neve neve-bench mpi_tests neve_trace trace_mpi_calls neve_pmpi pmpi_program
	@ctest --test-dir build-mpich --output-on-failure -R '^mpi\.(.*\.2|(agree|capi|coverage|hints|write_pieces)_test\.3)$$'

test-rtl: library  ## the hardware engine in Verilator against the software
	@ctest --test-dir build --output-on-failure -j $(JOBS) -R '^rtl\.'

rtl-report: library  ## what the hardware engine costs: bench/results/rtl.md
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r rtl/requirements.txt
	@$(PYTHON) rtl/report.py build

test: build lint sanitize test-mpich  ## everything that has to pass before a change lands
	@$(keep_sessions)
	@ctest --test-dir build --output-on-failure -j $(JOBS)
	@$(PYTEST) tests/python tests/cli tests/install $(others_than_measuring)
	@$(measure)

test-long: test  ## also the slow tests: larger data, longer random walks, the core on aarch64 (emulated), fuzzing for 3 minutes a target
	@NEVE_TEST_LONG=1 ctest --test-dir build --output-on-failure -j $(JOBS)
	@NEVE_TEST_LONG=1 $(PYTEST) tests/python tests/cli $(others_than_measuring)
	@NEVE_TEST_LONG=1 $(measure)
	@JOBS=$(JOBS) scripts/test-aarch64.sh
	@$(MAKE) fuzz FUZZ_MINUTES=3

fuzz:            ## fuzz all that reads files, FUZZ_MINUTES (30) a target; FUZZ_TARGETS="frame npy" for some
	@scripts/bootstrap.sh fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build build-fuzz -j $(JOBS) --target fuzz_targets
	@scripts/fuzz.sh $(FUZZ_MINUTES) $(FUZZ_TARGETS)

bench: build     ## the codec and the write tables
	@build/bin/neve bench codecs
	@build/bin/neve bench write

install: library ## libraries, headers, command and plugin under PREFIX
	@cmake --install build --prefix $(PREFIX)

clean:           ## remove what was built
	rm -rf build build-alone build-asan build-debug build-fuzz build-mpich build-wheel demo
