"""Whole assets in other units, axes and times: the same machine, number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odd_units import Units, write_machine
from pxr import Gf, Sdf, Usd, UsdGeom, Vt

import simwright
from simwright.sanitizer.conversion.values import transform_points

RULES = ["units-meters", "units-kilograms", "units-timecodes", "axis-up-z"]
ODD = {
    "centimetres": Units(length=0.01),
    "millimetres and grams": Units(length=0.001, mass=0.001),
    "inches": Units(length=0.0254),
    "kilometres and tons": Units(length=1000.0, mass=1000.0),
    "frames": Units(rate=24.0),
    "all of them": Units(length=0.01, mass=0.001, rate=60.0),
}


def convert(source: Path, target: Path, **options: Any) -> Any:
    result = simwright.fix(source, target, select=RULES, unsafe=True, **options)
    assert not [note for note in result.notes if note.kind.startswith("fix-")], result.notes
    assert not [finding for finding in result.after if finding.kind in RULES]
    assert result.proven
    return result


def hold_numbers(one: Usd.Stage, other: Usd.Stage) -> int:
    """Every attribute of every prim is the same; gives how many there are."""
    count = 0
    for prim in one.Traverse():
        there = other.GetPrimAtPath(prim.GetPath())
        assert there.GetTypeName() == prim.GetTypeName()
        names = {attribute.GetName() for attribute in prim.GetAuthoredAttributes()}
        assert {attribute.GetName() for attribute in there.GetAuthoredAttributes()} == names
        for name in names:
            a, b = prim.GetAttribute(name), there.GetAttribute(name)
            assert a.GetTimeSamples() == pytest.approx(b.GetTimeSamples())
            for code in (Usd.TimeCode.Default(), *map(Usd.TimeCode, a.GetTimeSamples())):
                assert_same(a.Get(code), b.Get(code), a.GetPath())
                count += 1
    return count


def assert_same(a: Any, b: Any, path: Any) -> None:
    try:
        numbers = [np.array(v, dtype=np.float64) for v in (a, b)]
    except (TypeError, ValueError):
        if hasattr(a, "GetReal"):
            numbers = [np.array((v.GetReal(), *v.GetImaginary())) for v in (a, b)]
        else:
            assert a == b, path
            return
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=2e-6, atol=1e-12, err_msg=str(path))


@pytest.mark.parametrize("units", ODD.values(), ids=ODD.keys())
def test_every_number_of_a_machine_is_converted(units: Units, tmp_path: Path) -> None:
    odd = write_machine(tmp_path / "odd", units, says_fallbacks=False, fallback=units.length)
    says = units.length != 1.0
    right = write_machine(tmp_path / "right", Units(), says_fallbacks=says, fallback=units.length)
    assert simwright.diff(right, odd).equal

    result = convert(odd, tmp_path / "out")

    assert simwright.diff(right, result.entry).equal
    for tool in ("ball", "cone"):
        stages = [Usd.Stage.Open(str(file)) for file in (right, result.entry)]
        for stage in stages:
            stage.SetEditTarget(stage.GetSessionLayer())
            stage.GetPrimAtPath("/robot").GetVariantSet("tool").SetVariantSelection(tool)
        assert hold_numbers(*stages) > 120
        assert [stage.GetEndTimeCode() for stage in stages] == [4.0, 4.0]


TURNS = {
    "Y": (lambda x, y, z: (x, z, -y), "(0.7071067811865476, -0.7071067811865476, 0, 0)"),
    "X": (lambda x, y, z: (z, y, -x), "(0.7071067811865476, 0, 0.7071067811865476, 0)"),
    "Z": (lambda x, y, z: (x, y, z), "(1, 0, 0, 0)"),
}


def write_upright(file: Path, up: str) -> Path:
    """A machine that stands along an axis; every number is turned by hand."""
    move, turn = TURNS[up]
    file.parent.mkdir(parents=True)
    file.write_text(f"""#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    timeCodesPerSecond = 1
    upAxis = "{up}"
)
def PhysicsScene "scene"
{{
    vector3f physics:gravityDirection = {move(0.0, 0.0, -1.0)}
    float physics:gravityMagnitude = 9.81
}}
def Xform "robot"
{{
    def Xform "holder"
    {{
        double3 xformOp:translate = {move(0.0, 0.0, 0.1)}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "floor"
        {{
            point3f[] points = [{move(-1.0, -1.0, 0.0)}, {move(1.0, -1.0, 0.0)}, {move(1.0, 2.0, 0.0)}]
            normal3f[] normals = [{move(0.0, 0.0, 1.0)}, {move(0.0, 0.0, 1.0)}, {move(0.0, 0.0, 1.0)}]
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            float3[] extent = [(-9, -9, -9), (9, 9, 9)]
        }}
    }}
    def Xform "link" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 2
        point3f physics:centerOfMass = (0.1, 0.2, 0.3)
        float3 physics:diagonalInertia = (0.1, 0.2, 0.25)
        vector3f physics:velocity = (1, 2, 3)
        double3 xformOp:translate = {move(0.5, 0.25, 1.0)}
        quatd xformOp:orient = {turn}
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        def Capsule "shape" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {{
            double3 xformOp:translate = (0, 0, 0.2)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
    }}
    def PhysicsRevoluteJoint "hinge"
    {{
        rel physics:body1 = </robot/link>
        uniform token physics:axis = "Z"
        point3f physics:localPos0 = {move(0.5, 0.25, 1.0)}
        quatf physics:localRot0 = {turn}
        float physics:lowerLimit = -10
        float physics:upperLimit = 10
    }}
    def Camera "eye"
    {{
        double3 xformOp:translate = {move(0.0, 0.0, 3.0)}
        quatd xformOp:orient = {turn}
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }}
    def Cone "marker"
    {{
        quatd xformOp:orient = {turn}
        uniform token[] xformOpOrder = ["xformOp:orient"]
    }}
}}
""")
    return file


@pytest.mark.parametrize("up", ["Y", "X"])
def test_a_machine_is_turned_upright(up: str, tmp_path: Path) -> None:
    odd, right = (
        write_upright(tmp_path / name / "robot.usda", axis) for name, axis in (("odd", up), ("right", "Z"))
    )
    assert simwright.diff(right, odd).equal

    result = convert(odd, tmp_path / "out")

    assert simwright.diff(right, result.entry).equal
    stages = [Usd.Stage.Open(str(file)) for file in (right, result.entry)]
    for path in (
        "/robot",
        "/robot/holder",
        "/robot/link",
        "/robot/link/shape",
        "/robot/eye",
        "/robot/marker",
    ):
        worlds = [
            np.array(UsdGeom.XformCache().GetLocalToWorldTransform(s.GetPrimAtPath(path))) for s in stages
        ]
        np.testing.assert_allclose(worlds[1], worlds[0], atol=1e-12)
    meshes = [UsdGeom.Mesh(stage.GetPrimAtPath("/robot/holder/floor")) for stage in stages]
    for name in ("GetPointsAttr", "GetNormalsAttr"):
        np.testing.assert_allclose(*(np.array(getattr(mesh, name)().Get()) for mesh in meshes), atol=1e-7)
    np.testing.assert_allclose(np.array(meshes[1].GetExtentAttr().Get()), [(-1, -1, 0), (1, 2, 0)], atol=1e-7)


CRATE = """#usda 1.0
(
    defaultPrim = "crate"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "crate" (
    kind = "component"
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "RosContextAPI"]
)
{
    float physics:mass = 3
    point3f physics:centerOfMass = (0, 20, 0)
    float3 physics:diagonalInertia = (1000, 2000, 1500)
    vector3f physics:angularVelocity = (0, 90, 0)
    def Mesh "box" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        point3f[] points = [(-10, 10, -10), (10, 10, -10), (10, 10, 10), (0, 50, 0)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0]
    }
}
"""


def test_a_root_that_is_a_body_stands_upright_and_on_the_ground(tmp_path: Path) -> None:
    source = tmp_path / "asset" / "crate.usda"
    source.parent.mkdir()
    source.write_text(CRATE)
    result = simwright.fix(source, tmp_path / "out", select=["1.1"], unsafe=True)
    assert result.proven
    assert not [note for note in result.notes if note.kind in ("fix-refused", "fix-undone")]
    assert not [finding for finding in result.after if finding.section == "1.1"]
    before, after = (simwright.load(file).bodies[0] for file in (source, result.entry))
    turn = after.pose.rotation.T @ before.pose.rotation
    np.testing.assert_allclose(turn, [(1, 0, 0), (0, 0, -1), (0, 1, 0)], atol=1e-7)
    np.testing.assert_allclose(after.pose.p, (0, 0, 0.1), atol=1e-7)
    np.testing.assert_allclose(after.inertial.com, (0, 0, 0.1), atol=1e-7)
    np.testing.assert_allclose(after.inertial.inertia, np.diag((0.1, 0.15, 0.2)), atol=1e-7)
    np.testing.assert_allclose(after.angular_velocity, before.angular_velocity, atol=1e-6)
    stage = Usd.Stage.Open(result.entry)
    assert np.array(UsdGeom.Mesh(stage.GetPrimAtPath("/crate/box")).GetPointsAttr().Get())[
        3
    ] == pytest.approx((0, 0, 0.5))


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ("", (0.0, -0.2, 0.0)),  # the frame of a static prim follows the world, so what it says is turned
        ("bool physxSurfaceVelocity:surfaceVelocityLocalSpace = 0", (0.0, -0.2, 0.0)),
    ],
)
def test_a_belt_runs_the_same_way_in_another_unit_with_another_axis_up(
    tmp_path: Path, local: str, expected: tuple[float, float, float]
) -> None:
    source = tmp_path / "asset" / "belt.usda"
    source.parent.mkdir()
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "belt"\n    metersPerUnit = 0.01\n    upAxis = "Y"\n)\ndef Xform "belt"\n{\n'
        '    def Mesh "top" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysxSurfaceVelocityAPI"])\n    {\n'
        f"        vector3f physxSurfaceVelocity:surfaceVelocity = (0, 0, 20)\n        {local}\n"
        "        point3f[] points = [(0, 0, 0), (10, 0, 0), (0, 0, -10)]\n        int[] faceVertexCounts = [3]\n"
        "        int[] faceVertexIndices = [0, 1, 2]\n    }\n}\n"
    )
    result = simwright.fix(source, tmp_path / "out", select=["1.1"], unsafe=True)
    assert not [note for note in result.notes if note.kind in ("fix-refused", "fix-undone")]
    stage = Usd.Stage.Open(result.entry)
    top = stage.GetPrimAtPath("/belt/top")
    speed = np.array(top.GetAttribute("physxSurfaceVelocity:surfaceVelocity").Get())
    if not local:
        speed = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(top))[:3, :3].T @ speed
    np.testing.assert_allclose(speed, expected, atol=1e-7)


PLAIN = """#usda 1.0
(
    defaultPrim = "robot"
    kilogramsPerUnit = 1
    timeCodesPerSecond = 1
{said}
)
def Xform "robot"
{{
    def Sphere "ball"
    {{
        double radius = 20
        double3 xformOp:translate = (0, 0, 100)
        uniform token[] xformOpOrder = ["xformOp:translate"]
{more}
    }}
}}
"""


def write_plain(folder: Path, said: str = "", more: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "robot.usda").write_text(PLAIN.format(said=said, more=more))
    return folder / "robot.usda"


def read_radius(entry: str) -> float:
    stage = Usd.Stage.Open(entry)
    return float(stage.GetPrimAtPath("/robot/ball").GetAttribute("radius").Get())


def test_what_an_asset_does_not_say_the_user_may(tmp_path: Path) -> None:
    source = write_plain(tmp_path / "asset", 'upAxis = "Z"')
    told = {"units": "convert", "meters-per-unit": "0.001"}
    result = simwright.fix(source, tmp_path / "out", select=RULES, values=told)
    assert result.proven
    assert not result.after or not [f for f in result.after if f.kind in RULES]
    assert read_radius(result.entry) == pytest.approx(0.02)

    metres = simwright.fix(
        source, tmp_path / "metres", select=RULES, values={"units": "convert", "meters-per-unit": "1"}
    )
    assert metres.proven
    assert read_radius(metres.entry) == 20.0

    silent = simwright.fix(source, tmp_path / "silent", select=RULES)
    assert silent.status == "unchanged"
    fallback = simwright.fix(source, tmp_path / "fallback", select=RULES, unsafe=True)
    assert read_radius(fallback.entry) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("        custom float mjc:option:o_margin = 3", "the unit of mjc:option:o_margin is not known"),
        ('        def SkelRoot "man" {}', "skinned characters"),
        ('        def Volume "smoke" {}', "whose cells are in a file"),
    ],
)
def test_what_cannot_be_converted_is_refused(more: str, reason: str, tmp_path: Path) -> None:
    source = write_plain(tmp_path / "asset", 'metersPerUnit = 0.01\n    upAxis = "Z"', more)
    result = simwright.fix(source, tmp_path / "out", select=RULES, unsafe=True)
    assert [note.kind for note in result.notes] == ["fix-refused"]
    assert reason in result.notes[0].message
    assert read_radius(result.entry) == 20.0


def test_another_asset_with_lengths_is_nobody_elses_to_convert(tmp_path: Path) -> None:
    write_plain(tmp_path / "other", 'metersPerUnit = 0.01\n    upAxis = "Z"')
    more = '        def Xform "part" (references = @../other/robot.usda@) {}'
    source = write_plain(tmp_path / "asset", 'metersPerUnit = 0.01\n    upAxis = "Z"', more)
    result = simwright.fix(source, tmp_path / "out", select=RULES, unsafe=True, allow_outside=[tmp_path])
    assert "belongs to another asset and would keep its units" in result.notes[0].message
    assert (tmp_path / "other" / "robot.usda").read_text() == PLAIN.format(
        said='metersPerUnit = 0.01\n    upAxis = "Z"', more=""
    )


def test_a_layer_that_contradicts_the_root_is_for_somebody_to_decide(tmp_path: Path) -> None:
    source = write_plain(tmp_path / "asset", 'metersPerUnit = 1\n    upAxis = "Z"')
    source.write_text(
        source.read_text().replace('def Xform "robot"\n', 'def Xform "robot" (references = @part.usda@)\n')
    )
    (tmp_path / "asset" / "part.usda").write_text(PLAIN.format(said="metersPerUnit = 0.01", more=""))
    result = simwright.fix(source, tmp_path / "out", select=["units-baked"], unsafe=True)
    assert "OpenUSD reads the numbers of this layer with metersPerUnit = 1" in result.notes[0].message


def relabel(source: Path, folder: Path) -> Path:
    """The same numbers, said to be centimetres, grams and Y-up: another machine, in odd units."""
    folder.mkdir(parents=True)
    layer = Sdf.Layer.OpenAsAnonymous(str(source))
    for key, value in (("metersPerUnit", 0.01), ("kilogramsPerUnit", 0.001), ("upAxis", "Y")):
        layer.pseudoRoot.SetInfo(key, value)
    assert layer.Export(str(folder / source.name))
    return folder / source.name


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["humanoid", "cartpole", "boxes_fourbar", "simple_articulation_with_mesh"])
def test_real_machines_stay_what_they_are(name: str, shared_assets: Path, tmp_path: Path) -> None:
    odd = relabel(shared_assets / "usd" / f"{name}.usda", tmp_path / "odd")
    result = convert(odd, tmp_path / "out")
    assert simwright.diff(odd, result.entry).equal
    again = simwright.fix(result.entry, tmp_path / "again", select=RULES, unsafe=True)
    assert again.status == "unchanged"


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["cube_cylinder", "four_link_chain_articulation", "cartpole", "ant_mixed"])
def test_real_machines_become_upright_and_unscaled(name: str, shared_assets: Path, tmp_path: Path) -> None:
    source = shared_assets / "usd" / f"{name}.usda"
    result = simwright.fix(source, tmp_path / "out", select=["1.1"], unsafe=True)
    assert result.proven
    assert not result.notes
    assert not [finding for finding in result.after if finding.section == "1.1"]
    assert simwright.diff(source, result.entry).equal


@pytest.mark.parametrize("kind", ["Cube", "Camera", "DomeLight"])
def test_a_root_that_is_a_leaf_is_not_left_turned(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.usda").write_text(f'#usda 1.0\n(\n    upAxis = "Y"\n)\ndef {kind} "thing"\n{{\n}}\n')
    result = simwright.fix(tmp_path / "a.usda", dry_run=True, unsafe=True)
    refused = [note for note in result.notes if note.kind == "fix-refused"]
    assert any(f"the root is a {kind} itself" in note.message for note in refused)
    assert "root-no-align-rotation" not in {finding.kind for finding in result.after}


def test_points_are_turned_in_the_kind_of_array_that_they_came_in() -> None:
    turn = np.array(((0.0, -1, 0), (1, 0, 0), (0, 0, 1)))
    assert transform_points(Vt.Vec3fArray([(1, 2, 3), (4, 5, 6)]), turn) == Vt.Vec3fArray(
        [(-2, 1, 3), (-5, 4, 6)]
    )
    assert transform_points(Gf.Vec3d(1, 2, 3), turn) == Gf.Vec3d(-2, 1, 3)
    assert transform_points(Vt.Vec3fArray(), turn) == Vt.Vec3fArray()
    assert transform_points("north", turn) == "north"
