"""Joints, frames and masses in assets of several layers: what moves, what follows, what is refused, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdPhysics

import simwright
from simwright.core.diag import Level
from simwright.core.packages import PackageMap
from simwright.model.kinematics import forward_kinematics
from simwright.sanitizer.proof import find_deviations, read_original, reweigh_bodies
from simwright.sanitizer.result import FixResult

BODY = "PhysicsRigidBodyAPI"
LINKS = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def Xform "base"
    {
        def Xform "arm"
        {
            def Xform "hand"
            {
            }
        }
    }
}
"""
PHYSICS = """#usda 1.0
(
    subLayers = [@./links.usda@]
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
over "robot"
{
    over "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        over "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {
            float physics:mass = 1
            over "hand" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
            {
                float physics:mass = 1
            }
        }
    }
    def Scope "joints"
    {
        def PhysicsRevoluteJoint "first"
        {
            rel physics:body0 = </robot/base>
            rel physics:body1 = </robot/base/arm>
        }
        def PhysicsRevoluteJoint "second" (prepend apiSchemas = ["ExtendedPhysicsMimicAPI"])
        {
            rel ext_physics:mimic:joint = </robot/joints/first>
            rel physics:body0 = </robot/base/arm>
            rel physics:body1 = </robot/base/arm/hand>
        }
    }
}
"""


def fix(source: Path, target: Path, *rules: str, allow_outside: tuple[Path, ...] = ()) -> FixResult:
    return simwright.fix(source, target, select=rules, unsafe=True, allow_outside=allow_outside)


def list_joints(file: Path) -> list[str]:
    return [joint.name for joint in simwright.load(file).joints]


def list_reasons(result: FixResult) -> str:
    return "\n".join(note.message for note in result.notes)


def test_joints_move_with_their_order_and_what_leads_to_them(tmp_path: Path) -> None:
    (tmp_path / "links.usda").write_text(LINKS)
    (tmp_path / "root.usda").write_text(PHYSICS)
    out = tmp_path / "out" / "asset"
    result = fix(tmp_path / "root.usda", out, "joint-placement")
    assert result.proven
    stage = Usd.Stage.Open(str(out / "root.usda"))
    second = stage.GetPrimAtPath("/robot/base/arm/second")
    assert second.GetRelationship("ext_physics:mimic:joint").GetTargets() == [Sdf.Path("/robot/base/first")]
    assert stage.GetPrimAtPath("/robot/base").GetAllChildrenNames() == ["first", "arm"]
    assert list_joints(out / "root.usda") == list_joints(tmp_path / "root.usda") == ["first", "second"]
    assert (out / "links.usda").read_text() == LINKS


def test_joints_behind_a_payload_move_in_their_layer(tmp_path: Path) -> None:
    (tmp_path / "links.usda").write_text(LINKS)
    (tmp_path / "physics.usda").write_text(PHYSICS)
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "bot"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        'def Xform "bot" (prepend payload = @./physics.usda@)\n{\n'
        "    custom rel watched = </bot/joints/second>\n}\n"
    )
    out = tmp_path / "out" / "asset"
    result = fix(tmp_path / "root.usda", out, "joint-placement")
    assert result.proven
    stage = Usd.Stage.Open(str(out / "root.usda"))
    assert stage.GetPrimAtPath("/bot/base/arm/second").IsA(UsdPhysics.RevoluteJoint)
    watched = stage.GetPrimAtPath("/bot").GetRelationship("watched").GetTargets()
    assert watched == [Sdf.Path("/bot/base/arm/second")]


def test_joints_of_another_asset_stay(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "links.usda").write_text(LINKS)
    (other / "physics.usda").write_text(PHYSICS)
    asset = tmp_path / "asset"
    asset.mkdir()
    (asset / "root.usda").write_text('#usda 1.0\ndef "bot" (references = @../other/physics.usda@) {}\n')
    target = tmp_path / "out" / "asset"
    result = fix(asset / "root.usda", target, "joint-placement", allow_outside=(other,))
    assert result.status == "unchanged"
    assert "belongs to another asset" in list_reasons(result)


def test_joints_in_an_instance_stay(tmp_path: Path) -> None:
    (tmp_path / "links.usda").write_text(LINKS)
    (tmp_path / "physics.usda").write_text(PHYSICS)
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\ndef "bot" (\n    instanceable = true\n    references = @./physics.usda@\n)\n{\n}\n'
    )
    result = fix(tmp_path / "root.usda", tmp_path / "out" / "asset", "joint-placement")
    assert result.status == "unchanged"
    assert not [note for note in result.notes if note.kind == "fix-crashed"]


