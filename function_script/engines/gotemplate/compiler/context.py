"""The facts about a program that each of its templates is compiled with."""

from collections.abc import Mapping

from function_script.engines.gotemplate.compiler.missing_values import Policy
from function_script.engines.gotemplate.errors import EvalError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.operations import calls
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.sites import Site


class Context:
    """The facts about all templates of a program.

    ``templates`` are their names, ``assigned`` those of variables that some ``=`` changes.
    ``missing`` is the value of an absent key, ``policy`` says what using it does.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        templates: frozenset[str],
        assigned: frozenset[str],
        missing: MissingKey,
        policy: Policy,
    ) -> None:
        self.callees: calls.Callees = calls.Callees(functions)
        self.templates: frozenset[str] = templates
        self.assigned: frozenset[str] = assigned
        self.missing: MissingKey = missing
        self.policy: Policy = policy
        # A call that changes data was compiled.
        self.has_mutation: bool = False
        # Failures that are certain once their place is reached.
        self.failures: list[tuple[Site, EvalError]] = []
