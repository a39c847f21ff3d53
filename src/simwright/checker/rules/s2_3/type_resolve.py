# SPDX-License-Identifier: Apache-2.0
"""Interface types are written package/msg/Type and exist.

Why: a simulator looks the type up in the sourced ROS environment.  What it cannot find it disables: the robot
starts, and the topic is not there.

Fails: `"sensor_msgs/Image"` (the ROS 1 form), `"sensor_msgs/msg/Imege"` (unknown).
Passes: `"sensor_msgs/msg/Image"`; a type of a sourced package, or of a folder given in the settings.

Reading: a malformed type is an error.  An unknown one is a warning, because custom packages may simply not be
here: types are looked for in a bundled list of standard interfaces, in AMENT_PREFIX_PATH and in the folders of
the `interfaces` setting.

Fix: safe.  Another spelling of a known type gets the three-part form; anything else is only suggested.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import KINDS as WORDS
from simwright.checker.facts.interfaces import find_types, is_well_formed, repair
from simwright.checker.facts.names import KINDS
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "type-resolve",
    "2.3",
    "must",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="safe",
    fix_title="write the three-part form of the known type",
)
def type_resolve(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Missing and empty types are reported by topic-type, srv-type and act-type."""
    for api, kind in KINDS.items():
        name = f"ros:{kind}:type"
        value = node.authored(name) if node.has(api) else None
        if isinstance(value, str) and value.strip():
            yield from _check(node, name, value, WORDS[kind], snapshot)


def _check(node: PrimNode, prop: str, value: str, word: str, snapshot: StageSnapshot) -> Iterator[Finding]:
    if not is_well_formed(value):
        meant = repair(value, word)
        yield Finding(
            f"the type {value!r} is not of the form package/{word}/Type",
            hint=f'write string {prop} = "{meant}"' if meant else f"write it as package/{word}/Type",
            at=node,
            prop=prop,
            data={"value": value, "meant": meant},
        )
        return
    types = find_types(snapshot)
    if types.knows(value):
        return
    meant = types.suggest(value)
    package = value.partition("/")[0]
    # a known package without the type is a typo; an unknown package may only not be sourced
    lacks = "has no such type" if types.knows_package(package) else "is not known here"
    advice = "source the ROS 2 workspace that has it, or list its folder in the interfaces setting"
    yield Finding(
        f"the type {value!r} is not found: the package {package} {lacks}",
        hint=f"did you mean {meant}? If not, {advice}" if meant else advice,
        at=node,
        prop=prop,
        level=Level.WARNING,
        data={"value": value, "meant": meant},
    )
