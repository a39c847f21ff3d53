# SPDX-License-Identifier: Apache-2.0
"""ros:context:domain_id, if given, is an int that can be a ROS domain.

Why: the domain decides which UDP ports are used.  Beyond 232 there is no port left, and between 102 and 214
the ports are those that Linux hands out to other programs.

Fails: `int ros:context:domain_id = 300`, or a string.
Passes: `int ros:context:domain_id = 42`, or none: the simulator's domain.

Reading: the range is ROS 2's, the REP only says int.

Fix: none.  The number is a choice of the whole system.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:domain_id"
# DDS port = 7400 + 250 * domain: above 232 there is no port; Linux hands out 32768 to 60999 as ephemeral
# ports
_LAST, _SAFE, _SAFE_AGAIN = 232, 101, 215


@rule("ctx-domainid", "2.1", "may", on="api:RosContextAPI")
def ctx_domainid(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only an authored value counts."""
    value = node.authored(_NAME)
    if value is None:
        return
    faults = list(check_declared(node, _NAME, "int"))
    if faults or not isinstance(value, int):
        yield from faults
    elif not 0 <= value <= _LAST:
        yield Finding(
            f"{_NAME} is {value}, ROS 2 has the domains 0 to {_LAST}",
            hint=f"choose 0 to {_SAFE}, which is safe on every system",
            at=node,
            prop=_NAME,
            data={"value": value},
        )
    elif _SAFE < value < _SAFE_AGAIN:
        yield Finding(
            f"{_NAME} is {value}; the ports of the domains {_SAFE + 1} to {_SAFE_AGAIN - 1} may be taken on Linux",
            hint=f"choose 0 to {_SAFE}, which is safe on every system",
            at=node,
            prop=_NAME,
            data={"value": value},
        )
