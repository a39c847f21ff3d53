# SPDX-License-Identifier: Apache-2.0
"""The sample assets are up to date, well formed, and do in the engines what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
import pytest
import xacro
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdUtils, UsdValidation

REPO = Path(__file__).resolve().parent.parent
SCRIPT = REPO / "scripts" / "make_samples.py"
PACKAGE = REPO / "samples" / "simwright_samples"
USD_ASSETS = ("box", "rack", "floor", "fourbar", "warehouse")
MESH_FILES = sorted(
    path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.suffix in (".obj", ".stl")
)
LEGS = ("FL", "FR", "RL", "RR")
EVERYTHING = Usd.TraverseInstanceProxies(Usd.PrimIsActive & Usd.PrimIsDefined & ~Usd.PrimIsAbstract)
LIMIT = 1_500_000


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_samples_are_up_to_date() -> None:
    result = run_script("--check")
    assert result.returncode == 0, result.stdout + result.stderr


def test_writing_twice_gives_the_same_bytes_and_changes_are_noticed(tmp_path: Path) -> None:
    for name in ("first", "second"):
        assert run_script("--folder", str(tmp_path / name)).returncode == 0
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    changed = tmp_path / "first" / "rover" / "model.sdf"
    changed.write_text(changed.read_text() + "<!-- edited -->")
    (tmp_path / "first" / "extra.txt").write_text("left over")
    (tmp_path / "first" / "package.xml").unlink()
    result = run_script("--check", "--folder", str(tmp_path / "first"))
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "missing: package.xml",
        "left over: extra.txt",
        "stale: rover/model.sdf",
    ]


def test_package_is_small() -> None:
    assert 0 < sum(map(len, contents(PACKAGE).values())) < LIMIT


def test_no_file_names_a_place_on_this_machine() -> None:
    folders = "home|root|tmp|work|usr|opt"
    pattern = re.compile(rf"(file://|/({folders})/|[A-Za-z]:\\\\|{re.escape(str(REPO))})".encode())
    found = [name for name, data in contents(PACKAGE).items() if pattern.search(data)]
    assert found == []


# --- meshes ------------------------------------------------------------------------------------------------


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    lines = path.read_text().splitlines()
    vertices = [[float(v) for v in line.split()[1:]] for line in lines if line.startswith("v ")]
    faces = [[int(w.split("/")[0]) - 1 for w in line.split()[1:]] for line in lines if line.startswith("f ")]
    return np.array(vertices), np.array(faces)


def read_stl(path: Path) -> tuple[np.ndarray, np.ndarray]:
    data = path.read_bytes()
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    corners = np.frombuffer(data, record, offset=84)["corners"].reshape(-1, 3)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices.astype(np.float64), index.reshape(-1, 3)


def assert_closed(vertices: np.ndarray, faces: np.ndarray) -> None:
    """Every edge is met as often one way as the other, no triangle is flat, and the inside is inside."""
    edges = np.concatenate((faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]))
    forward, forward_count = np.unique(edges, axis=0, return_counts=True)
    backward, backward_count = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    assert np.array_equal(forward, backward)
    assert np.array_equal(forward_count, backward_count)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).min() > 0.0
    assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0


@pytest.mark.parametrize("name", MESH_FILES)
def test_mesh_file_is_closed_and_wound_outward(name: str) -> None:
    path = PACKAGE / name
    vertices, faces = read_obj(path) if path.suffix == ".obj" else read_stl(path)
    assert_closed(vertices, faces)


@pytest.mark.parametrize("asset", [name for name in USD_ASSETS if name != "warehouse"])
def test_usd_meshes_are_closed_manifolds(asset: str) -> None:
    stage = Usd.Stage.Open(str(PACKAGE / asset / "geometries.usdc"))
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert meshes
    for mesh in meshes:
        points = np.array(mesh.GetPointsAttr().Get(), dtype=np.float64)
        assert set(mesh.GetFaceVertexCountsAttr().Get()) == {3}
        faces = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        edges = np.concatenate((faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]))
        assert len(np.unique(edges, axis=0)) == len(edges), f"{mesh.GetPath()}: an edge is used twice"
        assert_closed(points, faces)
        low, high = mesh.GetExtentAttr().Get()
        assert np.allclose((low, high), (points.min(0), points.max(0)))


# --- the arm -----------------------------------------------------------------------------------------------


def load_arm() -> mujoco.MjModel:
    """The expanded URDF in MuJoCo, with the package's paths resolved."""
    text = (PACKAGE / "arm" / "urdf" / "arm.urdf").read_text()
    text = text.replace("package://simwright_samples", PACKAGE.as_posix())
    options = (
        '<mujoco><compiler strippath="false" discardvisual="false" fusestatic="false"/></mujoco></robot>'
    )
    return mujoco.MjModel.from_xml_string(text.replace("</robot>", options))


