"""Settings of all tests: hypothesis profiles, and figures without a screen."""

import os

import hypothesis

os.environ.setdefault("MPLBACKEND", "Agg")
hypothesis.settings.register_profile("dev", max_examples=10, deadline=None)
hypothesis.settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
