"""Canon projected into Neo4j: a copy for graph questions, which can be dropped at any time."""
