# A thin front for CMake and ctest. Every target first does what it needs, and is quick when there
# is nothing to do.
.DEFAULT_GOAL := help
.PHONY: help setup build install dist images demo test transcripts test-go cluster-test bridge-cost generate-go bridge test-python python-proto test-report asan tsan soak attack fuzz cuda cuda-toolkit bench bench-passes format check-format lint clean chaos
SHELL := /bin/bash

JOBS ?= $(shell nproc)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
DUMP := tests/data/dumps/before.json.gz tests/data/dumps/extra.json
SOURCES = git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh'

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install the Debian/Ubuntu packages of packages.txt that are missing (sudo when not root)
	@if ! command -v apt-get >/dev/null; then \
	  echo "setup: no apt here; what is needed is listed in packages.txt"; exit 0; fi; \
	wanted=$$(sed 's/#.*//' packages.txt | xargs -n1 | sort); \
	present=$$(dpkg-query -W -f='$${db:Status-Status} $${Package}\n' $$wanted 2>/dev/null \
	  | sed -n 's/^installed //p' | sort -u); \
	missing=$$(comm -23 <(echo "$$wanted") <(echo "$$present")); \
	if [ -n "$$missing" ]; then \
	  echo "setup: fetching up to 200 MB of packages:" $$missing; \
	  $(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -q -y --no-install-recommends $$missing; fi

build: setup build/release/build.ninja ## Build build/release/espalier
	@[ -x build/release/espalier ] || echo "build: the first one takes 5 to 15 minutes on 4 cores"
	@cmake --build --preset release -j $(JOBS) --target espalier

PREFIX ?= $(HOME)/.local
install: build ## Install espalier, manual pages and completion of bash and fish under PREFIX=~/.local
	@release/install.sh build/release $(DESTDIR)$(PREFIX)
	@echo "installed $(DESTDIR)$(PREFIX)/bin/espalier"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; \
	  *) echo "$(PREFIX)/bin is not on your PATH: export PATH=$(PREFIX)/bin:\$$PATH" ;; esac

dist: build ## Make a release in build/dist: tarball, Debian package, bridge, Go module, wheel, SBOMs, checksums
	@release/dist.sh

IMAGE ?= espalier
DOCKER ?= docker
images: ## Build the images IMAGE=espalier, IMAGE:cuda and IMAGE-bridge with DOCKER=docker
	git archive HEAD | $(DOCKER) build --target cpu -t $(IMAGE) -f docker/Dockerfile -
	git archive HEAD | $(DOCKER) build --target cuda -t $(IMAGE):cuda -f docker/Dockerfile -
	git archive HEAD | $(DOCKER) build --target bridge -t $(IMAGE)-bridge -f docker/Dockerfile -

demo: build ## Place the pending workloads of a real cluster's dump and draw the racks
	@echo '$$ espalier place --picture $(DUMP)'
	@build/release/espalier place --picture $(DUMP); code=$$?; [ $$code -le 1 ] || exit $$code

test: setup build/release/build.ninja ## Build everything and run all tests
	@cmake --build --preset release -j $(JOBS)
	@ctest --preset release -j $(JOBS)
	@service/go/test.sh --if-possible

