# SPDX-License-Identifier: Apache-2.0
"""``add_usd`` in the place of Newton's: calls as users of Newton write them, and Newton's own tests."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import simwright
from simwright.core.math3d import IDENTITY_QUAT, Pose, vec3
from simwright.engines.newton import UsdImport, add_usd, install, uninstall
from simwright.resolve.resolver import SchemaResolver, find_resolver

pytestmark = pytest.mark.judge("newton")

HEAD = '#usda 1.0\n( upAxis = "Z"\n metersPerUnit = 1 )\n'
CONFLICT = (
    HEAD
    + """
def PhysicsScene "Scene" ( prepend apiSchemas = ["PhysxSceneAPI"] ) {
    uint physxScene:maxVelocityIterationCount = 16
}
def Xform "Robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    bool physxArticulation:enabledSelfCollisions = false
    def Xform "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysxCollisionAPI"] ) {
            float physxCollision:contactOffset = 0.05
            float physxCollision:restOffset = 0.01
            float mjc:margin = 0.3
            float mjc:gap = 0.1
        }
    }
    def Xform "arm" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
            double size = 0.5
        }
    }
    def PhysicsRevoluteJoint "shoulder_joint" ( prepend apiSchemas = ["PhysxJointAPI", "PhysxLimitAPI:angular"] ) {
        rel physics:body0 = </Robot/base>
        rel physics:body1 = </Robot/arm>
        float newton:armature = 0.01
        float physxJoint:armature = 0.02
        float mjc:armature = 0.03
        float physxLimit:angular:stiffness = 1000.0
        float physxLimit:angular:damping = 10.0
        float state:angular:physics:position = 1.57
    }
}
"""
)
CUSTOM = (
    HEAD
    + """
