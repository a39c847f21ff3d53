# SPDX-License-Identifier: Apache-2.0
"""What a live page adds for somebody who drives by hand: a handle at the tool, and buttons and keys."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from simwright.core.math3d import Pose

_NAME = "/tool target"


class DrivingPanel:
    """A handle to drag the tool by, and a button for each command; ``keys`` are shown beside them and work on the page.

    ``aim`` is told where the handle is dragged, ``press`` which command was given: a name of ``commands``.
    """

    def __init__(
        self,
        server: Any,
        size: float,
        aim: Callable[[Pose], None],
        press: Callable[[str], None],
        *,
        commands: Mapping[str, str],
        keys: Mapping[str, str],
    ) -> None:
        self._aim, self._dragged, self._lock = aim, False, threading.Lock()
        self._handle = server.scene.add_transform_controls(_NAME, scale=size, depth_test=False)
        self._handle.on_drag_start(lambda _: self._set_dragged(True))
        self._handle.on_drag_end(lambda _: self._set_dragged(False))
        self._handle.on_update(lambda _: self._drag())
        with server.gui.add_folder("Drive"):
            server.gui.add_markdown("Drag the handle at the tool, or use the keys.")
            for label, key in commands.items():
                server.gui.add_button(label).on_click(lambda _, key=key: press(key))
        for label, key in keys.items():
            # keys of the page repeat while they are held, as those of a terminal do
            command = server.gui.add_command(label, hotkey=key.upper())
            command.on_trigger(lambda _, key=key: press(key))

    def _set_dragged(self, dragged: bool) -> None:
        with self._lock:
            self._dragged = dragged

    def _drag(self) -> None:
        self._aim(Pose.of(self._handle.position, self._handle.wxyz))

    def follow(self, pose: Pose) -> None:
        """Put the handle where the tool is to go, unless somebody holds it."""
        with self._lock:
            if not self._dragged:
                self._handle.position, self._handle.wxyz = tuple(pose.p), tuple(pose.q)
