"""Chat models by name. Nothing else knows a provider, and none is loaded before it is asked."""
