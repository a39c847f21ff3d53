"""What a user of Newton may choose, against what Newton's importer does with the same words."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

HEADER = '#usda 1.0\n( metersPerUnit = 1\n kilogramsPerUnit = 1\n upAxis = "Z" )\n'
LINK = """
    def Xform "NAME" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        double3 xformOp:translate = (0, 0, HEIGHT)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "ball" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double radius = 0.1 }
        def Cube "look" { double size = 0.1 }
        def Cube "mark" ( prepend apiSchemas = ["NewtonSiteAPI"] ) { double size = 0.1 }
    }"""
STAGE = (
    HEADER
    + """
def PhysicsScene "scene" { SCENE }
def Cube "ground" { double size = 5 }
def Xform "robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) { ROOT
"""
    + "".join(
        LINK.replace("NAME", n).replace("HEIGHT", z) for n, z in (("base", "0"), ("tip", "1"), ("hand", "2"))
    )
    + """
    def PhysicsFixedJoint "mount" { rel physics:body1 = </robot/base> }
    def PhysicsRevoluteJoint "hinge" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/tip>
        point3f physics:localPos0 = (0, 0, 1)
        float drive:angular:physics:stiffness = 2
        float drive:angular:physics:damping = 1
    }
    def PhysicsFixedJoint "grip" {
        rel physics:body0 = </robot/tip>
        rel physics:body1 = </robot/hand>
        point3f physics:localPos0 = (0, 0, 1)
    }
}
"""
)


@pytest.fixture
def stage(tmp_path):
    def write(scene="", root=""):
        path = tmp_path / "stage.usda"
        path.write_text(STAGE.replace("SCENE", scene).replace("ROOT", root).replace("}", "\n}\n"))
        return path

    return write


SAME = (
    {},
    {"collapse_fixed_joints": True},
    {"enable_self_collisions": False},
    {"ignore_paths": ["/robot/hand.*", "/robot/grip"]},
    {"joint_drive_gains_scaling": 3.0},
    {"load_sites": False},
    {"load_visual_shapes": False},
    {"load_static_visual_shapes": False},
    {"hide_collision_shapes": True},
    {"force_show_colliders": True},
    {"floating": True},
    {"floating": False},
)


@pytest.mark.parametrize("choice", SAME, ids=str)
def test_a_choice_means_what_it_means_in_newton(builder, import_theirs, stage, choice):
    path = stage()
    other = import_theirs(path, **choice)
    add_usd(builder, path, schema_resolvers=("newton",), **choice)
    assert builder.body_label == other.body_label
    assert set(builder.shape_label) == set(other.shape_label)
    assert builder.joint_type == other.joint_type
    assert builder.joint_target_ke == pytest.approx(other.joint_target_ke, rel=1e-5)
    assert builder.joint_target_kd == pytest.approx(other.joint_target_kd, rel=1e-5)
    np.testing.assert_allclose(builder.body_mass, other.body_mass, rtol=1e-5)
    flags, expected = (dict(zip(b.shape_label, b.shape_flags, strict=True)) for b in (builder, other))
    assert flags == expected
    pairs, theirs = (
        {frozenset((b.shape_label[i], b.shape_label[j])) for i, j in b.shape_collision_filter_pairs}
        for b in (builder, other)
    )
    assert pairs == theirs
    builder.finalize(device="cpu")


def test_the_scene_decides_before_the_caller(builder, import_theirs, stage):
    scene = (
        "custom bool newton:collapse_fixed_joints = true\ncustom float newton:joint_drive_gains_scaling = 5"
    )
    path = stage(scene)
    other = import_theirs(path)
    result = add_usd(builder, path, schema_resolvers=("newton",))
    assert builder.body_label == other.body_label == ["/robot/tip"]
    assert builder.joint_target_ke == pytest.approx(other.joint_target_ke, rel=1e-5)
    assert result["path_body_map"] == {"/robot/base": -1, "/robot/tip": 0, "/robot/hand": 0}
    assert result["path_joint_map"] == {"/robot/hinge": 0}
    assert result["collapse_results"] is not None


def test_an_authored_self_collision_beats_the_caller(builder, stage):
    path = stage(root="bool newton:selfCollisionEnabled = true")
    add_usd(builder, path, schema_resolvers=("newton",), enable_self_collisions=False)
    pairs = {
        frozenset((builder.shape_label[i], builder.shape_label[j]))
        for i, j in builder.shape_collision_filter_pairs
    }
    assert frozenset(("/robot/base/ball", "/robot/hand/ball")) not in pairs


def test_a_part_of_the_stage(builder, import_theirs, stage):
    path = stage()
    other = import_theirs(path, root_path="/robot/tip")
    add_usd(builder, path, schema_resolvers=("newton",), root_path="/robot/tip")
    assert builder.body_label == other.body_label == ["/robot/tip"]
    assert set(builder.shape_label) == set(other.shape_label)


def test_disabled_bodies_can_be_left_out(builder, stage):
    path = stage()
    path.write_text(
        path.read_text().replace('def Cube "look"', 'bool physics:rigidBodyEnabled = 0\ndef Cube "look"', 3)
    )
    add_usd(builder, path, only_load_enabled_rigid_bodies=True)
    assert builder.body_count == 0


def test_wrong_words_are_refused(builder, stage):
    with pytest.raises(UsageError, match="no such option"):
        add_usd(builder, stage(), flaoting=True)
    with pytest.raises(UsageError, match="not a regular expression"):
        add_usd(builder, stage(), ignore_paths=["("])


_SCALED = "{} xformOp:scale = {}\nuniform token[] xformOpOrder = [{}]"
SCALES = {
    "plain": "",
    "even": _SCALED.format("float3", "(2, 3, 4)", '"xformOp:scale"'),
    "mirrored": _SCALED.format("float3", "(2, -3, 4)", '"xformOp:scale"'),
    "flat": _SCALED.format("float3", "(2, 0, 4)", '"xformOp:scale"'),
    "inverted": _SCALED.format("float3", "(2, -4, 8)", '"!invert!xformOp:scale"'),
    "beside": _SCALED.format("float3", "(-1, -1, -1)", ""),
    "single": _SCALED.format("float", "2", ""),
    "second": "float3 xformOp:scale = (1, 2, 3)\nfloat3 xformOp:scale:more = (-1, 1, 1)\n"
    'uniform token[] xformOpOrder = ["xformOp:scale", "xformOp:scale:more"]',
    "animated": "float3 xformOp:scale.timeSamples = { 0: (-1, 1, 1) }\n"
    'uniform token[] xformOpOrder = ["xformOp:scale"]',
}


@pytest.mark.parametrize("above", ["even", "mirrored"])
def test_scales_of_shapes_are_as_newton_gives_them(newton, tmp_path, above):
    """Their signs are those of the operations that are authored, which not every scale has to be asked for."""
    cubes = "\n".join(
        f'def Cube "{name}" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{\n{text}\n}}'
        for name, text in SCALES.items()
    )
    path = tmp_path / "scaled.usda"
    head = '#usda 1.0\n( metersPerUnit = 1\n upAxis = "Z" )\ndef PhysicsScene "scene" {}\n'
    path.write_text(f'{head}def Xform "w" {{\n{SCALES[above]}\n{cubes}\n}}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = newton.ModelBuilder().add_usd(str(path))["path_shape_scale"]
        ours = add_usd(newton.ModelBuilder(), str(path))["path_shape_scale"]
    assert len(ours) == len(SCALES)
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6, err_msg=name)


TETRAHEDRON = """( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"] ) {{
            uniform token physics:approximation = "{}"
            uniform token purpose = "{}"
            uniform token subdivisionScheme = "none"
            color3f[] primvars:displayColor = [(0.1, 0.5, 0.9)]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
        }}"""
DRAWN = (
    HEADER
    + 'def PhysicsScene "scene" {}\ndef Xform "link" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {\nLOOK\n'
    + "\n".join(
        f'def Mesh "{kind}_{purpose}" {TETRAHEDRON.format(kind, purpose)}'
        for kind in ("none", "convexHull", "boundingCube", "boundingSphere")
        for purpose in ("default", "guide", "proxy")
    )
    + "\n}\n"
)


@pytest.mark.parametrize("look", ["", 'def Cube "look" {\ndouble size = 0.1\n}'], ids=["bare", "dressed"])
@pytest.mark.parametrize("chosen", [*itertools.product([False, True], repeat=3)], ids=str)
def test_colliders_leave_what_is_drawn_where_newton_does(builder, import_theirs, tmp_path, look, chosen):
    """A collider that is approximated goes on being drawn as it is in the file, if the file draws it and visuals are
    wanted; one that is only shown on demand is shown as it collides."""
    words = ("load_visual_shapes", "force_show_colliders", "hide_collision_shapes")
    choice = dict(zip(words, chosen, strict=True))
    path = tmp_path / "drawn.usda"
    path.write_text(DRAWN.replace("LOOK", look))
    other = import_theirs(path, **choice)
    add_usd(builder, path, schema_resolvers=("newton",), **choice)
    assert sorted(builder.shape_label) == sorted(other.shape_label)
    ours, theirs = (
        {
            label: (
                int(b.shape_type[i]),
                b.shape_flags[i],
                *map(float, (*b.shape_scale[i], *b.shape_color[i])),
            )
            for i, label in enumerate(b.shape_label)
        }
        for b in (builder, other)
    )
    assert {k: v[:2] for k, v in ours.items()} == {k: v[:2] for k, v in theirs.items()}
    for label, values in ours.items():
        assert values == pytest.approx(theirs[label], rel=1e-5), label


@pytest.mark.parametrize("choice", [{"root_path": "/robot"}, {"ignore_paths": ["/scene"]}], ids=str)
def test_a_scene_that_is_left_out_decides_nothing(newton, builder, stage, choice):
    """The builder of a part (one environment of many) keeps its gravity, as with Newton's importer."""
    path = stage(
        "float physics:gravityMagnitude = 5\nfloat newton:timeStepsPerSecond = 50\n"
        "custom bool newton:collapse_fixed_joints = true\n"
        'custom float newton:worth = 1 (\n customData = {\n string assignment = "model"\n'
        'string frequency = "body"\n } )'
    )
    other = newton.ModelBuilder()
    theirs = other.add_usd(str(path), **choice)
    ours = add_usd(builder, path, **choice)
    keys = ("physics_scene_path", "physics_dt", "max_solver_iterations", "scene_attributes")
    assert [ours[key] for key in keys] == [theirs[key] for key in keys] == [None, None, None, {}]
    assert (builder.gravity, builder.body_label) == (other.gravity, other.body_label)
    assert builder.custom_attributes.keys() == other.custom_attributes.keys()


