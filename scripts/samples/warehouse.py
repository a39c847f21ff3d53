# SPDX-License-Identifier: Apache-2.0
"""A small warehouse: an OpenUSD assembly of the props and the linkage, and an SDF world with the rover."""

from __future__ import annotations

import math

from samples.box import MASS as BOX_MASS
from samples.box import SIZE as BOX
from samples.floor import SIZE as FLOOR
from samples.palette import LOOKS, to_srgb
from samples.rack import SHELVES, rack_boxes
from samples.solids import Solid, inertial_of_solids
from samples.text import row, short
from samples.usdasset import entry_layer
from samples.usdtext import Block, apis, layer, place, prim, vector
from simwright.model.geometry import Box

FOLDER = "warehouse"
README = ("the props together; the rover", "OpenUSD, SDF", "`warehouse.usda`, `warehouse.sdf`")
"""What it is, its formats, where it starts."""
RACKS = {"rack_1": (-1.4, 2.2), "rack_2": (0.6, 2.2)}
BOXES = {
    "box_1": (-1.9, 2.2, SHELVES[0], 4.0),
    "box_2": (-1.3, 2.15, SHELVES[1], -7.0),
    "box_3": (0.1, 2.25, SHELVES[1], 12.0),
    "box_4": (0.9, 2.2, SHELVES[0], 2.0),
    "box_5": (0.9, 2.2, SHELVES[0] + BOX[2] + 0.001, -9.0),
}
"""Position [m] and heading [deg]."""
FOURBAR = (2.5, 1.75, 0.0)


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {
        f"{FOLDER}/warehouse.usda": entry_layer(
            "warehouse",
            "assembly",
            "A corner of a warehouse: racks with boxes, a painted floor, a bench-top linkage.",
            ["lights.usda", "physics.usda", "base.usda"],
        ),
        f"{FOLDER}/base.usda": _base(),
        f"{FOLDER}/physics.usda": _physics(),
        f"{FOLDER}/lights.usda": _lights(),
        f"{FOLDER}/warehouse.sdf": _world(),
    }


def _placed(name: str, asset: str, xyz: tuple[float, float, float], heading: float = 0.0) -> Block:
    half = math.radians(heading) / 2.0
    meta = [f"prepend references = @../{asset}/{asset}.usda@"]
    return prim(f'def Xform "{name}"', meta, place(xyz, (math.cos(half), 0.0, 0.0, math.sin(half))))


def _base() -> bytes:
    group = ['kind = "group"']
    racks: Block = []
    for name, (x, y) in RACKS.items():
        racks += _placed(name, "rack", (x, y, 0.0))
    boxes: Block = []
    for name, (x, y, z, heading) in BOXES.items():
        boxes += _placed(name, "box", (x, y, z), heading)
    body = [
        *place(),
        "",
        *_placed("floor", "floor", (0.0, 0.0, -FLOOR[2])),
        *prim('def Xform "racks"', group, [*place(), "", *racks]),
        *prim('def Xform "boxes"', group, [*place(), "", *boxes]),
        *_placed("fourbar", "fourbar", FOURBAR),
    ]
    return layer("warehouse", "What stands where.", prim('def Xform "warehouse"', [], body))


def _physics() -> bytes:
    scene = prim(
        'def PhysicsScene "physics_scene"',
        [],
        ["vector3f physics:gravityDirection = (0, 0, -1)", "float physics:gravityMagnitude = 9.81"],
    )
    # an anchor's first frame is given in the world: it moves with the placement
    anchor = prim('over "world_joint"', [], [f"point3f physics:localPos0 = {vector(FOURBAR)}"])
    body = [*scene, *prim('over "fourbar"', [], anchor)]
    return layer("warehouse", "Gravity, and the linkage's anchor.", prim('over "warehouse"', [], body))


def _lights() -> bytes:
    """One sun and two spots: punctual lights only (REP 0158, 3.6)."""
    tilt = math.radians(35.0) / 2.0
    sun = prim(
        'def DistantLight "sun"',
        [],
        [
            "float inputs:angle = 0.53",
            "color3f inputs:color = (1, 0.97, 0.92)",
            "float inputs:intensity = 1500",
            *place((0.0, 0.0, 4.0), (math.cos(tilt), math.sin(tilt), 0.0, 0.0)),
        ],
    )
    spots: Block = []
    for number, x in enumerate((-1.6, 1.6), 1):
        body = [
            "color3f inputs:color = (1, 0.95, 0.86)",
            "float3[] extent = [(-0.05, -0.05, -0.05), (0.05, 0.05, 0.05)]",
            "float inputs:intensity = 90000",
            "float inputs:radius = 0.05",
            "float inputs:shaping:cone:angle = 50",
            "float inputs:shaping:cone:softness = 0.3",
            *place((x, 0.6, 3.4)),
        ]
        spots += prim(f'def SphereLight "spot_{number}"', [apis("ShapingAPI")], body)
    body = prim('def Scope "lights"', [], [*sun, *spots])
    return layer("warehouse", "The light rig.", prim('over "warehouse"', [], body))


