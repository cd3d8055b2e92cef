"""Whether an object in the cluster is ready, and if not, why: one rule for each kind.

Called for composed resources by `progress`, and by the library. Knows objects and nothing of
the protocol. The table of kinds is `kinds`; what an author can say for one resource is `rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.objects import find_path
from function_script.readiness.kinds import rule_of
from function_script.readiness.rules import Rule, parse_rule
from function_script.readiness.verdict import READY, Verdict, not_ready

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Readable

__all__ = ["READY", "Rule", "Verdict", "judge", "not_ready", "parse_rule"]


def judge(resource: Mapping[str, Readable] | None, rule: Rule | None = None) -> Verdict:
    """The verdict on an observed object; None stands for one that does not exist.

    ``rule`` is the author's own; without one the object's kind decides.
    """
    if resource is None:
        return not_ready("does not exist yet")
    if find_path(resource, ("metadata", "deletionTimestamp")) is not None:
        return not_ready("is being deleted")
    return rule(resource) if rule is not None else rule_of(resource)(resource)
