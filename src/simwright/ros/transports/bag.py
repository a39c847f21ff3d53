# SPDX-License-Identifier: Apache-2.0
"""Bags, by rosbags: everything that is published, in time of the simulation, as ``ros2 bag play`` plays it.

``FILE.mcap`` and ``FILE.db3`` are single files; any other name is a folder with an MCAP file and its metadata.  A bag
appears under its name when it is complete.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from simwright.core.errors import OutputError, UsageError
from simwright.ros.graph import RosEndpoint
from simwright.ros.qos import EndpointQos
from simwright.ros.transports.cdr import PackedMessage
from simwright.ros.transports.transport import (
    Message,
    Sender,
    SendingTransport,
    Transport,
    TransportOptions,
)
from simwright.ros.transports.types import list_fields, open_store, write_message

_VERSION = 9
"""Of the metadata that rosbag2 writes since Iron."""


def open_bag(options: TransportOptions) -> Transport:
    """Begin a bag; an error with the line that installs rosbags where it is not there."""
    return BagTransport(Path(options.target))


class BagTransport(SendingTransport):
    """See :class:`~simwright.ros.transports.transport.Transport`; nothing ever arrives."""

    name = "bag"

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

    def send_packed(self, message: PackedMessage, time: int) -> None:
        self._writer.write(self._connection, time, message.encode(list_fields))

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
