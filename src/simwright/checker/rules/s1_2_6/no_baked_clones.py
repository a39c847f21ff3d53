# SPDX-License-Identifier: Apache-2.0
"""No array of physics-enabled clones is baked into the file.

Why: the grid of environments is the simulator's to lay out at runtime, with as many as the machine can take.

Fails: identical robots at equal distances in rows, or all in one place; also as instances, or each with a namespace.
Passes: one robot, from which the simulator makes the array; robots that stand where a scene needs them; a small fleet
whose robots have a ROS namespace each.

Fix: unsafe.  The first copy is kept.

Reading: copies are counted as for `canonical-single`; here it is their regular places that show the array.  A fleet
of four times `clone_count` robots in a regular grid is one too.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.clones import find_clones
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things
from simwright.checker.rule import Finding, rule


@rule(
    "no-baked-clones",
    "1.2.6",
    "must not",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="keep the first copy",
)
def no_baked_clones(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per array, at its second copy: the first may stay."""
    for clones in find_clones(snapshot):
        # robots that a scene needs stand irregularly; a training grid does not
        if clones.is_array:
            yield Finding(
                f"{len(clones.bases)} copies of {clones.bases[0].name} ({count_things(clones.joints, 'joint')} each)"
                " stand in a regular grid: a baked array",
                hint="remove all but the first and let the simulator replicate it",
                at=clones.bases[1],
                data={"copies": [base.path for base in clones.bases]},
            )
