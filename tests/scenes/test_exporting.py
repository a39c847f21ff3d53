# SPDX-License-Identifier: Apache-2.0
"""A scene becomes an asset that has everything the arrays have, and is written and read back as such."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import simwright
from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.core.diag import Reporter
from simwright.core.errors import LimitError
from simwright.formats.table import write_asset
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    MeshData,
    Plane,
    Sphere,
    Subset,
)  # fmt: skip
from simwright.model.joint import JointKind, Motion
from simwright.model.material import RenderMaterial
from simwright.scenes import exporting
from simwright.scenes.document import parse_scene
from simwright.scenes.exporting import choose_names, export_asset
from simwright.scenes.exporting_parts import MaterialExporter
from simwright.scenes.load import assemble_scene


def test_colliders_without_a_thickness_get_one_below_what_is_touched():
    """MuJoCo's planes have no end and its meshes a volume; the upper side stays where it was."""
    plane = Shape("mat", Plane(np.array((2.0, 3.0))), collision=True)
    seen = Shape("picture", Plane(np.array((2.0, 3.0))))
    asset = Asset("a", shapes=[plane, seen])
    exporting._thicken(asset, Reporter())
    assert isinstance(plane.geometry, Box)
    thick = plane.geometry.size[2]
    np.testing.assert_allclose(plane.geometry.size[:2], (2.0, 3.0))
    assert 0.0 < thick < 0.01
    np.testing.assert_allclose(plane.pose.p, (0.0, 0.0, -thick / 2))
    assert isinstance(seen.geometry, Plane)


SCENE = """
name: bench
simulation: {dt: 0.004}
builder: {gravity: -9.8, rigid_gap: 0.002, defaults: {shape: {mu: 0.6, ke: 1e5, tau: 0.01}}}
bodies:
  - {id: base, transform: {p: [0, 0, 1]},
     shapes: [{color: [1, 0, 0]}, {type: sphere, label: mark, cfg: {is_site: true}}]}
  - {id: arm, transform: {p: [1, 0, 1]}, shapes: [{type: capsule, radius: 0.1, cfg: {mu: 0.1}}]}
  - {id: slide, shapes: [{type: cylinder}, {type: cone, cfg: {has_shape_collision: false}}]}
  - {id: ball, shapes: [{type: ellipsoid}]}
  - {id: free, transform: {p: [3, 0, 2]}, shapes: [{type: sphere, radius: 0.2, cfg: {is_visible: false}}]}
  - {id: six, shapes: [{}]}
joints:
  - {id: root, type: fixed, child: base, parent_xform: {p: [0, 0, 1]}}
  - {id: hinge, type: revolute, parent: base, child: arm, axis: y, limit_lower: -1, limit_upper: 2, armature: 0.1,
     friction: 0.2, effort_limit: 30, velocity_limit: 5, target_ke: 100, target_kd: 3, target_pos: 0.5,
     actuator_mode: position, parent_xform: {p: [0.5, 0, 0]}, child_xform: {p: [-0.5, 0, 0]}}
  - {id: rail, type: prismatic, parent: base, child: slide, axis: x, target_kd: 4, target_vel: 2,
     actuator_mode: velocity}
  - {id: socket, type: ball, parent: arm, child: ball, parent_xform: {p: [1, 0, 0]}}
  - {id: d6, type: d6, parent: base, child: six, linear_axes: [{axis: z}], angular_axes: [{axis: x}, {axis: y}]}
  - {id: flying, type: free, child: free}
articulations:
  - {id: robot, joints: [root, hinge, rail, socket, d6]}
  - {id: single, joints: [flying]}
initial_joint_q:
  - {joint: hinge, value: pi / 6}
post_build:
  - {op: set_array, array: joint_qd, joint: hinge, value: 0.25}
"""


@pytest.fixture(scope="module")
def asset():
    return export_asset(assemble_scene(parse_scene(SCENE, name="bench.yaml")))


