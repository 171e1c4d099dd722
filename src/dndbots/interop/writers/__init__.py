"""Writers of foreign formats. Each writes what one viewer knows, and nothing else."""