def test_arm_loads_in_mujoco_with_every_mesh_and_joint() -> None:
    model = load_arm()
    assert (model.nq, model.neq) == (8, 1)
    assert model.nmesh == len(list((PACKAGE / "arm" / "meshes").rglob("*.[os][bt][jl]")))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.body("tool0").xpos == pytest.approx((0.0, 0.12, 0.998))
    # the camera looks along the tool, its image X to the right, Y down
    optical = data.body("wrist_camera_optical_frame").xmat.reshape(3, 3)
    assert optical[:, 2] == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)


def test_arm_joint_limits_are_realistic() -> None:
    robot = ET.parse(PACKAGE / "arm" / "urdf" / "arm.urdf").getroot()
    moving = [joint for joint in robot.findall("joint") if joint.get("type") != "fixed"]
    assert [joint.get("type") for joint in moving] == ["revolute"] * 6 + ["prismatic"] * 2
    for joint in moving:
        limit = joint.find("limit")
        assert limit is not None
        assert float(limit.get("lower", "")) < float(limit.get("upper", ""))
        assert float(limit.get("effort", "")) > 0
        assert float(limit.get("velocity", "")) > 0
    assert [joint.find("mimic") is not None for joint in moving] == [False] * 7 + [True]


def test_xacro_arguments_change_the_arm() -> None:
    path = str(PACKAGE / "arm" / "urdf" / "arm.urdf.xacro")
    text = xacro.process_file(path, mappings={"gripper": "false", "prefix": "left_"}).toxml()
    names = {link.get("name") for link in ET.fromstring(text).findall("link")}
    assert "left_wrist_3_link" in names
    assert not any("finger" in str(name) for name in names)
    assert all(str(name).startswith("left_") for name in names - {"world"})


@pytest.mark.parser
def test_check_urdf_accepts_the_arm(accept_urdf: Callable[[Path], str]) -> None:
    assert "Successfully Parsed XML" in accept_urdf(PACKAGE / "arm" / "urdf" / "arm.urdf")


# --- the rover ---------------------------------------------------------------------------------------------


def test_rover_refers_to_what_exists() -> None:
    model = ET.parse(PACKAGE / "rover" / "model.sdf").getroot().find("model")
    assert model is not None
    links = {link.get("name") for link in model.findall("link")}
    joints = {joint.get("name") for joint in model.findall("joint")}
    for joint in model.findall("joint"):
        assert {joint.findtext("parent"), joint.findtext("child")} <= links
    for uri in model.iter("uri"):
        assert (PACKAGE / "rover" / str(uri.text)).is_file()
    drive = next(p for p in model.findall("plugin") if p.get("name") == "gz::sim::systems::DiffDrive")
    assert {drive.findtext("left_joint"), drive.findtext("right_joint")} <= joints
    assert {sensor.findtext("topic") for sensor in model.iter("sensor")} == {"scan", "imu"}


# --- the quadruped -----------------------------------------------------------------------------------------


def test_quadruped_holds_its_home_pose_for_two_seconds() -> None:
    model = mujoco.MjModel.from_xml_path(str(PACKAGE / "quadruped" / "scene.xml"))
    data = mujoco.MjData(model)
    assert (model.nq, model.nu) == (19, 12)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    start = data.qpos[2]
    while data.time < 2.0:
        mujoco.mj_step(model, data)
    assert abs(data.qpos[2] - start) < 0.05
    assert data.qpos[3] > 0.999
    assert np.abs(data.qvel).max() < 0.05
    assert sum(data.warning.number) == 0
    load = sum(data.sensor(f"{leg}_contact").data[0] for leg in LEGS)
    assert load == pytest.approx(model.body_subtreemass[1] * 9.81, rel=0.01)
    assert {int(geom) for pair in data.contact.geom for geom in pair} == {
        model.geom("floor").id,
        *(model.geom(f"{leg}_foot").id for leg in LEGS),
    }


def test_quadruped_alone_compiles() -> None:
    model = mujoco.MjModel.from_xml_path(str(PACKAGE / "quadruped" / "quadruped.xml"))
    assert model.nexclude == 8
    assert sum(model.body_mass) == pytest.approx(13.68)


# --- OpenUSD -----------------------------------------------------------------------------------------------


def open_asset(asset: str, load: Usd.Stage.InitialLoadSet = Usd.Stage.LoadAll) -> Usd.Stage:
    return Usd.Stage.Open(str(PACKAGE / asset / f"{asset}.usda"), load)