def PhysicsScene "physicsScene" {
    custom float newton:mass_scale = 1.0 (
        customData = { string assignment = "model"
            string frequency = "body" } )
    custom float3 newton:target_position = (0, 0, 0) (
        customData = { string assignment = "state"
            string frequency = "body" } )
    custom float newton:namespace_a:mass_scale = 1.0 (
        customData = { string assignment = "state"
            string frequency = "body" } )
    custom float newton:namespace_a:gear_ratio = 1.0 (
        customData = { string assignment = "model"
            string frequency = "joint" } )
    custom float2 newton:namespace_a:pid_gains = (0, 0) (
        customData = { string assignment = "control"
            string frequency = "joint" } )
    custom float newton:articulation_stiffness = 100.0 (
        customData = { string assignment = "model"
            string frequency = "articulation" } )
}
def Xform "robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    custom float newton:articulation_stiffness = 150.0
    def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
        custom float newton:mass_scale = 1.5
        custom float3 newton:target_position = (1.0, 2.0, 3.0)
        custom float newton:namespace_a:mass_scale = 2.5
    }
    def Cube "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def PhysicsRevoluteJoint "joint1" {
        rel physics:body0 = </robot/a>
        rel physics:body1 = </robot/b>
        custom float newton:namespace_a:gear_ratio = 2.25
        custom float2 newton:namespace_a:pid_gains = (100.0, 10.0)
    }
}
"""
)
KEYS = {
    "fps", "duration", "up_axis", "path_body_map", "path_joint_map", "path_shape_map", "path_shape_scale",
    "path_particle_map", "mass_unit", "linear_unit", "scene_attributes", "physics_scene_path", "physics_dt",
    "collapse_results", "schema_attrs", "path_body_relative_transform", "path_original_body_map",
    "max_solver_iterations", "particle_scene_path", "actuator_count",
}  # fmt: skip


@pytest.fixture
def installed(newton):
    """Newton with our importer in it."""
    install()
    yield newton
    uninstall()


@pytest.fixture
def write(tmp_path):
    def write_file(text):
        path = tmp_path / "asset.usda"
        path.write_text(text)
        return str(path)

    return write_file


def list_resolvers(newton):
    usd = newton.usd
    return {
        "newton": usd.SchemaResolverNewton,
        "physx": usd.SchemaResolverPhysx,
        "mjc": usd.SchemaResolverMjc,
    }


def test_the_signature_is_newtons(newton):
    theirs = inspect.signature(newton.ModelBuilder.add_usd).parameters
    ours = inspect.signature(add_usd).parameters
    for name, parameter in theirs.items():
        if name != "self":
            assert ours[name].default == parameter.default, name


@pytest.mark.parametrize(
    ("order", "armature"),
    [
        (("newton", "physx", "mjc"), 0.01),
        (("physx", "newton", "mjc"), 0.02),
        (("mjc", "newton", "physx"), 0.03),
    ],
)
@pytest.mark.parametrize("given", ["newton", "names"])
def test_the_list_of_resolvers_decides(installed, write, order, armature, given):
    kinds = list_resolvers(installed)
    builder = installed.ModelBuilder()
    result = builder.add_usd(
        source=write(CONFLICT),
        schema_resolvers=[kinds[name]() if given == "newton" else name for name in order],
    )
    assert isinstance(result, UsdImport)
    joint = result["path_joint_map"]["/Robot/shoulder_joint"]
    assert builder.joint_armature[builder.joint_qd_start[joint]] == pytest.approx(armature)
    box = result["path_shape_map"]["/Robot/base/box"]
    margin, gap = {"physx": (0.01, 0.04), "mjc": (0.3, 0.1), "newton": (0.01, 0.04)}[order[0]]
    assert (builder.shape_margin[box], builder.shape_gap[box]) == (pytest.approx(margin), pytest.approx(gap))
    for name in order:
        assert (
            f"{name.replace('physx', 'physxJoint')}:armature"
            in result["schema_attrs"][name]["/Robot/shoulder_joint"]
        )


def test_the_tables_of_attributes(installed, write):
    builder = installed.ModelBuilder()
    kinds = list_resolvers(installed)
    result = builder.add_usd(source=write(CONFLICT), schema_resolvers=[kinds["physx"](), kinds["newton"]()])
    assert result["max_solver_iterations"] == 16
    dof = builder.joint_qd_start[result["path_joint_map"]["/Robot/shoulder_joint"]]
    assert builder.joint_limit_ke[dof] == pytest.approx(1000.0 * 180 / np.pi)
    assert builder.joint_limit_kd[dof] == pytest.approx(10.0 * 180 / np.pi)
    # PhysX keeps joint state in degrees
    assert builder.joint_q[builder.joint_q_start[1]] == pytest.approx(np.deg2rad(1.57))
    # self collisions are off: the two boxes never touch
    assert len(builder.shape_collision_filter_pairs) == 1
    attributes = result.get("schema_attrs", {})["physx"]
    assert attributes["/Robot/shoulder_joint"]["physxJoint:armature"] == pytest.approx(0.02)


def test_custom_attributes_reach_model_state_and_control(installed, write):
    builder = installed.ModelBuilder()
    builder.add_usd(source=write(CUSTOM))
    model = builder.finalize(device="cpu")
    state, control = model.state(), model.control()
    assert model.mass_scale.numpy().tolist() == [1.5, 1.0]
    assert state.target_position.numpy()[0].tolist() == [1.0, 2.0, 3.0]
    assert state.namespace_a.mass_scale.numpy().tolist() == [2.5, 1.0]
    assert model.namespace_a.gear_ratio.numpy().tolist() == [1.0, 2.25]
    assert control.namespace_a.pid_gains.numpy()[1].tolist() == [100.0, 10.0]
    assert model.articulation_stiffness.numpy().tolist() == [150.0]


def test_paths_layers_and_stages_and_what_newton_takes_none_for(newton, write):
    import warp
    from pxr import Sdf, Usd

    path = write(CONFLICT)
    stage = Usd.Stage.Open(path)
    found = []
    for source in (path, Path(path), Sdf.Layer.FindOrOpen(path), stage):
        builder = newton.ModelBuilder()
        result = add_usd(
            builder,
            source,
            xform=warp.transform((1.0, 2.0, 3.0), warp.quat_identity()),
            ignore_paths=None,
            schema_resolvers=None,
            mesh_maxhullvert=None,
        )
        assert result.keys() >= KEYS | {"asset", "findings"}
        found.append([list(pose) for pose in builder.body_q])
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0][0][:3] == [1.0, 2.0, 3.0]


def test_findings_are_warnings_and_errors_are_newtons(newton, tmp_path):
    from pxr import Usd

    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString('#usda 1.0\ndef Xform "a" ( references = @gone.usda@ ) { }\n')
    with pytest.raises(RuntimeError, match="composition errors"):
        add_usd(newton.ModelBuilder(), stage)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        add_usd(newton.ModelBuilder(), stage, allow_partial=True)
    assert any("newton-composed-partly" in str(found.message) for found in caught)
    with pytest.raises(ValueError, match="Cannot specify both"):
        add_usd(newton.ModelBuilder(), Usd.Stage.CreateInMemory(), floating=True, base_joint={})
    with pytest.raises(RuntimeError):
        add_usd(newton.ModelBuilder(), str(tmp_path / "not_there.usda"))


def test_defaults_of_the_builder_come_before_those_of_schemas(newton, write):
    text = HEAD + 'def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }\n'
    builder = newton.ModelBuilder()
    builder.default_shape_cfg.density, builder.default_shape_cfg.gap = 10.0, 0.25
    add_usd(builder, write(text), schema_resolvers=["mjc"])
    assert builder.body_mass == [pytest.approx(80.0)]
    assert builder.shape_gap == [pytest.approx(0.25)]


@pytest.mark.parametrize(
    "order", ["physx mjc", "mjc physx", "physx", "mjc newton", "newton mjc", "physx newton mjc"]
)
def test_a_gap_that_nobody_says_is_the_fallback_of_the_first_schema(newton, write, order):
    text = HEAD + 'def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }\n'
    kinds, builders = list_resolvers(newton), []
    for add in (add_usd, newton.ModelBuilder.add_usd):
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        add(builder, write(text), schema_resolvers=[kinds[name]() for name in order.split()])
        builders.append(builder)
    ours, theirs = builders
    assert ours.shape_gap == pytest.approx(theirs.shape_gap)


def test_joints_without_a_drive_have_the_gains_of_the_builder(newton, write):
    builders = []
    for add in (add_usd, newton.ModelBuilder.add_usd):
        builder = newton.ModelBuilder()
        default = builder.default_joint_cfg
        default.target_ke, default.target_kd, default.target_pos, default.target_vel = 3.0, 0.5, 0.25, 0.125
        add(builder, write(CONFLICT))
        builders.append(builder)
    ours, theirs = builders
    for name in (
        "joint_target_ke",
        "joint_target_kd",
        "joint_target_q",
        "joint_target_qd",
        "joint_target_mode",
    ):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name)), name


def test_a_table_of_ones_own(newton, write):
    usd = newton.usd

    class Own(usd.SchemaResolver):
        name = "own"
        mapping: ClassVar = {
            usd.PrimType.JOINT: {
                "armature": usd.SchemaResolver.SchemaAttribute("own:inertia", 0.0, lambda v: 2 * v)
            }
        }

    text = CONFLICT.replace("float newton:armature = 0.01", "float own:inertia = 4")
    builder = newton.ModelBuilder()
    result = add_usd(builder, write(text), schema_resolvers=[Own(), usd.SchemaResolverPhysx()])
    assert builder.joint_armature[-1] == pytest.approx(8.0)
    assert result["schema_attrs"]["own"]["/Robot/shoulder_joint"] == {"own:inertia": 4.0}


@pytest.mark.parametrize("meters", ["", "metersPerUnit = 0.01"])
def test_a_unit_that_nobody_says_is_a_metre_and_one_that_is_said_is_converted(newton, write, meters):
    text = f'#usda 1.0\n( upAxis = "Z"\n {meters} )\n'
    text += 'def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }\n'
    builder = newton.ModelBuilder()
    result = add_usd(builder, write(text))
    assert builder.body_mass == [pytest.approx(8000.0 * (1e-6 if meters else 1.0))]
    assert any(found.kind == "usd-unit-unsaid" for found in result["findings"]) == (not meters)


def test_splats_are_shapes_of_their_bodies(newton, write):
    text = (
        HEAD
        + """
