# SPDX-License-Identifier: Apache-2.0
"""The result of a run on one screen: what ran, how long, what was found, where the joints of the first world are."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from simwright.core.diag import Diagnostic, count_levels
from simwright.model.display import make_table, show_number

_ROWS = 12
_NUMBERS = 7


class Run(Protocol):
    """What is told of a run.  Times in seconds; ``asked`` are the frames that were asked for."""

    @property
    def source(self) -> str:
        """The file, empty if there is none."""

    @property
    def engine(self) -> str:
        """Its name."""

    @property
    def solver(self) -> str:
        """Its name, empty if the engine has one only."""

    @property
    def worlds(self) -> int:
        """How many."""

    @property
    def frames(self) -> int:
        """Steps that were made."""

    @property
    def asked(self) -> int:
        """Steps that were asked for."""

    @property
    def dt(self) -> float:
        """Time step [s]."""

    @property
    def simulated_time(self) -> float:
        """In each world [s]."""

    @property
    def wall_time(self) -> float:
        """On the clock [s]."""

    @property
    def stopped(self) -> str:
        """Why it ended early, or empty."""

    @property
    def recorded(self) -> str:
        """The file that was written, or empty."""

    @property
    def findings(self) -> Sequence[Diagnostic]:
        """What was found on the way."""


def show_line(run: Run) -> str:
    """``<RunResult playground.yaml: mujoco, 64 worlds, 1000 of 1000 steps, 2 s in 0.31 s>``."""
    where = f" {run.source[-60:]}" if run.source else ""
    return f"<{type(run).__name__}{where}: {', '.join(_list_facts(run))}>"


def _list_facts(run: Run) -> list[str]:
    solver = f" ({run.solver})" if run.solver else ""
    facts = [
        f"{run.engine}{solver}",
        f"{run.worlds} world{'s' if run.worlds != 1 else ''}",
        f"{run.frames} of {run.asked} steps of {run.dt:g} s",
        f"{show_number(run.simulated_time)} s in {show_number(run.wall_time)} s",
    ]
    return facts + ([run.stopped] if run.stopped else [])


def show_run(run: Run, joints: Mapping[str, Iterable[float]]) -> str:
    """One screen; ``joints`` are the coordinates of the joints of the first world at the end [rad, m], by name."""
    counts = {level: count for level, count in count_levels(run.findings).items() if count}
    told = ", ".join(f"{count} {level}" for level, count in counts.items()) or "none"
    lines = [
        run.source or type(run).__name__,
        f"  engine    {run.engine}" + (f" ({run.solver})" if run.solver else ""),
        f"  worlds    {run.worlds}",
        f"  steps     {run.frames} of {run.asked}, {run.dt:g} s each"
        + (f": {run.stopped}" if run.stopped else ""),
        f"  time      {show_number(run.simulated_time)} s simulated in {show_number(run.wall_time)} s",
        f"  findings  {told}",
    ]
    if run.recorded:
        lines.append(f"  recorded  {run.recorded}")
    if joints:
        lines.append("  joints of the first world at the end [rad, m]")
        width = min(max(len(name) for name in list(joints)[:_ROWS]), 40)
        lines += [f"    {name:<{width}}  {_show_coordinates(q)}" for name, q in list(joints.items())[:_ROWS]]
        if len(joints) > _ROWS:
            lines.append(f"    ... and {len(joints) - _ROWS} more")
    return "\n".join(lines)


def show_run_html(run: Run, joints: Mapping[str, Iterable[float]]) -> str:
    """The same for a notebook."""
    facts = _list_facts(run) + ([f"recorded in {run.recorded}"] if run.recorded else [])
    counts = [f"{count} {level}" for level, count in count_levels(run.findings).items() if count]
    head = f"<p><b>{html.escape(run.source or type(run).__name__)}</b>: {html.escape(', '.join(facts))}</p>"
    found = f"<p>findings: {html.escape(', '.join(counts) or 'none')}</p>"
    rows = [(name, _show_coordinates(q)) for name, q in joints.items()]
    title = "Joints of the first world at the end [rad, m]"
    return head + found + (make_table(title, ("joint", "coordinates"), rows) if rows else "")


def _show_coordinates(values: Iterable[float]) -> str:
    numbers = [show_number(float(value)) for value in values]
    more = f" ... ({len(numbers)})" if len(numbers) > _NUMBERS else ""
    return "  ".join(f"{number:>9}" for number in numbers[:_NUMBERS]) + more
