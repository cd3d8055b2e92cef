"""The lines of each room stay within budget.toml: a question to the author, and no law.

Whoever needs more raises the figure, and says why in a comment beside it.
"""

import tomllib

import pytest
from support.paths import ROOT

LIMITS = tomllib.loads((ROOT / "tests" / "architecture" / "budget.toml").read_text())
ROOMS = [(area, room, limit) for area, rooms in LIMITS.items() for room, limit in rooms.items()]


def count_lines(area: str, room: str) -> int:
    folder = ROOT / area / room
    files = [path for path in folder.rglob("*.py") if "proto" not in path.parts]
    return sum(len(path.read_text().splitlines()) for path in files)


@pytest.mark.parametrize(("area", "room", "limit"), ROOMS)
def test_room_is_within_its_budget(area: str, room: str, limit: int) -> None:
    lines = count_lines(area, room)
    assert lines <= limit, f"{area}/{room} has {lines} lines: which of them can go?"


@pytest.mark.parametrize("area", LIMITS)
def test_rooms_of_an_area_have_budgets(area: str) -> None:
    folders = {path.name for path in (ROOT / area).iterdir() if any(path.glob("**/*.py"))}
    rooms = folders - {"proto", "input_crds", "__pycache__"}
    assert rooms == set(LIMITS[area]), "write a figure for each folder in budget.toml"
