"""Roots and orders that a user of Newton may choose, against what Newton's importer does with the same words."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.core.math3d import Pose, quat_angle, quat_from_axis_angle
from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

HEADER = '#usda 1.0\n( metersPerUnit = 1\n kilogramsPerUnit = 1\n upAxis = "UP" )\n'
LINK = """
    def Xform "NAME" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        double3 xformOp:translate = (0.2, 0.1, HEIGHT)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "ball" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double radius = 0.1 }
    }"""
JOINT = """
    def PhysicsRevoluteJoint "PARENT_CHILD" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {
        rel physics:body0 = </robot/PARENT>
        rel physics:body1 = </robot/CHILD>
        point3f physics:localPos0 = (0, 0, RISE)
        float drive:angular:physics:stiffness = 2
        float drive:angular:physics:damping = 1
        MORE
    }"""
NAMES = "abcdef"
INERTIA = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
TREE = ("ad", "ab", "bc", "de", "bf")
MOUNT = 'def PhysicsFixedJoint "mount" { rel physics:body1 = </robot/a> \n point3f physics:localPos0 = (1.2, 2.1, 0)}'


@pytest.fixture
def stage(tmp_path):
    def write(*, mount="", disabled="", root=True, up="Z"):
        joints = [
            JOINT.replace("PARENT", a)
            .replace("CHILD", b)
            .replace("RISE", str(NAMES.index(b) - NAMES.index(a)))
            .replace("MORE", "bool physics:jointEnabled = 0" if disabled == a + b else "")
            for a, b in TREE
        ]
        links = [LINK.replace("NAME", n).replace("HEIGHT", str(i)) for i, n in enumerate(NAMES)]
        api = '( prepend apiSchemas = ["PhysicsArticulationRootAPI"] )' if root else ""
        text = f"""
