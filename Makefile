# SPDX-License-Identifier: MIT
#
#   make run      install what is missing, build, start Belfry on this machine
#   make test     install what is missing, build, run every test
# `make help` lists the rest.

SHELL := /bin/sh
.DEFAULT_GOAL := help
SEED ?= 1
SEEDS ?= 1
MINUTES ?= 1
ROUNDS ?= 1000
ONLY ?=
COMMAND ?= /usr/local/bin/belfry

.PHONY: help build run test mutants fmt tidy sim crash fuzz cost-table bench bench-peers package \
  sbom clean

help:
	@echo "make run              install what is missing, build, start Belfry on this machine"
	@echo "make test             install what is missing, build, run every test (ONLY=part of a name)"
	@echo "make mutants          make each known mistake on purpose: do the tests find it? (ONLY=name)"
	@echo "make build            build/release/belfry"
	@echo "make fmt              format all C++ sources"
	@echo "make tidy             the rules of the house, and clang's opinion"
	@echo "make sim SEED=n       the calendar and the engine in virtual time, from a seed"
	@echo "make crash ROUNDS=n   kill the server n times under load and check that nothing is lost"
	@echo "make fuzz MINUTES=n   every fuzzer for n minutes of a processor's time"
	@echo "make cost-table       write down anew what the pure core costs in instructions"
	@echo "make bench            the benchmarks (ONLY=part of a name)"
	@echo "make bench-peers      Belfry beside pg-boss, graphile-worker and BullMQ (ARGS=--memory)"
	@echo "make package          build/package: a Debian package and a tarball"
	@echo "make sbom             build/sbom.cdx.json: what the binary is made of"
	@echo "make clean            remove build/, and the command belfry that led there"

build:
	@tools/install-deps build
	@echo "belfry: building build/release/belfry"
	@cmake --preset release >/dev/null
	@ninja -C build/release --quiet belfry

run: build
	@tools/command-link add build/release/belfry $(COMMAND)
	@build/release/belfry $(if $(ARGS),$(ARGS),serve)

test:
	@tools/install-deps build test
	@echo "belfry: building the tests (g++ with AddressSanitizer and UBSan; clang reads along)"
	@cmake --preset debug >/dev/null
	@ninja -C build/debug --quiet
	@echo "belfry: building what has threads again, with ThreadSanitizer"
	@cmake --preset tsan >/dev/null
	@ninja -C build/tsan --quiet access_test dispatch_test net_test belfry
	@$(MAKE) --no-print-directory build  # optimised code has warnings of its own
	@ninja -C build/release --quiet cost
	@$(MAKE) --no-print-directory $(NPM_PACKAGES)
	@echo "belfry: running the tests"
	@tools/run-tests build/debug build/tsan build/release $(if $(ONLY),--only $(ONLY))

# Ten minutes for all of them with a warm compiler cache, else hours; build/release is packed by those of the package.
mutants: build
	@tools/install-deps build test
	@$(MAKE) --no-print-directory $(NPM_PACKAGES)
	@tests/mutation/run.py $(ONLY)

# Azure's clients, queue services and an issuer of tokens, as their lock files say; npm writes
# the file when it is done.
NPM_PACKAGES := $(patsubst %,tests/%/node_modules/.package-lock.json,e2e targets issuer)
tests/%/node_modules/.package-lock.json: tests/%/package-lock.json
	@echo "belfry: fetching npm packages for tests/$*"
	@npm ci --prefix tests/$* --silent && touch $@

# `npm ci` wants native bindings for every platform to be locked; these peers have optional ones
# that not every mirror holds. `npm install` keeps to the locked versions too.
bench/peers/node_modules/.package-lock.json: bench/peers/package-lock.json
	@echo "belfry: fetching npm packages for bench/peers"
	@npm install --prefix bench/peers --no-save --ignore-scripts --silent && touch $@

fmt:
	@tools/install-deps build test
	@git ls-files -co --exclude-standard '*.cpp' '*.h' | xargs clang-format -i

tidy:
	@tools/install-deps build test
	@tools/tidy
	@cmake --preset debug >/dev/null
	@ninja -C build/debug --quiet clang_check

sim:
	@tools/install-deps build test
	@cmake --preset debug >/dev/null
	@ninja -C build/debug --quiet oracle_test simulation_test
	@BELFRY_SEED=$(SEED) build/debug/tests/oracle_test
	@BELFRY_SEED=$(SEED) BELFRY_SEEDS=$(SEEDS) build/debug/tests/simulation_test

crash:
	@tools/install-deps build test
	@cmake --preset debug >/dev/null
	@ninja -C build/debug --quiet belfry
	@tests/crash/crash.py build/debug/belfry $(ROUNDS) $(SEED)

fuzz:
	@tools/install-deps build test fuzz
	@cmake --preset clang >/dev/null
	@ninja -C build/clang --quiet fuzzers
	@tools/fuzz build/clang $(MINUTES)

cost-table:
	@tools/install-deps build test
	@cmake --preset release >/dev/null
	@ninja -C build/release --quiet cost
	@tests/cost/cost.py build/release/tests/cost/cost --rewrite

bench:
	@tools/install-deps build test bench
	@$(MAKE) --no-print-directory $(NPM_PACKAGES)
	@cmake --preset release >/dev/null
	@ninja -C build/release --quiet benchmarks belfry
	@tools/bench build/release/benchmarks.list $(ONLY)

bench-peers:
	@tools/install-deps build test bench
	@$(MAKE) --no-print-directory bench/peers/node_modules/.package-lock.json
	@cmake --preset release >/dev/null
	@ninja -C build/release --quiet benchmarks belfry
	@tools/bench build/release/peers.list "" $(ARGS)

package: build
	@tools/install-deps build package
	@tools/package build/release build/package
	@lintian --fail-on error,warning --tag-display-limit 0 build/package/*.deb

sbom: build
	@tools/sbom build/release >build/sbom.cdx.json
	@echo "build/sbom.cdx.json"

clean:
	@tools/command-link remove build/release/belfry $(COMMAND)
	@rm -rf build
