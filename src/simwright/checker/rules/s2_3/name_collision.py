# SPDX-License-Identifier: Apache-2.0
"""No two interfaces have the same full name by accident.

Why: two types on one topic do not talk to each other, and two publishers or two servers answer in turns.  With
namespaces joined from several files, the clash is not visible in any single one.

Fails: `scan` as LaserScan and `scan` as PointCloud2 in one namespace; two publishers of `/robot/joint_states`.
Passes: a publisher and a subscription of one topic; a topic and a service of one name; two publishers of which
at most one starts enabled; TF, which many may send.

Reading: two publishers may be intended; it is a warning like the rest.

Fix: none.  Which one is to be renamed is the author's choice.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import InterfaceName
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule

# topics that several nodes publish by design
_SHARED = ("/tf", "/tf_static", "/diagnostics", "/clock", "/rosout", "/parameter_events")
_SOURCES = {"topic": "publisher", "service": "server", "action": "server"}


@rule("name-collision", "2.3", "should", on="stage")
def name_collision(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Group by full name and kind; each prim is reported once."""
    if not snapshot.interfaces:
        return
    groups: dict[tuple[str, str], list[InterfaceName]] = {}
    for interface in snapshot.names.everywhere:
        if interface.name and not interface.resolved.endswith(_SHARED):
            groups.setdefault((interface.kind, interface.resolved), []).append(interface)
    seen: set[tuple[int, str]] = set()
    for group in groups.values():
        for interface, fault in _compare(group) if len(group) > 1 else ():
            if (id(interface.node), interface.kind) not in seen:
                seen.add((id(interface.node), interface.kind))
                yield Finding(
                    f"the {interface.kind} {interface.resolved} {fault}",
                    hint="rename one of them, or give one a context with a namespace of its own",
                    at=interface.node,
                    prop=f"ros:{interface.kind}:name",
                    data={"name": interface.resolved},
                )


def _compare(group: list[InterfaceName]) -> Iterator[tuple[InterfaceName, str]]:
    first = group[0]
    source: InterfaceName | None = None
    for interface in group:
        if interface.type and first.type and interface.type != first.type:
            yield interface, f"is {interface.type} here and {first.type} on {first.path}"
            continue
        if interface.role != _SOURCES[interface.kind]:
            continue
        # alternatives of which one is started later
        if interface.node.authored(f"ros:{interface.kind}:starts_enabled") is False:
            continue
        if source is None:
            source = interface
        else:
            yield interface, f"has a second {interface.role} here, the first is {source.path}"
