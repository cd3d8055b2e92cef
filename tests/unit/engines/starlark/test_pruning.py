"""What a script can reach of a request is found from its text."""

import pytest

from function_script.engines.starlark.analysis import pruning

MAIN = "def main(req):\n"
ALL = "everything"


def _paths(*texts: str) -> set[str]:
    def walk(tree: object, path: tuple[str, ...]) -> list[str]:
        if tree is None:
            return [".".join(path) or ALL]
        assert isinstance(tree, dict)
        if path and not tree:
            return [".".join(path) + "{}"]
        return [found for key, below in tree.items() for found in walk(below, (*path, key))]

    return set(walk(pruning.project_request(texts), ()))


CASES = {
    "nothing": (MAIN + "    return {}\n", set()),
    "one observed resource": (
        MAIN + '    return {"a": req["observed"]["resources"]["bucket"]}\n',
        {"observed.resources.bucket"},
    ),
    "a name for a part": (
        MAIN + '    observed = req["observed"]["resources"]\n    return {"a": observed.get("b")}\n',
        {"observed.resources.b"},
    ),
    "a question for a name": (
        MAIN + '    if "b" in req["observed"]["resources"]:\n        pass\n    return {}\n',
        {"observed.resources.b.resource{}"},
    ),
    "getters of the prelude": (
        MAIN + '    return {"a": get_observed(req, "b"), "c": get_xr(req)}\n',
        {"observed.resources.b", "observed.composite"},
    ),
    "fields that getters of the prelude read": (
        MAIN + '    a = get_observed(req, "b", "status.x", default = 1)\n'
        '    return {"a": a, "c": get_xr(req, "spec.a.b", 2), "d": get_xr(req, "kind")}\n',
        {
            "observed.resources.b.resource.status.x",
            *("observed.composite.resource.spec.a.b", "observed.composite.resource.kind"),
        },
    ),
    "a field of a resource with a computed name": (
        MAIN + '    return {"a": [get_observed(req, n, "status.x", 1) for n in ["b", "c"]]}\n',
        {"observed.resources.*.resource.status.x"},
    ),
    "a getter with spread arguments": (
        MAIN
        + '    a, b = ["b"], get_desired(req, "c", *a)\n'
        + '    return {"a": get_observed(req, *a)}\n',
        {"observed.resources", "desired.resources.c"},
    ),
    "a computed field of a getter": (
        MAIN + '    n = "x"\n    return {"a": get_xr(req, "spec." + n)}\n',
        {"observed.composite"},
    ),
    "the object of a getter with an empty path": (
        MAIN + '    return {"a": get_xr(req, "")}\n',
        {"observed.composite.resource"},
    ),
    "fields of the composite resource": (
        MAIN + '    xr = req["observed"]["composite"]["resource"]\n'
        '    spec, of_desired = xr["spec"], req["desired"]["composite"]\n'
        '    return {"a": spec["x"]["y"]["z"], "b": "c" in spec, "d": of_desired.get("ready")}\n',
        {
            *("observed.composite.resource.spec.c{}", "observed.composite.resource.spec.x.y"),
            *("desired.composite.ready", "desired.composite.resource{}"),
        },
    ),
    "a comparison of a branch": (
        MAIN + '    return {"a": req["context"] == None, "b": "meta" in req}\n',
        {"context{}", "meta"},
    ),
    "a path of get": (
        MAIN + '    return {"a": get(req, "context.region", "eu")}\n',
        {"context.region"},
    ),
    "a function of the script": (
        "def region(r):\n    return r['params']['region']\n"
        + MAIN
        + '    return {"a": region(req)}\n',
        {"params"},
    ),
    "a function that gives a part back": (
        "def seen(r):\n    return r['observed']['resources']\n"
        + MAIN
        + '    return {"a": seen(req)["b"]}\n',
        {"observed.resources.b"},
    ),
    "a loop over a part": (
        MAIN + '    for name in req["context"]:\n        pass\n    return {}\n',
        {"context"},
    ),
    "a loop over names": (
        MAIN + '    for name in req["observed"]["resources"]:\n        pass\n    return {}\n',
        {"observed.resources.*.resource{}"},
    ),
    "a field of all resources": (
        MAIN + '    all = req["observed"]["resources"]\n'
        '    return {"a": [e["resource"]["status"]["x"] for e in all.values()]}\n',
        {"observed.resources.*.resource.status.x"},
    ),
    "a part of a resource that is read as a whole": (
        MAIN + '    spec = req["observed"]["resources"]["b"]["resource"]["spec"]\n'
        '    return {"a": spec["size"], "b": len(spec)}\n',
        {"observed.resources.b.resource.spec"},
    ),
    "a field at the end of a long path": (
        MAIN + '    all = req["observed"]["resources"]\n'
        '    return {"a": get(all, "b.resource.status.at.list[0].name")}\n',
        {"observed.resources.b.resource.status.at.list"},
    ),
    "a field of one resource and another of all": (
        MAIN + '    all = req["observed"]["resources"]\n'
        '    a = all["b"]["resource"]["spec"]\n'
        "    for name, entry in sorted(all.items()):\n"
        '        a = entry.get("ready")\n'
        "    return {'a': a}\n",
        {
            *("observed.resources.*.resource{}", "observed.resources.*.ready"),
            *("observed.resources.b.resource.spec", "observed.resources.b.ready"),
        },
    ),
    "a resource of all in the result": (
        MAIN + '    for entry in req["desired"]["resources"].values():\n'
        '        req["params"]["x"] = entry\n    return {}\n',
        {"desired.resources.*", "params"},
    ),
    "a path of all resources": (
        MAIN + '    all = req["observed"]["resources"]\n'
        '    return {"a": [get(all[name], "resource.spec.x") for name in sorted(all)]}\n',
        {"observed.resources.*.resource.spec.x"},
    ),
    "the number of resources": (
        MAIN + '    return {"a": len(req["observed"]["resources"])}\n',
        {"observed.resources.*.resource{}"},
    ),
    "a computed name": (
        MAIN + '    n = "x"\n    return {"a": req["desired"]["resources"].get(n + "y")}\n',
        {"desired.resources.*"},
    ),
    "a computed name for a getter": (
        MAIN + '    n = "x"\n    return {"a": get_connection_details(req, n)}\n',
        {"observed.resources", "observed.composite"},
    ),
    "a part in the result": (
        MAIN + '    return {"desired": req["desired"]}\n',
        {"desired"},
    ),
    "the truth of a part": (
        MAIN + '    return {"a": 1} if req["context"] else {}\n',
        {"context"},
    ),
    "the request in the result": (MAIN + "    return req\n", {ALL}),
    "the request to an unknown function": (MAIN + "    return {'n': len(req)}\n", {ALL}),
    "the request in a lambda": (MAIN + "    f = lambda: req\n    return f()['params']\n", {ALL}),
    "the request in a list": (MAIN + "    xs = [req]\n    return xs[0]\n", {ALL}),
    "a function passed around": (
        MAIN + "    def f():\n        return req\n    g = f\n    return g()['params']\n",
        {ALL},
    ),
    "a getter under another name": (
        "g = get_xr\n" + MAIN + "    return {'a': g(req)}\n",
        {ALL},
    ),
    "a getter of the script's own": (
        "def get_xr(r):\n    return r['params']\n" + MAIN + "    return {'a': get_xr(req)}\n",
        {"params"},
    ),
    "a type that looks inside": (
        "def f(r: dict[str, typing.Any]):\n    return 1\n" + MAIN + "    return {'a': f(req)}\n",
        {ALL},
    ),
    "main is no function of this script": ("main = len\n", {ALL}),
    "no main": ("x = 1\n", {ALL}),
    "a character by its name": (MAIN + "    return {'a': req['\\N{DIGIT ONE}']}\n", {ALL}),
    "a lone carriage return": (MAIN + "    # \r    return {}\n    return {}\n", {ALL}),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_reach_is_found(text: str, expected: set[str]) -> None:
    """What a script names is wanted, and all of what it treats as a whole."""
    assert _paths(text) == expected


def test_reach_goes_through_modules() -> None:
    """A function that was loaded is followed like one of the script's own."""
    main = 'load("l", region = "r")\n' + MAIN + "    return {'a': region(req)}\n"
    assert _paths(main, "def r(x):\n    return x['context']['eu']\n") == {"context.eu"}
    assert _paths(main, "r = lambda x: x['context']['eu']\n") == {ALL}
