"""What a function that templates may call looks like; builtins, peer and sprig make tables of it.

A module of functions exports ``FUNCTIONS: tuple[Function, ...]`` (sprig also ``REFUSALS:
tuple[Refusal, ...]``); table.py joins them. Values are described in values.py. Functions are pure
but for what Needs grants them; CallError (faults.py) is how they fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Allocator(Protocol):
    """What a run allows a function to make; a method that refuses ends the run."""

    def check_string(self, characters: int) -> None:
        """Refuse a string of this many characters before it is built."""

    def check_list(self, items: int) -> None:
        """Refuse a list of this many items before it is built."""

    def check_tree(self, value: object) -> bool:
        """Refuse a value whose text would be too large, too deep or endless, before writing it.

        Gives whether it is plain: texts, whole numbers, booleans and nulls in dicts and lists.
        """

    def spend(self, steps: int) -> None:
        """Charge for work that takes longer than its result is large: one step is about 100 ns."""

    def check_width(self, characters: int) -> None:
        """Refuse this much padding: printf's width and precision, an indent."""


NextRandom = Callable[[int], int]


class Injects(Enum):
    """What the engine hands a function as its first argument, before the template's own."""

    NOTHING = "nothing"
    ALLOCATOR = "budget"
    # A Draw: draw(bound) gives a whole number in [0, bound), the same for every run with the same
    # XR and text of the call. Conformance pins every draw to 0: what 0 gives is what it expects.
    RANDOM = "draw"
    # The engine's own functions only: the run itself (include); the first argument as it is
    # written in the template (call).
    RUN = "run"
    SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function by the name templates call it.

    ``takes`` lists Go's parameter types separated by blanks; a last one that ends in "..." takes
    any number: ``"string int any..."``. Arguments are checked before ``call`` sees them:

    ``any``     interface {}: any value, None for nil
    ``value``   reflect.Value: any value, nil told apart (None in a container, MISSING elsewhere)
    ``string``  str; ``bool`` bool; ``float64`` float
    ``int``     Int (literals too); ``int64`` int
    ``map``     map[string]interface {}: dict, or NilMap() for a missing value or literal nil
    ``list``    []interface {}: list, or NilList() likewise
    other       exactly that go_type, for example ``time.Time`` or ``uint32``

    ``call`` is a Python function: it gets what ``needs`` says, then the arguments, by position,
    and raises CallError with Go's text. What it makes is charged for afterwards; one whose result
    can be much larger than its arguments checks with a Budget before.

    ``makes`` is false when the result is one of the arguments or a part of one, which costs
    nothing. ``mutates`` says that it changes an argument. ``gives`` may name the result's Go type
    when it is always ``string``, ``bool`` or ``int``: it saves a check. ``option`` is the option
    of the step without which the function is refused: ``stable_values`` for draws, ``crypto``
    for keys. ``package`` is what must be installed for it, an extra of this one. ``cost`` are the
    steps a call takes beside what it makes.
    """

    name: str
    parameters: str
    call: object
    injects: Injects = Injects.NOTHING
    allocates: bool = True
    mutates: bool = False
    returns: str = "any"
    option: str = ""
    package: str = ""
    cost: int = 0

    @property
    def parameter_types(self) -> tuple[str, ...]:
        """The types of ``takes`` without the dots."""
        return tuple(word.removesuffix("...") for word in self.parameters.split())

    @property
    def variadic(self) -> bool:
        """Whether the last parameter takes any number of arguments."""
        return self.parameters.endswith("...")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """A function Go's users know and we do not offer, with the reason and what to use instead."""

    name: str
    reason: str