def Xform "body" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 1
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def ParticleField3DGaussianSplat "seen" {
        point3f[] positions = [(0, 0, 0)]
        double3 xformOp:translate = (0, 2, 0)
        float3 xformOp:scale = (3, 3, 3)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
}
def ParticleField3DGaussianSplat "empty" { }
"""
    )
    ours, theirs = newton.ModelBuilder(), newton.ModelBuilder()
    result = add_usd(ours, write(text))
    from pxr import Usd

    # Newton's import ends at a splat without points
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(text.replace('def ParticleField3DGaussianSplat "empty" { }', ""))
    theirs.add_usd(stage)
    assert {path.rpartition("/")[2] for path in result["path_shape_map"]} == {"seen"}
    for name in ("shape_type", "shape_body", "shape_scale", "shape_label", "shape_flags"):
        assert getattr(ours, name) == getattr(theirs, name), name
    np.testing.assert_allclose(ours.shape_transform[0], theirs.shape_transform[0], atol=1e-6)
    assert {found.kind for found in result["findings"]} >= {"newton-geometry-lost"}


def test_a_body_without_mass_keeps_the_centre_that_is_authored(newton, write):
    text = (
        HEAD
        + """
def Xform "scaled" {
    double3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:scale"]
    def Xform "body" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        point3f physics:centerOfMass = (0.3, 0, 0)
    }
    def Xform "silent" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) { }
}
"""
    )
    builder = newton.ModelBuilder()
    with pytest.warns(UserWarning, match="zero mass"):
        add_usd(builder, write(text))
    np.testing.assert_allclose(builder.body_com, [[0.6, 0, 0], [0, 0, 0]], atol=1e-6)


def write_follower(with_slide):
    """A hinge that follows another one; with a slide beside it, both are one joint."""
    beside = """def PhysicsPrismaticJoint "slide" {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
    }"""
    return (
        HEAD
        + f"""
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{
    def Cube "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {{ }}
    def Cube "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {{ }}
    def PhysicsRevoluteJoint "leader" {{
        rel physics:body1 = </R/a>
    }}
    def PhysicsRevoluteJoint "follower" ( prepend apiSchemas = ["NewtonMimicAPI"] ) {{
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
        uniform token physics:axis = "Z"
        rel newton:mimicJoint = </R/leader>
    }}
    {beside if with_slide else ""}
}}
"""
    )


def test_a_mimic_that_newton_cannot_hold_is_refused_unless_a_part_is_wanted(newton, write):
    builder = newton.ModelBuilder()
    result = add_usd(builder, write(write_follower(with_slide=False)))
    joints = result["path_joint_map"]
    assert builder.joint_mimic_joint[joints["/R/follower"]] == joints["/R/leader"]
    with pytest.raises(ValueError, match="matching position"), pytest.warns(UserWarning, match="merged"):
        add_usd(newton.ModelBuilder(), write(write_follower(with_slide=True)))
    builder = newton.ModelBuilder()
    with pytest.warns(UserWarning, match="merged"):
        result = add_usd(builder, write(write_follower(with_slide=True)), allow_partial=True)
    assert set(builder.joint_mimic_joint) == {-1}
    assert "newton-mimic-lost" in {found.kind for found in result["findings"]}


def test_hulls_are_those_of_newton(newton):
    from newton._src.geometry.utils import remesh_convex_hull

    from simwright.engines.newton.hulls import make_hull

    random = np.random.default_rng(3)
    for count, limit in ((8, None), (40, None), (3000, None), (3000, 12), (500, 200)):
        points = random.normal(size=(count, 3)) * (1, 2, 0.1)
        hull = make_hull(points, limit)
        vertices, faces = remesh_convex_hull(points.astype(np.float32), maxhullvert=limit or 64)
        assert np.array_equal(hull.mesh.vertices, vertices)
        assert np.array_equal(hull.mesh.indices, faces.reshape(-1))
        box = np.ptp(points, axis=0) * (1, 2, 3)
        assert hull.find_radius((1.0, 2.0, 3.0)) == pytest.approx(np.linalg.norm(box) / 2, rel=1e-6)
    # flat ones are Newton's to deal with
    assert make_hull(random.normal(size=(50, 3)) * (1, 1, 0), None) is None
    assert make_hull(np.zeros((0, 3)), None) is None


def test_newtons_own_tests(newton):
    """All of Newton's tests of its importer pass, but those that the page of differences lists."""
    file = Path(__file__).resolve().parents[3] / "scripts" / "run_newton_tests.py"
    spec = importlib.util.spec_from_file_location("run_newton_tests", file)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    try:
        results = script.run_tests(Path(newton.__file__).parent / "tests", list(script.FILES), [])
    finally:
        uninstall()
    assert len(results) > 370
    assert script.report(results, check=True) == 0


