# SPDX-License-Identifier: Apache-2.0
"""Robot manifests (``robot.yaml``): what a task has to know about a robot beyond its file.

A manifest names the robot's file in any format that Simwright reads, and says what no file format says: which frame is
the tool, how the gripper opens, where the robot rests, how far it reaches.  All but ``id`` and the address of the
file may be left out and is then inferred (:mod:`simwright.tasks.inference`).
"""

from __future__ import annotations

import json
import math
import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simwright.core.documents.expressions import NUMBER_SCHEMA, Number
from simwright.core.documents.read import read_document
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.tree import Document
from simwright.core.documents.validate import validate_document
from simwright.core.errors import UnknownNameError, UsageError

FILE_NAME = "robot.yaml"
_ID = r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$"
_LARGE = 1e9
Amount = Annotated[Number, Field(ge=-_LARGE, le=_LARGE)]
"""A number that physics can do something with."""
Positive = Annotated[Number, Field(gt=0, le=_LARGE)]
Vector = Annotated[tuple[Amount, Amount, Amount], Field(description="x, y, z [m]")]
Quaternion = Annotated[tuple[Amount, Amount, Amount, Amount], Field(description="w, x, y, z")]


class RobotKind(StrEnum):
    """What sort of robot it is, which says what tasks it is for."""

    ARM = "arm"
    GRIPPER = "gripper"
    HAND = "hand"
    QUADRUPED = "quadruped"
    HUMANOID = "humanoid"
    BIPED = "biped"
    DRONE = "drone"
    MOBILE = "mobile"
    OTHER = "other"


class ControlMode(StrEnum):
    """What an action means."""

    POSITION = "position"
    VELOCITY = "velocity"
    TORQUE = "torque"
    POSE = "pose"
    OSC = "osc"

    @property
    def moves_tools(self) -> bool:
        """Does an action move tools, not joints?"""
        return self in (ControlMode.POSE, ControlMode.OSC)


def read_mode(said: ControlMode | str) -> ControlMode:
    """A control mode by its name."""
    known = [str(mode) for mode in ControlMode]
    if said not in known:
        raise UnknownNameError("control mode", str(said), known)
    return ControlMode(said)


class JointEntry(Record):
    """A joint as the manifest's author wants it used."""

    name: str = Field(min_length=1, description="name of the joint in the robot's file")
    lower: Amount | None = Field(None, description="lower limit [rad or m]; the file's by default")
    upper: Amount | None = Field(None, description="upper limit [rad or m]; the file's by default")
    home: Amount | None = Field(None, description="position at the start [rad or m]")
    velocity: Positive | None = Field(None, description="largest speed [rad/s or m/s]; the file's by default")
    effort: Positive | None = Field(
        None, description="largest torque or force of its drives together [N m or N]; the file's by default"
    )

    @model_validator(mode="after")
    def _check_order(self) -> JointEntry:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise refuse(f"the lower limit {self.lower:g} is not below the upper limit {self.upper:g}")
        return self


class FrameEntry(Record):
    """A frame: a body or site of the robot, with a place on it."""

    frame: str = Field(min_length=1, description="name of a body or site in the robot's file")
    position: Vector = Field((0.0, 0.0, 0.0), description="where on it [m]")
    rotation: Quaternion = Field((1.0, 0.0, 0.0, 0.0), description="how turned on it: w, x, y, z")

    @model_validator(mode="after")
    def _check_rotation(self) -> FrameEntry:
        # any other length is normalised
        if math.hypot(*self.rotation) < 1e-6:
            raise refuse("the quaternion of 'rotation' is zero")
        return self


class Gripper(Record):
    """What opens and closes."""

    actuators: list[str] = Field(min_length=1, description="actuators that open and close it")
    open: Amount = Field(description="control that opens them")
    closed: Amount = Field(description="control that closes them")


GripControls = tuple[tuple[int, ...], float, float]
"""Numbers of the actuators of a gripper, and their controls open and closed."""


class CameraEntry(FrameEntry):
    """A camera that is put on the robot; it looks along -Z of its frame, +Y is up."""

    name: str = Field(min_length=1)
    fovy: Annotated[Number, Field(gt=0, lt=180)] = Field(60.0, description="vertical field of view [deg]")
    width: int = Field(256, ge=1, le=8192, description="[pixels]")
    height: int = Field(256, ge=1, le=8192, description="[pixels]")


class ActuatorEntry(Record):
    """How a joint is driven instead of what its file says."""

    kind: Literal["position", "velocity", "motor"] = "position"
    kp: Positive | None = Field(None, description="stiffness [N m/rad or N/m], for position")
    kd: Annotated[Number, Field(ge=0, le=_LARGE)] | None = Field(
        None, description="damping [N m s/rad or N s/m]"
    )
    force: Positive | None = Field(None, description="largest force [N m or N]")


