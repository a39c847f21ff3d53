# SPDX-License-Identifier: Apache-2.0
"""A closed four-bar linkage as a layered OpenUSD asset: one articulation, one loop joint, one ROS topic."""

from __future__ import annotations

import math

from samples.fourbar_shapes import (
    COUPLER,
    COUPLER_Y,
    CRANK,
    HALF_GROUND,
    LINK_Y,
    PIN_HEIGHT,
    PLATE,
    ROCKER,
    THICKNESS,
    TOWER,
    fourbar_meshes,
    rocker_range,
)
from samples.palette import LOOKS
from samples.solids import inertial_of_meshes
from samples.text import short
from samples.usdasset import (
    collision_physics,
    collision_scope,
    contact_material,
    entry_layer,
    mass_lines,
    materials_scope,
    visual_scope,
)
from samples.usdtext import (
    Block,
    apis,
    box_collider,
    cylinder_collider,
    geometries_layer,
    layer,
    materials_layer,
    mesh_collider,
    place,
    prim,
    vector,
)

FOLDER = "fourbar"
README = ("closed four-bar linkage with a ROS topic", "OpenUSD", "`fourbar.usda`")
"""What it is, its formats, where it starts."""
ALUMINIUM = 2700.0
LINKS = ("base_link", "crank", "coupler", "rocker")
LINK_PATHS = {
    "base_link": "/fourbar/base_link",
    "crank": "/fourbar/base_link/crank",
    "coupler": "/fourbar/base_link/crank/coupler",
    "rocker": "/fourbar/base_link/rocker",
}
STEP_Y = COUPLER_Y - LINK_Y
ORIGINS = {
    "base_link": (0.0, 0.0, 0.0),
    "crank": (-HALF_GROUND, LINK_Y, PIN_HEIGHT),
    "coupler": (CRANK[0], STEP_Y, CRANK[2]),
    "rocker": (HALF_GROUND, LINK_Y, PIN_HEIGHT),
}
"""Each link's first pin in its parent's frame [m]; no link is turned in the drawn pose."""
MARGIN = 4.0
"""Play beyond the range a link really moves through [deg]."""
BASE_COLLIDERS = ("plate", "stand_1", "stand_2", "motor")


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    looks = ("graphite", "aluminium", "anodised_red", "anodised_blue", "steel")
    return {
        f"{FOLDER}/fourbar.usda": entry_layer(
            "fourbar",
            "component",
            "A crank-rocker linkage on a base plate; the rocker pin closes the loop.",
            ["ros.usda", "physics.usda", "base.usda"],
        ),
        f"{FOLDER}/base.usda": _base(),
        f"{FOLDER}/instances.usda": _instances(),
        f"{FOLDER}/physics.usda": _physics(),
        f"{FOLDER}/ros.usda": _ros(),
        f"{FOLDER}/materials.usda": materials_layer({n: LOOKS[n] for n in looks}, "Looks of the linkage."),
        f"{FOLDER}/geometries.usdc": geometries_layer(fourbar_meshes(), "Meshes of the linkage."),
    }


def nest(head: str, content: dict[str, Block], meta: dict[str, Block] | None = None) -> Block:
    """The link tree, each link with its own content: coupler in crank in base, rocker in base."""
    extra = meta or {}

    def link(name: str, *children: Block) -> Block:
        body = list(content[name])
        for child in children:
            body += child
        return prim(f'{head} "{name}"', extra.get(name, []), body)

    return link("base_link", link("crank", link("coupler")), link("rocker"))


def _base() -> bytes:
    content: dict[str, Block] = {}
    for name in LINKS:
        scopes = [*prim('def Scope "visual"'), *prim('def Scope "collision"')]
        content[name] = [*place(ORIGINS[name]), "", *scopes]
    content["coupler"] += prim('def Xform "coupler_point"', [], place((0.125, 0.0, 0.0625)))
    kinds = {name: ['kind = "subcomponent"'] for name in LINKS}
    body = [*place(), "", *nest("def Xform", content, kinds)]
    root = prim('def Xform "fourbar"', ["prepend references = @./instances.usda@"], body)
    return layer("fourbar", "The link tree of the linkage.", root)


