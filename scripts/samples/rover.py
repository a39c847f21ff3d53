# SPDX-License-Identifier: Apache-2.0
"""The rover: a differential-drive base with lidar and IMU, as an SDF 1.10 model with its meshes."""

from __future__ import annotations

from samples.arm_shapes import LinkShape
from samples.meshfiles import write_mtl, write_obj
from samples.palette import LOOKS, Look, to_srgb
from samples.rover_shapes import (
    CASTER_RADIUS,
    CASTER_X,
    LIDAR_X,
    LIDAR_Z,
    TRACK,
    WHEEL_RADIUS,
    rover_shapes,
)
from samples.solids import Solid, inertial_of_solids
from samples.text import row, short
from simwright.model.geometry import Box, Cylinder, Sphere

FOLDER = "rover"
README = ("differential-drive base with lidar, IMU and caster", "SDF 1.10", "`model.sdf`")
"""What it is, its formats, where it starts."""
Lines = list[str]


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    shapes = rover_shapes()
    files = {
        f"{FOLDER}/model.sdf": _model(shapes),
        f"{FOLDER}/model.config": _CONFIG.encode("utf-8"),
    }
    looks: dict[str, Look] = {}
    for link, shape in shapes.items():
        for look, mesh in shape.visuals:
            looks[look] = LOOKS[look]
            stem = _stem(link, look)
            files[f"{FOLDER}/meshes/{stem}.obj"] = write_obj([(look, mesh)], stem, "rover.mtl")
    files[f"{FOLDER}/meshes/rover.mtl"] = write_mtl(looks, "rover looks")
    return files


def _stem(link: str, look: str) -> str:
    return f"{link.removesuffix('_link')}_{look}"


def _model(shapes: dict[str, LinkShape]) -> bytes:
    lines = [_HEAD]
    lines += _link("base_link", (0, 0, WHEEL_RADIUS), "", shapes["base_link"], "base_link")
    for side, sign in (("left", 1), ("right", -1)):
        pose = (0, sign * TRACK / 2, 0)
        lines += _link(f"{side}_wheel", pose, "base_link", shapes["wheel"], "wheel", mu=1.1, flip=sign < 0)
        lines += _wheel_joint(side)
    caster = (CASTER_X, 0, CASTER_RADIUS - WHEEL_RADIUS)
    lines += _link("caster", caster, "base_link", shapes["caster"], "caster", mu=0.02)
    lines += _joint("caster_joint", "ball", "caster")
    lines += _link(
        "lidar_link", (LIDAR_X, 0, LIDAR_Z), "base_link", shapes["lidar_link"], "lidar_link", extra=_LIDAR
    )
    lines += _joint("lidar_mount", "fixed", "lidar_link")
    lines.append(_IMU)
    lines += _joint("imu_mount", "fixed", "imu_link")
    plugins = _PLUGINS.replace("@track@", short(TRACK)).replace("@radius@", short(WHEEL_RADIUS))
    lines.append(plugins)
    return ("\n".join(lines) + "\n").encode("utf-8")


def _link(
    name: str,
    xyz: tuple[float, float, float],
    relative: str,
    shape: LinkShape,
    mesh_link: str,
    mu: float = 0.6,
    flip: bool = False,
    extra: str = "",
) -> Lines:
    where = f' relative_to="{relative}"' if relative else ""
    inertial = inertial_of_solids(shape.solids, shape.mass)
    xx, yy, zz, xy, xz, yz = (short(v) for v in inertial.six)
    lines = [
        f'    <link name="{name}">',
        f"      <pose{where}>{row(xyz)} 0 0 0</pose>",
        "      <inertial>",
        f"        <pose>{row(inertial.com)} 0 0 0</pose>",
        f"        <mass>{short(inertial.mass)}</mass>",
        "        <inertia>",
        f"          <ixx>{xx}</ixx><iyy>{yy}</iyy><izz>{zz}</izz>",
        f"          <ixy>{xy}</ixy><ixz>{xz}</ixz><iyz>{yz}</iyz>",
        "        </inertia>",
        "      </inertial>",
    ]
    for look, _ in shape.visuals:
        lines += _visual(_stem(mesh_link, look), look, flip)
    for number, solid in enumerate(shape.solids):
        lines += _collision(f"collision_{number}", solid, mu)
    if extra:
        lines.append(extra)
    lines.append("    </link>")
    return lines


def _visual(stem: str, look: str, flip: bool) -> Lines:
    """``flip`` turns the part half round about Z: the right wheel shows its face to the right."""
    surface = LOOKS[look]
    color = row((*to_srgb(surface.color), 1.0))
    pose = ["        <pose>0 0 0 0 0 3.14159265358979</pose>"] if flip else []
    return [
        f'      <visual name="{look}">',
        *pose,
        f"        <geometry><mesh><uri>meshes/{stem}.obj</uri></mesh></geometry>",
        "        <material>",
        f"          <ambient>{color}</ambient>",
        f"          <diffuse>{color}</diffuse>",
        "          <specular>0.2 0.2 0.2 1</specular>",
        "          <pbr>",
        "            <metal>",
        f"              <roughness>{short(surface.roughness)}</roughness>",
        f"              <metalness>{short(surface.metallic)}</metalness>",
        "            </metal>",
        "          </pbr>",
        "        </material>",
        "      </visual>",
    ]