transcripts: build ## Write what the commands of tests/cli/transcripts print anew; read the difference
	@for file in tests/cli/transcripts/*.txt; do \
	  python3 tests/cli/transcripts_test.py build/release/espalier "$$file" --update || exit 1; done

test-go: build ## Check and test the Go module; needs Go, and fetches modules
	@service/go/test.sh

CLUSTER_TEST_MINUTES ?= 15
cluster-test: build bridge ## Test espalier-bridge beside a real API server; builds it, needs Go and etcd-server
	@command -v etcd >/dev/null || { echo "cluster-test: there is no etcd: install the package etcd-server" >&2; exit 1; }
	@programs=$$(service/go/clustertest/build.sh) && cd service/go && go vet -tags cluster ./clustertest && set -o pipefail && \
	  { KUBERNETES_PROGRAMS=$$programs go test -tags cluster -count=1 -v -timeout $(CLUSTER_TEST_MINUTES)m ./clustertest 2>&1 | \
	    tee ../../build/cluster-test.log; code=$$?; echo "cluster-test: summary (all of it: build/cluster-test.log)"; \
	    grep -E '^ *--- |^ok |^FAIL|^panic' ../../build/cluster-test.log; exit $$code; }

bridge-cost: build bridge ## Measure what espalier-bridge costs an API server of 1,000 and 10,000 nodes, in 20 minutes
	@programs=$$(service/go/clustertest/build.sh) && cd service/go && KUBERNETES_PROGRAMS=$$programs \
	  go test -tags cluster -count=1 -v -timeout 40m -run TestWhatTheBridgeCosts ./clustertest -cost-idle 6m

generate-go: ## Write the generated code of the Go module anew; needs Go and protoc
	@service/go/generate.sh

bridge: ## Build build/espalier-bridge; needs Go, and fetches modules
	@release/build_bridge.sh build/espalier-bridge

test-report: setup build/release/build.ninja ## Test --report in a browser; installs Chromium's headless shell (300 MB)
	@command -v chromium chromium-headless-shell >/dev/null || \
	  { $(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
	    --no-install-recommends chromium-headless-shell fonts-dejavu-core; }
	@cmake --build --preset release -j $(JOBS) --target espalier cli_report_test
	@ctest --preset release -R '^(cli_report|ReportData|ReportProcess)\.'

PYTHON_ENV := build/python
# Made anew when a pin changes. Without a network there is nothing to run with.
$(PYTHON_ENV)/ready: service/python/requirements.txt
	@rm -rf $(PYTHON_ENV)
	@python3 -m venv $(PYTHON_ENV) || { rm -rf $(PYTHON_ENV); \
	  echo "python: cannot make $(PYTHON_ENV); want python3 3.10 to 3.13 with python3-venv"; exit 1; }
	@echo "python: fetching what service/python/requirements.txt pins (about 200 MB)"
	@$(PYTHON_ENV)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: \
	  --requirement service/python/requirements.txt || { rm -rf $(PYTHON_ENV); exit 1; }
	@touch $@

test-python: build ## Check and test the Python package; fetches packages from PyPI (200 MB)
	@if ! $(MAKE) --no-print-directory --silent $(PYTHON_ENV)/ready; then \
	  echo "test-python: SKIPPED, the packages it needs could not be had (see above)"; exit 0; fi; \
	  cd service/python && bin=$(CURDIR)/$(PYTHON_ENV)/bin && $$bin/ruff format --check . && \
	  $$bin/ruff check . && $$bin/mypy && $$bin/python -m pytest

python-proto: $(PYTHON_ENV)/ready ## Make the Python messages of proto/ anew
	@PYTHON=$(PYTHON_ENV)/bin/python service/python/make_messages.sh

asan tsan: %: setup build/%/build.ninja
	@cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -j $(JOBS)
asan: ## Run all tests under the address and undefined-behaviour sanitizers, with clang
tsan: ## Run all tests under the thread sanitizer

MINUTES ?= 5
soak: setup build/release/build.ninja ## Compare engine and oracle on random questions for MINUTES=5
	@cmake --build --preset release -j $(JOBS) --target soak
	@build/release/soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

attack: setup build/release/build.ninja ## Attack servers with random content for MINUTES=5
	@cmake --build --preset release -j $(JOBS) --target attack
	@build/release/attack --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

chaos: setup build/release/build.ninja ## Kill servers under racing controllers for MINUTES=5
	@cmake --build --preset release -j $(JOBS) --target chaos
	@build/release/chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) 2>/dev/null

# Not ?=: a shell may have put a SECONDS of its own, the age it counts, into the environment.
SECONDS = 60
fuzz: setup build/asan/build.ninja ## Run each fuzz target for SECONDS=60, under the same sanitizers
	@cmake --build --preset asan -j $(JOBS) --target fuzzers
	@tests/fuzz/run.sh $(SECONDS)

NVCC = $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc \
  $(CURDIR)/.cuda-toolkit/nvidia/cu13/bin/nvcc) $(shell command -v nvcc))

cuda-toolkit: ## Fetch a CUDA compiler into .cuda-toolkit; needs no root, no GPU, only pip
	@if ! [ -x .cuda-toolkit/nvidia/cu13/bin/nvcc ]; then \
	  python3 -m pip --version >/dev/null || { echo "cuda-toolkit: needs pip: python3-pip"; exit 1; }; \
	  python3 -m pip install --quiet --root-user-action=ignore --no-deps --no-compile --only-binary :all: --require-hashes \
	    --target .cuda-toolkit --requirement kernels/cuda/toolkit.txt; fi

cuda: setup ## Build with CUDA, run all tests, check what the kernels use; needs no GPU
	@[ -n "$(NVCC)" ] || $(MAKE) --no-print-directory cuda-toolkit
	@cmake --preset cuda >/dev/null
	@cmake --build --preset cuda -j $(JOBS)
	@ctest --preset cuda -j $(JOBS)
	@bench/ptxas_table.py build/cuda

SUITE ?= smoke
bench: build ## Measure SUITE=smoke (or gate, full) against targets and this machine's floors
	@build/release/espalier bench --suite $(SUITE) $(if $(filter smoke,$(SUITE)),--seconds 2)

PASSES := bench_passes bench_read_cluster
bench-passes: setup build/release/build.ninja ## Run the benchmarks of single passes
	@cmake --build --preset release -j $(JOBS) --target $(PASSES)
	@for bench in $(PASSES); do echo "$$bench"; build/release/$$bench || exit 1; done

format: setup ## Format every tracked source file in place
	@$(SOURCES) | xargs clang-format -i

check-format: setup ## Fail when a tracked source file is not formatted
	@$(SOURCES) | xargs clang-format --dry-run -Werror

FILES ?= $(shell git ls-files 'kernels/*.cpp' 'host/*.cpp' 'fallback_cpu/*.cpp' 'service/*.cpp')
lint: setup build/debug/build.ninja ## Run clang-tidy over all sources, or over FILES="a.cpp b.cpp"
	@ninja -C build/debug --quiet proto/espalier/v1/error.pb.h service/cli/html_report_page.hpp
	@printf '%s\n' $(FILES) | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/debug

clean: ## Remove every build folder
	rm -rf build

build/%/build.ninja:
	@cmake --preset $* >/dev/null