CLOTH = (
    HEAD
    + """
def Mesh "sheet" (prepend apiSchemas = ["PhysicsSurfaceDeformableSimAPI", "PhysicsDeformableBodyAPI"])
{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [0, 1, 2, 1, 3, 2]
}
def Cube "box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
}
"""
)


@pytest.mark.filterwarnings("ignore:/sheet:UserWarning")  # Newton's own, about thickness and colliders
@pytest.mark.parametrize("resolvers", [None, ["physx", find_resolver("newton")]])
def test_cloth_goes_to_newton_with_the_words_of_ours(newton, write, resolvers):
    builder = newton.ModelBuilder()
    result = add_usd(
        builder,
        write(CLOTH),
        xform=Pose(vec3(0.0, 0.0, 2.0), np.array(IDENTITY_QUAT)),
        schema_resolvers=resolvers,
        return_deformable_results=True,
    )
    assert (builder.particle_count, builder.body_count) == (4, 1)
    assert [list(pose)[2] for pose in builder.body_q] == [2.0]
    assert result.keys() >= KEYS | {"asset", "findings", "path_articulation_map", "path_cloth_map"}
    assert result["asset"] is None
    assert [found.kind for found in result["findings"]] == ["newton-handed-over"]
    assert result["path_articulation_map"].keys() == set(builder.articulation_label)
    with pytest.raises(ValueError, match="no schema resolver 'gazebo'"):
        add_usd(newton.ModelBuilder(), write(CLOTH), schema_resolvers=[SchemaResolver("gazebo", [])])


