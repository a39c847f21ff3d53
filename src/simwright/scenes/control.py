# SPDX-License-Identifier: Apache-2.0
"""Control sequences: position targets or raw controls over time, from a file.

::

    {"schema_version": 1,
     "joint_target_pos": {"dt": 0.02, "names": ["shoulder", "elbow"], "values": [[0.0, 0.5], [0.1, 0.4]]},
     "joint_q": {"values": [[0.0, 0.5]]}, "joint_qd": {"values": [[0.0, 0.0]]}}

Rows hold until the next ones (zero-order hold).  After the last, they hold, or begin again with ``loop``.  A row
that is as wide as one world counts for every world.  ``names`` says which joints or actuators the columns are; without
it a row has all of them in order.  ``controls`` are raw controls of actuators, for robot files.  First rows of
``joint_q`` and ``joint_qd`` are an initial state.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator, model_validator

from simwright.core.diag import NOWHERE, Where
from simwright.core.documents.expressions import Number
from simwright.core.documents.read import read_document
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.validate import validate_document
from simwright.core.errors import NotFoundError
from simwright.core.files import suggest_sibling
from simwright.core.gate import Gate
from simwright.scenes.messages import SceneError
from simwright.scenes.sources import find_scene_roots

if TYPE_CHECKING:
    from simwright.scenes.document import SceneFile

Rows = npt.NDArray[np.float64]


class TargetTable(Record):
    """Rows of equal width."""

    values: list[list[Number]] = Field(min_length=1, description="one row for each moment")

    @field_validator("values")
    @classmethod
    def _check_width(cls, value: list[list[float]]) -> list[list[float]]:
        widths = {len(row) for row in value}
        if len(widths) != 1 or 0 in widths:
            raise refuse(
                f"rows have to be equally wide, not {', '.join(str(width) for width in sorted(widths))}"
            )
        return value


class TimedTargetTable(TargetTable):
    """Rows with their moments: one ``dt`` apart, or at ``times``."""

    dt: Number | None = Field(default=None, gt=0, description="time between rows [s]")
    times: list[Number] | None = Field(default=None, min_length=1, description="time of each row [s], rising")
    names: list[str] | None = Field(
        default=None, min_length=1, description="joints or actuators of the columns"
    )

    @model_validator(mode="after")
    def _check_times(self) -> TimedTargetTable:
        if (self.dt is None) == (self.times is None):
            raise refuse("has to say one of 'dt' and 'times'")
        if self.times is not None:
            if len(self.times) != len(self.values):
                raise refuse(f"{len(self.times)} times for {len(self.values)} rows")
            if any(b <= a for a, b in zip(self.times, self.times[1:], strict=False)):
                raise refuse("times have to rise")
        if self.names is not None and len(self.names) != len(self.values[0]):
            raise refuse(f"{len(self.names)} names for rows of {len(self.values[0])} values")
        return self


class ControlDocument(Record):
    """What a control file may say."""

    schema_version: int = Field(default=1, ge=1, le=1, description="version of this format: 1")
    name: str = Field(default="", description="name of the sequence")
    joint_target_pos: TimedTargetTable | None = Field(default=None, description="position targets")
    controls: TimedTargetTable | None = Field(
        default=None, description="raw controls of actuators (robot files)"
    )
    joint_q: TargetTable | None = Field(default=None, description="initial positions, in the first row")
    joint_qd: TargetTable | None = Field(default=None, description="initial velocities, in the first row")

    @model_validator(mode="after")
    def _check_something(self) -> ControlDocument:
        if self.joint_target_pos is None and self.controls is None:
            raise refuse("has to say one of 'joint_target_pos' and 'controls'")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class TimedRows:
    """Rows over time.  ``times`` [s] are when rows begin, ``period`` [s] when they are over."""

    rows: Rows
    times: npt.NDArray[np.float64]
    period: float
    loop: bool = False
    names: tuple[str, ...] | None = None

    def find_row(self, time: float) -> int:
        """The row that holds at a time [s]."""
        # before the first row its values hold
        elapsed = max(0.0, time - float(self.times[0]))
        if self.loop and elapsed >= self.period:
            elapsed %= self.period
        moment = float(self.times[0]) + elapsed
        # time steps add up to slightly less than n * dt: a row begins one rounding early rather than one step late
        found = int(np.searchsorted(self.times, moment * (1 + 1e-12) + 1e-12, side="right")) - 1
        return min(max(found, 0), len(self.rows) - 1)

    def sample(self, time: float) -> Rows:
        """The values at a time [s]."""
        return np.asarray(self.rows[self.find_row(time)])


@dataclass(frozen=True, slots=True, eq=False)
class ControlSequence:
    """Position targets and raw controls over time, and an initial state; each None where the file has none."""

    targets: TimedRows | None
    controls: TimedRows | None = None
    loop: bool = False
    joint_q: Rows | None = None
    joint_qd: Rows | None = None
    file: str = ""

    def find_rows(self, time: float) -> tuple[int, ...]:
        """The rows of targets and controls that hold at a time [s]."""
        return tuple(-1 if table is None else table.find_row(time) for table in (self.targets, self.controls))

    def sample(self, time: float, width: int | None = None) -> Rows:
        """Targets at a time [s], repeated for every world where ``width`` is that of several."""
        assert self.targets is not None, "the file has targets"
        row = self.targets.sample(time)
        return row if width is None else tile_row(row, width, "joint_target_pos", self.file)

    def make_initial(
        self, coordinates: int, freedoms: int, offsets: npt.ArrayLike | None = None
    ) -> tuple[Rows | None, Rows | None]:
        """Initial ``joint_q`` and ``joint_qd`` for a model of that size.

        ``offsets`` (worlds, 3) [m] are added to the first three entries of each world where one has a free base.
        """
        q = qd = None
        if self.joint_q is not None:
            width = self.joint_q.shape[1]
            q = tile_row(self.joint_q[0], coordinates, "joint_q", self.file).copy()
            # as wide as a free base: SAP Warp's own test, it has no other way to know
            if offsets is not None and width >= 7 and coordinates > width:
                worlds = q.reshape(-1, width)
                worlds[:, :3] += np.asarray(offsets, dtype=np.float64).reshape(-1, 3)[: len(worlds)]
        if self.joint_qd is not None:
            qd = tile_row(self.joint_qd[0], freedoms, "joint_qd", self.file).copy()
        return q, qd


def tile_row(row: Rows, width: int, name: str, file: str = "") -> Rows:
    """A row repeated until it is ``width`` wide."""
    if width == len(row):
        return row
    if width % len(row) or width < len(row):
        raise SceneError(
            f"{name} has {len(row)} values, which do not go into the {width} of the model",
            hint="a row is as wide as one world, or as all of them",
            where=Where(file) if file else NOWHERE,
        )
    return np.tile(row, width // len(row))


def read_control(path: str | Path, *, loop: bool = False) -> ControlSequence:
    """Read a control file (JSON or YAML)."""
    document = read_document(path)
    found = validate_document(ControlDocument, document, what="control file")
    targets, controls = (_read_table(table, loop) for table in (found.joint_target_pos, found.controls))
    q, qd = _as_rows(found.joint_q), _as_rows(found.joint_qd)
    return ControlSequence(targets, controls, loop, q, qd, str(path))


def _read_table(table: TimedTargetTable | None, loop: bool) -> TimedRows | None:
    if table is None:
        return None
    rows = np.asarray(table.values, dtype=np.float64)
    if table.times is not None:
        times = np.asarray(table.times, dtype=np.float64)
        # the last row holds as long as the one before
        last = times[-1] - times[-2] if len(times) > 1 else 1.0
        period = float(times[-1] - times[0] + last)
    else:
        assert table.dt is not None, "a table says one of them"
        times = np.arange(len(rows), dtype=np.float64) * float(table.dt)
        period = len(rows) * float(table.dt)
    return TimedRows(rows, times, period, loop, None if table.names is None else tuple(table.names))


def load_control(file: SceneFile) -> ControlSequence | None:
    """The control sequence of a scene; None if it has none."""
    control = file.scene.control
    if control is None:
        return None
    path = file.folder / control.source
    if not path.is_file():
        where = file.find_where("control", "source")
        raise NotFoundError(f"there is no file {control.source!r}", hint=suggest_sibling(path), where=where)
    Gate(find_scene_roots(file.folder)).admit(path, file.find_where("control", "source"), control.source)
    return read_control(path, loop=control.loop)


def _as_rows(table: Any) -> Rows | None:
    return None if table is None else np.asarray(table.values, dtype=np.float64)
