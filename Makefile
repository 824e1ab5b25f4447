# Every target works on a bare machine with python3 (3.11 or newer) and make: the first use of any of them
# makes the environment in .venv, later ones reuse it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed

.PHONY: help install kernels demo paper test slow soak faults load test-gpu coverage lint bench bench-gpu manual public docs docs-serve dist try-dist sbom audit clean

help:
	@echo "make demo      cluster the paper's Sets 3 and 4, print the tables, draw the picture"
	@echo "make paper     rerun every experiment of the paper, 100 seeds, to build/paper; resumes"
	@echo "make test      run the tests: all but the slow ones, and pairs of values of full products"
	@echo "make slow      run the other tests: the slow ones, and the rest of the full products"
	@echo "make soak      random fits against all that the design promises: MINUTES=30 SEED=0"
	@echo "make faults    kills, full disks, little memory, clocks that jump, broken networks: KILLS=200 ROUNDS=10"
	@echo "make load      64 threads, processes that start together, Ctrl-C, leaks: MINUTES=30 each"
	@echo "make kernels   add PyTorch, Triton and the extra speech, so that make test runs all tests"
	@echo "make test-gpu  run the tests of the GPU's kernels on a GPU"
	@echo "make coverage  run the tests with the JIT off and measure coverage, kernels included"
	@echo "make lint      check style, types, directions of imports and private names"
	@echo "make bench     side by side with other programs, one table"
	@echo "make bench-gpu the GPU against the CPU and PyTorch, one table, benchmarks/gpu.json"
	@echo "make manual    write docs/command.md and docs/engines.md from the code"
	@echo "make public    write the list of public names after a change that is meant"
	@echo "make docs      build the site in build/site: pages, reference, gallery; check its links"
	@echo "make docs-serve  show the site in a browser"
	@echo "make dist      build the sdist and the wheel in dist, and check them"
	@echo "make try-dist  install both into bare environments, lowest and newest versions, and use them"
	@echo "make sbom      list what the wheel in dist brings with it, as CycloneDX, in build/sbom.json"
	@echo "make audit     compare that with the known weaknesses; needs the network"
	@echo "make install   make the environment in .venv, with every extra that needs no GPU"
	@echo "make clean     remove the environment and what the other targets wrote"

install: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "modeshift needs Python 3.11 or newer; name one with make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $(READY)

# The interpreter of Triton runs the kernels without a GPU; a CPU build of PyTorch is enough for that.
# PyTorch comes first, so that the extra speech finds one and brings no other.
kernels: $(READY)
	$(BIN)/python -m pip install --quiet torch==2.13.0 triton==3.9.0
	$(BIN)/python -m pip install --quiet --editable '.[speech]'

demo: $(READY)
	$(BIN)/modeshift demo --out build/demo

paper: $(READY)
	$(BIN)/modeshift paper --out build/paper

# A file of tests stays on one process, so that the processes do not compile the same kernels.
SIDE_BY_SIDE := --numprocesses=auto --maxprocesses=4 --dist=loadfile

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" $(SIDE_BY_SIDE)

test-gpu: $(READY)
	TRITON_INTERPRET=0 $(BIN)/python -m pytest tests/engines/cuda tests/image/test_gpu.py

slow: $(READY)
	$(BIN)/python -m pytest -m slow

MINUTES := 30
SEED := 0

soak: kernels
	cd tests && ../$(BIN)/python -m soak --minutes $(MINUTES) --seed $(SEED) --out ../build/soak

KILLS := 200
ROUNDS := 10

faults: kernels
	cd tests && ../$(BIN)/python -m faults --seed $(SEED) --kills $(KILLS) --rounds $(ROUNDS)

load: kernels
	cd tests && ../$(BIN)/python -m load --seed $(SEED) --minutes $(MINUTES)

# Compiled code overflows in silence, as meant (empty slots, hashes); as Python it would warn.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "not slow and not jit" $(SIDE_BY_SIDE) --cov --cov-report=term-missing \
		-W "ignore:overflow encountered:RuntimeWarning"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/private_names.py

bench: $(READY)
	$(BIN)/python benchmarks/run.py

bench-gpu: $(READY)
	$(BIN)/python benchmarks/gpu.py

manual: $(READY)
	$(BIN)/python -m modeshift.cli.manual > docs/command.md
	$(BIN)/python docs/engines.py

public: $(READY)
	cd tests && ../$(BIN)/python public_names.py

# The site has an environment of its own, so that make test does not wait for Sphinx.
DOCS := build/docs-venv
DOCS_READY := $(DOCS)/.installed

$(DOCS_READY): pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --editable '.[docs]'
	@touch $(DOCS_READY)

docs: $(DOCS_READY)
	$(DOCS)/bin/python tools/site.py build

docs-serve:
	$(PYTHON) tools/site.py serve

# What is released, and the tools that check it, in an environment of its own.
DIST := build/dist-venv
DIST_READY := $(DIST)/.installed

$(DIST_READY): pyproject.toml
	$(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet build twine check-wheel-contents cffconvert
	@touch $(DIST_READY)

dist: $(DIST_READY)
	rm -rf dist
	$(DIST)/bin/python -m build
	$(DIST)/bin/twine check --strict dist/*
	$(DIST)/bin/check-wheel-contents dist/*.whl
	$(DIST)/bin/cffconvert --validate
	@du -b dist/*

try-dist:
	$(PYTHON) tools/try_dist.py dist/*.whl dist/*.tar.gz

# The wheel with what it needs in an environment of its own, and the tools that look at it in another.
INSTALLED := build/installed-venv
AUDIT := build/audit-venv

sbom:
	rm -rf $(INSTALLED) $(AUDIT)
	$(PYTHON) -m venv $(INSTALLED)
	$(INSTALLED)/bin/python -m pip install --quiet "$$(ls dist/*.whl)[cli,excel,dask,image,widget]"
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet cyclonedx-bom pip-audit
	$(AUDIT)/bin/cyclonedx-py environment $(INSTALLED) --output-file build/sbom.json

audit: sbom
	$(AUDIT)/bin/pip-audit --skip-editable --path "$$($(INSTALLED)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
