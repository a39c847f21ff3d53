# SPDX-License-Identifier: Apache-2.0
"""Topics have msg types, services srv types, actions action types.

Why: the three are different things to ROS; a publisher of a service type cannot be made.

Fails: a RosTopicAPI prim with `"std_srvs/srv/SetBool"`.
Passes: a RosServiceAPI prim with it.

Fix: none.  Either the type or the API is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import KINDS as WORDS
from simwright.checker.facts.interfaces import kind_of
from simwright.checker.facts.names import KINDS
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "type-kind-match",
    "2.3",
    "must",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
)
def type_kind_match(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare the middle word; malformed types are reported by type-resolve."""
    for api, kind in KINDS.items():
        name = f"ros:{kind}:type"
        value = node.authored(name) if node.has(api) else None
        if not isinstance(value, str):
            continue
        # empty for a malformed type, which type-resolve reports
        word = kind_of(value)
        if word and word != WORDS[kind]:
            fitting = next(a for a, k in KINDS.items() if WORDS[k] == word)
            yield Finding(
                f"a {kind} cannot have the type {value!r}, which is a {word} type",
                hint=f"use a type of the form package/{WORDS[kind]}/Type, or {fitting}",
                at=node,
                prop=name,
                data={"value": value, "kind": word},
            )
