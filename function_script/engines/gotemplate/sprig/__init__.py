"""The functions of sprig 3.3, in groups; registry.py joins them with Go's.

Results are Go's to the byte, oddities included. Functions whose results change, and functions that
reach out of the sandbox, are unavailable, with a reason.
"""

from typing import Final

from function_script.engines.gotemplate.function import Function, Unavailable
from function_script.engines.gotemplate.sprig import (
    ciphers,
    dates,
    derived_password,
    dicts,
    encoding,
    flow,
    go_json,
    lists,
    numbers,
    paths,
    random_values,
    reflection,
    regex,
    semver,
    strings,
    unavailable,
    urls,
)

FUNCTIONS: Final[tuple[Function, ...]] = (
    *strings.FUNCTIONS,
    *numbers.FUNCTIONS,
    *flow.FUNCTIONS,
    *go_json.FUNCTIONS,
    *dicts.FUNCTIONS,
    *lists.FUNCTIONS,
    *reflection.FUNCTIONS,
    *encoding.FUNCTIONS,
    *regex.FUNCTIONS,
    *dates.FUNCTIONS,
    *paths.FUNCTIONS,
    *urls.FUNCTIONS,
    *semver.FUNCTIONS,
    *random_values.FUNCTIONS,
    *derived_password.FUNCTIONS,
    *ciphers.FUNCTIONS,
)
UNAVAILABLE: Final[tuple[Unavailable, ...]] = unavailable.UNAVAILABLE
