"""Tell the mistakes that a run has with any data from those that may be about data not at hand.

Required and observed resources, the context, credentials and the status of an XR may not be there.
"""

from __future__ import annotations

import re
from typing import Final

from function_script.engines.lint import find_values
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.source import Span
from function_script.tools.check import rules
from function_script.tools.check.report import Finding
from function_script.tools.check.xr_runs import CROSSPLANE, XR, Run

_STATUS: Final = (*XR[:-1], "status")
# Fields of every XR.
_IDENTITY: Final = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
# The words by which programs read what a folder may lack: first what a new XR lacks as well.
_STATE: Final = r"observed(?:\W{1,5}resources|_)|get_?composed|connection|status|condition|is_ready"
_ELSEWHERE: Final = re.compile(
    r"desired|context|requir|extra|credential|environment|lookup|claimRef|resourceRefs"
    r"|compositionRe|(?<![.\w$\"'])(?:expand)?env\b(?!:)|metadata(?!\W{1,4}name(?:space)?\b)",
    re.IGNORECASE,
)
_OUTSIDE: Final = re.compile(f"{_STATE}|{_ELSEWHERE.pattern}", re.IGNORECASE)
# A script writes these: keys of its dicts, and fields of the response.
_WRITTEN: Final = re.compile(
    r"[\"'](?:metadata|status|conditions?|extra\w*)[\"'] *:"
    r"|\.(?:set_)?(?:status|condition|context|requirement|connection_detail)s?\("
)
# A key of a script with a value that no data can mend.
_LITERAL: Final = re.compile(
    r"\"(?P<key>[^\"]*)\"\s*:\s*(?:-?[0-9.]+|True|False|\"[^\"]*\")\s*(?:[,}]|$)"
)
# A field of a template with a value that no action writes.
_FIXED: Final = re.compile(r"[ -]*[\w./-]+: +[\w.\"'/:+ -]+")
# The metadata of a document, line by line, of which no action writes whole lines.
_METADATA: Final = re.compile(
    r"(?m)^metadata:\n(?: +(?!annotations: *\S)[\w./\"-]+:.*\n)*(?=\w|---|\Z)"
)


def is_of_xr(problem: Diagnostic, step: Step, run: Run) -> bool:
    """Report whether an error is about the XR for certain, and not about what is not at hand."""
    span = problem.span
    if span is None:
        # A run that waited for a CPU has no code.
        is_limit = problem.kind == "limit" and problem.code is not None
        return is_limit and not _may_read_outside(step, run)
    if problem.kind != "limit" and problem.code and _is_written_out(problem.code, step, span, run):
        return True
    lint, line = step.language.lint, _lines_from(step, span)[0]
    # A value that is written out in a template, or a line that does not follow the one before.
    if (problem.field or not problem.code) and _is_constant(step, span, 1 if problem.field else 2):
        return True
    # A value that is written out in a script; of a field that is absent, this is another one.
    literal = _LITERAL.match(line, (span.column or 1) - 1)
    if literal is not None and objects.read_path(problem.field)[-1:] == (literal["key"],):
        return True
    if run.has_secrets:
        return False
    # Of a path of several names, each name is a read, and the last one is what the line has.
    reads = [
        read.path
        for read in lint.find_reads(step.program)
        if (read.span.name, read.span.line) == (span.name, span.line)
        and not line.startswith((".", ']["', "]['"), (read.span.column or 0) + read.span.width - 1)
    ]
    if not reads:
        return not _may_read_outside(step, run)
    is_new = run.is_at_hand and _is_new(run)
    # The names of the XR's own fields say nothing.
    for name in {str(key) for path in reads for key in path}:
        line = line.replace(name, "")
    return (
        all(
            path[:1] == ("params",)
            or (path[:1] == ("context",) and find_near_key(path, run))
            or (path[:3] == XR[:-1] and path[3:] in _IDENTITY)
            # Every XR begins without them, and without resources a failure is the last word.
            or (is_new and (path[:2] == ("observed", "resources") or path[:4] == _STATUS))
            or (
                path[: len(XR)] == XR
                and path[len(XR) : len(XR) + 1] not in [(name,) for name in CROSSPLANE]
                and not any(_overlaps(("spec", *path[len(XR) :]), each) for each in run.invented)
            )
            for path in reads
        )
        and not (_ELSEWHERE if is_new else _OUTSIDE).search(_WRITTEN.sub("", line))
    )