def _collision(name: str, solid: Solid, mu: float) -> Lines:
    match solid.geometry:
        case Cylinder() as c:
            shape = (
                f"<cylinder><radius>{short(c.radius)}</radius><length>{short(c.length)}</length></cylinder>"
            )
        case Sphere() as s:
            shape = f"<sphere><radius>{short(s.radius)}</radius></sphere>"
        case Box() as b:
            shape = f"<box><size>{row(b.size)}</size></box>"
        case other:
            raise AssertionError(other)
    return [
        f'      <collision name="{name}">',
        f"        <pose>{row(solid.pose.p)} {row(solid.pose.rpy, 12)}</pose>",
        f"        <geometry>{shape}</geometry>",
        f"        <surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>",
        "      </collision>",
    ]


def _joint(name: str, kind: str, child: str) -> Lines:
    return [
        f'    <joint name="{name}" type="{kind}">',
        "      <parent>base_link</parent>",
        f"      <child>{child}</child>",
        "    </joint>",
    ]


def _wheel_joint(side: str) -> Lines:
    return [
        *_joint(f"{side}_wheel_joint", "revolute", f"{side}_wheel")[:-1],
        "      <axis>",
        "        <xyz>0 1 0</xyz>",
        "        <limit>",
        "          <lower>-inf</lower>",
        "          <upper>inf</upper>",
        "          <effort>12</effort>",
        "          <velocity>20</velocity>",
        "        </limit>",
        "        <dynamics><damping>0.05</damping><friction>0.02</friction></dynamics>",
        "      </axis>",
        "    </joint>",
    ]


_HEAD = """<?xml version="1.0"?>
<!-- Generated by scripts/make_samples.py -->
<sdf version="1.10">
  <model name="rover" canonical_link="base_link">
    <frame name="base_footprint"/>"""

_LIDAR = """      <sensor name="lidar" type="gpu_lidar">
        <always_on>true</always_on>
        <update_rate>10</update_rate>
        <topic>scan</topic>
        <gz_frame_id>lidar_link</gz_frame_id>
        <lidar>
          <scan>
            <horizontal>
              <samples>720</samples>
              <resolution>1</resolution>
              <min_angle>-3.14159265358979</min_angle>
              <max_angle>3.14159265358979</max_angle>
            </horizontal>
          </scan>
          <range>
            <min>0.08</min>
            <max>12</max>
            <resolution>0.01</resolution>
          </range>
          <noise>
            <type>gaussian</type>
            <mean>0</mean>
            <stddev>0.01</stddev>
          </noise>
        </lidar>
      </sensor>"""

_IMU = """    <link name="imu_link">
      <pose relative_to="base_link">-0.04 0 0.02 0 0 0</pose>
      <inertial>
        <mass>0.02</mass>
        <inertia>
          <ixx>1.333333e-06</ixx><iyy>1.333333e-06</iyy><izz>1.333333e-06</izz>
          <ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>
        </inertia>
      </inertial>
      <sensor name="imu" type="imu">
        <always_on>true</always_on>
        <update_rate>100</update_rate>
        <topic>imu</topic>
        <gz_frame_id>imu_link</gz_frame_id>
        <imu>
          <angular_velocity>
            <x><noise type="gaussian"><mean>0</mean><stddev>0.0003</stddev></noise></x>
            <y><noise type="gaussian"><mean>0</mean><stddev>0.0003</stddev></noise></y>
            <z><noise type="gaussian"><mean>0</mean><stddev>0.0003</stddev></noise></z>
          </angular_velocity>
          <linear_acceleration>
            <x><noise type="gaussian"><mean>0</mean><stddev>0.01</stddev></noise></x>
            <y><noise type="gaussian"><mean>0</mean><stddev>0.01</stddev></noise></y>
            <z><noise type="gaussian"><mean>0</mean><stddev>0.01</stddev></noise></z>
          </linear_acceleration>
        </imu>
      </sensor>
    </link>"""

_PLUGINS = """    <plugin filename="gz-sim-diff-drive-system" name="gz::sim::systems::DiffDrive">
      <left_joint>left_wheel_joint</left_joint>
      <right_joint>right_wheel_joint</right_joint>
      <wheel_separation>@track@</wheel_separation>
      <wheel_radius>@radius@</wheel_radius>
      <odom_publish_frequency>50</odom_publish_frequency>
      <topic>cmd_vel</topic>
      <odom_topic>odom</odom_topic>
      <tf_topic>tf</tf_topic>
      <frame_id>odom</frame_id>
      <child_frame_id>base_footprint</child_frame_id>
      <max_linear_velocity>1.2</max_linear_velocity>
      <max_angular_velocity>3</max_angular_velocity>
      <max_linear_acceleration>1.5</max_linear_acceleration>
    </plugin>
    <plugin filename="gz-sim-joint-state-publisher-system" name="gz::sim::systems::JointStatePublisher">
      <topic>joint_states</topic>
      <joint_name>left_wheel_joint</joint_name>
      <joint_name>right_wheel_joint</joint_name>
    </plugin>
  </model>
</sdf>"""

_CONFIG = """<?xml version="1.0"?>
<model>
  <name>rover</name>
  <version>1.0.0</version>
  <sdf version="1.10">model.sdf</sdf>
  <author>
    <name>The Simwright developers</name>
  </author>
  <description>Differential-drive base with a lidar, an IMU and a caster.</description>
</model>
"""
