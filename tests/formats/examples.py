"""A small machine that says one thing after the other: an example for every key of the vocabulary.

``make_example`` gives the plain machine with one thing more; ``find_value`` finds that thing in what was read again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from simwright.core.math3d import Pose, quat_from_axis_angle, vec3
from simwright.formats.vocabulary import FAMILIES
from simwright.model import asset as m
from simwright.model.elements import Movement, Track
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import (
    Approximation,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
    Subset,
)
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Drive,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
    Tendon,
    TendonPoint,
)
from simwright.model.material import LookVariant, PhysicsMaterial, RenderMaterial, Texture
from simwright.model.ros import Controller, Interface, InterfaceKind, Qos, RosContext

POSE = Pose.of((0.1, 0.2, 0.3), quat_from_axis_angle(vec3(0, 0, 1), 0.5))
PICTURE = "picture.png"


def make_solid(mass: float = 1.0) -> Inertial:
    """Something that every format takes as it is."""
    return Inertial(mass, vec3(0.01, 0.02, 0.03), np.diag((0.01, 0.02, 0.025)) * mass)


def make_machine() -> m.Asset:
    """A base on the world, an arm on a hinge and a slider on it, with looks and contact."""
    asset = m.Asset("machine")
    asset.bodies = [
        m.Body("base", inertial=make_solid()),
        m.Body("arm", Pose.of((0.5, 0, 0)), make_solid(2.0)),
    ]
    asset.bodies.append(m.Body("tool", Pose.of((1.0, 0, 0)), make_solid(0.5)))
    asset.joints = [
        Joint("anchor", JointKind.FIXED, "", "base"),
        Joint(
            "elbow", JointKind.REVOLUTE, "base", "arm", Pose.of((0.5, 0, 0)),
            dofs=[Dof(Motion.HINGE, vec3(0, 0, 1), "elbow", lower=-1.0, upper=1.5)],
        ),
        Joint(
            "reach", JointKind.PRISMATIC, "arm", "tool", Pose.of((0.5, 0, 0)),
            dofs=[Dof(Motion.SLIDE, vec3(1, 0, 0), "reach", lower=0.0, upper=0.2)],
        ),
    ]  # fmt: skip
    asset.materials = [RenderMaterial("paint", (0.8, 0.2, 0.1))]
    asset.physics_materials = [PhysicsMaterial("rubber", dynamic_friction=0.6)]
    asset.shapes = [
        m.Shape("skin", Box.of(0.3, 0.1, 0.1), "arm", material="paint"),
        m.Shape(
            "hull", Box.of(0.3, 0.1, 0.2), "arm", visual=False, collision=True, physics_material="rubber"
        ),
        m.Shape(
            "foot", Box.of(0.2, 0.2, 0.1), "base", visual=False, collision=True, physics_material="rubber"
        ),
        m.Shape(
            "nail", Box.of(0.1, 0.1, 0.1), "tool", visual=False, collision=True, physics_material="rubber"
        ),
        m.Shape(
            "pad", Box.of(0.1, 0.1, 0.1), "tool", visual=False, collision=True, physics_material="rubber"
        ),
    ]
    return asset


_DUTY: dict[str, Callable[[m.Asset], Any]] = {
    "bodies": lambda a: a.bodies[1],
    "joints": lambda a: a.joints[1],
    "shapes": lambda a: a.shapes[1],
    "materials": lambda a: a.materials[0],
    "physics_materials": lambda a: a.physics_materials[0],
    "environment": lambda a: a.environment,
}
"""The element of the plain machine that an example is about."""


def _add(asset: m.Asset, key: str) -> Any:  # noqa: C901 - a row for each list
    """The plainest element of a list that the machine has none of."""
    new: Any
    match key:
        case "sites":
            new = m.Site("mark", "arm", Pose.of((0.1, 0, 0)))
        case "cameras":
            new = m.Camera("eye", "arm", resolution=(640, 480))
        case "lights":
            new = m.Light("lamp", m.LightKind.POINT, "arm")
        case "sensors":
            asset.sites.append(m.Site("imu_frame", "arm"))
            new = m.Sensor("imu", "imu", "arm")
        case "actuators":
            new = m.Actuator("motor", "motor", "elbow")
        case "tendons":
            new = Tendon("cord", [TendonPoint("joint", "elbow"), TendonPoint("joint", "reach")])
        case "equalities":
            new = Equality("hold", EqualityKind.WELD, "base", "tool", frame_a=Pose.of((1.0, 0, 0)))
        case "mimics":
            new = Mimic("reach", "elbow", name="follow")
        case "collision_groups":
            new = m.CollisionGroup("left", ["foot"], ["right"])
            asset.collision_groups.append(m.CollisionGroup("right", ["pad"]))
        case "contact_filters":
            new = m.ContactFilter("base", "tool")
        case "contact_pairs":
            new = m.ContactPair("hull", "pad", "meet")
        case "articulations":
            new = m.Articulation("machine", "base", self_collide=False)
        case "interfaces":
            new = Interface(
                InterfaceKind.TOPIC, "publisher", "odd", "std_msgs/msg/String", at="arm", rate=10.0
            )
        case "contexts":
            new = RosContext("right", at="base")
        case "controllers":
            new = Controller("broadcaster", "joint_state_broadcaster", joints={"state": ["elbow"]})
        case "keyframes":
            new = m.Keyframe("home", {"elbow": 0.5, "reach": 0.1})
        case "custom_attributes":
            new = CustomAttribute("warmth", "model", "body", "float", 20.0, values={"arm": 30.0})
        case "look_variants":
            asset.materials.append(RenderMaterial("other", (0.1, 0.2, 0.8)))
            new = LookVariant("look", "blue", {("skin", ""): "other"})
        case _:
            raise KeyError(key)
    getattr(asset, key).append(new)
    return new


def _move(asset: m.Asset) -> None:
    spots = np.array(((0.0, 0, 0), (0.1, 0, 0)))
    turns, scales = np.array(((1.0, 0, 0, 0),) * 2), np.ones((2, 3))
    asset.motion = Movement(np.array((0.0, 1.0)), bodies={"arm": Track(spots, turns, scales)})


def _make_mesh(**data: Any) -> Mesh:
    corners = np.array(((0.0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)))
    faces = np.array((0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3), dtype=np.int32)
    return Mesh(MeshData(corners, faces, **data))


def _with_mesh(**data: Any) -> Callable[[m.Asset], None]:
    def change(asset: m.Asset) -> None:
        asset.shapes[0].geometry = _make_mesh(**data)

    return change


def _with_shape(**values: Any) -> Callable[[m.Asset], None]:
    """What is seen, otherwise."""

    def change(asset: m.Asset) -> None:
        _alter(asset.shapes[0], **values)

    return change


def _with_joint(**more: Any) -> Callable[[m.Asset], None]:
    """The elbow as another kind."""

    def change(asset: m.Asset) -> None:
        for name, value in more.items():
            setattr(asset.joints[1], name, value)

    return change


_X, _Y, _Z = vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1)
KINDS: dict[str, Callable[[m.Asset], None]] = {
    "fixed": _with_joint(kind=JointKind.FIXED, dofs=[]),
    "revolute": _with_joint(),
    "prismatic": _with_joint(kind=JointKind.PRISMATIC, dofs=[Dof(Motion.SLIDE, _X, "elbow", lower=0.0, upper=1.0)]),
    "ball": _with_joint(kind=JointKind.BALL, dofs=[Dof(Motion.BALL, name="elbow")]),
    "universal": _with_joint(
        kind=JointKind.UNIVERSAL, dofs=[Dof(Motion.HINGE, _X, "elbow_x"), Dof(Motion.HINGE, _Y, "elbow_y")]
    ),
    "planar": _with_joint(
        kind=JointKind.PLANAR,
        dofs=[Dof(Motion.SLIDE, _X, "e_x"), Dof(Motion.SLIDE, _Y, "e_y"), Dof(Motion.HINGE, _Z, "e_z")],
    ),
    "floating": _with_joint(kind=JointKind.FLOATING, dofs=[Dof(Motion.FREE, name="elbow")], parent=""),
    "screw": _with_joint(kind=JointKind.SCREW, dofs=[Dof(Motion.HINGE, _Z, "elbow", pitch=0.01)]),
    "gearbox": _with_joint(
        kind=JointKind.GEARBOX,
        dofs=[Dof(Motion.HINGE, _Z, "e_1"), Dof(Motion.HINGE, _Z, "e_2")],
        gear=Gear(3.0, "base"),
    ),
    "distance": _with_joint(
        kind=JointKind.DISTANCE, dofs=[Dof(Motion.FREE, name="elbow")], distance=(0.1, 0.9)
    ),
    "d6": _with_joint(
        kind=JointKind.D6, dofs=[Dof(Motion.SLIDE, _X, "e_x"), Dof(Motion.HINGE, _Y, "e_y")]
    ),
}  # fmt: skip
GEOMETRIES = (
    Box.of(0.1, 0.2, 0.3), Sphere(0.1), Ellipsoid(vec3(0.1, 0.2, 0.3)), Cylinder(0.1, 0.3), Capsule(0.1, 0.3),
    Cone(0.1, 0.3), Plane(np.array((2.0, 3.0))), Heightfield(np.array(((0.0, 0.1), (0.2, 0.0))), np.array((1.0, 1.0))),
    Polyline((np.array(((0.0, 0), (1, 0), (0, 1))),), 0.2), _make_mesh(),
)  # fmt: skip
_MOTORS = {
    "motor": {}, "position": {"stiffness": 100.0, "damping": 2.0}, "velocity": {"damping": 2.0},
    "general": {"settings": {"gain_type": "fixed", "gain": [3.0], "bias_type": "affine", "bias": [0.1, -2.0, -0.1],
                             "dynamics_type": "none", "dynamics": [1.0]}},
}  # fmt: skip
SENSOR_KINDS = ("imu", "camera", "lidar", "contact", "force_torque", "jointpos", "strange")


def _set_texture(asset: m.Asset, role: str, folder: Path, **more: Any) -> None:
    file = folder / PICTURE
    if not file.exists():
        Image.new("RGB", (4, 4), (10, 200, 30)).save(file)
    asset.materials[0].textures[role] = Texture(str(file), **more)
    uvs = np.array(((0.0, 0), (1, 0), (0, 1), (1, 1)))
    asset.shapes[0].geometry = _make_mesh(uvs=uvs, uv_sets={"more": uvs} if more.get("uv_set") else {})


def _drive(**more: Any) -> Callable[[m.Asset], None]:
    def change(asset: m.Asset) -> None:
        asset.joints[1].dofs[0].drive = Drive(**{"stiffness": 50.0, "damping": 5.0, **more})

    return change


def _ball(asset: m.Asset) -> None:
    asset.joints[1].kind = JointKind.BALL
    asset.joints[1].dofs = [Dof(Motion.BALL, name="elbow", swing=(0.5, 0.5))]


def _shift(asset: m.Asset) -> None:
    """The whole machine stands elsewhere."""
    asset.joints[0].parent_frame = POSE
    for body in asset.bodies:
        body.pose = POSE @ body.pose


def _loose(**values: Any) -> Callable[[m.Asset], None]:
    """Nothing holds the arm."""

    def change(asset: m.Asset) -> None:
        del asset.joints[1]
        _alter(asset.bodies[1], **values)

    return change


def _loop(asset: m.Asset) -> None:
    asset.joints.append(
        Joint("loop", JointKind.FIXED, "base", "tool", Pose.of((1.0, 0, 0)), closes_loop=True)
    )


def _spring(asset: m.Asset) -> None:
    asset.joints[1].dofs[0].stiffness, asset.joints[1].dofs[0].spring_ref = 3.0, 0.4


def _site_tendon(*points: TendonPoint) -> Callable[[m.Asset], None]:
    def change(asset: m.Asset) -> None:
        asset.sites += [m.Site("s1", "base"), m.Site("s2", "arm", Pose.of((0.2, 0, 0))), m.Site("s3", "tool")]
        asset.shapes.append(m.Shape("drum", Sphere(0.05), "arm", Pose.of((0.0, 0.3, 0))))
        asset.tendons[0].path[:] = [TendonPoint("site", "s1"), *points, TendonPoint("site", "s2")]

    return change


def _pulley(asset: m.Asset) -> None:
    _site_tendon(TendonPoint("site", "s2"), TendonPoint("pulley", value=2.0), TendonPoint("site", "s3"))(
        asset
    )


def _tie(asset: m.Asset) -> None:
    asset.tendons += [
        Tendon("t1", [TendonPoint("joint", "elbow")]),
        Tendon("t2", [TendonPoint("joint", "reach", 2.0)]),
    ]
    asset.equalities[0] = Equality(
        "hold", EqualityKind.TENDON, "t1", "t2", polynomial=(0.0, 1.0, 0.0, 0.0, 0.0)
    )


def _reach(asset: m.Asset, transmission: str) -> None:
    asset.sites.append(m.Site("s1", "arm"))
    asset.tendons.append(Tendon("t1", [TendonPoint("joint", "elbow"), TendonPoint("joint", "reach")]))
    target = {"joint": "elbow", "tendon": "t1", "site": "s1", "body": "arm"}[transmission]
    motor = asset.actuators[0]
    motor.transmission, motor.target = transmission, target
    if transmission == "site":
        motor.gear = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    if transmission == "body":  # MuJoCo's adhesion, the only one there is
        law = {
            "gain_type": "fixed",
            "gain": [3.0],
            "bias_type": "none",
            "bias": [0.0],
            "dynamics_type": "none",
        }
        motor.kind, motor.control_range = "general", (0.0, 1.0)
        motor.settings = {"mjcf": "adhesion", **law, "dynamics": [1.0]}


def _merge(asset: m.Asset) -> None:
    asset.collision_groups.insert(0, m.CollisionGroup("more", ["nail"], merge="both"))
    asset.collision_groups.reverse()
    _alter(asset.collision_groups[1], merge="both")


def _filter_shapes(asset: m.Asset) -> None:
    asset.contact_filters[0] = m.ContactFilter("foot", "pad", "shape")


VALUES: dict[str, Any] = {
    "bodies.pose": _shift,
    "bodies.inertial": Inertial(3.0, vec3(0, 0.1, 0), np.diag((0.1, 0.2, 0.25))),
    "bodies.kinematic": _loose(kinematic=True),
    "bodies.enabled": _loose(enabled=False),
    "bodies.gravity_scale": 0.5,
    "bodies.linear_velocity": _loose(linear_velocity=vec3(1, 0, 0)),
    "bodies.angular_velocity": _loose(angular_velocity=vec3(0, 0, 1)),
    "bodies.density": lambda a: _alter(a.bodies[1], inertial=None, density=700.0),
    "bodies.linear_damping": 0.3,
    "bodies.angular_damping": 0.4,
    "joints.parent_frame": Pose.of((0.5, 0, 0.2)),
    "joints.child_frame": Pose.of((0.0, 0.1, 0.0)),
    "joints.enabled": False,
    "joints.closes_loop": _loop,
    "joints.collide": True,
    "joints.break_force": 90.0,
    "joints.break_torque": 80.0,
    "joints.distance": KINDS["distance"],
    "joints.gear": KINDS["gearbox"],
    "joints.ros_name": "elbow_joint",
    "joints.dofs.axis": vec3(0, 1, 0),
    "joints.dofs.anchor": vec3(0.1, 0, 0),
    "joints.dofs.motion": None,
    "joints.dofs.lower": -0.7,
    "joints.dofs.upper": 0.7,
    "joints.dofs.swing": _ball,
    "joints.dofs.pitch": KINDS["screw"],
    "joints.dofs.armature": 0.02,
    "joints.dofs.friction": 0.3,
    "joints.dofs.damping": 0.4,
    "joints.dofs.stiffness": 3.0,
    "joints.dofs.spring_ref": _spring,
    "joints.dofs.ref": 0.25,
    "joints.dofs.effort_limit": 40.0,
    "joints.dofs.velocity_limit": 3.0,
    "joints.dofs.limit_stiffness": 5000.0,
    "joints.dofs.limit_damping": 20.0,
    "joints.dofs.position": 0.5,
    "joints.dofs.velocity": 0.6,
    "joints.dofs.drive": _drive(),
    "joints.dofs.drive.stiffness": _drive(stiffness=70.0),
    "joints.dofs.drive.damping": _drive(damping=7.0),
    "joints.dofs.drive.target_position": _drive(target_position=0.4),
    "joints.dofs.drive.target_velocity": _drive(target_velocity=0.4),
    "joints.dofs.drive.max_force": _drive(max_force=30.0),
    "joints.dofs.drive.acceleration": _drive(acceleration=True),
    "joints.dofs.safety": {"soft_lower_limit": -0.5, "soft_upper_limit": 0.5, "k_velocity": 10.0, "k_position": 20.0},
    "shapes.pose": Pose.of((0.05, 0, 0)),
    "shapes.scale": vec3(1, 2, 3),
    "shapes.visual": False,
    "shapes.collision": True,
    "shapes.enabled": False,
    "shapes.color": _with_shape(color=(0.1, 0.9, 0.2, 1.0), material=""),
    "shapes.approximation": lambda a: _alter(
        a.shapes[1], geometry=_make_mesh(), approximation=Approximation("convexDecomposition")
    ),
    "shapes.margin": 0.002,
    "shapes.gap": 0.003,
    "shapes.mass": lambda a: (_alter(a.bodies[1], inertial=None), _alter(a.shapes[1], mass=0.2)),
    "shapes.density": lambda a: (_alter(a.bodies[1], inertial=None), _alter(a.shapes[1], density=500.0)),
    "shapes.purpose": _with_shape(purpose="proxy"),
    "shapes.category_bits": 2,
    "shapes.collide_bits": 4,
    "shapes.settings": {"ke": 1000.0},
    "shapes.double_sided": _with_shape(double_sided=True, geometry=_make_mesh()),
    "shapes.geometry.data.normals": _with_mesh(normals=np.tile((0.0, 0.0, 1.0), (12, 1))),
    "shapes.geometry.data.uvs": _with_mesh(uvs=np.array(((0.0, 0), (1, 0), (0, 1), (1, 1)))),
    "shapes.geometry.data.uv_sets": _with_mesh(
        uvs=np.array(((0.0, 0), (1, 0), (0, 1), (1, 1))), uv_sets={"more": np.zeros((4, 2))}
    ),
    "shapes.geometry.data.colors": _with_mesh(colors=np.array(((1.0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)))),
    "shapes.geometry.data.subsets": _with_mesh(subsets=(Subset("front", np.array((0, 1)), "paint"),)),
    "shapes.geometry.data.smooth": _with_mesh(smooth=False),
    "sites.pose": POSE,
    "sites.geometry": Sphere(0.01),
    "sites.ros_frame": "mark_frame",
    "sites.static": False,
    "sites.folded": m.FoldedBody("dummy", "dummy_mount"),
    "cameras.pose": POSE,
    "cameras.fov_y": 1.1,
    "cameras.orthographic_height": 3.0,
    "cameras.resolution": (320, 200),
    "cameras.near": 0.5,
    "cameras.far": 30.0,
    "cameras.focal_length": lambda a: _alter(a.cameras[0], focal_length=0.02, aperture=(0.02, 0.015)),
    "cameras.aperture": lambda a: _alter(a.cameras[0], focal_length=0.02, aperture=(0.02, 0.015)),
    "lights.pose": POSE,
    "lights.color": (0.5, 0.6, 0.7),
    "lights.intensity": 3.0,
    "lights.radius": 0.2,
    "lights.cone": lambda a: _alter(a.lights[0], kind=m.LightKind.SPOT, cone=(0.2, 0.6)),
    "lights.range": 8.0,
    "lights.cast_shadows": False,
    "lights.angle": lambda a: _alter(a.lights[0], kind=m.LightKind.DIRECTIONAL, angle=0.02),
    "lights.normalized": lambda a: _alter(a.lights[0], radius=0.3, normalized=True),
    "sensors.pose": POSE,
    "sensors.target": lambda a: _alter(a.sensors[0], kind="force_torque", target="elbow", body="arm"),
    "sensors.rate": 50.0,
    "sensors.settings": {"angular_velocity_x_noise_stddev": 0.01, "angular_velocity_x_noise_type": "gaussian"},
    "actuators.gear": (5.0,),
    "actuators.stiffness": lambda a: _alter(a.actuators[0], kind="position", stiffness=90.0),
    "actuators.damping": lambda a: _alter(a.actuators[0], kind="velocity", damping=9.0),
    "actuators.control_range": (-2.0, 3.0),
    "actuators.force_range": (-20.0, 30.0),
    "actuators.settings": {"odd_setting": 3.0},
    "tendons.path.value": lambda a: _alter(a.tendons[0].path[0], value=2.5),
    "tendons.path.side": _site_tendon(TendonPoint("wrap", "drum", side="s3")),
    "tendons.lower": lambda a: _alter(a.tendons[0], lower=-0.5, upper=0.5),
    "tendons.upper": lambda a: _alter(a.tendons[0], lower=-0.5, upper=0.7),
    "tendons.stiffness": 10.0,
    "tendons.damping": 1.0,
    "tendons.friction": 0.5,
    "tendons.armature": 0.01,
    "tendons.rest_length": lambda a: _alter(a.tendons[0], stiffness=10.0, rest_length=(0.1, 0.2)),
    "tendons.width": lambda a: (_site_tendon()(a), _alter(a.tendons[0], width=0.01)),
    "equalities.frame_a": Pose.of((1.0, 0.1, 0.0)),
    "equalities.frame_b": Pose.of((0.0, 0.1, 0.0)),
    "equalities.polynomial": _tie,
    "equalities.torque_scale": 2.0,
    "equalities.enabled": False,
    "mimics.multiplier": 0.3,
    "mimics.offset": 0.05,
    "mimics.polynomial": (0.2,),
    "mimics.enabled": False,
    "materials.diffuse": (0.3, 0.4, 0.9),
    "materials.opacity": 0.5,
    "materials.emissive": (0.2, 0.1, 0.0),
    "materials.metallic": 0.8,
    "materials.roughness": 0.3,
    "materials.specular": (0.3, 0.3, 0.2),
    "materials.clearcoat": 0.7,
    "materials.clearcoat_roughness": lambda a: _alter(a.materials[0], clearcoat=0.7, clearcoat_roughness=0.2),
    "materials.ior": 1.33,
    "materials.opacity_threshold": lambda a: _alter(a.materials[0], opacity=0.5, opacity_threshold=0.4),
    "materials.double_sided": True,
    "materials.vertex_colors": lambda a: (
        VALUES["shapes.geometry.data.colors"](a), _alter(a.materials[0], vertex_colors=True)
    ),
    "physics_materials.static_friction": 0.9,
    "physics_materials.dynamic_friction": 0.7,
    "physics_materials.torsional_friction": 0.01,
    "physics_materials.rolling_friction": 0.001,
    "physics_materials.restitution": 0.4,
    "physics_materials.density": lambda a: (
        _alter(a.bodies[1], inertial=None), _alter(a.physics_materials[0], density=900.0)
    ),
    "physics_materials.stiffness": 5000.0,
    "physics_materials.damping": 50.0,
    "physics_materials.friction_combine": "min",
    "physics_materials.restitution_combine": "multiply",
    "physics_materials.settings": {"priority": 2},
    "collision_groups.filtered": None,
    "collision_groups.inverted": lambda a: _alter(a.collision_groups[1], inverted=True, filtered=["right"]),
    "collision_groups.merge": _merge,
    "contact_pairs.settings": {"friction": (0.5, 0.5, 0.01, 0.001, 0.001)},
    "articulations.self_collide": None,
    "interfaces.role": None,
    "interfaces.type": None,
    "interfaces.rate": 25.0,
    "interfaces.qos": Qos("best_effort"),
    "interfaces.frame_override": "elsewhere",
    "interfaces.starts_enabled": False,
    "contexts.namespace": "left",
    "contexts.domain_id": 7,
    "contexts.parent_frame": "map",
    "contexts.pose": POSE,
    "controllers.joints": None,
    "controllers.interfaces": lambda a: (
        _add(a, "interfaces"), _alter(a.controllers[0], interfaces={"publisher": "odd"})
    ),
    "controllers.settings": {"odd_setting": 3},
    "controllers.starts_enabled": False,
    "keyframes.positions": None,
    "keyframes.velocities": {"elbow": 0.3},
    "keyframes.controls": lambda a: (_add(a, "actuators"), _alter(a.keyframes[0], controls={"motor": 2.0})),
    "keyframes.time": 1.5,
    "environment.gravity": vec3(0, 0, -1.6),
    "environment.timestep": 0.004,
    "environment.wind": vec3(2, 0, 0),
    "environment.magnetic_field": vec3(0.1, 0, 0),
    "environment.settings": {"odd_option": 3},
}  # fmt: skip
"""What is set on the element of the example, or what is done to the machine; None where the plain one says it."""
TEXTURES: dict[str, dict[str, Any]] = {
    "channel": {"channel": "g"},
    "color_space": {"color_space": "raw"},
    "wrap_s": {"wrap_s": "clamp"},
    "wrap_t": {"wrap_t": "mirror"},
    "scale": {"scale": (2.0, 3.0)},
    "offset": {"offset": (0.1, 0.2)},
    "rotation": {"rotation": 0.5},
    "uv_set": {"uv_set": "more"},
    "gain": {"gain": (0.5, 0.5, 0.5, 1.0)},
    "bias": {"bias": (0.1, 0.1, 0.1, 0.0)},
}
ROLES = ("diffuse", "emissive", "metallic", "roughness", "normal", "occlusion", "opacity", "specular")
CHOICES: dict[str, tuple[str, ...]] = {
    "joints.kind": tuple(KINDS),
    "shapes.geometry": tuple(geometry.kind for geometry in GEOMETRIES),
    "lights.kind": tuple(m.LightKind),
    "sensors.kind": SENSOR_KINDS,
    "actuators.kind": tuple(_MOTORS),
    "actuators.transmission": ("joint", "tendon", "site", "body"),
    "tendons.path.kind": ("joint", "site", "wrap", "pulley"),
    "equalities.kind": tuple(EqualityKind),
    "contact_filters.of": ("body", "shape"),
    "interfaces.kind": tuple(InterfaceKind),
    "controllers.kind": (
        "diff_drive",
        "joint_trajectory",
        "joint_state_broadcaster",
        "ros2_control",
        "strange",
    ),
    "materials.textures": ROLES,
}
"""Keys whose value is one of several words, and the words that are tried."""


def _alter(element: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(element, name, value)


def list_examples() -> list[tuple[str, str]]:
    """Key and, where there is a choice, value."""
    rows: list[tuple[str, str]] = []
    for family in FAMILIES.values():
        rows.append((family.key, ""))
        for aspect in family.aspects:
            rows += [(aspect.key, word) for word in CHOICES.get(aspect.key, ("",))]
    return rows


def make_example(folder: Path, key: str, word: str = "") -> m.Asset:
    """The machine that says ``key``; ``word`` is the value where there is a choice."""
    asset = make_machine()
    family, _, path = key.partition(".")
    if family not in _DUTY and family not in ("motion", "extras"):
        _add(asset, family)
    if not path:
        if family == "motion":
            _move(asset)
        elif family == "extras":
            asset.extras.keep("bullet", "arm", "bullet:softness", 0.5)
        elif family == "environment":
            asset.environment.gravity = vec3(0, 0, -3.0)
        return asset
    if word:
        _choose(asset, key, word, folder)
    elif key.startswith("materials.textures."):
        _set_texture(asset, "diffuse", folder, **TEXTURES[path.rpartition(".")[2]])
    else:
        value = VALUES[key]
        if callable(value):
            value(asset)
        elif value is not None:
            _set(_find_subject(asset, family, asset), path, value)
    return asset


def _set(element: Any, path: str, value: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        element = getattr(element, step)
        element = element[0] if isinstance(element, list) else element
    setattr(element, last, value)


def _choose(asset: m.Asset, key: str, word: str, folder: Path) -> None:  # noqa: C901 - a row for each key
    match key:
        case "joints.kind":
            KINDS[word](asset)
        case "shapes.geometry":
            asset.shapes[1].geometry = next(g for g in GEOMETRIES if g.kind == word)
            if word in ("plane", "heightfield"):
                asset.shapes[1].body = ""
        case "lights.kind":
            cone = (0.2, 0.6) if word == "spot" else None
            _alter(asset.lights[0], kind=m.LightKind(word), cone=cone)
        case "sensors.kind":
            target = "elbow" if word in ("force_torque", "jointpos") else ""
            settings = {"object_type": "joint"} if word == "jointpos" else {}
            _alter(asset.sensors[0], kind=word, target=target, settings=settings)
        case "actuators.kind":
            _alter(asset.actuators[0], kind=word, **_MOTORS[word])
        case "actuators.transmission":
            _reach(asset, word)
        case "tendons.path.kind":
            if word == "pulley":
                _pulley(asset)
            elif word != "joint":
                _site_tendon(*([TendonPoint("wrap", "drum")] if word == "wrap" else []))(asset)
        case "equalities.kind":
            if word == "tendon":
                _tie(asset)
            else:
                asset.equalities[0].kind = EqualityKind(word)
                if word == "distance":
                    asset.equalities[0].frame_a = Pose.of((1.0, 0.3, 0.0))
        case "contact_filters.of":
            if word == "shape":
                _filter_shapes(asset)
        case "interfaces.kind":
            role = "publisher" if word == "topic" else "server"
            _alter(asset.interfaces[0], kind=InterfaceKind(word), role=role)
        case "controllers.kind":
            asset.controllers[0].kind = word
        case "materials.textures":
            _set_texture(asset, word, folder)


NAMES = {"mimics": "follower", "contact_filters": "a"}


def _find_subject(asset: m.Asset, family: str, source: m.Asset) -> Any:
    """The element that an example is about, by the name it has in ``source``; None if it is not there."""
    if family in ("environment", "motion", "extras"):
        return getattr(asset, family)
    elements, first = getattr(asset, family), getattr(source, family)
    mine = _DUTY[family](source) if family in _DUTY else first[-1]
    word = NAMES.get(family, "name")
    name = getattr(mine, word, "")
    found = next((e for e in elements if getattr(e, word, "") == name), None)
    if found is None and family not in _DUTY and elements:
        found = elements[-1]
    return found


def find_value(asset: m.Asset, key: str, source: m.Asset) -> Any:
    """What ``asset``, read again, says of what ``source`` said by ``key``; None if nothing."""
    family, _, path = key.partition(".")
    if key.startswith("shapes.geometry.data") or key in (
        "shapes.color",
        "shapes.purpose",
        "shapes.double_sided",
    ):
        element: Any = next((s for s in asset.shapes if s.name.startswith("skin")), None)
    elif key == "joints.closes_loop":
        element = next((j for j in asset.joints if j.name == "loop"), None)
    else:
        element = _find_subject(asset, family, source)
    for step in path.split(".") if path else ():
        if isinstance(element, list):
            element = element[0] if element else None
        elif isinstance(element, dict):
            element = next(iter(element.values()), None)
        element = getattr(element, step, None)
        if element is None:
            return None
    return element


def is_same(a: Any, b: Any) -> bool:
    """The same value, but for the digits of single precision."""
    if isinstance(a, Pose):
        return isinstance(b, Pose) and a.is_close(b, 1e-6)
    if isinstance(a, Inertial):
        same = isinstance(b, Inertial) and is_same(a.mass, b.mass) and is_same(a.com, b.com)
        return same and is_same(a.inertia, b.inertia)
    if isinstance(a, dict):
        return isinstance(b, dict) and all(key in b and is_same(value, b[key]) for key, value in a.items())
    if isinstance(a, bool | str) or a is None or b is None:
        return bool(a is b or (type(a) is type(b) and a == b) or (isinstance(a, str) and a == b))
    if isinstance(a, Approximation):
        return isinstance(b, Approximation) and a.token == b.token
    if isinstance(a, int | float | np.ndarray | tuple | list):
        first, second = np.asarray(a), np.asarray(b)
        if first.dtype.kind not in "fiu":
            return len(a) == len(b)  # type: ignore[arg-type]
        if isinstance(a, tuple) and first.ndim == second.ndim == 1:  # polynomials end in zeros
            size = max(first.size, second.size)
            first, second = (np.pad(v, (0, size - v.size)) for v in (first, second))
        return first.size == second.size and bool(np.allclose(first.ravel(), second.ravel(), 1e-5, 1e-6))
    if hasattr(a, "kind"):
        return a.kind == getattr(b, "kind", "")
    return type(a) is type(b)
