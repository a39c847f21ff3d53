# SPDX-License-Identifier: Apache-2.0
"""What happened in a simulation, in the order in which it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """``kind`` is one of ``start``, ``finish``, ``path``, ``open``, ``close``, ``charge``, ``observe``, ``contact``."""

    time: float
    """Simulated time [s]."""
    robot: str
    kind: str
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.time:9.3f} s  {self.robot}: {self.kind} {self.text}".rstrip()
