"""Common ground of all formats: the neutral models, and the careful reading of hostile bytes."""