OFF = """
def Xform "shelf" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    bool physics:rigidBodyEnabled = false
    MASS
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "board" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double size = 0.1 }
    def Cube "look" { double size = 0.1 }
}
def Xform "door" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 2
    float3 physics:diagonalInertia = (1, 1, 1)
    double3 xformOp:translate = (1, 2.5, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def PhysicsRevoluteJoint "hinge" {
    rel physics:bodyA = </shelf>
    rel physics:bodyB = </door>
    point3f physics:localPosA = (0, 0.5, 0)
    uniform token physics:axis = "Z"
    float physics:lowerLimit = -10
    float physics:upperLimit = 90
}
"""


@pytest.mark.parametrize("ends", ["01", "10"])
@pytest.mark.parametrize("skipped", [False, True])
@pytest.mark.parametrize("mass", ["float physics:mass = 4", ""])
def test_a_body_that_is_switched_off_is_a_part_of_the_world(newton, builder, tmp_path, ends, skipped, mass):
    """UsdPhysics: its colliders are static, and what hangs on it hangs where it stands."""
    path = tmp_path / "off.usda"
    text = OFF.replace("MASS", mass).replace("bodyA", f"body{ends[0]}").replace("bodyB", f"body{ends[1]}")
    text = text.replace("localPosA", f"localPos{ends[0]}")
    path.write_text(HEADER + text.replace("}", "\n}\n"))
    other = newton.ModelBuilder()
    other.add_usd(str(path), only_load_enabled_rigid_bodies=skipped)
    result = add_usd(builder, path, only_load_enabled_rigid_bodies=skipped)
    assert result["path_shape_map"].keys() >= {"/shelf/board"}
    for name in ("body_label", "joint_label", "joint_type", "shape_label", "shape_body", "body_mass"):
        assert getattr(builder, name) == getattr(other, name), name
    for name in ("joint_parent", "joint_child", "joint_articulation"):
        assert getattr(builder, name) == getattr(other, name), name
    for name in ("shape_transform", "body_q", "joint_X_p", "joint_X_c"):
        np.testing.assert_allclose(getattr(builder, name), getattr(other, name), atol=1e-6, err_msg=name)
    # what is left of it stands still; in Newton it falls, with all that is seen of it
    kinematic = int(newton.BodyFlags.KINEMATIC)
    still = {
        label
        for label, flags in zip(builder.body_label, builder.body_flags, strict=True)
        if flags & kinematic
    }
    assert still == (set() if skipped else {"/shelf"})