def _instances() -> bytes:
    front = -TOWER / 2 - 0.013
    face, coupler_face = -THICKNESS / 2, -THICKNESS / 2
    pieces = {
        "base_link": [
            ("plate", "plate", "graphite", None),
            ("stand_1", "tower", "aluminium", (-HALF_GROUND, 0.0, 0.0)),
            ("stand_2", "tower", "aluminium", (HALF_GROUND, 0.0, 0.0)),
            ("motor", "motor", "graphite", (-HALF_GROUND, TOWER / 2, PIN_HEIGHT)),
            ("pin_1", "pin", "steel", (-HALF_GROUND, front + 0.01, PIN_HEIGHT)),
            ("pin_2", "pin", "steel", (HALF_GROUND, front + 0.01, PIN_HEIGHT)),
        ],
        "crank": [("bar", "crank", "anodised_red", None), ("bolt", "bolt", "steel", (0.0, face, 0.0))],
        "coupler": [
            ("bar", "coupler", "anodised_blue", None),
            ("bolt_1", "bolt", "steel", (0.0, coupler_face, 0.0)),
            ("bolt_2", "bolt", "steel", (COUPLER[0], coupler_face, COUPLER[2])),
            ("pin_1", "pin", "steel", (0.0, 0.009, 0.0)),
            ("pin_2", "pin", "steel", (COUPLER[0], 0.009, COUPLER[2])),
        ],
        "rocker": [("bar", "rocker", "aluminium", None), ("bolt", "bolt", "steel", (0.0, face, 0.0))],
    }
    content: dict[str, Block] = {}
    for name in LINKS:
        if name == "base_link":
            collision = collision_scope(_base_colliders(), {"base_mesh": "base_solid"})
        else:
            collision = collision_scope(mesh_collider("hull", f"{name}_hull"), {"bar_mesh": f"{name}_solid"})
        content[name] = [*visual_scope("fourbar", pieces[name]), *collision]
    body = [*materials_scope(), *nest("over", content)]
    return layer(
        "fourbar", "Geometry and looks of the linkage, put together.", prim('def Xform "fourbar"', [], body)
    )


def _base_colliders() -> Block:
    height = PIN_HEIGHT + 0.026 - PLATE[2]
    middle = PLATE[2] + height / 2
    return [
        *box_collider("plate", (0.0, 0.0, PLATE[2] / 2), PLATE),
        *box_collider("stand_1", (-HALF_GROUND, 0.0, middle), (0.07, TOWER, height)),
        *box_collider("stand_2", (HALF_GROUND, 0.0, middle), (0.07, TOWER, height)),
        *cylinder_collider("motor", (-HALF_GROUND, TOWER / 2 + 0.039, PIN_HEIGHT), "Y", 0.027, 0.078),
    ]


def _physics() -> bytes:
    meshes = fourbar_meshes()
    content: dict[str, Block] = {}
    meta: dict[str, Block] = {}
    for name in LINKS:
        solid = meshes["base_solid" if name == "base_link" else f"{name}_solid"]
        if name == "base_link":
            collision = collision_physics("fourbar", "metal", BASE_COLLIDERS, [], ["base_mesh"])
        else:
            collision = collision_physics("fourbar", "metal", [], ["hull"], ["bar_mesh"])
        content[name] = [*mass_lines(inertial_of_meshes([solid], ALUMINIUM)), "", *collision]
        meta[name] = [apis("PhysicsRigidBodyAPI", "PhysicsMassAPI")]
    low, high, pin_low, pin_high = rocker_range()
    spin = (-math.inf, math.inf)
    content["base_link"] += _drive_joint()
    content["base_link"] += _hinge(
        "rocker_joint", "base_link", "rocker", ORIGINS["rocker"], (0, 0, 0), (low - MARGIN, high + MARGIN)
    )
    content["crank"] += _hinge("coupler_joint", "crank", "coupler", ORIGINS["coupler"], (0, 0, 0), spin)
    content["coupler"] += _hinge(
        "loop_joint", "coupler", "rocker", COUPLER, (ROCKER[0], STEP_Y, ROCKER[2]),
        (pin_low - MARGIN, pin_high + MARGIN), ["uniform bool physics:excludeFromArticulation = 1"],
    )  # fmt: skip
    body = [
        *contact_material("metal", 0.4, 0.3, 0.1),
        *prim('def PhysicsCollisionGroup "mechanism"', [], _GROUP),
        *prim(
            'def PhysicsFixedJoint "world_joint"',
            [apis("PhysicsArticulationRootAPI")],
            [*_frames((0, 0, 0), (0, 0, 0)), "rel physics:body1 = </fourbar/base_link>"],
        ),
        *nest("over", content, meta),
    ]
    return layer("fourbar", "Bodies, joints and contact of the linkage.", prim('over "fourbar"', [], body))


