"""Settings for all tests: the same examples each time under CI, and no clock in a verdict."""

import os

from hypothesis import settings

settings.register_profile("ssplain", deadline=None, max_examples=50, derandomize="CI" in os.environ)
settings.load_profile("ssplain")