SPEEDS = """
def Xform "robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def Cube "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def Cube "c" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def PhysicsRevoluteJoint "turns" {
        rel physics:body0 = </robot/a>
        rel physics:body1 = </robot/b>
        float state:angular:physics:velocity = 30
        float mjc:stiffness = 2
        float mjc:springref = 10
    }
    def PhysicsRevoluteJoint "rests" {
        rel physics:body0 = </robot/b>
        rel physics:body1 = </robot/c>
    }
}
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("word", ["legacy_angular_velocity_units", "legacy_springref_units"])
@pytest.mark.parametrize("value", [False, True])
def test_units_of_earlier_versions(make_builder, make_resolvers, tmp_path, word, value):
    path = tmp_path / "speeds.usda"
    path.write_text(HEADER + SPEEDS.replace("}", "\n}\n"))
    ours, theirs = make_builder(), make_builder()
    theirs.add_usd(str(path), schema_resolvers=make_resolvers(["physx", "mjc"]), **{word: value})
    add_usd(ours, path, schema_resolvers=["physx", "mjc"], **{word: value})
    assert ours.joint_qd == pytest.approx(theirs.joint_qd)
    springs, expected = (b.custom_attributes["mujoco:dof_springref"].values for b in (ours, theirs))
    assert springs == pytest.approx(expected)