def test_bodies(asset):
    assert [body.name for body in asset.bodies] == ["base", "arm", "slide", "ball", "free", "six"]
    assert asset.body("base").inertial.mass == 1000.0
    turn = math.pi / 6
    assert asset.body("arm").pose.p == pytest.approx(
        [0.5 + 0.5 * math.cos(turn), 0, 1 - 0.5 * math.sin(turn)]
    )
    assert asset.environment.gravity.tolist() == [0, 0, -9.8]
    assert asset.environment.timestep == 0.004
    assert asset.provenance.format == "scene"


def test_joints(asset):
    kinds = {joint.name: joint.kind for joint in asset.joints}
    assert kinds == {
        "root": JointKind.FIXED,
        "hinge": JointKind.REVOLUTE,
        "rail": JointKind.PRISMATIC,
        "socket": JointKind.BALL,
        "d6": JointKind.D6,
        "flying": JointKind.FLOATING,
    }
    hinge = asset.joint("hinge").dofs[0]
    assert hinge.axis.tolist() == [0, 1, 0]
    assert (hinge.lower, hinge.upper, hinge.armature, hinge.friction) == (-1, 2, 0.1, 0.2)
    assert (hinge.effort_limit, hinge.velocity_limit, hinge.velocity) == (30, 5, 0.25)
    assert hinge.position == pytest.approx(math.pi / 6)
    assert (hinge.drive.stiffness, hinge.drive.damping, hinge.drive.target_position) == (100, 3, 0.5)
    rail = asset.joint("rail").dofs[0]
    assert rail.lower == -math.inf
    assert rail.effort_limit is None
    assert (rail.drive.stiffness, rail.drive.damping, rail.drive.target_velocity) == (0, 4, 2)
    assert [dof.motion for dof in asset.joint("d6").dofs] == [Motion.SLIDE, Motion.HINGE, Motion.HINGE]
    assert asset.joint("flying").dofs[0].position == [3, 0, 2, 1, 0, 0, 0]
    assert [found.root for found in asset.articulations] == ["base"]


def test_shapes(asset):
    kinds = [type(shape.geometry) for shape in asset.shapes]
    assert kinds == [Box, Capsule, Cylinder, Cone, Ellipsoid, Sphere, Box, Plane]
    assert asset.shapes[0].color == (1, 0, 0, 1)
    assert asset.shapes[3].collision is False
    assert asset.shapes[5].visual is False
    assert [site.name for site in asset.sites] == ["mark"]
    materials = {material.name: material for material in asset.physics_materials}
    assert materials[asset.shapes[1].physics_material].dynamic_friction == 0.1
    common = materials[asset.shapes[0].physics_material]
    assert (common.dynamic_friction, common.stiffness, common.damping) == (0.6, 1e5, 1000.0)
    assert asset.shapes[0].gap == 0.002
    assert len(materials) == 2  # the slippery arm has one of its own


@pytest.mark.parametrize(
    ("ending", "expected"),
    [("usda", set()), ("xml", {"order", "keyframes", "limits", "actuators", "drives"})],
)
def test_it_is_written_and_read_back(asset, tmp_path, ending, expected):
    entry = write_asset(asset, tmp_path / f"bench.{ending}")
    found = compare_assets(
        asset, simwright.load(entry), make_settings(["structure", "kinematics", "dynamics"], [])
    )
    different = {section.name for section in found.sections if not section.equal}
    assert different == expected  # MJCF: positions as a keyframe, motors as actuators, no velocity limits


def test_worlds_side_by_side():
    text = SCENE + "\nreplicate: {spacing: [4, 0, 0]}\n"
    loaded = assemble_scene(parse_scene(text, name="bench.yaml"), num_worlds=2)
    asset = export_asset(loaded)
    assert len(asset.bodies) == 12
    assert asset.bodies[0].name == "world_0_base"
    offset = asset.body("world_1_base").pose.p - asset.body("world_0_base").pose.p
    assert offset.tolist() == [4, 0, 0]


def test_filters_and_groups():
    bodies = "".join(f"  - {{id: b{n}, shapes: [{{cfg: {{collision_group: {n - 1}}}}}]}}\n" for n in range(4))
    loaded = assemble_scene(parse_scene(f"bodies:\n{bodies}", name="s.yaml"))
    reporter = Reporter()
    asset = export_asset(loaded, reporter=reporter)
    assert [finding.kind for finding in reporter] == ["scene-groups-lost"]
    assert reporter.found[0].data["groups"] == "-1, 2"
    assert [shape.collision for shape in asset.shapes[:4]] == [True, False, True, True]


