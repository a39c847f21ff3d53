# SPDX-License-Identifier: Apache-2.0
"""A prim with instanceable = true brings its content in by a reference or payload.

Why: OpenUSD shares what comes through a composition arc.  Without one the flag does nothing: nothing is shared, and a
converter that trusts it writes a broken node.

Fails: `instanceable = true` on a prim whose children are written right below it.
Passes: `instanceable = true` together with `references`, `payload` or an inherited class.

Fix: safe.  The flag without an arc has no effect, so it is removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("inst-arc", "3.5", "must", on="stage", fix="safe", fix_title="remove instanceable")
def inst_arc(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask OpenUSD whether the prim became an instance."""
    for node in _find_candidates(snapshot):
        prim = node.prim
        if prim.IsInstanceable() and not prim.IsInstance():
            # an arc that leads nowhere shares nothing either, but is reported as such
            if prim.HasAuthoredReferences() or prim.HasPayload() or prim.HasAuthoredInherits():
                continue
            if node.in_prototype and node.parent is None:
                continue  # the root of a prototype is instanceable by nature
            yield Finding(
                "the prim is instanceable but has no reference, payload or inherited class: nothing is shared",
                hint="bring its content in by a reference or payload, or remove instanceable",
                at=node,
            )


def _find_candidates(snapshot: StageSnapshot) -> Iterator[PrimNode]:
    """Nodes that may have the flag: by the names of the specs that say it, to ask few prims."""
    names: set[str] = set()
    targets: set[str] = set()
    for facts in snapshot.layers:
        names.update(path.StripAllVariantSelections().name for path in facts.instanceable)
        targets.update(arc.target.name for arc in facts.arcs)
        if not facts.is_root:
            targets.add(str(facts.layer.defaultPrim).rpartition("/")[2])
    if names:
        anywhere = bool(names & targets)  # a prim takes another name where it is referenced
        yield from (n for n in snapshot.nodes if n.prototype is None and (anywhere or n.name in names))
