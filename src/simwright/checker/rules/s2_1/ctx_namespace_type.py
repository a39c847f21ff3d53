# SPDX-License-Identifier: Apache-2.0
"""ros:context:namespace is a string.

Why: simulators ask the attribute for a string; a token, an array or a number gives them nothing, and the
robot's topics end up in the root namespace.

Fails: `token ros:context:namespace = "robot_1"`.
Passes: `string ros:context:namespace = "robot_1"`.

Reading: the schema says `uniform`, the REP's own example leaves it out; both are accepted.  Time samples
are not: a namespace cannot change over time.

Fix: safe.  The attribute is declared as string; the text stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared, strongest_spec
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:namespace"


@rule(
    "ctx-namespace-type",
    "2.1",
    "may",
    on="api:RosContextAPI",
    fix="safe",
    fix_title="declare ros:context:namespace as string",
)
def ctx_namespace_type(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the layers for the declared type: a registered schema would answer with its own."""
    yield from check_declared(node, _NAME, "string")
    # node.authored would answer with the default value and hide the samples
    spec = strongest_spec(node, _NAME)
    if spec is not None and spec.HasInfo("timeSamples"):
        yield Finding(
            f"{_NAME} has time samples; a namespace is fixed",
            hint=f'write one value: string {_NAME} = "robot_1"',
            at=node,
            prop=_NAME,
        )
