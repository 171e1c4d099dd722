"""Canon projected into Neo4j: a copy that can be dropped at any time, for questions of the graph."""
