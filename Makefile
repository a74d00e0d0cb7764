# Set-up and the usual commands; `make help` lists them. All of it happens in .venv.

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help repro test lint ui bench lock clean-venv force

BIN := .venv/bin
INSTALLED := .venv/installed
EDITABLE := .venv/editable

# The first Python of 3.11 or newer; `make PYTHON=/path/to/python` chooses another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$p" && break; done)

# A virtual environment does not work where it was moved to: it is made anew.
ifneq ($(shell cat $(INSTALLED) 2>/dev/null),$(shell pwd))
$(INSTALLED): force
endif

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

# PARAMS may name another params file, whole or short, which takes the place of params.yaml.
repro: $(EDITABLE) ## run every stage that is stale; PARAMS=params/best.yaml for the best parameters
	@$(if $(PARAMS),$(BIN)/nmt use-params "$(PARAMS)")
	@$(BIN)/nmt check-params
	@PATH="$$PWD/$(BIN):$$PATH" dvc repro

test: lint ## ruff, mypy and all tests
	@PATH="$$PWD/$(BIN):$$PATH" python -m pytest -n 2 --dist worksteal

lint: $(EDITABLE) ## ruff and mypy alone
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

ui: $(EDITABLE) ## show the recorded runs in a browser
	@$(BIN)/nmt ui

bench: $(EDITABLE) ## measure speed, under twenty minutes, on a machine that does nothing else
	@PATH="$$PWD/$(BIN):$$PATH" python -m benchmarks --out benchmarks --page docs/performance.md

lock: $(EDITABLE) ## write requirements.lock anew, with the newest versions that pyproject.toml allows
	@CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/python -m piptools compile --quiet --upgrade \
		--all-extras --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --output-file requirements.lock.new pyproject.toml
	@# A build for one kind of device, such as torch==2.13.0+cpu, is nobody else's.
	@sed 's/^\([^ ]*==[^ +]*\)+[^ ]*/\1/' requirements.lock.new > requirements.lock
	@rm requirements.lock.new

clean-venv: ## remove the virtual environment
	rm -rf .venv

$(INSTALLED): requirements.lock
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer with venv on the PATH;" \
		"install one (Debian, Ubuntu: apt install python3-venv) or name one:" \
		"make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Installing the packages of requirements.lock into .venv: some minutes, once."
	@"$(PYTHON)" -m venv --clear .venv
	@$(BIN)/python -m pip install -qq --requirement requirements.lock
	@pwd > $@

$(EDITABLE): $(INSTALLED) pyproject.toml
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

force:
