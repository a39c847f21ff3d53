# SPDX-License-Identifier: Apache-2.0
"""ros:context:parent_frame, if given, is a string that can be a TF frame.

Why: it becomes the frame_id of the robot's true pose.  tf2 refuses ids with a leading slash, and ids with
spaces cannot be looked up by most tools.

Fails: `string ros:context:parent_frame = "/world"`.
Passes: `string ros:context:parent_frame = "map"`, or none: "world".

Fix: none.  Which frame is meant cannot be known.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.names import is_frame_id
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:parent_frame"


@rule("ctx-parentframe", "2.1", "may", on="api:RosContextAPI")
def ctx_parentframe(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only an authored value counts: the schema's fallback is on every context."""
    value = node.authored(_NAME)
    if value is None:
        return
    # a token or an asset as value: its text is not judged as well
    faults = list(check_declared(node, _NAME, "string"))
    yield from faults
    if not faults and isinstance(value, str) and not is_frame_id(value):
        yield Finding(
            f"{_NAME} is {value!r}, which tf2 does not take as a frame id",
            hint="use letters, digits and underscores without a leading slash, for example map",
            at=node,
            prop=_NAME,
            data={"value": value},
        )
