# make run | test | check | bench | bench-check | soak | screenshots | kitty | docs | wheel-check | lock | clean. Everything they need is put into .venv.
.PHONY: run test check suite bench bench-check crash soak local-eval screenshots kitty docs wheel-check lock clean
.DEFAULT_GOAL := run

BIN := .venv/bin
SOURCES := smith_core smith_tui tests screenshots docs/generate hatch_build.py

run: .venv/.runtime
	@.ci/run-app $(ARGS)

# Both at once: the checks need one core for some seconds, and the tests wait much.
test: .venv/.dev
	@$(MAKE) --no-print-directory -j 2 check suite

check: .venv/.dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Three workers for two cores, for tests of terminals mostly wait; those of a file share what they start. In the order
# of the files, for that with the fewest tests, which would be the last one, may be the longest.
PYTEST_ARGS ?= -n 3 --dist loadfile --no-loadscope-reorder

suite: .venv/.dev
	@$(BIN)/smith-tui model install small
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: .venv/.dev
	$(BIN)/python -m tests.bench $(ARGS)

# Counts instead of times: quick, and the same on every machine. ARGS=--renew makes the counts of now the baseline.
bench-check: .venv/.dev
	$(BIN)/python -m tests.bench.check $(ARGS)

crash: .venv/.dev
	$(BIN)/python -m tests.crash $(ARGS)

FUZZED := tests/core/commands/test_slash_lines.py tests/core/test_ansi.py tests/core/store/search/test_query.py \
	tests/core/dispatch/test_report.py tests/core/llm/test_deltas.py tests/core/config tests/core/test_window.py \
	tests/core/store/journal/test_journal.py tests/core/test_fileedit.py tests/tui/test_paste_parser.py

# An hour of random use, with a picture, after many walks through the engine's states. ARGS="--minutes 5" for less.
soak: .venv/.dev
	SMITH_STATES=200 SMITH_STATES_STEPS=50 $(BIN)/python -m pytest --timeout 3000 tests/core/session/test_session_states.py
	SMITH_EXAMPLES=2000 $(BIN)/python -m pytest --timeout 3000 $(FUZZED)
	nice -n 5 $(BIN)/python -m tests.soak $(ARGS)

local-eval: .venv/.dev
	nice -n 10 $(BIN)/python -m tests.local_eval $(ARGS)

screenshots: .venv/.dev
	$(BIN)/python screenshots/take.py

# The rain in a real kitty; as root: apt-get install --no-install-recommends kitty xvfb x11-utils imagemagick \
# libgl1-mesa-dri libgl1 libegl1 fonts-dejavu-core fonts-noto-cjk
kitty: .venv/.dev
	$(BIN)/python -m tests.kitty

# What the guide repeats of the code: settings, keys, commands, arguments; and the manual page.
docs: .venv/.dev
	$(BIN)/python -m docs.generate

# Installs the built package on each Python that is supported, and uses it there.
wheel-check: .venv/.dev
	$(BIN)/python -m tests.wheel $(ARGS)

.venv/.runtime: requirements.lock pyproject.toml
	@.ci/make-venv requirements.lock
	@touch $@

.venv/.dev: requirements-dev.lock pyproject.toml
	@.ci/make-venv requirements-dev.lock
	@touch .venv/.runtime $@

UV_COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock: .venv/.dev
	$(UV_COMPILE) --extra build --extra dev pyproject.toml -o requirements-dev.lock
	$(UV_COMPILE) --extra build pyproject.toml -c requirements-dev.lock -o requirements.lock

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .hypothesis .pytest_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
