# SPDX-License-Identifier: Apache-2.0
"""ROS interface types: are they well formed, do they exist, what are they about (REP-0158 2.2, 2.3)?

A type is looked for in three places, cheapest first: the bundled list of standard ROS 2 interfaces
(``data/ros_interfaces.txt``, names only), the sourced environment (``AMENT_PREFIX_PATH``: the ament index, else
the ``msg``, ``srv`` and ``action`` folders of the package) and the folders of ``Settings.interfaces``.  Nothing
is read before the first question, and of the environment only the packages that are asked for.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import StageSnapshot

KINDS = {"topic": "msg", "service": "srv", "action": "action"}
"""Sort of interface -> middle word of its types."""

_TYPE = re.compile(r"(?P<package>[a-z][a-z0-9_]*)/(?P<kind>msg|srv|action)/(?P<name>[A-Z][A-Za-z0-9]*)\Z")
_TWO_PARTS = re.compile(r"(?P<package>[a-z][a-z0-9_]*)/(?P<name>[A-Z][A-Za-z0-9]*)\Z")
_PACKAGE_NAME = re.compile(r"<name>\s*([A-Za-z0-9_-]+)\s*</name>")
_SUFFIXES = (".msg", ".srv", ".action", ".idl")
# a workspace: src/repository/package
_MAX_DEPTH = 4

SENSOR_TYPES = frozenset({
    "sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/FluidPressure",
    "sensor_msgs/msg/Illuminance", "sensor_msgs/msg/Image", "sensor_msgs/msg/Imu", "sensor_msgs/msg/LaserScan",
    "sensor_msgs/msg/MagneticField", "sensor_msgs/msg/MultiEchoLaserScan", "sensor_msgs/msg/NavSatFix",
    "sensor_msgs/msg/PointCloud", "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Range",
    "sensor_msgs/msg/RelativeHumidity", "sensor_msgs/msg/Temperature", "stereo_msgs/msg/DisparityImage",
    "geometry_msgs/msg/WrenchStamped", "gps_msgs/msg/GPSFix", "radar_msgs/msg/RadarScan",
    "radar_msgs/msg/RadarTracks", "ros_gz_interfaces/msg/Altimeter", "ros_gz_interfaces/msg/AirSpeed",
    "ros_gz_interfaces/msg/Contacts", "ros_gz_interfaces/msg/LogicalCameraImage",
})  # fmt: skip
"""Messages of a sensor that sits at one place of a robot."""

ROBOT_WIDE_TYPES = frozenset({
    "sensor_msgs/msg/JointState", "sensor_msgs/msg/MultiDOFJointState", "sensor_msgs/msg/BatteryState",
    "sensor_msgs/msg/Joy", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage", "geometry_msgs/msg/Twist",
    "geometry_msgs/msg/TwistStamped", "ackermann_msgs/msg/AckermannDrive",
    "ackermann_msgs/msg/AckermannDriveStamped", "trajectory_msgs/msg/JointTrajectory",
    "trajectory_msgs/msg/MultiDOFJointTrajectory", "control_msgs/msg/JointJog",
    "control_msgs/msg/DynamicJointState", "control_msgs/msg/JointTrajectoryControllerState",
    "diagnostic_msgs/msg/DiagnosticArray", "control_msgs/action/FollowJointTrajectory",
    "control_msgs/action/JointTrajectory", "moveit_msgs/action/MoveGroup", "moveit_msgs/action/ExecuteTrajectory",
    "nav2_msgs/action/NavigateToPose", "nav2_msgs/action/FollowPath", "nav2_msgs/action/FollowWaypoints",
    "nav2_msgs/action/NavigateThroughPoses",
})  # fmt: skip
"""Interfaces that speak for a whole kinematic tree."""

MAP_TYPES = frozenset({
    "nav_msgs/msg/OccupancyGrid", "nav2_msgs/msg/Costmap", "octomap_msgs/msg/Octomap",
    "octomap_msgs/msg/OctomapWithPose", "grid_map_msgs/msg/GridMap", "map_msgs/msg/ProjectedMap",
    "geographic_msgs/msg/GeographicMap",
})  # fmt: skip
"""Maps: sent once, wanted by whoever comes later."""


def is_well_formed(name: str) -> bool:
    """Is it ``package/msg|srv|action/Type`` as ROS 2 spells packages and types?"""
    match = _TYPE.match(name)
    if match is None:
        return False
    return "__" not in match["package"] and not match["package"].endswith("_")


def kind_of(name: str) -> str:
    """The middle word of a well-formed type (``msg``, ``srv``, ``action``), else ""."""
    match = _TYPE.match(name)
    return match["kind"] if match else ""


def repair(name: str, kind: str) -> str:
    """The three-part form that was probably meant by another spelling, or ""."""
    # C++, Python and doubled-slash spellings
    text = re.sub(r"::|\.|/+", "/", name.strip()).strip("/")
    for suffix in ("/msg", "/srv", "/action"):
        text = text.removesuffix(suffix)
    if match := _TWO_PARTS.match(text):
        text = f"{match['package']}/{kind}/{match['name']}"
    return text if is_well_formed(text) and text != name else ""


class InterfaceTypes:
    """The interface types that are known here."""

    def __init__(self, prefixes: Iterable[Path] = (), folders: Iterable[Path] = ()) -> None:
        self._prefixes = tuple(prefixes)
        self._folders = tuple(folders)
        self._found: dict[str, frozenset[str]] = {}
        self._local: dict[str, set[str]] | None = None

    def knows(self, name: str) -> bool:
        """Is the type in the bundled list, the environment or the extra folders?"""
        if name in bundled_types():
            return True
        package = name.partition("/")[0]
        return name in self._types_of(package)

    def knows_package(self, package: str) -> bool:
        """Is any type of the package known?"""
        return package in bundled_packages() or bool(self._types_of(package))

    def suggest(self, name: str) -> str:
        """The closest known type, or ""."""
        package, _, rest = name.partition("/")
        lower = name.lower()
        own = [
            known for known in bundled_types() | self._types_of(package) if known.startswith(f"{package}/")
        ]
        if same := next((known for known in own if known.lower() == lower), None):
            return same
        if close := difflib.get_close_matches(name, own, n=1, cutoff=0.8):
            return close[0]
        # the right message in the wrong package: geometry_msgs/msg/Imu
        elsewhere = sorted(known for known in bundled_types() if known.endswith(f"/{rest}"))
        close = difflib.get_close_matches(name, elsewhere, n=1, cutoff=0.6)
        return close[0] if close else elsewhere[0] if len(elsewhere) == 1 else ""

    def _types_of(self, package: str) -> frozenset[str]:
        if package not in self._found:
            found = set(self._scan_folders().get(package, ()))
            for prefix in self._prefixes:
                found.update(_list_installed(prefix, package))
            self._found[package] = frozenset(found)
        return self._found[package]

    def _scan_folders(self) -> dict[str, set[str]]:
        if self._local is None:
            self._local = {}
            for folder in self._folders:
                for package in _find_packages(Path(folder), _MAX_DEPTH):
                    name = _name_package(package)
                    self._local.setdefault(name, set()).update(_list_sources(package, name))
        return self._local


def find_types(snapshot: StageSnapshot) -> InterfaceTypes:
    """The types known to a check: bundled, environment and settings."""
    return snapshot.shared("interface types", _gather_types)


def _gather_types(snapshot: StageSnapshot) -> InterfaceTypes:
    value = os.environ.get("AMENT_PREFIX_PATH", "")
    prefixes = [Path(part) for part in value.split(os.pathsep) if part]
    return InterfaceTypes(prefixes, snapshot.settings.interfaces)


@cache
def bundled_types() -> frozenset[str]:
    """Standard ROS 2 interface types."""
    text = (
        resources.files("simwright.checker").joinpath("data/ros_interfaces.txt").read_text(encoding="utf-8")
    )
    return frozenset(text.split())


@cache
def bundled_packages() -> frozenset[str]:
    """Packages of the bundled types."""
    return frozenset(name.partition("/")[0] for name in bundled_types())


def _list_installed(prefix: Path, package: str) -> Iterator[str]:
    """Types of an installed package: its ament index entry, else its share folder."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", package):
        return
    share = prefix / "share"
    index = share / "ament_index" / "resource_index" / "rosidl_interfaces" / package
    try:
        lines = index.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        yield from _list_sources(share / package, package)
        return
    for line in lines:
        path = Path(line)
        if path.suffix in _SUFFIXES:
            yield f"{package}/{path.parent.as_posix()}/{path.stem}"


