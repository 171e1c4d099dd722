"""Readers of foreign files, one module for each family. Each returns neutral models, and writes nothing."""