class ControlSettings(Record):
    """How it is usually commanded."""

    mode: ControlMode = ControlMode.POSITION
    period: Annotated[Number, Field(ge=1e-5, le=10)] = Field(0.02, description="control period [s]")


class SimBlock(Record):
    """The robot's file and how it is simulated.  Exactly one address is given."""

    mjcf_uri: str | None = Field(None, description="address of an MJCF file")
    urdf_uri: str | None = Field(None, description="address of a URDF or xacro file")
    usd_uri: str | None = Field(None, description="address of an OpenUSD asset")
    sdf_uri: str | None = Field(None, description="address of an SDFormat file")
    keyframe: str = Field("", description="keyframe of the file to start from; 'home' by default")
    actuators: dict[str, ActuatorEntry] = Field(
        default_factory=dict,
        description="joint name -> how it is driven, instead of the file's actuators of it",
    )
    control: ControlSettings = Field(default_factory=lambda: ControlSettings.model_validate({}))

    @model_validator(mode="after")
    def _check_one(self) -> SimBlock:
        if len(self.list_uris()) != 1:
            raise refuse("give exactly one of mjcf_uri, urdf_uri, usd_uri and sdf_uri")
        return self

    def list_uris(self) -> dict[str, str]:
        """The addresses that are given, by key."""
        keys = ("mjcf_uri", "urdf_uri", "usd_uri", "sdf_uri")
        return {key: value for key in keys if (value := getattr(self, key))}

    @property
    def uri(self) -> str:
        """The address."""
        return next(iter(self.list_uris().values()))


class RobotManifest(Record):
    """A ``robot.yaml``."""

    schema_version: Literal[1] = 1
    id: str = Field(pattern=_ID, description="what --robot takes")
    description: str = ""
    licence: str = Field("", description="SPDX expression of the robot's file")
    kind: RobotKind | None = Field(None, description="inferred by default")
    base: Literal["fixed", "floating"] | None = Field(None, description="inferred by default")
    base_frame: str = Field(
        "", description="body or site that is put where the base is; the origin of the file by default"
    )
    end_effector: FrameEntry | None = Field(None, description="the tool; inferred by default")
    gripper: Gripper | None = None
    joints: list[JointEntry] = Field(default_factory=list)
    cameras: list[CameraEntry] = Field(default_factory=list)
    reach: Positive | None = Field(
        None, description="from the base to the tool, arm stretched [m]; measured by default"
    )
    sim: SimBlock

    @model_validator(mode="after")
    def _check_names(self) -> RobotManifest:
        for what, names in (
            ("joint", [joint.name for joint in self.joints]),
            ("camera", [camera.name for camera in self.cameras]),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise refuse(f"{what} {twice!r} is listed twice")
        return self

    @property
    def home_joints(self) -> dict[str, float]:
        """Joints whose start is given."""
        return {joint.name: joint.home for joint in self.joints if joint.home is not None}


def check_id(name: str) -> str:
    """A name that a manifest may have, or a UsageError."""
    if re.fullmatch(_ID, name) is None:
        raise UsageError(
            f"{name!r} cannot be the id of a robot", hint="letters, digits, _ . - and a letter or digit first"
        )
    return name


def read_manifest(path: str | os.PathLike[str]) -> tuple[RobotManifest, Document]:
    """A manifest and the document with the places of what it says."""
    document = read_document(Path(path))
    return validate_document(RobotManifest, document, what="robot manifest"), document


SCHEMA_FILE = Path(__file__).with_name("robot.schema.json")
_TITLE = "Simwright robot manifest, schema version 1"


def build_schema() -> dict[str, Any]:
    """The schema as data."""
    schema = RobotManifest.model_json_schema(mode="validation")
    _tidy(schema)
    schema["$defs"]["Number"] = NUMBER_SCHEMA
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": _TITLE}


def render_schema() -> str:
    """The schema as text, as it is published."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False) + "\n"


def _tidy(node: Any) -> None:
    """Take out titles that only repeat the key, and describe numbers once."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
        return
    if not isinstance(node, dict):
        return
    # numbers may be expressions such as "pi/2": described once, referred to
    if node.get("anyOf") == NUMBER_SCHEMA["anyOf"]:
        del node["anyOf"]
        node.pop("examples", None)
        if node.get("description") == NUMBER_SCHEMA["description"]:
            del node["description"]
        node["$ref"] = "#/$defs/Number"
    for inner in (node.get("properties") or {}).values():
        inner.pop("title", None)
        # editors would offer null as a value
        if inner.get("default", 0) is None:
            del inner["default"]
    for value in node.values():
        _tidy(value)
