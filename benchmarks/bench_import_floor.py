# SPDX-License-Identifier: Apache-2.0
"""Reading OpenUSD against its floor: open the stage, walk it once, and let OpenUSD's C++ physics parser run.

Three kinds of stage, small and large: a robot referenced many times, boxes, a chain of jointed bodies.  Then
one body with a thousand mesh colliders, whose mass has to be computed from the meshes.  The floor reads no
mesh, no name, no material and no solver attribute.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Result, compare_cpu, growth
from simwright.formats.table import read_asset

LIMIT = 3.0
HEAD = '#usda 1.0\n(\n    defaultPrim = "w"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
LIMBS = 15
"""Jointed bodies of one robot; with its trunk it has as many bodies as the usual humanoid."""
COLLIDERS = 1000


def robot() -> str:
    """A trunk and limbs, each with a collider, a visual, a driven joint and a solver's attributes."""
    limbs = "".join(
        f"""
    def Xform "limb{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        double3 xformOp:translate = ({i + 1}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Capsule "collider" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            uniform token axis = "X"
            double radius = 0.05
            double height = 0.4
            uniform token purpose = "guide"
        }}
        def Capsule "visual"
        {{
            uniform token axis = "X"
            double radius = 0.05
            double height = 0.4
            color3f[] primvars:displayColor = [(0.2, 0.4, 0.6)]
        }}
        def PhysicsRevoluteJoint "joint" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
        {{
            rel physics:body0 = {"</w/trunk>" if i == 0 else f"</w/limb{i - 1}>"}
            rel physics:body1 = </w/limb{i}>
            uniform token physics:axis = "Y"
            point3f physics:localPos0 = (0.5, 0, 0)
            point3f physics:localPos1 = (-0.5, 0, 0)
            float physics:lowerLimit = -90
            float physics:upperLimit = 90
            float drive:angular:physics:stiffness = 10
            float drive:angular:physics:damping = 1
            float physxJoint:armature = 0.01
        }}
    }}"""
        for i in range(LIMBS)
    )
    trunk = """
    def Sphere "trunk" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double radius = 0.2
    }"""
    return (
        f'{HEAD}def Xform "w" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])\n{{{trunk}{limbs}\n}}\n'
    )


def robots(count: int) -> str:
    """The robot, referenced ``count`` times."""
    copies = "".join(
        f"""
    def "r{i}" (references = @robot.usda@)
    {{
        double3 xformOp:translate = (0, {i}, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}"""
        for i in range(count)
    )
    return f'{HEAD}def Xform "w"\n{{{copies}\n}}\n'


def boxes(count: int) -> str:
    """Free boxes, scaled."""
    prims = "".join(
        f"""
    def Cube "b{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {{
        double size = 1
        double3 xformOp:translate = ({i}, 0, 0)
        quatf xformOp:orient = (1, 0, 0, 0)
        float3 xformOp:scale = (0.5, 0.5, 0.5)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
    }}"""
        for i in range(count)
    )
    return f'{HEAD}def Xform "w"\n{{{prims}\n}}\n'


def chain(count: int) -> str:
    """Bodies with a mass, a collider and a joint to the one before."""
    prims = "".join(
        f"""
    def Xform "b{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        double3 xformOp:translate = ({i}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            double size = 0.1
        }}
        def PhysicsRevoluteJoint "j"
        {{
            {f"rel physics:body0 = </w/b{i - 1}>" if i else ""}
            rel physics:body1 = </w/b{i}>
            point3f physics:localPos0 = ({1 if i else 0}, 0, 0)
            float physics:lowerLimit = -10
            float physics:upperLimit = 10
        }}
    }}"""
        for i in range(count)
    )
    return f'{HEAD}def Xform "w"\n{{{prims}\n}}\n'


def colliders(count: int) -> str:
    """One body with many small mesh colliders, all different."""
    prims = "".join(
        f"""
        def Mesh "m{i}" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {{
            uniform token physics:approximation = "convexHull"
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, {1 + i * 1e-3})]
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
            uniform token subdivisionScheme = "none"
        }}"""
        for i in range(count)
    )
    body = f'def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n    {{{prims}\n    }}'
    return f'{HEAD}def Xform "w"\n{{\n    {body}\n}}\n'


def run_floor(path: Path) -> object:
    """Open and compose, walk, and parse the physics in C++ (a yardstick: the reader does not use the parser)."""
    from pxr import Usd, UsdPhysics

    stage = Usd.Stage.Open(str(path))
    count = sum(1 for _ in stage.Traverse())
    return count, UsdPhysics.LoadUsdPhysicsFromRange(stage, ["/"])


CASES = (
    ("robots by reference", "robots", robots, (16, 128)),
    ("boxes", "boxes", boxes, (250, 2000)),
    ("chain", "chain", chain, (250, 2000)),
)
FLOOR = "open + walk + C++ parse"


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "robot.usda").write_text(robot())
        for title, name, make, sizes in CASES:
            times = []
            for size in sizes:
                path = Path(folder) / f"{name}{size}.usda"
                path.write_text(make(size))
                ours, floor = compare_cpu(partial(read_asset, path), partial(run_floor, path))
                times.append(ours)
                note = "" if size == sizes[0] else growth(sizes, times)
                yield Result(f"import {size:,} {title}", times[-1], FLOOR, floor, LIMIT, note)
        path = Path(folder) / "colliders.usda"
        path.write_text(colliders(COLLIDERS))
        name = f"import {COLLIDERS:,} mesh colliders of one body"
        note = "meshes are read and measured, which the floor does not"
        ours, floor = compare_cpu(partial(read_asset, path), partial(run_floor, path), 3)
        yield Result(name, ours, FLOOR, floor, None, note)
