"""sprig's clock, which stands still: now is when the composite resource was made."""

import pytest

from function_script.engines.gotemplate.plain import render_text


def render(expression: str, creation_time: object = "2024-05-06T07:08:09Z") -> str:
    """Render with a composite resource that was created then."""
    metadata = {} if creation_time is None else {"creationTimestamp": creation_time}
    data = {"observed": {"composite": {"resource": {"metadata": metadata}}}}
    return render_text(f"{{{{ {expression} }}}}", data)  # type: ignore[arg-type] # a request


CASES = [
    pytest.param("now", "2024-05-06 07:08:09 +0000 UTC", id="now"),
    pytest.param('now | date "2006-01-02"', "2024-05-06", id="date"),
    pytest.param('now | dateModify "24h" | unixEpoch', "1715065689", id="later"),
    pytest.param("now.Year", "2024", id="year"),
    pytest.param("ago now", "0s", id="ago-now"),
    pytest.param("ago 1714979289", "0s", id="ago-seconds"),
    pytest.param("ago 1714979227", "1m2s", id="ago-earlier"),
    pytest.param('ago (now | dateModify "1500ms")', "-2s", id="ago-later-rounded"),
    pytest.param('durationRound (now | dateModify "-50h")', "2d", id="round"),
    pytest.param('durationRound (now | dateModify "50h")', "2d", id="round-later"),
    pytest.param('printf "%02d" now.Month', "05", id="month-is-a-number"),
    pytest.param('now.Format "MST"', "UTC", id="location"),
    pytest.param('ago "text"', "0s", id="ago-no-date"),
]


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_now_is_the_creation_time_of_the_composite_resource(expression: str, expected: str) -> None:
    """Every reconcile renders the same text."""
    assert render(expression) == expected


@pytest.mark.parametrize("creation_time", [None, "soon", 3], ids=["absent", "unreadable", "number"])
def test_now_is_1970_before_the_composite_resource_exists(creation_time: object) -> None:
    """For example when it is rendered from a file."""
    assert render("now | unixEpoch", creation_time) == "0"
