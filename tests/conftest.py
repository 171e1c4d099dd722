"""Hypothesis profiles: few cases by default, many with HYPOTHESIS_PROFILE=long."""

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("default", max_examples=100, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
