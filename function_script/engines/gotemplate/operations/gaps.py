"""Operations of templates that leave gaps: each action fails on its own.

An action that changes data stops the run instead: the data would be used unchanged.
"""

from function_script.engines.gotemplate import errors, missing
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.operations.frame import Body, Frame, Statement, record_site
from function_script.engines.gotemplate.run import Run


class Handler:
    """The way on after an action failed, whose statements are those from ``start`` to ``end``.

    ``poisoned`` are the slots of the variables that it declares or assigns; None: it prints.
    """

    def __init__(self, start: int, end: int, poisoned: list[int] | None, *, mutates: bool) -> None:
        self.start: int = start
        self.end: int = end
        self.poisoned: list[int] | None = poisoned
        self.mutates: bool = mutates

    def recover(self, frame: Frame, error: GoError) -> int:
        """Leave a gap or poison; return the statement behind the action."""
        run = frame.run
        if self.mutates:
            missing.fail_without_gap(error)
        if self.poisoned is not None:
            for slot in self.poisoned:
                frame.values[slot] = missing.poison(error)
        else:
            site = run.sites[0] if run.sites else frame.site
            if site is None:
                raise error
            missing.leave_gap(run, error, site)
        run.sites.clear()
        return self.end


class DeferringBody(Body):
    """A compiled template that leaves gaps; ``is_whole``: one of several documents has none."""

    def __init__(
        self, statements: list[Statement], slots: int, handlers: list[Handler], *, is_whole: bool
    ) -> None:
        super().__init__(statements, slots)
        self.handlers: list[Handler] = handlers
        self.is_whole: bool = is_whole

    def render(self, run: Run, data: object) -> None:
        """Run the statements; after a failure, go on behind the action."""
        frame = Frame(run, data, self.slots)
        statements = self.statements
        index, end = 0, len(statements)
        try:
            while index < end:
                try:
                    while index < end:
                        index += statements[index].run(frame)
                except (errors.NoValueError, errors.FieldError) as error:
                    handler = self.find_handler(index)
                    if handler is None:
                        raise
                    index = handler.recover(frame, error)
        except (errors.NoValueError, errors.FieldError) as error:
            record_site(frame)
            if self.is_whole:
                missing.fail_without_gap(error)
            raise
        except (GoError, LimitExceededError, RecursionError):
            record_site(frame)
            raise

    def find_handler(self, index: int) -> Handler | None:
        """Return the handler of a statement."""
        for handler in self.handlers:
            if handler.start <= index < handler.end:
                return handler
        return None