def kinematic_prims(stage: Usd.Stage) -> set[str]:
    """Bodies, joints and ROS prims."""
    found = set()
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), EVERYTHING):
        schemas = prim.GetPrimTypeInfo().GetAppliedAPISchemas()
        ros = any(schema.startswith("Ros") for schema in schemas)
        if ros or prim.IsA(UsdPhysics.Joint) or prim.HasAPI(UsdPhysics.RigidBodyAPI):
            found.add(str(prim.GetPath()))
    return found


@pytest.mark.parametrize("asset", USD_ASSETS)
def test_usd_asset_composes_and_validates(asset: str) -> None:
    stage = open_asset(asset)
    assert stage.GetCompositionErrors() == []
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [f"{e.GetName()}: {e.GetMessage()}" for e in errors] == []


@pytest.mark.parametrize("asset", USD_ASSETS)
def test_usd_layers_state_their_units_and_stay_relative(asset: str) -> None:
    layers, _, unresolved = UsdUtils.ComputeAllDependencies(str(PACKAGE / asset / f"{asset}.usda"))
    assert unresolved == []
    for layer in layers:
        info = layer.pseudoRoot
        for key, value in (
            ("metersPerUnit", 1),
            ("kilogramsPerUnit", 1),
            ("timeCodesPerSecond", 1),
            ("upAxis", "Z"),
        ):
            assert info.HasInfo(key)
            assert info.GetInfo(key) == value
        assert layer.defaultPrim
        for path in layer.GetCompositionAssetDependencies():
            assert path.startswith(("./", "../")), f"{layer.identifier}: {path}"
        is_binary = Path(layer.realPath).read_bytes().startswith(b"PXR-USDC")
        assert is_binary == (Path(layer.realPath).name == "geometries.usdc")


@pytest.mark.parametrize("asset", USD_ASSETS)
def test_links_joints_and_interfaces_are_there_without_payloads(asset: str) -> None:
    loaded, bare = open_asset(asset), open_asset(asset, Usd.Stage.LoadNone)
    assert kinematic_prims(loaded) == kinematic_prims(bare)
    assert not any(prim.IsA(UsdGeom.Mesh) and prim.IsLoaded() and UsdGeom.Mesh(prim).GetPointsAttr().Get()
                   for prim in Usd.PrimRange(bare.GetPseudoRoot(), EVERYTHING))  # fmt: skip


@pytest.mark.parametrize("fidelity", ["baseline", "advanced"])
@pytest.mark.parametrize("asset", USD_ASSETS)
def test_colliders_have_contact_materials_and_visuals_have_surfaces(asset: str, fidelity: str) -> None:
    stage = open_asset(asset)
    # in the stage's own layer: layers of files are shared by all stages of the process that are still there
    stage.SetEditTarget(stage.GetSessionLayer())
    for prim in stage.Traverse():
        sets = prim.GetVariantSets()
        if sets.HasVariantSet("collision_fidelity"):
            assert sets.GetVariantSelection("collision_fidelity") == "baseline"
            sets.SetSelection("collision_fidelity", fidelity)
    colliders = visuals = 0
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), EVERYTHING):
        if prim.HasAPI(UsdPhysics.CollisionAPI):
            colliders += 1
            material, binding = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
            assert binding.GetName() == "material:binding:physics"
            assert UsdPhysics.MaterialAPI(material).GetStaticFrictionAttr().HasAuthoredValue()
            assert UsdGeom.Imageable(prim).ComputePurpose() == UsdGeom.Tokens.guide
        elif prim.IsA(UsdGeom.Mesh):
            visuals += 1
            material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
            shader = material.ComputeSurfaceSource()[0]
            assert shader.GetShaderId() == "UsdPreviewSurface"
            assert prim.IsInstanceProxy()
    assert colliders
    assert visuals


def test_levels_of_detail_are_real_alternatives() -> None:
    counts = {}
    stage = open_asset("fourbar")
    stage.SetEditTarget(stage.GetSessionLayer())
    for level in ("mesh_low", "mesh_medium", "mesh_high"):
        for prim in stage.Traverse():
            if prim.GetVariantSets().HasVariantSet("visual_representation"):
                prim.GetVariantSets().SetSelection("visual_representation", level)
        counts[level] = sum(
            len(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get())
            for prim in Usd.PrimRange(stage.GetPseudoRoot(), EVERYTHING)
            if prim.IsA(UsdGeom.Mesh) and prim.IsInstanceProxy()
        )
    assert 2 * counts["mesh_low"] < counts["mesh_medium"] < counts["mesh_high"] / 2


