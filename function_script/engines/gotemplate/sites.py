"""Places of a program's operations, for the positions of errors and of output."""

from function_script.engines.gotemplate.syntax.nodes import Placed


class Site:
    """The place of an operation: its node, and the template that has the node.

    ``function`` is the function that it calls, if any. ``element``: its value comes straight from a
    range, which changes the words of an error.
    """

    def __init__(
        self,
        node: Placed,
        template: str,
        function: str | None = None,
        element: bool = False,  # noqa: FBT001, FBT002 - by position, where compiled code is quick
    ) -> None:
        self.node: Placed = node
        self.template: str = template
        self.function: str | None = function
        self.element: bool = element
