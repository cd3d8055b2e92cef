"""Parts of a template that run, and that nobody can mean.

Each is certain from the text alone, whatever the request has.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.arguments import CONSTANTS, move_subject
from function_script.engines.gotemplate.positions import Finding
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.texts.source import Source

_REPLACING: Final = frozenset({"regexReplaceAll", "regexReplaceAllLiteral"})
_EFFECTS: Final = registry.MUTATING | {"fail"}
# Messages and hints for functions whose results Go prints where nobody stores them.
_PRINTED_BY_MISTAKE: Final = {
    **dict.fromkeys(
        ("append", "prepend", "push"),
        ("gives a new list, which is printed here", "write {{ $list = append $list ITEM }}"),
    ),
    "set": ("changes the map and prints it here", "write {{ $_ := set MAP KEY VALUE }}"),
    "unset": ("changes the map and prints it here", "write {{ $_ := unset MAP KEY }}"),
}
_VERB: Final = re.compile(r"%[-+# 0]*\d*(?:\.\d*)?[a-zA-Z]")


def find(trees: parser.Trees, source: Source) -> list[Finding]:
    """Return the doubtful parts of a text that compiles."""
    doubts = [
        *_find_in_nodes(trees),
        *find_printed(trees, source),
        *(doubt for root in trees.values() for doubt in _find_unread_variables(root)),
    ]
    return sorted(doubts)


def _find_unread_variables(root: Sequence[nodes.Node]) -> Iterator[Finding]:
    """Find declarations in actions that nothing reads; not those of range and with."""
    parts = [*nodes.walk_nodes(root)]
    words = chain.from_iterable(part.words for part in parts if isinstance(part, nodes.Command))
    read = {word.declaration for word in words if isinstance(word, nodes.Variable)}
    declared: set[nodes.Variable] = set()
    for pipe in (part.pipe for part in parts if isinstance(part, nodes.Action)):
        for variable in () if pipe.assigns else pipe.declared:
            name = variable.names[0]
            declared.add(variable)
            # A name that begins with an underscore is meant to be unread, and a pipeline may be
            # written for what it does and not for its value.
            effects = (getattr(part, "name", "") in _EFFECTS for part in nodes.walk_nodes([pipe]))
            if variable in read or name.startswith("$_") or any(effects):
                continue
            if variable.declaration in declared:
                message = f"{name} is another variable here, which ends with this block"
                hint = f"set the one outside with =, not :=: {name} = …"
            else:
                message = f"{name} is set and never read"
                hint = "take it out, or read it where it is meant"
            yield Finding(variable.position, len(name), message, hint)


def _find_in_nodes(trees: parser.Trees) -> Iterator[Finding]:
    for part in nodes.walk_trees(trees):
        match part:
            case nodes.Template(name=name, pipe=None) if _reads_dot(trees.get(name, ())):
                message = f'the template "{name}" reads its dot, and is given nothing'
                hint = f'write {{{{ template "{name}" . }}}}'
                yield Finding(part.position, len("template"), message, hint)
            case nodes.Pipe(commands=commands):
                yield from _find_constant_subjects(commands)
            case nodes.Command(
                words=(nodes.Identifier(name="eq" | "ne"), nodes.String(), nodes.String())
            ):
                # Two constants: a variable has lost its value to quotes.
                for word in part.words[1:]:
                    if isinstance(word, nodes.String) and word.value.startswith("$"):
                        message = f"{word.quoted} is a text here, and no variable"
                        yield Finding(
                            word.position, len(word.quoted), message, f"write {word.value}"
                        )
            case nodes.Command():
                yield from _find_constant_conditions(part)
            case nodes.Number(position=position, text=text, integer=code) if text[0] == "'":
                message = f"{text} is the number {code}, not a text"
                yield Finding(position, len(text), message, f'write "{text[1:-1]}"')


def find_printed(trees: parser.Trees, source: Source) -> Iterator[Finding]:
    """Find actions that print the result of a function that is called for its effect."""
    for part in nodes.walk_trees(trees):
        match part:
            case nodes.Action(pipe=nodes.Pipe(declared=(), commands=[command])) if (
                command.function in _PRINTED_BY_MISTAKE
            ) and "#" not in source.text[: command.position].rpartition("\n")[2]:
                # A comment of YAML hides what it prints.
                name = command.function
                message, hint = _PRINTED_BY_MISTAKE[name]
                yield Finding(command.position, len(name), f"{name} {message}", hint)


def _find_constant_subjects(commands: Sequence[nodes.Command]) -> Iterator[Finding]:
    """Find calls whose last argument is a constant in the place of a value."""
    for index, command in enumerate(commands):
        yield from _find_odd_counts(command, len(command.words) - 1 + (index > 0))
        before = commands[index - 1].words if index else ()
        is_piped = len(before) == 1
        name, arguments = command.function, (*command.words[1:], *(before if is_piped else ()))
        if index and not is_piped:
            continue
        if name in _REPLACING and len(arguments) == len(("pattern", "text", "replacement")):
            pattern, text, replacement = map(nodes.argument_source, arguments)
            if isinstance(arguments[1], CONSTANTS) and not isinstance(arguments[2], CONSTANTS):
                message = f"{name} works on the constant {text}"
                hint = (
                    f"the text comes before its replacement: {name} {pattern} {replacement} {text}"
                )
                yield Finding(command.position, len(name), message, hint)
        if (moved := move_subject(name, arguments)) is not None:
            last = nodes.argument_source(arguments[-1])
            message = f"{name} works on the constant {last}"
            if name == "default":
                message = f"default gives {last} every time, for this is never empty"
            hint = f"the value that it works on comes last: {moved}"
            yield Finding(command.position, len(name), message, hint)


def _find_odd_counts(command: nodes.Command, count: int) -> Iterator[Finding]:
    """Find calls with a value that nothing takes, and a dict with half a pair."""
    match command.words:
        case (nodes.Identifier(name="printf"), nodes.String(value=text) as format_, *_):
            verbs = _VERB.findall(text.replace("%%", ""))
            if "*" in text or "[" in text or len(verbs) == count - 1:
                return
            message = f"printf has {len(verbs)} verbs and {count - 1} values"
            yield Finding(
                format_.position,
                len(nodes.argument_source(format_)),
                message,
                "each verb takes one value",
            )
        case (nodes.Identifier(name="default"), *_) if count > len(("fallback", "value")):
            message = f"default has {count} arguments, and reads the first two"
            hint = "write one default and one value: default DEFAULT VALUE"
            yield Finding(command.position, len("default"), message, hint)
        case (nodes.Identifier(name="dict"), *_) if count % 2:
            message = f"dict has {count} arguments: the last key has no value"
            hint = "write pairs of key and value: dict KEY VALUE KEY VALUE"
            yield Finding(command.position, len("dict"), message, hint)
        case _:
            pass


def _reads_dot(tree: Sequence[nodes.Node]) -> bool:
    """Report whether a template certainly reads fields of what it is given."""
    parts = [*nodes.walk_nodes(tree)]
    # In a body of `with` or `range`, a field is one of another value.
    return any(isinstance(part, nodes.Field) for part in parts) and not any(
        isinstance(part, (nodes.With, nodes.Range)) for part in parts
    )


def _find_constant_conditions(command: nodes.Command) -> Iterator[Finding]:
    """Find ``or (ne x A) (ne x B)``, always true, and ``and (eq x A) (eq x B)``, never true."""
    opposite = {"or": "ne", "and": "eq"}.get(command.function, "")
    compared: dict[str, str] = {}
    for word in command.words[1:]:
        match word:
            case nodes.Pipe(
                commands=[nodes.Command(words=(nodes.Identifier(name=name), left, right))]
            ) if (
                name == opposite
                and isinstance(right, CONSTANTS)
                and not isinstance(left, CONSTANTS)
            ):
                constant = nodes.to_source(right)
                first = compared.setdefault(nodes.to_source(left), constant)
                if first != constant:
                    name = command.function
                    is_true = name == "or"
                    yield Finding(
                        position=command.position,
                        width=len(name),
                        message=f"this is {'always' if is_true else 'never'} true, for "
                        f"{nodes.to_source(left)} cannot be both {first} and {constant}",
                        hint=f"write {'and' if is_true else 'or'}",
                    )
                    return