def _list_sources(folder: Path, package: str) -> Iterator[str]:
    """Types by the files in ``msg``, ``srv`` and ``action``."""
    for kind in ("msg", "srv", "action"):
        try:
            entries = [entry.name for entry in os.scandir(folder / kind)]
        except OSError:
            continue
        for entry in entries:
            stem, suffix = os.path.splitext(entry)  # noqa: PTH122 - plain names, many of them
            if suffix in _SUFFIXES:
                yield f"{package}/{kind}/{stem}"


def _find_packages(folder: Path, depth: int) -> Iterator[Path]:
    """Folders at or below that have a ``msg``, ``srv`` or ``action`` folder."""
    try:
        inner = sorted(e.name for e in os.scandir(folder) if e.is_dir(follow_symlinks=False))
    except OSError:
        return
    if any(kind in inner for kind in ("msg", "srv", "action")):
        yield folder
    if depth:
        for name in inner:
            if not name.startswith(".") and name not in ("msg", "srv", "action"):
                yield from _find_packages(folder / name, depth - 1)


def _name_package(folder: Path) -> str:
    """The name in ``package.xml``, else the folder's."""
    try:
        text = (folder / "package.xml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return folder.resolve().name
    match = _PACKAGE_NAME.search(text)
    return match.group(1) if match else folder.resolve().name
