# SPDX-License-Identifier: Apache-2.0
"""Bags, by rosbags: everything that is published, in time of the simulation, as ``ros2 bag play`` plays it.

``FILE.mcap`` and ``FILE.db3`` are single files; any other name is a folder with an MCAP file and its metadata.  A bag
appears under its name when it is complete.

At the end: message types without ROS.  ``../definitions/<package>.txt`` has the fields of packages that rosbags does
not know, in the language of ROS's own interface files: a line ``=== package/kind/Name``, then what the file of that
name says.  :func:`make_message` turns the dictionaries of the bridge into what rosbags writes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.errors import MissingExtraError, OutputError, UsageError
from simwright.engines.protocol import Closeable
from simwright.ros.graph import RosEndpoint
from simwright.ros.qos import EndpointQos
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    Message,
    Nothing,
    Receive,
    Sender,
    Transport,
    TransportOptions,
)

_VERSION = 9
"""Of the metadata that rosbag2 writes since Iron."""


def open_bag(options: TransportOptions) -> Transport:
    """Begin a bag; an error with the line that installs rosbags where it is not there."""
    return BagTransport(Path(options.target))


class BagTransport(Transport):
    """See :class:`~simwright.ros.transports.transport.Transport`; nothing ever arrives."""

    name = "bag"
    listens = False

    def __init__(self, target: Path) -> None:
        store = open_store()
        from rosbags.rosbag2 import StoragePlugin, Writer

        if not target.name:
            raise UsageError("a bag needs a file", hint="--bag out.mcap")
        if target.is_dir():
            raise OutputError(f"there is a folder {str(target)!r} already", hint="choose another name")
        if not target.parent.is_dir():
            raise OutputError(f"there is no folder {str(target.parent)!r}", hint="make it first")
        self._target, self._store = target, store
        self._folder = Path(tempfile.mkdtemp(prefix=".simwright-bag-", dir=target.parent))
        plugin = StoragePlugin.SQLITE3 if target.suffix.lower() == ".db3" else StoragePlugin.MCAP
        # the files in a bag are named after its folder
        self._writer: Any = Writer(
            self._folder / (target.stem or "bag"), version=_VERSION, storage_plugin=plugin
        )
        self._writer.open()
        self._known: dict[tuple[str, str], Any] = {}

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        parts = type_name.split("/")
        if len(parts) == 3 and parts[1] != "msg":
            # bags hold topics only
            return ""
        return "" if type_name in self._store.fielddefs else f"{type_name} is not among the types of bags"

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        key = (endpoint.name, endpoint.type)
        # an endpoint that is turned off and on again goes on where it was
        if key not in self._known:
            self._known[key] = self._writer.add_connection(
                endpoint.name,
                endpoint.type,
                typestore=self._store,
                offered_qos_profiles=[_make_profile(endpoint.qos)],
            )
        return _BagSender(self._writer, self._known[key], endpoint.type)

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        del endpoint, receive
        return Nothing()

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        del endpoint, answer
        return Nothing()

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class."""
        del endpoint, behaviour
        return Nothing()

    def close(self) -> None:
        """Finish the bag, and put it where it was asked for."""
        if self._writer is None:
            return
        self._writer.close()
        made, self._writer = self._writer.path, None
        if self._target.suffix.lower() in (".mcap", ".db3"):
            made = next(made.glob(f"*{self._target.suffix.lower()}"))
        made.replace(self._target)
        shutil.rmtree(self._folder)


class _BagSender(Sender):
    def __init__(self, writer: Any, connection: Any, type_name: str) -> None:
        self._writer, self._connection, self._type = writer, connection, type_name

    def send(self, message: Message, time: int) -> None:
        self._writer.write(self._connection, time, write_message(self._type, message))

    def close(self) -> None:
        """Nothing: the bag is closed as a whole."""


def _make_profile(qos: EndpointQos) -> Any:
    from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

    never = QosTime(9223372036, 854775807)
    return Qos(
        QosHistory[qos.history.upper()],
        qos.depth,
        QosReliability[qos.reliability.upper()],
        QosDurability[qos.durability.upper()],
        never,
        never,
        QosLiveliness.AUTOMATIC,
        never,
        False,
    )


_SECTION = re.compile(r"^=== (\S+)\n(.*?)(?=^===|\Z)", re.MULTILINE | re.DOTALL)
_PARTS = {"srv": ("_Request", "_Response"), "action": ("_Goal", "_Result", "_Feedback")}
PACKAGES = ("tf2_msgs", "control_msgs", "simulation_interfaces", "pyrobosim_msgs")
_UINT8 = 3
"""What ``char`` is to the hash of types (``type_description_interfaces/msg/FieldType``)."""


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
        raise MissingExtraError("rosbags", "ros", "writing bags") from None
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
                types |= get_types_from_msg(
                    body.strip() or "uint8 structure_needs_at_least_one_member", whole
                )
    made.register(types)
    return made


def make_message(type_name: str, values: dict[str, Any]) -> Any:
    """An object of the store from a dictionary; what it does not name is zero or empty."""
    store = open_store()
    fields = {
        name: _convert(description, values.get(name), store)
        for name, description in store.fielddefs[type_name][1]
    }
    return store.types[type_name](**fields)


def write_message(type_name: str, values: dict[str, Any]) -> bytes:
    """A dictionary as CDR, little endian."""
    return bytes(open_store().serialize_cdr(make_message(type_name, values), type_name))


def _convert(description: tuple[Any, Any], value: Any, store: Any) -> Any:
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
    return [_convert((element, of), item, store) for item in items]
