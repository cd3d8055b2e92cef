"""Scripts that mean harm or went wrong, and what has to become of them: the whole table."""

from hostile.cases import DOCUMENT, KILLED, LIMIT, OK, PROGRAM, TIME, Hostile
from hostile.cases import main_of as _main
from hostile.starlark_bombs import MEMORY_ROWS, STACK_ROWS, TIME_ROWS

RESULT_ROWS = (
    Hostile(
        "not-a-number",
        _main('return {"x": [1, float("nan")], "y": float("inf")}'),
        DOCUMENT,
        "x[1] is not a finite number",
    ),
    Hostile(
        "keys-that-become-equal",
        _main('return {"m": {1: "a", "1": "b"}}'),
        DOCUMENT,
        "m has the key 1",
    ),
    Hostile("tuple-as-key", _main('return {(1, 2): "a"}'), DOCUMENT, "the key (1, 2)"),
    Hostile(
        "integer-of-400-digits", _main('return {"n": int("9" * 400)}'), DOCUMENT, "beyond 2**53"
    ),
    Hostile("number-beyond-doubles", _main('return json.decode("1e400")'), PROGRAM | KILLED),
    Hostile("struct-returned", _main("return struct(a = (1, 2), b = struct(c = 1.5))"), OK),
)

CONTRACT_ROWS = (
    Hostile("empty", "", PROGRAM, "must define main(req)"),
    Hostile("main-is-a-number", "main = 5\n", PROGRAM, "must be a function"),
    Hostile(
        "our-names-taken",
        "json = None\nrun = 1\nto_json = 1\ndef get(p):\n    return 1\n" + _main("return {}"),
        OK,
    ),
    Hostile("byte-order-mark", "\ufeff" + _main("return {}"), OK),
    Hostile("no-python-attributes", _main('return {"c": getattr(req, "__class__", "none")}'), OK),
)

OUTPUT_ROWS = (
    Hostile("a-megabyte-of-message", _main('fail("x" * 1000000)'), PROGRAM, at=(2, 5)),
    Hostile("a-long-line", _main("x = '" + "a" * 200000 + "' + 1", "return x"), PROGRAM, at=(2, 9)),
    Hostile("fake-position", _main('fail("a\\n --> script:99:99\\nerror: b")'), PROGRAM, at=(2, 5)),
    Hostile(
        "prints", _main('print("\\033[2Jfake\\nlevel=error msg=x", range(3))', "return {}"), OK
    ),
    Hostile(
        "flood-of-prints",
        _main("for i in range(10000000):", '    print("x" * 100)', "return {}"),
        TIME,
    ),
)

SIZE_ROWS = (
    Hostile(
        "quotes-that-do-not-close",
        _main("return {}") + "raise " + 'x\\"' * 60_000,
        PROGRAM,
        "cannot use reserved keyword",
    ),
    Hostile("braces", "x = " + "{" * 10_000 + "a.b.\n", PROGRAM, "values stand without braces"),
    Hostile("last-statement-of-many-digits", _main("return {}") + "9" * 5_000 + "\n", OK),
    Hostile("last-statement-with-a-tuple-as-key", _main("return {}") + "{(1, 2): 3}\n", OK),
    Hostile(
        "half-a-million-lines",
        "x = 1\n" * 500_000,
        LIMIT,
        "a source of 3000000 bytes",
    ),
    Hostile(
        "number-marker-of-the-json-parser",
        _main('return {"x": req["a"]}'),
        OK,
        request='{"a": {"$serde_json::private::Number": "5"}}',
    ),
)

PROGRAMS = (
    *TIME_ROWS,
    *MEMORY_ROWS,
    *STACK_ROWS,
    *RESULT_ROWS,
    *CONTRACT_ROWS,
    *OUTPUT_ROWS,
    *SIZE_ROWS,
)