@pytest.mark.parametrize("asset", ["fourbar", "warehouse"])
def test_fourbar_closes_exactly(asset: str) -> None:
    stage = open_asset(asset)
    cache = UsdGeom.XformCache()
    joints = [UsdPhysics.Joint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    assert len(joints) == 5
    for joint in joints:
        ends = []
        for bodies, place in (
            (joint.GetBody0Rel(), joint.GetLocalPos0Attr()),
            (joint.GetBody1Rel(), joint.GetLocalPos1Attr()),
        ):
            point = np.array((*place.Get(), 1.0))
            for target in bodies.GetTargets():
                point = point @ np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath(target)))
            ends.append(point[:3])
        assert np.abs(ends[0] - ends[1]).max() <= 1e-9, joint.GetPath()
    loops = [j.GetPath().name for j in joints if j.GetExcludeFromArticulationAttr().Get()]
    assert loops == ["loop_joint"]
    roots = [p.GetName() for p in stage.Traverse() if p.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert roots == ["world_joint"]


def build_linkage(stage: Usd.Stage) -> mujoco.MjSpec:
    """The four-bar's tree in MuJoCo, from the stage's own numbers, its loop joint as a connect constraint."""
    spec = mujoco.MjSpec()
    spec.option.gravity = (0, 0, 0)
    spec.compiler.degree = True
    bodies = {"base_link": spec.worldbody}
    for path in ("base_link/crank", "base_link/crank/coupler", "base_link/rocker"):
        prim = stage.GetPrimAtPath(f"/fourbar/{path}")
        mass = UsdPhysics.MassAPI(prim)
        parent, name = path.split("/")[-2:]
        body = bodies[parent].add_body(name=name, pos=list(prim.GetAttribute("xformOp:translate").Get()))
        body.mass, body.explicitinertial = mass.GetMassAttr().Get(), True
        body.inertia = list(mass.GetDiagonalInertiaAttr().Get())
        joint = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath(f"{prim.GetParent().GetPath()}/{name}_joint"))
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        bodies[name] = body
        assert joint.GetAxisAttr().Get() == "Y"
    loop = UsdPhysics.Joint(stage.GetPrimAtPath("/fourbar/base_link/crank/coupler/loop_joint"))
    connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
    connect.name1, connect.name2 = "coupler", "rocker"
    connect.data[:3] = list(loop.GetLocalPos0Attr().Get())
    spec.add_actuator(name="crank", target="crank", trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_velocity(kv=2.0)
    return spec


def test_fourbar_turns_a_full_circle_inside_its_limits() -> None:
    stage = open_asset("fourbar")
    model = build_linkage(stage).compile()
    data = mujoco.MjData(model)
    data.ctrl[0] = 2.0
    turns = []
    while data.qpos[model.joint("crank").qposadr[0]] < 2.0 * np.pi:
        mujoco.mj_step(model, data)
        crank, coupler, rocker = np.degrees(data.qpos)
        turns.append((rocker, rocker - crank - coupler))
        assert data.time < 5.0
    assert np.abs(data.efc_pos).max() < 1e-3
    for values, path in (
        (np.array(turns)[:, 0], "/fourbar/base_link/rocker_joint"),
        (np.array(turns)[:, 1], "/fourbar/base_link/crank/coupler/loop_joint"),
    ):
        joint = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath(path))
        assert joint.GetLowerLimitAttr().Get() < values.min() < joint.GetLowerLimitAttr().Get() + 6
        assert joint.GetUpperLimitAttr().Get() - 6 < values.max() < joint.GetUpperLimitAttr().Get()


def test_props_stand_on_the_middle_of_their_bottom() -> None:
    for asset in ("box", "rack", "floor"):
        stage = open_asset(asset)
        bounds = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
        extent = bounds.ComputeWorldBound(stage.GetDefaultPrim()).ComputeAlignedRange()
        middle = extent.GetMidpoint()
        assert extent.GetMin()[2] == pytest.approx(0.0, abs=1e-9)
        assert (middle[0], middle[1]) == pytest.approx((0.0, 0.0), abs=1e-3)


def test_rack_is_static_and_box_is_dynamic() -> None:
    assert kinematic_prims(open_asset("rack")) == set()
    stage = open_asset("box")
    box = stage.GetDefaultPrim()
    assert box.HasAPI(UsdPhysics.RigidBodyAPI)
    assert UsdPhysics.MassAPI(box).GetMassAttr().Get() == pytest.approx(2.4)


def test_ros_layer_names_its_schemas() -> None:
    layer = Sdf.Layer.FindOrOpen(str(PACKAGE / "fourbar" / "ros.usda"))
    topic = layer.GetPrimAtPath("/fourbar/Interfaces/joint_states")
    assert topic.GetInfo("apiSchemas").prependedItems == ["RosTopicAPI"]
    assert topic.properties["ros:topic:type"].default == "sensor_msgs/msg/JointState"
    root = layer.GetPrimAtPath("/fourbar")
    assert root.GetInfo("apiSchemas").prependedItems == ["RosContextAPI"]
    assert root.properties["ros:context:namespace"].default == "fourbar"
