# SPDX-License-Identifier: Apache-2.0
"""Message types without ROS, by rosbags: fields, hashes, and CDR from and to the dictionaries of the bridge.

``../definitions/<package>.txt`` has the fields of packages that rosbags does not know, in the language of ROS's own
interface files: a line ``=== package/kind/Name``, then what the file of that name says.  Of services and actions, all
messages that follow from them are there too: events, and what asks for goals, results and feedback.
"""

from __future__ import annotations

import re
import struct
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from simwright.core.errors import MissingExtraError
from simwright.ros.transports.transport import Message

_SECTION = re.compile(r"^=== (\S+)\n(.*?)(?=^===|\Z)", re.MULTILINE | re.DOTALL)
_PARTS = {"srv": ("_Request", "_Response"), "action": ("_Goal", "_Result", "_Feedback")}
PACKAGES = (
    "std_srvs", "action_msgs", "tf2_msgs", "control_msgs", "simulation_interfaces", "pyrobosim_msgs",
    "rcl_interfaces",
)  # fmt: skip
_UINT8 = 3
"""What ``char`` is to the hash of types (``type_description_interfaces/msg/FieldType``)."""
EMPTY = "structure_needs_at_least_one_member"
"""The field that ROS gives messages without any."""
_NUMBERS = {"float64": "double", "float32": "float", "bool": "boolean", "byte": "octet", "char": "uint8"}
"""Where rosbags has other names for numbers than rclpy."""
UUID, TIME = "unique_identifier_msgs/msg/UUID", "builtin_interfaces/msg/Time"


