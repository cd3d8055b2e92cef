"""Scripts that mean harm or went wrong, and what has to become of them: the whole table.

test_starlark_hostile.py runs those that the engine ends itself, test_pool_programs.py the others.
"""

from hostile.cases import DOCUMENT, KILLED, LIMIT, OK, PROGRAM, TIME, Hostile
from hostile.cases import main_of as _main
from hostile.starlark_bombs import MEMORY_ROWS, STACK_ROWS, TIME_ROWS

RESULT_ROWS = (
    Hostile(
        id="not-a-number",
        script=_main('return {"x": [1, float("nan")], "y": float("inf")}'),
        must=DOCUMENT,
        says="x[1] is not a finite number",
    ),
    Hostile(
        id="keys-that-become-equal",
        script=_main('return {"m": {1: "a", "1": "b"}}'),
        must=DOCUMENT,
        says="m has the key 1",
    ),
    Hostile(
        id="tuple-as-key",
        script=_main('return {(1, 2): "a"}'),
        must=DOCUMENT,
        says="the key (1, 2)",
    ),
    Hostile(
        id="range-in-the-result",
        script=_main('return {"a": {"b": [1, range(3)]}}'),
        must=DOCUMENT,
        says="a.b[1] has type range",
    ),
    Hostile(
        id="function-in-the-result",
        script=_main('return {"f": len}'),
        must=DOCUMENT,
        says="f has type function",
    ),
    Hostile(
        id="integer-of-71-bits",
        script=_main('return {"n": 1 << 70}'),
        must=DOCUMENT,
        says="n is an integer beyond 2**53",
    ),
    Hostile(
        id="integer-of-400-digits",
        script=_main('return {"n": int("9" * 400)}'),
        must=DOCUMENT,
        says="beyond 2**53",
    ),
    Hostile(
        id="no-return",
        script=_main('req["x"] = 1'),
        must=DOCUMENT,
        says="main must return a dict, not NoneType",
    ),
    Hostile(
        id="list-returned", script=_main("return [1, 2]"), must=DOCUMENT, says="a dict, not list"
    ),
    Hostile(
        id="number-beyond-doubles",
        script=_main('return json.decode("1e400")'),
        must=PROGRAM | KILLED,
    ),
    Hostile(
        id="struct-returned",
        script=_main("return struct(a = (1, 2), b = struct(c = 1.5))"),
        must=OK,
    ),
)

CONTRACT_ROWS = (
    Hostile(id="no-main", script="x = 1\n", must=PROGRAM, says="must define main(req)"),
    Hostile(id="empty", script="", must=PROGRAM, says="must define main(req)"),
    Hostile(id="main-is-a-number", script="main = 5\n", must=PROGRAM, says="must be a function"),
    Hostile(
        id="main-without-parameter",
        script="def main():\n    return {}\n",
        must=PROGRAM,
        says="exactly one argument",
    ),
    Hostile(
        id="state-between-runs",
        script="seen = {}\n" + _main('seen["x"] = True', "return {}"),
        must=PROGRAM,
        says="change a copy",
        at=(3, 5),
    ),
    Hostile(
        id="our-names-taken",
        script="json = None\nrun = 1\nto_json = 1\ndef get(p):\n    return 1\n"
        + _main("return {}"),
        must=OK,
    ),
    Hostile(
        id="load-of-nothing",
        script='load("other.star", "x")\n' + _main("return {}"),
        must=PROGRAM,
        at=(1, 1),
    ),
    Hostile(
        id="equals-in-a-dict",
        script=_main("return {desired=req}"),
        must=PROGRAM,
        says="texts followed by a colon",
        at=(2, 20),
    ),
    Hostile(
        id="tab", script="def main(req):\n\treturn {}\n", must=PROGRAM, says="spaces", at=(2, 1)
    ),
    Hostile(id="byte-order-mark", script="\ufeff" + _main("return {}"), must=OK),
    Hostile(
        id="while", script=_main("while True:", "    pass"), must=PROGRAM, says="for _", at=(2, 5)
    ),
    Hostile(id="set", script=_main("return set([1])"), must=PROGRAM, says="a dict", at=(2, 12)),
    Hostile(id="undefined", script=_main("return nmae"), must=PROGRAM, at=(2, 12)),
    Hostile(id="open", script=_main('return open("x")'), must=PROGRAM, at=(2, 12)),
    Hostile(
        id="no-python-attributes",
        script=_main('return {"c": getattr(req, "__class__", "none")}'),
        must=OK,
    ),
    Hostile(
        id="change-while-looping",
        script=_main("for k in req:", '    req[k + "x"] = 1', "return req"),
        must=PROGRAM,
        at=(3, 9),
        request='{"a": 1}',
    ),
    Hostile(
        id="whole-number-from-the-request",
        script=_main('return {"xs": [0] * req["n"]}'),
        must=OK,
        request='{"n": 3}',
    ),
)

OUTPUT_ROWS = (
    Hostile(
        id="a-megabyte-of-message",
        script=_main('fail("x" * 1000000)'),
        must=PROGRAM,
        at=(2, 5),
    ),
    Hostile(
        id="a-long-line",
        script=_main("x = '" + "a" * 200000 + "' + 1", "return x"),
        must=PROGRAM,
        at=(2, 9),
    ),
    Hostile(
        id="fake-position",
        script=_main('fail("a\\n --> script:99:99\\nerror: b")'),
        must=PROGRAM,
        at=(2, 5),
    ),
    Hostile(
        id="prints",
        script=_main('print("\\033[2Jfake\\nlevel=error msg=x", range(3))', "return {}"),
        must=OK,
    ),
    Hostile(
        id="flood-of-prints",
        script=_main("for i in range(10000000):", '    print("x" * 100)', "return {}"),
        must=TIME,
    ),
)

SIZE_ROWS = (
    Hostile(
        id="half-a-million-lines",
        script="".join(f"x{i} = {i}\n" for i in range(500000)),
        must=LIMIT,
        says="bytes of source",
    ),
    Hostile(
        id="a-long-literal",
        script="x = '" + "a" * 1000000 + "'\n",
        must=LIMIT,
        says="bytes of source",
    ),
    Hostile(
        id="request-nested-too-deeply",
        script=_main("return req"),
        must=LIMIT,
        says="nested too deeply",
        request='{"a": ' + "[" * 200 + "]" * 200 + "}",
    ),
    Hostile(
        id="number-marker-of-the-json-parser",
        script=_main('return {"x": req["a"]}'),
        must=OK,
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
