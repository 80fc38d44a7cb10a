# Learnable: `make help` lists the commands. Everything happens in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := .venv-bench
JOBS ?= 2
export PYTHONHASHSEED := 0
export PYTHONPATH := $(CURDIR)
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export NUMBA_NUM_THREADS := 1
# What `make test ONLY=` narrows the layers down with: files, names, and how pytest shares them out.
DIST ?= loadfile
NAMED = $(if $(SELECT),-k "$(SELECT)")
PAGES = $(shell $(BIN)/python -m tools.project $(ONLY))

.PHONY: help env book test lab bench bench-smoke notebooks exercises chapter lint unit boundscheck doctest nbval check mutants confirm \
	exercise-tests browser pdf test-portable wheel clean pins

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

env: $(READY) ## create .venv with the exact versions of requirements.txt; drop compiled code older than its sources
	@$(BIN)/python -c 'from learnable.book.compiled import drop_stale_kernels; drop_stale_kernels()'
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Learnable needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --progress-bar on --quiet --require-hashes --only-binary :all: -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# The peers of the benchmarks: heavy, and no other command needs them.
$(BENCH)/.ready: requirements-bench.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --require-hashes --only-binary :all: -r requirements-bench.txt
	$(BENCH)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

book: env ## execute what changed and build the pages into _build/html
	@$(BIN)/python -m tools.run.build_book --jobs $(JOBS)

lab: env ## open JupyterLab (OPTIONS="--port 9999 --no-browser --allow-root")
	$(BIN)/jupyter lab --notebook-dir . $(OPTIONS)

ifneq ($(ONLY)$(CHANGED),)
test: env
	$(BIN)/python -m tools.check.chapter_test $(ONLY) $(if $(CHANGED),--since $(CHANGED)) --jobs $(JOBS)
else
test: lint check book nbval doctest unit exercise-tests browser bench-smoke ## every check, as CI runs it (ONLY=slug, CHANGED=revision)
	@echo "make test: all layers passed"
endif

lint: env ## ruff over code and notebooks; who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tools.check.layers

check: env ## stored notebooks, generated files and table of contents agree
	$(BIN)/python -m tools.run.notebooks check
	$(BIN)/python -m tools.site.readme --check
	$(BIN)/python -m tools.site.toc --check
	$(BIN)/python -m tools.make.exercises check

unit: env ## unit tests
	$(BIN)/python -m pytest $(or $(TESTS),tests) -n $(JOBS) --dist $(DIST) -p tools.check.budgets -p tools.check.poison_empty \
		-m "not browser" --ignore tests/exercises $(NAMED)

boundscheck: env ## unit tests and examples with every index of compiled code checked, in a cache of its own
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/_build/numba-boundscheck $(BIN)/python -m pytest tests lib/learnable --doctest-modules \
		-n $(JOBS) --dist loadfile -p tools.check.poison_empty -m "not browser" --ignore tests/exercises --ignore tests/browser --ignore tests/frame

doctest: env ## the examples in docstrings
	$(BIN)/python -m pytest --doctest-modules $(or $(MODULES),lib/learnable) -n $(JOBS) --dist $(DIST) -p tools.check.poison_empty

nbval: env ## compare every stored output with the run that the book shows; runs only what changed
	$(BIN)/python -m tools.run.execution --jobs $(JOBS) $(ONLY)
	$(BIN)/python -m pytest --nbval -p tools.check.budgets -p tools.run.replay $(PAGES)

exercise-tests: env ## masters, student notebooks, wrong solutions, grading
	$(BIN)/python -m pytest $(or $(TESTS),tests/exercises) -n $(JOBS) --dist $(if $(SELECT),load,loadgroup) -p tools.check.budgets \
		-m "not browser" $(NAMED)

browser: book ## the built book, and JupyterLab, in headless Chromium
	LEARNABLE_ONLY="$(ONLY)" $(BIN)/python -m pytest tests/browser -m browser -rs -n $(JOBS) --dist loadgroup

pdf: book ## bind the built book into _build/pdf/learnable.pdf (ONLY=part-of-a-name for some pages)
	$(BIN)/python -m tools.site.pdf $(ONLY)

test-portable: env ## run all chapters again on other kernels and another instruction set
	$(BIN)/python -m tools.run.portable $(PAGES)

mutants: env ## plant ten small errors in a chapter, one at a time, and list those that its tests miss: ONLY=slug
	$(BIN)/python -m tools.check.mutants $(ONLY)

STUDIED = $(notdir $(patsubst %/results.json,%,$(wildcard lib/learnable/chapters/*/results.json)))
confirm: env ## run the stored sample of every study again with today's code, and note what agrees (ONLY=slug)
	$(BIN)/learnable reproduce $(or $(ONLY),$(STUDIED)) --confirm

bench: env $(BENCH)/.ready ## measure against the peers (in .venv-bench) and rewrite the results
	$(BENCH)/bin/python -m tools.run.benchmarks

bench-smoke: env ## run every benchmark once, small, without storing results
	$(BIN)/python -m tools.run.benchmarks --jobs $(JOBS) --smoke $(ONLY)

notebooks: env ## execute lectures in place and strip images (ONLY=slug for one)
	$(BIN)/python -m tools.run.notebooks run $(ONLY)

exercises: env ## write the student notebooks from the masters (FORCE=1 also over those changed by hand)
	$(BIN)/python -m tools.make.exercises build $(if $(FORCE),--force)

chapter: env ## create a method and the rooms of its chapter: PART=... SLUG=... TITLE="..." METHOD=... (the slug)
	$(BIN)/python -m tools.make.new_chapter "$(PART)" "$(SLUG)" "$(TITLE)" "$(METHOD)"

wheel: env ## build the wheels that the site carries: the package, and its larger data sets
	$(BIN)/python -c 'from tools.run.build_book import make_wheels; make_wheels()' && ls -s _build/wheels

PIN := uv pip compile -q pyproject.toml --universal --python-version 3.11 --no-annotate --no-header --generate-hashes
pins: ## resolve the pinned versions again from pyproject.toml (needs uv; UPGRADE=--upgrade for newer ones)
	$(PIN) $(UPGRADE) --extra book --extra exercises --extra cluster --extra dev -c tools/constraints.txt -o requirements.txt
	$(PIN) $(UPGRADE) --extra bench --extra exercises -c tools/constraints.txt -c requirements.txt -o requirements-bench.txt

clean: ## remove what was built (the environment stays)
	rm -rf _build book/generated
