"""The number of examples that a property test tries.

A usual run draws the same examples every time, so more of them would not say more for long.
``make search`` draws others, and many more of them.
"""

import os

from hypothesis import HealthCheck, settings

# How many times the usual number of examples; 0 in a usual run.
SEARCH_FACTOR = int(os.environ.get("SEARCH_EXAMPLES", "0"))
_DEFAULT_EXAMPLES = 25


def examples(count: int) -> settings:
    """Return the settings of a test that usually tries ``count`` examples."""
    return settings(max_examples=count * max(1, SEARCH_FACTOR))


def load_profile() -> None:
    """Load the profile of a usual run, or of ``make search``.

    No example has a deadline, because a test machine may be slow or busy. Only a search has a
    database of failed examples: it would give a usual run a memory of earlier ones.
    """
    settings.register_profile(
        "repeatable",
        settings(),
        max_examples=_DEFAULT_EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=True,
        database=None,
    )
    settings.register_profile(
        "search",
        settings(),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=False,
        max_examples=_DEFAULT_EXAMPLES * max(1, SEARCH_FACTOR),
        print_blob=True,
    )
    settings.load_profile("search" if SEARCH_FACTOR else "repeatable")
