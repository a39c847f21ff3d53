# SPDX-License-Identifier: Apache-2.0
"""Relationships of extensions to ROS interfaces lead to prims that are such interfaces.

Why: a sensor or controller finds its topic by following the relationship.  A target without RosTopicAPI, or with the
other role, connects it to nothing.

Fails: `rel sensor:lidar:publisher` to an Xform without RosTopicAPI, to a missing prim, or to a subscription.
Passes: the same relationship to a prim with RosTopicAPI and `ros:topic:role = "publisher"`.

Fix: none.  Which interface was meant is not known.

Reading: relationships that a registered schema defines are checked by ctrl-targets-rel and ctrl-iface-role; here it
is the others, recognised by their last word (publisher, subscriber, topic, service, action, server, client).
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import EXTENSION_APIS
from simwright.checker.facts.names import KINDS
from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import split_words

_TOPIC, _CALL = ("RosTopicAPI",), ("RosServiceAPI", "RosActionAPI")
_WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    "publisher": (_TOPIC, "publisher"),
    "publishers": (_TOPIC, "publisher"),
    "subscriber": (_TOPIC, "subscription"),
    "subscribers": (_TOPIC, "subscription"),
    "subscription": (_TOPIC, "subscription"),
    "topic": (_TOPIC, ""),
    "topics": (_TOPIC, ""),
    "service": (("RosServiceAPI",), ""),
    "action": (("RosActionAPI",), ""),
    "server": (_CALL, "server"),
    "client": (_CALL, "client"),
}
"""Last word of a relationship's name -> APIs its target has, and the role."""


@rule("ext-rel-transport", "4.2.1", "should", on=EXTENSION_APIS)
def ext_rel_transport(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Relationships by name; their targets by API and role."""
    for name, paths in node.relationships().items():
        # the last word is the noun: "imagePublisher", "command_topic"
        words = split_words(name.rpartition(":")[2])
        if name in known_properties() or not words or words[-1] not in _WORDS:
            continue
        apis, role = _WORDS[words[-1]]
        for path in paths:
            problem = _judge(snapshot.node(path), apis, role)
            if problem:
                yield Finding(
                    f"{name} leads to {path}, which {problem}",
                    hint=f"target a prim with {' or '.join(apis)}"
                    + (f" and the role {role}" if role else ""),
                    prop=name,
                )


def _judge(target: PrimNode | None, apis: tuple[str, ...], role: str) -> str:
    if target is None:
        return "is not a prim"
    has = [api for api in apis if target.has(api)]
    if not has:
        return f"has no {' or '.join(apis)}"
    found = target.authored(f"ros:{KINDS[has[0]]}:role")
    return f"has the role {found}" if role and found and found != role else ""