def test_names():
    assert choose_names(["robot/a", "robot/b", "other/b", "/World/c", ""]) == [
        "a",
        "robot_b",
        "other_b",
        "c",
        "unnamed",
    ]
    assert choose_names(["x/a"], ["a"]) == ["a_2"]


def test_too_many_bodies(monkeypatch):
    monkeypatch.setattr(exporting, "MAX_BODIES", 5)
    with pytest.raises(LimitError, match="6 bodies"):
        export_asset(assemble_scene(parse_scene(SCENE, name="bench.yaml")))


def test_a_mesh_keeps_its_scale(tmp_path):
    (tmp_path / "t.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    text = "bodies: [{id: b, shapes: [{type: mesh, path: t.obj, scale: 2}]}]\npost_build: [{op: approximate_meshes}]\n"
    asset = export_asset(assemble_scene(parse_scene(text, folder=tmp_path, name="s.yaml")))
    assert isinstance(asset.shapes[0].geometry, Mesh)
    assert np.asarray(asset.shapes[0].scale).tolist() == [2, 2, 2]
    assert asset.shapes[0].approximation.token == "convexHull"


@pytest.mark.realworld
def test_shared_scenes_become_assets(shared_assets, monkeypatch):
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(shared_assets / "scenes/cache"))
    monkeypatch.setenv("SIMWRIGHT_OFFLINE", "1")
    ant = simwright.load(shared_assets / "scenes/basic_ant_usd.yaml")
    assert len(ant.bodies) == 9
    assert ant.provenance.format == "scene"


def write_robot(folder, name, color):
    (folder / name).write_text(
        f"<robot name='{name}'><material name='paint'><color rgba='{color} 1'/></material><link name='l'><visual>"
        "<geometry><box size='1 1 1'/></geometry><material name='paint'/></visual></link></robot>"
    )


def test_materials_of_assets_are_kept_apart(tmp_path):
    write_robot(tmp_path, "red.urdf", "1 0 0")
    write_robot(tmp_path, "blue.urdf", "0 0 1")
    sources = ("red.urdf", "blue.urdf", "red.urdf")
    text = f"assets: [{', '.join(f'{{type: urdf, source: {name}}}' for name in sources)}]"
    loaded = assemble_scene(parse_scene(text, folder=tmp_path, name="s.yaml"), num_worlds=2)
    asset = export_asset(loaded)
    colors = {material.name: material.diffuse for material in asset.materials}
    shown = [colors[shape.material] for shape in asset.shapes if shape.material]
    assert shown == [(1, 0, 0), (0, 0, 1), (1, 0, 0)] * 2
    assert len(colors) == 3


def test_faces_of_meshes_keep_their_materials():
    subsets = tuple(Subset(name, np.array([row], dtype=np.int32), name) for row, name in enumerate("ab"))
    data = MeshData(np.eye(3), np.array([0, 1, 2, 0, 2, 1], dtype=np.int32), subsets=subsets)
    mesh = Mesh(data)
    looks = [("", {name: RenderMaterial(name) for name in "ab"}) for _ in range(2)]
    asset = Asset("a")
    taker = MaterialExporter(
        SimpleNamespace(look_of=lambda index: looks[index % 2] if index < 4 else None), asset
    )
    shapes = [Shape(f"s{number}", mesh) for number in range(5)]
    for number, shape in enumerate(shapes):
        taker.dress(shape, number)
    used = [[subset.material for subset in shape.geometry.data.subsets] for shape in shapes]
    assert used == [["a", "b"], ["a_2", "b_2"], ["a", "b"], ["a_2", "b_2"], ["a", "b"]]
    assert [material.name for material in asset.materials] == ["a", "b", "a_2", "b_2"]
    assert shapes[0].geometry is mesh
    assert shapes[1].geometry is shapes[3].geometry
