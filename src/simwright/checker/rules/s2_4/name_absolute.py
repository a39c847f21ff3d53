# SPDX-License-Identifier: Apache-2.0
"""Topic names do not start with a slash.

Why: a leading slash bypasses the robot's namespace.  Two such robots publish to one topic.  REP-0158 asks for names
relative to the active namespace.

Fails: `string ros:topic:name = "/scan"`; the same for services and actions.
Passes: `"scan"`.  Names that are global by design pass: /tf, /tf_static, /diagnostics, /clock.

Fix: unsafe.  Without the slash the topic moves into the namespace.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import KINDS, effective_namespace
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

# REP-0158 2.9 forbids /clock in an asset; that rule says so
_GLOBAL = frozenset({"/tf", "/tf_static", "/diagnostics", "/clock"})


@rule(
    "name-absolute",
    "2.4",
    "should",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="unsafe",
    fix_title="drop the leading slash",
)
def name_absolute(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Names that are global by design are let through."""
    for api, kind in KINDS.items():
        prop = f"ros:{kind}:name"
        value = node.authored(prop) if node.has(api) else None
        if not isinstance(value, str) or not value.startswith("/") or value in _GLOBAL:
            continue
        namespace = effective_namespace(node)
        bare = value.strip("/")
        yield Finding(
            f"the {kind} name {value!r} is absolute and bypasses the namespace {namespace or 'of the context'}",
            hint=f'write string {prop} = "{bare}", which becomes {namespace}/{bare}',
            at=node,
            prop=prop,
            data={"value": value},
        )