def test_frames_on_frames_become_parts_of_the_link_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "cam"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        f'def Xform "cam" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n{{\n    float physics:mass = 1\n'
        f'    def Xform "rgb_frame" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n    {{\n'
        "        float physics:mass = 0.5\n        double3 xformOp:translate = (1, 0, 0)\n"
        '        uniform token[] xformOpOrder = ["xformOp:translate"]\n'
        f'        def Xform "optical_frame" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n        {{\n'
        "            float physics:mass = 0.25\n            double3 xformOp:translate = (0, 2, 0)\n"
        '            uniform token[] xformOpOrder = ["xformOp:translate"]\n        }\n    }\n'
        '    def PhysicsFixedJoint "a"\n    {\n        rel physics:body0 = </cam>\n'
        "        rel physics:body1 = </cam/rgb_frame>\n        point3f physics:localPos0 = (1, 0, 0)\n    }\n"
        '    def PhysicsFixedJoint "b"\n    {\n        rel physics:body0 = </cam/rgb_frame>\n'
        "        rel physics:body1 = </cam/rgb_frame/optical_frame>\n"
        "        point3f physics:localPos0 = (0, 2, 0)\n    }\n}\n"
    )
    out = tmp_path / "out" / "asset"
    result = fix(tmp_path / "root.usda", out, "dummy-no-rigidbody")
    assert result.proven
    assert result.rounds > 1
    (body,) = simwright.load(out / "root.usda").bodies
    assert body.inertial is not None
    assert body.inertial.mass == pytest.approx(1.75)
    assert body.inertial.com.tolist() == pytest.approx([0.75 / 1.75, 0.5 / 1.75, 0.0], abs=1e-6)
    stage = Usd.Stage.Open(str(out / "root.usda"))
    for path in ("/cam/rgb_frame", "/cam/rgb_frame/optical_frame"):
        assert "RosFrameAPI" in stage.GetPrimAtPath(path).GetAppliedSchemas()


def test_an_impossible_inertia_is_mended_noted_and_told(tmp_path: Path) -> None:
    text = (
        '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        f'def Xform "a" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n{{\n    float physics:mass = 1\n'
        "    float3 physics:diagonalInertia = (1, 1, 5)\n    quatf physics:principalAxes = (1, 0, 0, 0)\n}\n"
    )
    (tmp_path / "root.usda").write_text(
        text + text[text.index("def") :].replace('"a"', '"b"').replace("5)", "2)")
    )
    out = tmp_path / "out" / "asset"
    result = fix(tmp_path / "root.usda", out, "mass-guidelines")
    assert result.proven
    before, after = simwright.load(tmp_path / "root.usda"), simwright.load(out / "root.usda")
    inertias = [[body.inertial.six.tolist() for body in asset.bodies] for asset in (before, after)]  # type: ignore[union-attr]
    assert inertias[0] == inertias[1]
    stage = Usd.Stage.Open(str(out / "root.usda"))
    written = [
        stage.GetPrimAtPath(path).GetAttribute("physics:diagonalInertia").Get() for path in ("/a", "/b")
    ]
    assert [tuple(moments) for moments in written] == [pytest.approx((2.50025, 2.50025, 5)), (1, 1, 2)]
    told = [note for note in result.notes if note.kind == "fix-moments-mended"]
    assert [note.where.prim for note in told] == ["/a"]
    assert "(1, 1, 5); (2.50025, 2.50025, 5) are written" in told[0].message
    assert (
        simwright.fix(out / "root.usda", dry_run=True, unsafe=True, select=["mass-guidelines"]).status
        == "unchanged"
    )


def test_noted_moments_are_converted_with_the_asset(tmp_path: Path) -> None:
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "a"\n    metersPerUnit = 0.01\n    upAxis = "Z"\n)\n'
        f'def Xform "a" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n{{\n    float physics:mass = 1\n'
        "    float3 physics:diagonalInertia = (1, 1, 5)\n    quatf physics:principalAxes = (1, 0, 0, 0)\n}\n"
    )
    noted = fix(tmp_path / "root.usda", tmp_path / "noted", "mass-guidelines")
    result = fix(Path(noted.entry), tmp_path / "out", "units-meters")
    assert result.proven
    assert not [note.kind for note in result.notes if note.kind == "fix-undone"]
    body = simwright.load(result.entry).bodies[0]
    assert body.inertial is not None
    assert body.inertial.six[:3].tolist() == pytest.approx([1e-4, 1e-4, 5e-4])


