# SPDX-License-Identifier: Apache-2.0
"""What may differ after a trip: one row each, with what a format on the way cannot hold.

A row that no line of its ``example`` matches any more fails: what is mended is held from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from simwright.model.asset import Asset

from .routes import Trip


@dataclass(frozen=True)
class Row:
    """``pattern`` matches whole lines of a trip; ``robots``, where named, are the only ones it is allowed for."""

    route: str
    pattern: str
    example: str
    reason: str
    robots: tuple[str, ...] = ()

    def matches(self, trip: Trip, line: str) -> bool:
        """Does it speak of this line?"""
        if trip.route != self.route or (self.robots and trip.robot not in self.robots):
            return False
        return re.fullmatch(self.pattern, line, re.DOTALL) is not None


MJCF, URDF, SDF, LONG = "MJCF-USD-MJCF", "URDF-USD-URDF", "SDF-USD-SDF", "MJCF-USD-URDF-USD"
_LOST = r"lost in urdf: write-lost.*: URDF has no place for {} of \d+ .*"
_LEFT = r"lost in urdf: write-lost.*: URDF has no place for \d+ {},? .*"
_LENS = r"lost in sdf: write-lost: SDFormat has no place for the (focal length|aperture) of .*"
_GONE = r".* -> None"
_LAIKAGO, _PIPER, _HYQ = "urdf/laikago.urdf", "piper_description/piper.urdf", "robots/hyq_no_sensors.urdf"
_TIAGO, _CASSIE, _PANDA = (
    "robots/tiago_no_hand.urdf",
    "agility_cassie/cassie.xml",
    "franka_emika_panda/panda.xml",
)
_CARTPOLE, _ANT, _X2 = "assets/cartpole.urdf", "assets/nv_ant.xml", "skydio_x2/x2.xml"
_GRIPPER, _HAND, _ARM = "robotiq_2f85/2f85.xml", "shadow_hand/left_hand.xml", "trossen_vx300s/vx300s.xml"
_DOG, _SCENE = "google_barkour_vb/barkour_vb.xml", "trossen_vx300s/scene.xml"

URDF_ROWS = (
    Row(URDF, r"lost in usd: usd-write-look-highlights.*", _LAIKAGO,
        "UsdPreviewSurface has no Phong highlights; the roughness they come with is kept"),
    Row(URDF, _LEFT.format("contact materials?"), "urdf/allegro_left_hand.urdf",
        "URDF has no friction: OpenUSD needs one, and it was guessed on the way there"),
    Row(URDF, r"from the stage: materials: visual .*: (roughness|emissive): .*", _HYQ,
        "URDF has a colour and an image; the rest is in mesh files, and OBJ keeps it for face sets only"),
    Row(URDF, _LOST.format("(being seen from both sides|the (roughness|metalness|glow|specular colour|coat))"), _HYQ,
        "URDF has a colour and an image; the rest is in mesh files, and OBJ keeps it for face sets only"),
    Row(URDF, r"sensors: sensor .*" + _GONE, _HYQ, "sensors of URDF are Gazebo's, which are not written"),
    Row(URDF, r"cameras: camera .*" + _GONE, _TIAGO, "cameras of URDF are Gazebo's, which are not written"),
    Row(URDF, r"ros: topic .*" + _GONE, _HYQ, "topics of URDF are those of Gazebo's plugins, which are not written"),
    Row(URDF, _LEFT.format("(sensor|camera)s?"), _HYQ, "sensors of URDF are Gazebo's, which are not written"),
    Row(URDF, _LEFT.format("ROS interfaces?"), _HYQ, "URDF has no topics beside Gazebo's plugins"),
    Row(URDF, r"lost in urdf: urdf-write-extras: \d+ attribute\(s\) of gazebo .*", _HYQ,
        "no <gazebo> blocks are written: they are for a version of Gazebo that is gone"),
    Row(URDF, _LEFT.format("contact filters?"), _LAIKAGO,
        "URDF has no filters: they keep colliders of links apart that OpenUSD had to join",
        (_LAIKAGO, _PIPER, "urdf/anymal.urdf")),
    Row(URDF, _LOST.format("the contact between the two bodies"), _LAIKAGO,
        "URDF has no filters: they keep colliders of links apart that OpenUSD had to join",
        (_LAIKAGO, _PIPER, "urdf/anymal.urdf")),
    Row(URDF, r"masses: body 'slider': (mass|inertia): .*|motion: (mass matrix|bias)", _CARTPOLE,
        "the link has a collider and no mass; a body of OpenUSD then has the mass of its colliders", (_CARTPOLE,)),
)  # fmt: skip

SDF_ROWS = (
    Row(SDF, _LENS, "sdf/usd_sensors.sdf", "SDFormat has a field of view; OpenUSD says it by a lens"),
    Row(SDF, r"lost in sdf: .* other settings, the first 'gpu_lidar'|sensors: sensor 'gpu_lidar': alwaysOn: .*",
        "sdf/usd_sensors.sdf", "the source says <alwaysOn>, which SDFormat does not know", ("sdf/usd_sensors.sdf",)),
    Row(SDF, r"lost in usd: sdf-static-mass: .*", "sdf/usd_sensors.sdf",
        "a link of a static model stands still, so the model has no mass for it"),
    Row(SDF, r"lost in usd: usd-write-look-highlights.*", "coke_can/model.sdf",
        "UsdPreviewSurface has no Phong highlights; the roughness they come with is kept"),
    Row(SDF, r"lost in usd: sdf-mesh-failed: .*", "sdf/basic_shapes.sdf", "the source names a mesh that is not there",
        ("sdf/basic_shapes.sdf",)),
    Row(SDF, r"masses: body '(left|right)-foot-reference': inertia: .*|motion: (mass matrix|bias)",
        "robots/cassie.sdf", "no body has this inertia: one moment is larger than the sum of the others; it is mended",
        ("robots/cassie.sdf",)),
)  # fmt: skip

LONG_ROWS = (
    Row(LONG, _LOST.format("the armature"), _PANDA, "URDF has no armature; motion is compared without it"),
    Row(LONG, _LEFT.format("contact materials?"), _PANDA, "URDF has no friction"),
    Row(LONG, r"materials: collision .*: (static|dynamic|torsional|rolling) friction: .*", _PANDA,
        "URDF has no friction; OpenUSD needs one, which is guessed"),
    Row(LONG, _LOST.format("a contact setting"), _CASSIE, "URDF has no contact settings"),
    Row(LONG, r"collisions: .*: (margin|gap): .*", _ANT, "URDF has no contact margin"),
    Row(LONG, r"lost in urdf: urdf-write-extras: \d+ attribute\(s\) of mjc .*", _PANDA,
        "attributes of MuJoCo's solver have no place in URDF"),
    Row(LONG, _LEFT.format("contact (filter|pair)s?"), _PANDA, "URDF has no contact filters"),
    Row(LONG, _LOST.format("the contact between the two bodies"), _PANDA, "URDF has no contact filters"),
    Row(LONG, r"contacts: .*: never touch -> may touch", _PANDA, "URDF has no contact filters"),
    Row(LONG, _LOST.format("the (stiffness|damping|gear|control range)"), _SCENE,
        "ros2_control names commands in units of the joint, and no gains"),
    Row(LONG, _LEFT.format("actuators? of the (kind general|transmission .*)"), _GRIPPER,
        "a motor that pulls on a tendon or a site has no joint in URDF, and a law of its own no word"),
    Row(LONG, _LOST.format("the contact (category|mask)"), _CASSIE, "URDF has no contact filters"),
    Row(LONG, _LOST.format("the damping"), _CASSIE, "a ball of URDF is three hinges without damping"),
    Row(LONG, _LOST.format("the marker"), _CASSIE, "a frame of URDF is a link without anything"),
    Row(LONG, r"actuators: actuator .*" + _GONE, _PANDA,
        "ros2_control says which joints take commands, not by which law"),
    Row(LONG, r"ros: controller .*: controller: None -> .*_system", _PANDA,
        "URDF tells which joints take commands by a ros2_control block, which is one more"),
    Row(LONG, r"limits: .*: effort limit: inf -> .*", _PANDA,
        "what a motor can do is the effort of its joint in URDF"),
    Row(LONG, r"drives: .*: stiffness: .* -> 0.0", _GRIPPER, "URDF has no springs"),
    Row(LONG, _LOST.format("the spring"), _GRIPPER, "URDF has no springs"),
    Row(LONG, _LEFT.format("tendons?"), _HAND, "URDF has no tendons"),
    Row(LONG, r"constraints: tendon .*" + _GONE, _HAND, "URDF has no tendons"),
    Row(LONG, _LEFT.format("equality constraints?"), _CASSIE, "URDF is a tree: nothing closes a loop"),
    Row(LONG, r"constraints: equality .*" + _GONE, _CASSIE, "URDF is a tree: nothing closes a loop"),
    Row(LONG, _LEFT.format("(sensor|camera|light)s?"), _CASSIE, "URDF has no sensors, cameras and lights"),
    Row(LONG, r"(sensors: sensor|cameras: camera|lights: light) .*" + _GONE, _CASSIE,
        "URDF has no sensors, cameras and lights"),
    Row(LONG, r"frames: frame '.*_optical_frame': frame: None -> .*", _CASSIE,
        "ROS wants an optical frame for each camera; it stays as a link when the camera is gone"),
    Row(LONG, r"frames: frame '.*_joint_link': frame: None -> .*", _GRIPPER,
        "a frame of URDF is that of its joint: a body turned about another point needs a link there"),
    Row(LONG, _LEFT.format(r"frame\(s\) in the world"), "google_barkour_vb/scene.xml", "URDF has no world"),
    Row(LONG, r"bodies: body 'mocap_target': kinematic: True -> False", "franka_emika_panda/mjx_single_cube.xml",
        "URDF moves no body from outside"),
    Row(LONG, r"(visuals|collisions): .*: kind: heightfield -> mesh", "google_barkour_vb/scene_hfield_mjx.xml",
        "URDF has no heightfield: it is a mesh"),
    Row(LONG, _LEFT.format("named states?"), _PANDA, "named states are in SRDF, not in URDF"),
    Row(LONG, r"keyframes: keyframe .*" + _GONE, _PANDA, "named states are in SRDF, not in URDF"),
    Row(LONG, r"keyframes: DOF .*: initial position: .* -> 0.0", _CASSIE, "URDF starts at zero"),
    Row(LONG, r"poses: start of body .*: (position|orientation): .* -> .*", _X2, "URDF has no world to stand in"),
    Row(LONG, _LEFT.format("pose at the start"), _X2, "URDF has no world to stand in"),
    Row(LONG, _LOST.format("(the (gravity|time step|wind|magnetic field)|an option of the solver)"), _CASSIE,
        "URDF has no world"),
    Row(LONG, r"options: world: .*", _CASSIE, "URDF has no world"),
    Row(LONG, r"materials: collision .*: (solref|solimp|condim|priority|solmix): .*"
        r"|(drives|limits|joints): .*: ((solref|solimp)(limit|friction)|margin): .*", _GRIPPER,
        "attributes of MuJoCo's solver have no place in URDF"),
    Row(LONG, r"(visuals|collisions): .*: plane on the world: .* -> None", _SCENE, "URDF has no planes"),
    Row(LONG, r"lost in urdf: urdf-write-geometry: the plane of .*", _SCENE, "URDF has no planes"),
    Row(LONG, r"(visuals|collisions): .*: kind: ellipsoid -> mesh", _X2, "URDF has no ellipsoid: it is a mesh"),
    Row(LONG, r"(visuals|collisions): .*: kind: capsule -> (cylinder|sphere)"
        r"|(visuals|collisions): .*: (cylinder|sphere) on .*: None -> .*", _HAND,
        "URDF has no capsule: it is a cylinder and two balls"),
    Row(LONG, r"materials: visual .*: (roughness|metallic|emissive): .*", _PANDA, "URDF has a colour and an image"),
    Row(LONG, r"joints: (joint|DOF) '(left|right)-achilles-rod(_[xyz])?': .*", _CASSIE,
        "URDF has no ball joint: it is three hinges"),
)  # fmt: skip

MJCF_ROWS = (
    Row(MJCF, r"lost in usd: usd-write-coordinates: .*", "google_barkour_vb/scene_hfield_mjx.xml",
        "a height field of OpenUSD is a mesh without texture coordinates"),
    Row(MJCF, r"collisions: collision 'upper_arm_link_mesh_2': second moments: .*", _SCENE,
        "beside a textured visual a collider has a mesh of its own, at its scale, in single precision"),
)  # fmt: skip

ROWS = (*MJCF_ROWS, *URDF_ROWS, *SDF_ROWS, *LONG_ROWS)


def strip_armature(asset: Asset) -> None:
    """URDF has no armature, which is a part of the mass matrix: motion is compared without it."""
    for joint in asset.joints:
        for dof in joint.dofs:
            dof.armature = 0.0


STRIPS = {LONG: strip_armature}
"""What is taken from the source of a route before it is compared, because no stop can hold it."""


def find_unallowed(trip: Trip) -> list[str]:
    """Lines that no row allows."""
    return [line for line in trip.lines if not any(row.matches(trip, line) for row in ROWS)]


def find_idle(trips: Iterable[Trip]) -> list[Row]:
    """Rows whose example is among the trips and has no such line any more."""
    made = {(trip.route, trip.robot): trip for trip in trips}
    due = [(row, made[row.route, row.example]) for row in ROWS if (row.route, row.example) in made]
    return [row for row, trip in due if not any(row.matches(trip, line) for line in trip.lines)]