def _world() -> bytes:
    models: Block = []
    for name, (x, y) in RACKS.items():
        models += _world_model(name, f"{short(x)} {short(y)} 0 0 0 0", _rack_link(), static=True)
    for name, (x, y, z, heading) in BOXES.items():
        pose = f"{row((x, y, z + BOX[2] / 2))} 0 0 {short(math.radians(heading))}"
        models += _world_model(name, pose, _box_link(), static=False)
    return (_WORLD_HEAD + "\n".join(f"    {line}" for line in models) + _WORLD_TAIL).encode("utf-8")


def _world_model(name: str, pose: str, link: Block, static: bool) -> Block:
    fixed = ["  <static>true</static>"] if static else []
    return [
        f'<model name="{name}">',
        *fixed,
        f"  <pose>{pose}</pose>",
        *(f"  {line}" for line in link),
        "</model>",
    ]


def _rack_link() -> Block:
    body: Block = []
    for number, (place_xyz, size, look) in enumerate(rack_boxes()):
        body += _world_shapes(f"part_{number}", row((*place_xyz, 0, 0, 0)), size, look)
    return ['<link name="frame">', *(f"  {line}" for line in body), "</link>"]


def _box_link() -> Block:
    inertial = inertial_of_solids([Solid(Box.of(*BOX))], BOX_MASS)
    xx, yy, zz = (short(v) for v in inertial.six[:3])
    return [
        '<link name="carton">',
        "  <inertial>",
        f"    <mass>{short(BOX_MASS)}</mass>",
        "    <inertia>",
        f"      <ixx>{xx}</ixx><iyy>{yy}</iyy><izz>{zz}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>",
        "    </inertia>",
        "  </inertial>",
        *(f"  {line}" for line in _world_shapes("carton", "0 0 0 0 0 0", BOX, "cardboard")),
        "</link>",
    ]


def _world_shapes(name: str, pose: str, size: tuple[float, ...], look: str) -> Block:
    color = row((*to_srgb(LOOKS[look].color), 1))
    geometry = f"<geometry><box><size>{row(size)}</size></box></geometry>"
    return [
        f'<visual name="{name}">',
        f"  <pose>{pose}</pose>",
        f"  {geometry}",
        f"  <material><ambient>{color}</ambient><diffuse>{color}</diffuse></material>",
        "</visual>",
        f'<collision name="{name}">',
        f"  <pose>{pose}</pose>",
        f"  {geometry}",
        "</collision>",
    ]


_WORLD_HEAD = """<?xml version="1.0"?>
<!-- Generated by scripts/make_samples.py; put the package's folder on GZ_SIM_RESOURCE_PATH. -->
<sdf version="1.10">
  <world name="warehouse">
    <physics name="default" type="ignored">
      <max_step_size>0.002</max_step_size>
      <real_time_factor>1</real_time_factor>
    </physics>
    <gravity>0 0 -9.81</gravity>
    <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
    <plugin filename="gz-sim-user-commands-system" name="gz::sim::systems::UserCommands"/>
    <plugin filename="gz-sim-scene-broadcaster-system" name="gz::sim::systems::SceneBroadcaster"/>
    <plugin filename="gz-sim-imu-system" name="gz::sim::systems::Imu"/>
    <plugin filename="gz-sim-sensors-system" name="gz::sim::systems::Sensors">
      <render_engine>ogre2</render_engine>
    </plugin>
    <light name="sun" type="directional">
      <pose>0 0 8 0 0 0</pose>
      <cast_shadows>true</cast_shadows>
      <diffuse>0.9 0.88 0.84 1</diffuse>
      <specular>0.2 0.2 0.2 1</specular>
      <direction>0 0.57 -0.82</direction>
    </light>
    <model name="floor">
      <static>true</static>
      <link name="slab">
        <visual name="slab">
          <geometry><plane><normal>0 0 1</normal><size>8 6</size></plane></geometry>
          <material><ambient>0.59 0.59 0.58 1</ambient><diffuse>0.59 0.59 0.58 1</diffuse></material>
        </visual>
        <collision name="slab">
          <geometry><plane><normal>0 0 1</normal><size>8 6</size></plane></geometry>
        </collision>
      </link>
    </model>
    <include>
      <uri>model://rover</uri>
      <name>rover</name>
      <pose>-0.6 -0.4 0 0 0 0.4</pose>
    </include>
"""

_WORLD_TAIL = """
  </world>
</sdf>
"""