def _frames(first: tuple[float, ...], second: tuple[float, ...]) -> Block:
    return [
        f"point3f physics:localPos0 = {vector(first)}",
        f"point3f physics:localPos1 = {vector(second)}",
        "quatf physics:localRot0 = (1, 0, 0, 0)",
        "quatf physics:localRot1 = (1, 0, 0, 0)",
    ]


def _hinge(
    name: str,
    parent: str,
    child: str,
    first: tuple[float, ...],
    second: tuple[float, ...],
    limits: tuple[float, float],
    extra: Block | None = None,
    meta: Block | None = None,
) -> Block:
    low, high = (_limit(v) for v in limits)
    body = [
        'uniform token physics:axis = "Y"',
        f"rel physics:body0 = <{LINK_PATHS[parent]}>",
        f"rel physics:body1 = <{LINK_PATHS[child]}>",
        *(extra or []),
        *_frames(first, second),
        f"float physics:lowerLimit = {low}",
        f"float physics:upperLimit = {high}",
    ]
    return prim(f'def PhysicsRevoluteJoint "{name}"', meta or [], body)


def _limit(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return short(round(value, 2))


def _drive_joint() -> Block:
    """The crank's hinge: turns for ever, driven by velocity."""
    drive = [
        "float drive:angular:physics:damping = 0.02",
        "float drive:angular:physics:maxForce = 3",
        "float drive:angular:physics:stiffness = 0",
        "float drive:angular:physics:targetVelocity = 0",
        'uniform token drive:angular:physics:type = "force"',
    ]
    return _hinge(
        "crank_joint",
        "base_link",
        "crank",
        ORIGINS["crank"],
        (0, 0, 0),
        (-math.inf, math.inf),
        drive,
        [apis("PhysicsDriveAPI:angular")],
    )


_GROUP = [
    "rel collection:colliders:includes = </fourbar/base_link>",
    "rel physics:filteredGroups = </fourbar/mechanism>",
]
"""The links move in planes of their own: they never need to collide with each other."""


def _ros() -> bytes:
    def named(joint: str) -> Block:
        return prim(f'over "{joint}"', [], [f'custom string ros:joint:name = "{joint}"'])

    frame = prim('over "coupler_point"', [apis("RosFrameAPI")], ["uniform bool ros:frame:static = 1"])
    content = {
        "base_link": [*named("crank_joint"), *named("rocker_joint")],
        "crank": named("coupler_joint"),
        "coupler": [*named("loop_joint"), *frame],
        "rocker": [],
    }
    topic = [
        'uniform string ros:topic:name = "joint_states"',
        "uniform double ros:topic:publish_rate = 50",
        'uniform token ros:topic:role = "publisher"',
        'uniform string ros:topic:type = "sensor_msgs/msg/JointState"',
    ]
    interfaces = prim(
        'def Scope "Interfaces"', [], prim('def Xform "joint_states"', [apis("RosTopicAPI")], topic)
    )
    body = ['uniform string ros:context:namespace = "fourbar"', "", *interfaces, *nest("over", content)]
    root = prim('over "fourbar"', [apis("RosContextAPI")], body)
    return layer("fourbar", "ROS interfaces of the linkage.", root)
