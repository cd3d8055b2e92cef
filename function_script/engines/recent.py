"""The results for the last programs, by the identity of a program: no text is compared."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from function_script.request.limits import Limits
from function_script.request.program import Program

_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")
_Make = Callable[Concatenate[Program, Limits, _Rest], _Result]


def remembered(max_entries: int) -> Callable[[_Make[_Rest, _Result]], _Make[_Rest, _Result]]:
    """Return a decorator for a function of a program and limits, the last results of which stay.

    Both are known by their identity: a step has the same objects in each request, and the key of a
    cache by content would be made of all its texts each time. Without room, all are forgotten.
    """

    def decorate(make: _Make[_Rest, _Result]) -> _Make[_Rest, _Result]:
        # Each with its objects, whose identities no others have meanwhile.
        recent: dict[int, tuple[Program, Limits, _Result]] = {}

        def find(
            program: Program, limits: Limits, /, *rest: _Rest.args, **named: _Rest.kwargs
        ) -> _Result:
            entry = recent.get(id(program))
            if entry is None or entry[1] is not limits:
                entry = program, limits, make(program, limits, *rest, **named)
                if len(recent) >= max_entries:
                    recent.clear()
                recent[id(program)] = entry
            return entry[2]

        return find

    return decorate