def Xform "robot" {api} {{
    double3 xformOp:translate = (1, 2, 0)
    quatd xformOp:orient = (0.8, 0, 0, 0.6)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    {"".join(links)} {"".join(joints)} {mount}
}}"""
        path = tmp_path / "stage.usda"
        path.write_text(HEADER.replace("UP", up) + text.replace("}", "\n}\n"))
        return path

    return write


def fill_arm(builder):
    """An articulation that something can be attached to; gives its last body."""
    arm = builder.add_link(mass=1.0, inertia=INERTIA, label="arm")
    hand = builder.add_link(mass=1.0, inertia=INERTIA, label="hand")
    joints = [builder.add_joint_revolute(-1, arm, axis="Z"), builder.add_joint_revolute(arm, hand, axis="Z")]
    builder.add_articulation(joints, label="robot arm")
    return hand


def assert_same_builder(ours, theirs):
    assert ours.body_label == theirs.body_label
    assert ours.joint_type == theirs.joint_type
    assert ours.joint_parent == theirs.joint_parent
    assert ours.joint_child == theirs.joint_child
    assert ours.joint_articulation == theirs.joint_articulation
    assert ours.articulation_start == theirs.articulation_start
    assert ours.joint_enabled == theirs.joint_enabled
    assert ours.joint_target_mode == theirs.joint_target_mode
    named = [label for label in theirs.joint_label if label.startswith("/")]
    assert [label for label in ours.joint_label if label in named] == named
    for field in ("body_q", "joint_X_p", "joint_X_c"):
        for pair in zip(getattr(ours, field), getattr(theirs, field), strict=True):
            mine, his = (np.array(row, dtype=float) for row in pair)
            np.testing.assert_allclose(mine[:3], his[:3], atol=1e-5, err_msg=field)
            assert quat_angle(mine[[6, 3, 4, 5]], his[[6, 3, 4, 5]]) < 1e-5, field
    np.testing.assert_allclose(ours.joint_q, theirs.joint_q, atol=1e-5)


def both(newton, import_theirs, path, *, arm=False, xform=None, **choices):
    ours, theirs = newton.ModelBuilder(), newton.ModelBuilder()
    mine, his = dict(choices), dict(choices)
    if arm:
        mine["parent_body"], his["parent_body"] = fill_arm(ours), fill_arm(theirs)
    if xform is not None:
        import warp

        w, x, y, z = (float(v) for v in xform.q)
        his["xform"] = warp.transform(tuple(float(v) for v in xform.p), warp.quat(x, y, z, w))
        mine["xform"] = xform
    add_usd(ours, path, schema_resolvers=("newton",), **mine)
    import_theirs(path, theirs, **his)
    return ours, theirs


PLACE = Pose.of((3.0, -1.0, 0.5), quat_from_axis_angle((1.0, 2.0, 3.0), 0.8))
CHOICES = (
    {"joint_ordering": "dfs"},
    {"joint_ordering": "bfs"},
    {"joint_ordering": None},
    {"bodies_follow_joint_ordering": False},
    {"joint_ordering": "bfs", "bodies_follow_joint_ordering": False},
    {"force_position_velocity_actuation": True},
    {"xform": PLACE},
    {"xform": PLACE, "override_root_xform": True},
    {"arm": True},
    {"arm": True, "floating": False},
    {"arm": True, "xform": PLACE},
)


def list_choices():
    """Every choice for a robot that floats, and for one that is mounted if the choice means something there."""
    for choices in CHOICES:
        yield pytest.param(choices, "", id=f"floating-{choices}")
        if choices.get("arm") and "floating" not in choices:
            continue  # a robot that is mounted on the world cannot hang on another one: see below
        if choices.get("joint_ordering", "") is None:
            continue  # Newton adds a free joint beside the mount if the mount is not the first joint
        yield pytest.param(choices, MOUNT, id=f"mounted-{choices}")


@pytest.mark.parametrize(("choices", "mount"), [*list_choices()])
def test_a_choice_means_what_it_means_in_newton(newton, import_theirs, stage, choices, mount):
    assert_same_builder(*both(newton, import_theirs, stage(mount=mount), **choices))


@pytest.mark.parametrize("arm", [False, True])
@pytest.mark.parametrize("mount", ["", MOUNT], ids=["floating", "mounted"])
@pytest.mark.parametrize("with_root", [True, False])
def test_a_joint_of_ones_own_for_the_root(newton, import_theirs, stage, arm, mount, with_root):
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis) for axis in ("X", "Y")]
    turn = [newton.ModelBuilder.JointDofConfig(axis="Z")]
    base_joint = {"joint_type": newton.JointType.D6, "linear_axes": axes, "angular_axes": turn}
    path = stage(mount=mount, root=with_root)
    if not with_root:  # Newton leaves joints without an articulation root outside of any articulation
        ours = newton.ModelBuilder()
        add_usd(ours, path, schema_resolvers=("newton",), base_joint=base_joint)
        assert ours.joint_type[0] == newton.JointType.D6
        ours.finalize(device="cpu")
        return
    ours, theirs = both(newton, import_theirs, path, arm=arm, base_joint=base_joint)
    assert_same_builder(ours, theirs)
    ours.finalize(device="cpu")


@pytest.mark.parametrize("kind", ["PhysicsFixedJoint", "PhysicsRevoluteJoint"])
def test_a_body_that_hangs_alone_on_the_world_is_no_articulation(newton, import_theirs, tmp_path, kind):
    """Converters put a root on each part of a robot that is fixed for itself, before the robot and behind it."""
    apis = '"PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"'
    cover, rest = (LINK.replace("NAME", n).replace("HEIGHT", "1") for n in ("cover", "rest"))
    base = LINK.replace("NAME", "m_base").replace("HEIGHT", "0").replace('"PhysicsRigidBodyAPI"', apis)
    cover, rest = (text.replace('"PhysicsRigidBodyAPI"', apis) for text in (cover, rest))
    arm = LINK.replace("NAME", "m_arm").replace("HEIGHT", "2")
    hinge = JOINT.replace("PARENT_CHILD", "m").replace("PARENT", "m_base").replace("CHILD", "m_arm")
    hinge = hinge.replace("RISE", "2").replace("MORE", "")
    held = "".join(f'def {kind} "hold_{n}" {{ rel physics:body1 = </robot/{n}> }}' for n in ("cover", "rest"))
    path = tmp_path / "stage.usda"
    text = f'def Xform "robot" {{ {cover} {base} {arm} {rest} {hinge} {held} }}'
    path.write_text(HEADER.replace("UP", "Z") + text.replace("}", "\n}\n").replace("{", "{\n"))
    ours, theirs = both(newton, import_theirs, path)
    assert_same_builder(ours, theirs)
    assert ours.articulation_label == theirs.articulation_label == ["/robot/m_base"]
    ours.finalize(device="cpu")


def test_a_mounted_robot_stays_where_it_is_mounted(newton, stage):
    builder = newton.ModelBuilder()
    hand = fill_arm(builder)
    add_usd(builder, stage(mount=MOUNT), schema_resolvers=("newton",), parent_body=hand)
    index = builder.joint_label.index("/robot/mount")
    assert builder.joint_parent[index] == -1
    assert builder.articulation_count == 2
    builder.finalize(device="cpu")


@pytest.mark.parametrize("joint", ["ad", "bf"])
def test_joints_that_are_switched_off_can_be_loaded(newton, stage, joint):
    """Newton raises, or leaves the body on such a joint without an articulation; ours floats beside the joint."""
    path, label = stage(disabled=joint), f"/robot/{joint[0]}_{joint[1]}"
    builder, without = newton.ModelBuilder(), newton.ModelBuilder()
    add_usd(builder, path, schema_resolvers=("newton",), only_load_enabled_joints=False)
    index = builder.joint_label.index(label)
    assert (builder.joint_enabled.count(False), builder.joint_enabled[index]) == (1, False)
    assert builder.joint_articulation[index] == -1
    assert builder.joint_type.count(newton.JointType.FREE) == 2
    builder.finalize(device="cpu")
    add_usd(without, path, schema_resolvers=("newton",))
    assert label not in without.joint_label
    assert without.joint_count == builder.joint_count - 1


def test_an_overridden_root_of_a_y_up_stage(newton, import_theirs, stage):
    path = stage(up="Y")
    ours, theirs = both(newton, import_theirs, path, xform=PLACE, override_root_xform=True)
    assert_same_builder(ours, theirs)


def test_contradictions_are_refused_before_anything_is_added(newton, stage):
    path = stage()
    builder = newton.ModelBuilder()
    lone = builder.add_link(mass=1.0)
    for choices, message in (
        ({"floating": True, "base_joint": {}}, "Cannot specify both"),
        ({"floating": True, "parent_body": lone}, "leads to the world"),
        ({"override_root_xform": True}, "not given"),
        ({"parent_body": 7}, "no body 7"),
        ({"parent_body": lone}, "not part of any articulation"),
        ({"joint_ordering": "random"}, "joint_ordering"),
    ):
        with pytest.raises(UsageError, match=message):
            add_usd(builder, path, **choices)
    assert (builder.body_count, builder.joint_count) == (1, 0)
    hand = fill_arm(builder)
    builder.add_articulation([builder.add_joint_free(lone)])
    with pytest.raises(UsageError, match="not the most recent"):
        add_usd(builder, path, parent_body=hand)


def test_joints_outside_of_articulations_stand_in_the_order_of_newton(builder, import_theirs, tmp_path):
    body = 'def Cube "NAME" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {\n}\n'
    link = 'def PhysicsKINDJoint "NAME" {\nrel physics:body0 = </A>\nrel physics:body1 = </B>\n}\n'
    parts = [body.replace("NAME", name) for name in "abcde"]
    for kind, name, ends in (
        ("Prismatic", "rail", "ab"),
        ("Revolute", "hinge", "bc"),
        ("Prismatic", "lift", "cd"),
        ("Fixed", "glue", "de"),
    ):
        said = link.replace("KIND", kind).replace("NAME", name)
        parts.append(said.replace("/A>", f"/{ends[0]}>").replace("/B>", f"/{ends[1]}>"))
    path = tmp_path / "loose.usda"
    path.write_text("#usda 1.0\n(metersPerUnit = 1)\n" + "".join(parts))
    other = import_theirs(path)
    add_usd(builder, path)
    assert builder.joint_label == other.joint_label == ["/glue", "/hinge", "/rail", "/lift"]
    assert (builder.joint_parent, builder.joint_child) == (other.joint_parent, other.joint_child)
    assert builder.articulation_label == other.articulation_label


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("on_body", [False, True])
def test_a_body_without_mass_alone_below_a_root_gets_no_free_joint(
    newton, builder, import_theirs, tmp_path, beside, on_body
):
    """Engines refuse a free joint that moves nothing."""
    root, apis = '"PhysicsArticulationRootAPI"', '"PhysicsRigidBodyAPI"'
    other = LINK.replace("NAME", "b").replace("HEIGHT", "1") if beside else ""
    body = f'def Xform "empty" ( prepend apiSchemas = [{apis}{", " + root if on_body else ""}] ) {{ }}'
    text = f'def Xform "robot" {"" if on_body else f"( prepend apiSchemas = [{root}] )"} {{ {body} {other} }}'
    path = tmp_path / "empty.usda"
    path.write_text(HEADER.replace("UP", "Z") + text.replace("}", "\n}\n"))
    theirs = import_theirs(path)
    add_usd(builder, path)
    for name in ("body_label", "joint_label", "joint_child", "joint_type", "articulation_label"):
        assert getattr(builder, name) == getattr(theirs, name), name
    assert builder.joint_count == beside
