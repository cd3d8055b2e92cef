"""Readiness of objects in the cluster, with the reason where one is not ready.

`kinds` has a rule for each kind; `checks` parses the rule that an author states for one resource.
Nothing here knows the protocol.
"""

from collections.abc import Mapping

from function_script.request.objects import find_path
from function_script.request.values import Readable
from function_script.step.readiness.checks import READY, Check, Verdict, not_ready, parse_rule
from function_script.step.readiness.kinds import rule_of

__all__ = ["READY", "Check", "Verdict", "judge", "not_ready", "parse_rule"]


def judge(resource: Mapping[str, Readable] | None, rule: Check | None = None) -> Verdict:
    """Judge an observed object; None stands for one that does not exist.

    ``rule`` is the author's; without it the rule of the object's kind decides.
    """
    if resource is None:
        return not_ready("does not exist yet")
    if find_path(resource, ("metadata", "deletionTimestamp")) is not None:
        return not_ready("is being deleted")
    return (rule or rule_of(resource))(resource)