def test_bodies_weigh_what_they_weigh_elsewhere(tmp_path: Path) -> None:
    text = (
        f'#usda 1.0\ndef Xform "a" (prepend apiSchemas = ["{BODY}", "PhysicsMassAPI"])\n'
        "{\n    float physics:mass = 1\n    float3 physics:diagonalInertia = (1, 1, 1)\n}\n"
    )
    (tmp_path / "one.usda").write_text(text)
    (tmp_path / "two.usda").write_text(text.replace("(1, 1, 1)", "(2, 2, 2)"))
    one, two = simwright.load(tmp_path / "one.usda"), simwright.load(tmp_path / "two.usda")
    patched = reweigh_bodies(one, two, {"/a"}).bodies[0].inertial
    assert patched is not None
    assert patched.six.tolist() == two.bodies[0].inertial.six.tolist()  # type: ignore[union-attr]
    assert reweigh_bodies(one, two, ()) is one


CHAIN = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (kind = "component") {
    def Xform "hull" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
        float physics:mass = 10
        float3 physics:diagonalInertia = (1, 1, 1)
        def Cube "shell" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { }
        def Xform "mount" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
            def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
                float physics:mass = 1
                float3 physics:diagonalInertia = (1, 1, 1)
                def Cube "tube" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { }
            }
            def PhysicsFixedJoint "to_arm" {
                rel physics:body0 = </robot/hull/mount>
                rel physics:body1 = </robot/hull/mount/arm>
            }
        }
        def PhysicsFixedJoint "to_mount" {
            rel physics:body0 = </robot/hull>
            rel physics:body1 = </robot/hull/mount>
        }
    }
}
"""


def test_bodies_that_could_touch_still_can_where_a_frame_between_them_goes(tmp_path: Path) -> None:
    """The joint that comes from the frame to the hull would keep hull and arm apart, which nobody said."""
    (tmp_path / "robot.usda").write_text(CHAIN)
    result = simwright.fix(tmp_path / "robot.usda", tmp_path / "fixed", unsafe=True)
    stage = Usd.Stage.Open(str(result.entry))
    bodies = {prim.GetName() for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)}
    assert bodies == {"hull", "arm"}
    (joint,) = (prim for prim in stage.Traverse() if prim.GetName() == "to_arm")
    assert [target.name for target in joint.GetRelationship("physics:body0").GetTargets()] == ["hull"]
    assert joint.GetAttribute("physics:collisionEnabled").Get() is True


def test_a_slide_without_limits_is_said_to_have_none(tmp_path):
    """What it was, in words; that a slide has ends is still told."""
    source = tmp_path / "slide.usda"
    source.write_text('#usda 1.0\ndef PhysicsPrismaticJoint "slide"\n{\n}\n')
    result = simwright.fix(source, tmp_path / "out", unsafe=True, select=["joint-limits"])
    text = Path(result.entry).read_text()
    assert "float physics:lowerLimit = -inf" in text
    assert "float physics:upperLimit = inf" in text
    assert [(finding.kind, finding.level) for finding in result.after if finding.kind == "joint-limits"] == [
        ("joint-limits", Level.WARNING)
    ]


def test_one_limit_alone_is_not_completed(tmp_path):
    source = tmp_path / "slide.usda"
    source.write_text(
        '#usda 1.0\ndef PhysicsPrismaticJoint "slide"\n{\n    float physics:lowerLimit = 0\n}\n'
    )
    result = simwright.fix(source, tmp_path / "out", unsafe=True, select=["joint-limits"])
    assert [note.kind for note in result.notes] == ["fix-refused"]


FINGER = """#usda 1.0
(
    defaultPrim = "hand"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "hand"
{
    def Xform "finger" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI"]
    )
    {
        float physics:mass = 2
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        quatf physics:principalAxes = (1, 0, 0, 0)
        def Xform "tip" (
            prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
        )
        {
            double3 xformOp:translate = (0, 0, 0.3)
            uniform token[] xformOpOrder = ["xformOp:translate"]
            float physics:mass = 1
            point3f physics:centerOfMass = (0.1, 0, 0.05)
            float3 physics:diagonalInertia = (0.01, 0.02, 0.025)
            quatf physics:principalAxes = (1, 0, 0, 0)
        }
        def PhysicsRevoluteJoint "tip_z" (
            prepend apiSchemas = ["PhysicsDriveAPI:angular"]
        )
        {
            rel physics:body0 = </hand/finger>
            rel physics:body1 = </hand/finger/tip>
            uniform token physics:axis = "Z"
            point3f physics:localPos0 = (0, 0, 0.3)
            float physics:lowerLimit = -30
            float physics:upperLimit = 40
            float drive:angular:physics:stiffness = 2
        }
        def PhysicsRevoluteJoint "tip_x"
        {
            rel physics:body0 = </hand/finger>
            rel physics:body1 = </hand/finger/tip>
            uniform token physics:axis = "X"
            point3f physics:localPos0 = (0, 0.02, 0.3)
            point3f physics:localPos1 = (0, 0.02, 0)
            float physics:lowerLimit = -10
            float physics:upperLimit = 20
        }
    }
    def PhysicsFixedJoint "mount"
    {
        rel physics:body1 = </hand/finger>
    }
}
"""


def test_joints_of_one_motion_become_a_chain(tmp_path: Path) -> None:
    """Every joint stays, and a reader that knows nothing of our notes finds the same mass matrix."""
    source = tmp_path / "hand.usda"
    source.write_text(FINGER)
    result = fix(source, tmp_path / "out" / "hand", "loop-exclude")
    assert result.proven
    assert not result.notes
    stage = Usd.Stage.Open(result.entry)
    ends = {
        prim.GetName(): [str(rel.GetTargets()[0]) for rel in prim.GetRelationships() if rel.GetTargets()]
        for prim in stage.Traverse()
        if prim.IsA(UsdPhysics.RevoluteJoint)
    }
    between = "/hand/finger/tip_z_link"
    assert ends == {"tip_z": ["/hand/finger", between], "tip_x": [between, "/hand/finger/tip"]}
    pairs = stage.GetPrimAtPath("/hand/finger/tip").GetRelationship("physics:filteredPairs")
    assert pairs.GetTargets() == [Sdf.Path("/hand/finger")]

    # without the notes the chain itself is read: the same coordinates move the tip in the same way
    layer = stage.GetRootLayer()
    layer.customLayerData = {}
    layer.Save()
    before, after = simwright.load(source), simwright.load(result.entry)
    assert [dof.name for joint in before.joints for dof in joint.dofs] == ["tip_z", "tip_x"]
    assert [joint.name for joint in after.joints if joint.dofs] == ["tip_z", "tip_x"]
    at = (0.3, -0.15)
    one = forward_kinematics(before, {"tip_z": at})["tip"]
    two = forward_kinematics(after, {"tip_z": at[0], "tip_x": at[1]})["tip"]
    assert one.is_close(two, 1e-6)


def test_no_fix_takes_a_freedom(tmp_path: Path) -> None:
    source = tmp_path / "hand.usda"
    source.write_text(FINGER)
    original = read_original(source, PackageMap())
    locked = tmp_path / "locked.usda"
    locked.write_text(
        FINGER.replace(
            'uniform token physics:axis = "X"',
            'uniform token physics:axis = "X"\n            uniform bool physics:excludeFromArticulation = true',
        )
    )
    may_change = ("joints", "constraints", "order", "limits", "motion", "poses")
    found = find_deviations(original, Usd.Stage.Open(str(locked)), may_change)
    assert [item.section for item in found] == ["freedoms"]
    assert found[0].what == "the number of degrees of freedom from 2 to 0 (tip_x)"


def test_meshes_that_are_bodies_are_not_instanced(tmp_path: Path) -> None:
    file = tmp_path / "boxes" / "boxes.usda"
    file.parent.mkdir()
    mesh = (
        "    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]\n"
        "    int[] faceVertexCounts = [3, 3, 3, 3]\n"
        "    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]\n"
    )
    body = 'def Mesh "b{}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{{\n{}}}\n'
    file.write_text("#usda 1.0\n" + "".join(body.format(number, mesh) for number in range(4)))
    result = simwright.fix(file, tmp_path / "out", unsafe=True, select=["inst-repetitive"])
    (note,) = result.notes
    assert note.kind == "fix-refused"
    assert "it is a rigid body itself" in note.message
