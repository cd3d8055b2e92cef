"""No hint and no place hangs on the words of a message: all of them are changed here."""

from collections.abc import Callable

import pytest
import yaml
from diagnostics import catalogue
from diagnostics.catalogue import Mistake

from function_script.engines import signatures
from function_script.engines.gotemplate import positions
from function_script.engines.gotemplate.errors import GoError
from function_script.engines.jinja import exceptions, paths, policy
from function_script.engines.registry import LANGUAGES
from function_script.engines.starlark import calls, errors, interpreter, mistakes
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, HintedError
from function_script.texts.source import Source

PREFIX = "Zweifellos: "
# The empty parts of a request.
OTHER_PARTS = (
    *("context", "credentials", "input", "meta"),
    *("extra_resources", "required_resources", "required_schemas"),
)
# The places where messages are made, and the position of the message among the arguments.
CONSTRUCTORS = (
    (HintedError, "__init__", 1),
    (GoError, "__init__", 1),
    (positions.Finding, "__new__", 3),
    (exceptions.RenderError, "__init__", 1),
    (policy.Violation, "__init__", "message"),
    (errors.RefusalError, "__init__", 1),
    (mistakes.Finding, "__new__", 2),
    (calls.Problem, "__new__", 2),
    (paths.MissingPath, "__new__", 1),
)
# Those that have a program in a frame, by the language of the frame.
LANGUAGE_OF = {
    each.id: language
    for each in catalogue.load()
    for language in LANGUAGES
    if any(name.startswith(language) for name in each.diffs)
}
MISTAKES = [each for each in catalogue.load() if each.id in LANGUAGE_OF]
XR = yaml.safe_load((catalogue.HERE / catalogue.XR).read_text())


def text_of(mistake: Mistake) -> str:
    """The text of the program that has the mistake."""
    composition = yaml.load(mistake.files[catalogue.COMPOSITION], yaml.CSafeLoader)
    step_input = composition["spec"]["pipeline"][0]["input"]
    text: str = step_input.get("script") or step_input["inline"]
    return text


def problems_of(mistake: Mistake, text: str) -> list[Diagnostic]:
    """The problems that a run and all analyses of `check` report of a mistake's program."""
    language = LANGUAGES[LANGUAGE_OF[mistake.id]]
    # Caches of programs have their identity as the key.
    program = Program(main=Source(name="program", text=text))
    observed = {"composite": {"resource": XR}, "resources": {}}
    parts = dict.fromkeys(OTHER_PARTS, dict)
    desired = {"composite": {}, "resources": {}}
    states = {"observed": lambda: observed, "desired": lambda: desired}
    scope = Scope(request=Lazy({**states, **parts}), uid="u", seed="s")
    runs: list[Callable[[], object]] = [
        lambda: language.engine.check(program, Limits()),
        lambda: language.engine.evaluate(program, scope, Limits()),
    ]
    problems: list[Diagnostic] = []
    for run in runs:
        try:
            run()
        except FatalError as error:
            problems += error.diagnostics
            if run is runs[0]:
                # The analyses take a program that compiles.
                return problems
    problems += language.lint.find_unknown_names(program)
    problems += language.lint.find_failures(program)
    return [*problems, *language.lint.find_doubts(program)]


def change_words(patch: pytest.MonkeyPatch) -> None:
    """Write a word in front of every message, where it is made."""
    for owner, name, position in CONSTRUCTORS:
        patch.setattr(owner, name, _with_prefix(getattr(owner, name), position))
    reword = interpreter._reword

    def changed(text: str) -> tuple[str, str | None]:
        message, hint = reword(text)
        return PREFIX + message, hint

    patch.setattr(interpreter, "_reword", changed)
    problem = signatures.WrongArgument.problem.fget
    assert problem is not None
    patch.setattr(
        signatures.WrongArgument, "problem", property(lambda wrong: PREFIX + problem(wrong))
    )


def _with_prefix(call: Callable[..., object], position: int | str) -> Callable[..., object]:
    def call_changed(*arguments: object, **named: object) -> object:
        if isinstance(position, int) and len(arguments) > position:
            message = arguments[position]
            if message is not None:
                changed = f"{PREFIX}{message}"
                arguments = (*arguments[:position], changed, *arguments[position + 1 :])
        elif isinstance(position, str):
            named[position] = f"{PREFIX}{named[position]}"
        return call(*arguments, **named)

    return call_changed


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each.id for each in MISTAKES])
def test_hints_and_places_do_not_hang_on_words(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(mistake)
    before = problems_of(mistake, text)
    with monkeypatch.context() as patch:
        change_words(patch)
        after = problems_of(mistake, text)
    assert [(each.span, each.hint) for each in after] == [(each.span, each.hint) for each in before]


def test_words_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages of most mistakes, of which a fifth is enough, are made at the places above."""
    with monkeypatch.context() as patch:
        change_words(patch)
        messages = [
            problem.message
            for each in MISTAKES[::5]
            for problem in problems_of(each, text_of(each))
        ]
    unchanged = [message for message in messages if PREFIX not in message]
    # A template that is compiled already has the messages of its first time.
    assert len(unchanged) < len(messages) / 7, unchanged