SERVO = (
    HEAD
    + """
def Xform "R" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def Cube "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
    }
    def Cube "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
    }
    def PhysicsRevoluteJoint "elbow" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
        float physics:lowerLimit = -170
        float physics:upperLimit = -4
        float drive:angular:physics:stiffness = 1.7453293
        float drive:angular:physics:damping = 0.17453293
        float drive:angular:physics:maxForce = 87
        float drive:angular:physics:targetPosition = -5
        float drive:angular:physics:targetVelocity = 2
        uniform token drive:angular:physics:type = "force"
    }
    def MjcActuator "servo"
    {
        rel mjc:target = </R/elbow>
        uniform token mjc:gainType = "fixed"
        uniform token mjc:biasType = "affine"
        uniform double[] mjc:gainPrm = [100, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        uniform double[] mjc:biasPrm = [0, -100, -10, 0, 0, 0, 0, 0, 0, 0]
        uniform token mjc:forceLimited = "true"
        uniform double mjc:forceRange:min = -87
        uniform double mjc:forceRange:max = 87
    }
}
"""
)


@pytest.mark.parametrize("registered", [False, True])
def test_a_drive_beside_a_servo_that_says_the_same_keeps_its_target(newton, write, registered):
    ours, theirs = newton.ModelBuilder(), newton.ModelBuilder()
    for builder, add in ((ours, add_usd), (theirs, newton.ModelBuilder.add_usd)):
        if registered:
            newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        add(builder, write(SERVO))
    for name in (
        "joint_target_q",
        "joint_target_qd",
        "joint_target_ke",
        "joint_target_kd",
        "joint_effort_limit",
    ):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-5), name
    assert ours.joint_target_q[-1] == pytest.approx(np.radians(-5.0))


SCATTER = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {}
def PointInstancer "scatter" {
    int[] protoIndices = [0, 0]
    point3f[] positions = [(0, 0, 0), (3, 0, 0)]
    rel prototypes = [</scatter/stone>]
    def Sphere "stone" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
        double radius = 0.5
    }
}
def Cube "ground" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
    double size = 2
}
"""


def test_what_an_instancer_scatters_is_not_where_its_prototype_stands(newton, tmp_path):
    """The walk over all prims that comes before reading goes below instancers, which the reader does not."""
    path = tmp_path / "scatter.usda"
    path.write_text(SCATTER)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        add_usd(builder, str(path), load_visual_shapes=False)
    assert builder.shape_count == len(simwright.load(path).shapes) == 3