@cache
def read_definitions() -> dict[str, str]:
    """The definitions of ours: ``package/kind/Name`` -> text."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        file = resources.files("simwright.ros").joinpath(f"definitions/{package}.txt")
        found |= {name: text.strip() for name, text in _SECTION.findall(file.read_text(encoding="utf-8"))}
    return found


@cache
def open_store() -> Any:
    """A type store with everything of ROS 2 Kilted that rosbags has, and ours; an error where rosbags is missing."""
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
        from rosbags.typesys import store as store_module
    except ImportError:
        raise MissingExtraError("rosbags", "ros", "messages without ROS") from None
    # rosbags 0.11 takes char for a type of its own; in ROS 2 it is another word for uint8
    store_module.TIDMAP["char"] = _UINT8
    made = get_typestore(Stores.ROS2_KILTED)
    types: dict[str, Any] = {}
    for name, text in read_definitions().items():
        package, kind, title = name.split("/")
        # services and actions are several messages each
        bodies = re.split(r"^---$", text, flags=re.MULTILINE)
        for suffix, body in zip(_PARTS.get(kind, ("",)), bodies, strict=True):
            whole = f"{package}/{kind}/{title}{suffix}"
            if whole not in made.fielddefs:
                # as a message: names of messages beside it are looked up in the folder of messages
                known = f"{package}/msg/{title}{suffix}"
                types[whole] = get_types_from_msg(body.strip() or f"uint8 {EMPTY}", known)[known]
        if kind == "srv":
            types |= _describe_service(name)
        elif kind == "action":
            types |= _describe_action(name)
    made.register(types)
    return made


def _describe_service(name: str) -> dict[str, Any]:
    """What a service is to the hash of types: a request, an answer, and the event of both."""
    from rosbags.interfaces import Nodetype

    def some(part: str) -> Any:
        return Nodetype.SEQUENCE, ((Nodetype.NAME, f"{name}_{part}"), 1)

    info = (Nodetype.NAME, "service_msgs/msg/ServiceEventInfo")
    event = [("info", info), ("request", some("Request")), ("response", some("Response"))]
    parts = [
        (f"{part.lower()}_message", (Nodetype.NAME, f"{name}_{part}"))
        for part in ("Request", "Response", "Event")
    ]
    return {f"{name}_Event": ([], event), name: ([], parts)}


def _describe_action(name: str) -> dict[str, Any]:
    """The two services and the message that carry goals, results and feedback."""
    from rosbags.interfaces import Nodetype

    goal_id = ("goal_id", (Nodetype.NAME, UUID))
    found: dict[str, Any] = {
        f"{name}_SendGoal_Request": ([], [goal_id, ("goal", (Nodetype.NAME, f"{name}_Goal"))]),
        f"{name}_SendGoal_Response": (
            [], [("accepted", (Nodetype.BASE, ("bool", 0))), ("stamp", (Nodetype.NAME, TIME))]
        ),
        f"{name}_GetResult_Request": ([], [goal_id]),
        f"{name}_GetResult_Response": (
            [], [("status", (Nodetype.BASE, ("int8", 0))), ("result", (Nodetype.NAME, f"{name}_Result"))]
        ),
        f"{name}_FeedbackMessage": ([], [goal_id, ("feedback", (Nodetype.NAME, f"{name}_Feedback"))]),
    }  # fmt: skip
    return found | _describe_service(f"{name}_SendGoal") | _describe_service(f"{name}_GetResult")


def knows_type(type_name: str) -> bool:
    """Whether messages of a type, or of a service or action, can be made."""
    parts = type_name.split("/")
    suffix = "" if len(parts) != 3 else _PARTS.get(parts[1], ("",))[0]
    return f"{type_name}{suffix}" in open_store().fielddefs


@cache
def hash_type(type_name: str) -> str:
    """The RIHS01 hash by which peers know that they mean the same type."""
    return str(open_store().hash_rihs01(type_name))


@cache
def describe_type(type_name: str) -> str:
    """The definition of a message with those that it is made of, as MCAP and Foxglove have it (``ros2msg``)."""
    return str(open_store().generate_msgdef(type_name, ros_version=2)[0])


@cache
def list_fields(type_name: str) -> list[tuple[str, str]]:
    """Fields of a message in order, with types as rclpy writes them."""
    return [(name, _write_type(*description)) for name, description in open_store().fielddefs[type_name][1]]


def _write_type(kind: Any, inner: Any) -> str:
    from rosbags.interfaces import Nodetype

    if kind is Nodetype.NAME:
        return str(inner)
    if kind is Nodetype.BASE:
        return _NUMBERS.get(inner[0], str(inner[0]))
    element, count = inner
    text = _write_type(*element)
    return f"{text}[{count}]" if kind is Nodetype.ARRAY else f"sequence<{text}>"


def make_message(type_name: str, values: Message) -> Any:
    """An object of the store from a dictionary; what it does not name is zero or empty."""
    store = open_store()
    fields = {
        name: _convert(description, values.get(name)) for name, description in store.fielddefs[type_name][1]
    }
    return store.types[type_name](**fields)


def write_message(type_name: str, values: Message) -> bytes:
    """A dictionary as CDR, little endian."""
    return bytes(open_store().serialize_cdr(make_message(type_name, values), type_name))


def read_message(type_name: str, raw: bytes) -> Message:
    """A dictionary from CDR; raises a ValueError for bytes that are none of that type."""
    store = open_store()
    # some peers leave out the field that only stands for an empty message
    if [name for name, _ in store.fielddefs[type_name][1]] == [EMPTY]:
        return {}
    try:
        found = store.deserialize_cdr(raw, type_name)
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"{len(raw)} bytes are not a {type_name}: {error}") from None
    return _unpack(type_name, found)


def _unpack(type_name: str, message: Any) -> Message:
    fields = open_store().fielddefs[type_name][1]
    return {name: _unpack_field(description, getattr(message, name)) for name, description in fields}


def _unpack_field(description: tuple[Any, Any], value: Any) -> Any:
    from rosbags.interfaces import Nodetype

    kind, inner = description
    if kind is Nodetype.NAME:
        return _unpack(inner, value)
    if kind is Nodetype.BASE:
        return value
    (element, of), _ = inner
    return [_unpack(of, item) for item in value] if element is Nodetype.NAME else value


def _convert(description: tuple[Any, Any], value: Any) -> Any:
    from rosbags.interfaces import Nodetype

    kind, inner = description
    if kind is Nodetype.NAME:
        return make_message(inner, value or {})
    if kind is Nodetype.BASE:
        if value is None:
            return {"string": "", "bool": False}.get(inner[0], 0)
        return value
    # sequences and arrays: numbers as numpy arrays, all else as lists
    (element, of), count = inner
    if element is Nodetype.BASE and of[0] != "string":
        digits = {"byte": "uint8", "char": "uint8"}.get(of[0], of[0])
        if value is None:
            return np.zeros(count if kind is Nodetype.ARRAY else 0, dtype=digits)
        return np.asarray(value, dtype=digits).ravel()
    items = value if value is not None else [None] * (count if kind is Nodetype.ARRAY else 0)
    return [_convert((element, of), item) for item in items]
