"""Collision groups and filtered pairs."""

from __future__ import annotations

COLLIDER = '( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsFilteredPairsAPI"] )'
BODY = '( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI"] )'


def test_groups(read):
    found = read(f"""
def Xform "R" {{
    def Xform "arm" {{
        def Cube "a" {COLLIDER} {{}}
        def Cube "b" {COLLIDER} {{}}
        def Cube "seen" {{}}
    }}
    def Cube "floor" {COLLIDER} {{}}
    def PhysicsCollisionGroup "robot" ( prepend apiSchemas = ["CollectionAPI:colliders"] ) {{
        prepend rel collection:colliders:includes = </R/arm>
        prepend rel collection:colliders:excludes = </R/arm/b>
        prepend rel physics:filteredGroups = [</R/robot>, </R/floor>]
        bool physics:invertFilteredGroups = true
        string physics:mergeGroup = "all"
    }}
    def PhysicsCollisionGroup "nobody" ( prepend apiSchemas = ["CollectionAPI:colliders"] ) {{}}
}}""")
    robot, nobody = found.asset.collision_groups
    assert (robot.name, robot.members, robot.filtered) == ("robot", ["a"], ["robot"])
    assert robot.inverted
    assert robot.merge == "all"
    assert nobody.members == []
    assert found.kinds == {"usd-group-unknown", "usd-group-empty"}


def test_pairs(read):
    found = read(f"""
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{
    def Xform "x" {BODY} {{
        rel physics:filteredPairs = [</R/y>, </R/gone>]
        def Cube "xc" {COLLIDER} {{ rel physics:filteredPairs = </R/y> }}
    }}
    def Xform "y" {BODY} {{
        rel physics:filteredPairs = </R/x>
        def Cube "yc" {COLLIDER} {{}}
        def Cube "yd" {COLLIDER} {{}}
    }}
}}
def Xform "loose" {BODY} {{
    rel physics:filteredPairs = </R>
    def Cube "lc" {COLLIDER} {{}}
}}""")
    pairs = {(f.of, f.a, f.b) for f in found.asset.contact_filters}
    assert pairs == {
        ("body", "x", "y"),
        ("shape", "xc", "yc"),
        ("shape", "xc", "yd"),
        ("body", "loose", "x"),
        ("body", "loose", "y"),
    }
    assert len(found.asset.contact_filters) == 5
    assert "usd-pair-unknown" in found.kinds