def is_fixed(finding: Finding) -> bool:
    """Report whether a schema refuses what a line writes out, which comes from no status."""
    span, excerpt = finding.diagnostic.span, finding.diagnostic.excerpt
    line = "" if span is None or excerpt is None else excerpt.lines[span.line - excerpt.first_line]
    code, key = finding.diagnostic.code, line[(span.column or 1) - 1 :] if span else ""
    # Of an unknown field the name alone is wrong.
    is_name = code is not None and key.strip("\"'").startswith(code.subject)
    is_fixed = is_name or _FIXED.fullmatch(line) or _LITERAL.fullmatch(line.strip())
    return bool(is_fixed) and finding.rule in (rules.SCHEMA.name, rules.SCHEMA_VERSION.name)


def find_near_key(path: objects.Path, run: Run) -> str | None:
    """Return the key of the XR or context at hand that is meant where the last one is absent."""
    xr: Object = {"composite": {"resource": run.inputs.xr}}
    holder = objects.find_path({"observed": xr, "context": run.inputs.context}, path[:-1])
    key = str(path[-1])
    return (
        spelling.find_slip(key, holder) if isinstance(holder, dict) and key not in holder else None
    )


def _is_constant(step: Step, span: Span, count: int) -> bool:
    """Report whether a template writes out the last ``count`` lines up to a position."""
    lines = slice(max(0, span.line - count), span.line)
    return any(
        source.name == span.name and text.split("\n")[lines] == source.text.split("\n")[lines]
        for source, text in step.language.lint.find_documents(step.program)
    )


def _is_new(run: Run) -> bool:
    """Report whether an XR has no status and no resources yet, and no text of it is made up."""
    return not (run.invented or run.is_late or run.inputs.observed or "status" in run.inputs.xr)


def _may_read_outside(step: Step, run: Run) -> bool:
    """Report whether a program has a word of what a folder may lack.

    Every XR begins without a status and without composed resources, as one at hand that has none.
    What a script writes into dicts and its response reads nothing, nor does the text around the
    actions of a template. With texts that are made up, any word counts.
    """
    is_new = _is_new(run)
    documents = () if run.invented else step.language.lint.find_documents(step.program)
    around = {source.name: text for source, text in documents}
    return any(
        around.get(source.name, "")[match.start() : match.end()] != match[0]
        for source in step.program.sources()
        for match in (_ELSEWHERE if is_new else _OUTSIDE).finditer(
            source.text if run.invented else _WRITTEN.sub(lambda m: " " * len(m[0]), source.text)
        )
    )


def _is_written_out(code: Code, step: Step, span: Span, run: Run) -> bool:
    """Report whether the program's own text is wrong, such as a name or key that is there twice.

    No data that is not at hand can mend that, nor a key that a list of the XR has twice.
    """
    lines = _lines_from(step, span)
    if code.name == "program":
        return True
    if code.name == "duplicate-name":
        names = {name for name, _ in step.language.lint.find_composed_kinds(step.program)}
        texts = [source.text for source in step.program.sources()]
        return code.subject in names or any(f'"{code.subject}"' in text for text in texts)
    if code.name == "duplicate-key":
        request: Object = {"observed": {"composite": {"resource": run.inputs.xr}}}
        return bool(re.match(rf"[ -]*[\"']?{re.escape(code.subject)}[\"']? *:", lines[0])) or any(
            find_values(request, access.path).count(code.subject) > 1
            for access in step.language.lint.find_accesses(step.program)
            if (access.span.name, access.span.line) == (span.name, span.line) and not run.invented
        )
    if code.subject:
        # A key, or an annotation that is taken for the one with the name.
        return lines[0][(span.column or 1) - 1 :].lstrip(" \"'").startswith(code.subject)
    metadata = _METADATA.search(re.split(r"(?m)^---", "\n".join(lines))[0])
    return metadata is not None and lines[0].startswith("apiVersion:")


def _overlaps(path: objects.Path, other: objects.Path) -> bool:
    length = min(len(path), len(other))
    return length > 1 and path[:length] == other[:length]


def _lines_from(step: Step, span: Span) -> list[str]:
    """Return the lines of a program from a position on, at least one."""
    texts = (source.text for source in step.program.sources() if source.name == span.name)
    return next(texts, "").split("\n")[span.line - 1 :] or [""]
