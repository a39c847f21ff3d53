"""Collision groups as pairs, against OpenUSD's own table of groups."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.filtering import find_filtered_pairs

NAMES = "abcd"
BODY = """def Xform "{0}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{
    def Sphere "s_{0}" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
    }}
}}
"""
GROUP = """def PhysicsCollisionGroup "g_{name}" {{
    rel collection:colliders:includes = </R/{name}/s_{name}>
    rel physics:filteredGroups = [{filtered}]
    bool physics:invertFilteredGroups = {inverted}
    {merge}
}}
"""


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_of_openusd(seed):
    """Four colliders in four groups, with random filters, and either inversions or merges.

    With both, OpenUSD 26 can tell two groups apart that are merged (seen: a group without filters that is
    inverted ignores one of them but not the other), so the two are not mixed here.
    """
    dice = random.Random(seed)
    content = '#usda 1.0\ndef Xform "R" {\n' + "".join(BODY.format(name) for name in NAMES)
    for name in NAMES:
        filtered = ", ".join(f"</R/g_{other}>" for other in NAMES if dice.random() < 0.3)
        inverted = seed % 2 == 0 and dice.random() < 0.3
        merge = 'string physics:mergeGroup = "m"' if seed % 2 == 1 and dice.random() < 0.4 else ""
        content += GROUP.format(name=name, filtered=filtered, inverted=str(inverted).lower(), merge=merge)
    layer = Sdf.Layer.CreateAnonymous("groups.usda")
    assert layer.ImportFromString(content + "}\n")
    stage = Usd.Stage.Open(layer)
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    expected = {
        (f"s_{a}", f"s_{b}")
        for a, b in combinations(NAMES, 2)
        if not table.IsCollisionEnabled(Sdf.Path(f"/R/g_{a}"), Sdf.Path(f"/R/g_{b}"))
    }
    assert find_filtered_pairs(read_stage(stage, ReadOptions(), Reporter())) == expected
