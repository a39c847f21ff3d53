# SPDX-License-Identifier: Apache-2.0
"""No inertia matrix of six or nine values is authored.

Why: `physics:diagonalInertia` with `physics:principalAxes` is the only source of truth; a second form beside it
contradicts it sooner or later, and engines that read both refuse the stage.

Fails: `custom double[] inertia = [ixx, ixy, ixz, iyy, iyz, izz]`; `newton:inertia`; a matrix3d.
Passes: eigenvalues in `physics:diagonalInertia`, the rotation in `physics:principalAxes`.

Fix: unsafe.  The matrix is decomposed into the two core attributes and removed.

Reading: an array counts if its name has "inertia" in it and it holds 6 or 9 numbers; arrays of other lengths
(one value per point) do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.layers import LayerFacts, OpinionContent
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "inertia-no-6value",
    "1.3",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="decompose into physics:diagonalInertia and physics:principalAxes",
)
def inertia_no_6value(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The layer facts list arrays and physics properties already; only their names are looked at."""
    if not any("inertia" in name.lower() for name in facts.names):
        return
    # custom arrays are in no domain; newton:inertia is a vendor property
    paths = [*facts.matrices]
    paths += [opinion.path for opinion in facts.find(_is_inertia)]
    for path in dict.fromkeys(path for path in paths if "inertia" in path.name.lower()):
        count = _count_values(facts.layer.GetAttributeAtPath(path))
        if count in (6, 9):
            yield Finding(
                f"{path.name} holds an inertia matrix of {count} values",
                hint="write its eigenvalues to physics:diagonalInertia, their axes to physics:principalAxes, "
                "and remove it",
                at=path,
                layer=facts.layer,
                data={"values": count},
            )


def _is_inertia(content: OpinionContent) -> bool:
    return content.kind == "property" and "inertia" in content.what.lower()


def _count_values(spec: Sdf.AttributeSpec | None) -> int:
    if spec is None:
        return 0
    if spec.typeName == Sdf.ValueTypeNames.Matrix3d:
        return 9
    value = spec.default
    if spec.typeName.isArray and value is not None:
        # three double3 are a matrix too
        return len(value) * (len(value[0]) if len(value) and hasattr(value[0], "__len__") else 1)
    return 0
