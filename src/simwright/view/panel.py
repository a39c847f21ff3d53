# SPDX-License-Identifier: Apache-2.0
"""Parts of the panel of controls: the tree of links with a search, findings, and what is known of what is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic
from simwright.core.math3d import Array, rpy_from_quat
from simwright.model.asset import Asset, Shape
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Motion
from simwright.model.kinematics import Tree
from simwright.view.configuration import Configuration
from simwright.view.words import describe_finding, numbers, plain, short, table

_ROWS = 60
"""Links of the tree that are shown at once: a browser is slow with thousands of them."""
_FINDINGS = 40
_CHOSEN = "\u25b6 "


def list_tree(tree: Tree) -> Iterator[tuple[str, int, str]]:
    """Links from the roots on, each with its depth and the joint that holds it."""
    children = tree.children()
    pending = [(name, 0, "") for name in reversed(tree.roots)]
    pending += [(edge.child, 0, edge.joint.name) for edge in reversed(children.get(WORLD, []))]
    while pending:
        name, depth, joint = pending.pop()
        yield name, depth, joint
        pending += [(edge.child, depth + 1, edge.joint.name) for edge in reversed(children.get(name, []))]


class TreePanel:
    """Links and the joints that hold them: a row for each, which selects it; the search narrows them down."""

    def __init__(self, gui: Any, tree: Tree, on_pick: Callable[[str], None]) -> None:
        self._gui, self._on_pick = gui, on_pick
        self._rows = list(list_tree(tree))
        self._picked = ""
        self._shown: list[tuple[str, Any]] = []
        self.folder = gui.add_folder(f"Links ({len(self._rows)})", expand_by_default=len(self._rows) <= 20)
        with self.folder:
            self.search = gui.add_text("Search", "", hint="Part of the name of a link or joint")
            self._list = gui.add_folder(None)
            self._more = gui.add_markdown("")
        self.search.on_update(lambda _: self._fill())
        self._fill()

    def _find_rows(self) -> list[tuple[str, int, str]]:
        wanted = self.search.value.strip().lower()
        if wanted:
            return [row for row in self._rows if wanted in row[0].lower() or wanted in row[2].lower()]
        if len(self._rows) <= _ROWS:
            return self._rows
        # around what is selected, so that it is always among them
        at = next((number for number, row in enumerate(self._rows) if row[0] == self._picked), 0)
        return self._rows[max(0, at - _ROWS // 2) :]

    def _fill(self) -> None:
        for _, row in self._shown:
            row.remove()
        found = self._find_rows()
        with self._list:
            self._shown = [(name, self._add_row(name, depth, joint)) for name, depth, joint in found[:_ROWS]]
        left = len(found) - len(self._shown)
        self._more.content = (
            f"{left} more: search for them" if left > 0 else ("" if found else "no such link")
        )

    def _add_row(self, name: str, depth: int, joint: str) -> Any:
        indent = "\u2007" * min(depth, 12)
        row = self._gui.add_button_group(
            f"{indent}{short(joint, 24) or 'root'}", (self._spell(name),), hint=short(f"{joint}: {name}", 200)
        )
        row.on_click(lambda _, name=name: self._on_pick(name))
        return row

    def _spell(self, name: str) -> str:
        return (_CHOSEN if name == self._picked else "") + short(name, 40)

    def list_shown(self) -> list[str]:
        """The links that are shown."""
        return [name for name, _ in self._shown]

    def pick(self, name: str) -> None:
        """Show which link is selected."""
        before, self._picked = self._picked, name
        if name and name not in self.list_shown():
            if self.search.value:
                self.search.value = ""
            self._fill()
        for shown, row in self._shown:
            if shown in (before, name):
                row.options = (self._spell(shown),)


class FindingsPanel:
    """Findings, each with a row that selects the link it is about, where there is one."""

    def __init__(self, gui: Any, on_pick: Callable[[str], None]) -> None:
        self._gui, self._on_pick = gui, on_pick
        self._folder = gui.add_folder("Findings", expand_by_default=False)
        self._shown: list[Any] = []

    def show(self, findings: Sequence[Diagnostic], bodies: Mapping[int, str], note: str = "") -> None:
        """List findings; ``bodies`` has the link of a finding by its number; ``note`` stands above them."""
        for row in self._shown:
            row.remove()
        self._shown = []
        self._folder.label = f"Findings ({len(findings)})"
        with self._folder:
            if note:
                self._shown.append(self._gui.add_markdown(note))
            for number, finding in enumerate(findings[:_FINDINGS]):
                self._shown.append(self._gui.add_markdown(describe_finding(finding)))
                body = bodies.get(number)
                if body:
                    row = self._gui.add_button_group("at", (short(body, 30),))
                    row.on_click(lambda _, body=body: self._on_pick(body))
                    self._shown.append(row)
            if len(findings) > _FINDINGS:
                more = f"{len(findings) - _FINDINGS} more: `simwright check` lists all of them"
                self._shown.append(self._gui.add_markdown(more))


def find_bodies(asset: Asset, findings: Sequence[Diagnostic]) -> dict[int, str]:
    """The link that each finding is about, by its number: the nearest one above the prim, or of that line."""
    known = {body.path: body.name for body in asset.bodies} | {
        joint.path: joint.child for joint in asset.joints
    }
    known.pop("", None)
    lines = _list_lines(asset)
    found: dict[int, str] = {}
    for number, finding in enumerate(findings):
        prim = finding.where.prim.partition(".")[0]
        while prim and prim not in known:
            prim = prim.rpartition("/")[0]
        name = known.get(prim) or lines.get((finding.where.file, finding.where.line), "")
        if name:
            found[number] = name
    return found


def _list_lines(asset: Asset) -> dict[tuple[str, int | None], str]:
    """The link that each line of a file is about."""
    said = [(body.source, body.name) for body in asset.bodies]
    said += [(joint.source, joint.child) for joint in asset.joints]
    said += [(shape.source, shape.body) for shape in asset.shapes]
    return {(where.file, where.line): name for where, name in said if where.line}


def describe_link(
    configuration: Configuration,
    name: str,
    pose: Array,
    inertial: Inertial | None,
    findings: Sequence[Diagnostic],
) -> str:
    """Pose and numbers of a link as a table."""
    asset = configuration.asset
    body = asset.body(name)
    degrees = np.degrees(rpy_from_quat(pose[3:]))
    rows = [
        ("position [m]", numbers(pose[:3])),
        ("roll pitch yaw [deg]", numbers(np.round(degrees, 3))),
        ("quaternion w x y z", numbers(pose[3:])),
    ]
    if inertial is not None:
        rows += [
            ("mass [kg]", f"{inertial.mass:.6g}"),
            ("centre of mass [m]", numbers(inertial.com)),
            ("inertia xx yy zz [kg m&#178;]", numbers(np.diag(inertial.inertia))),
        ]
    rows += _describe_joint(configuration, name)
    shapes = asset.shapes_of(name)
    if shapes:
        rows.append(
            (
                "shapes",
                f"{sum(one.visual for one in shapes)} seen, {sum(one.collision for one in shapes)} touched",
            )
        )
        looks = sorted({plain(short(one.material, 40)) for one in shapes if one.material})
        if looks:
            rows.append(("materials", ", ".join(looks[:8])))
    carried: list[Any] = [*asset.sensors, *asset.cameras, *asset.sites]
    mounted = [plain(one.name) for one in carried if one.body == name]
    if mounted:
        rows.append(("mounted on it", ", ".join(mounted[:12])))
    if body.path:
        rows.append(("prim", plain(body.path)))
    notes = "\n\n".join(map(describe_finding, findings[:10]))
    return f"**{plain(name)}**\n\n{table(rows)}\n\n{notes}"


def _describe_joint(configuration: Configuration, name: str) -> list[tuple[str, str]]:
    edge = configuration.tree.parents().get(name)
    if edge is None:
        return []
    joint = edge.joint
    rows = [("joint", f"{plain(joint.name)}, {joint.kind.value}, from {plain(edge.parent or 'world')}")]
    for dof in joint.dofs:
        unit = {Motion.HINGE: "rad", Motion.SLIDE: "m"}.get(dof.motion)
        if unit is None:
            continue
        at = configuration.get(dof.name if dof.name in configuration.dofs else joint.name)
        range_ = f", from {dof.lower:.4g} to {dof.upper:.4g}" if dof.is_limited else ", no limits"
        rows.append((f"{plain(dof.name or joint.name)} [{unit}]", f"{at:.4g}{range_}"))
    return rows


def describe_shape(shape: Shape) -> str:
    """What is known of a shape that stands in the world."""
    rows = [("geometry", plain(repr(shape.geometry))), ("position [m]", numbers(shape.pose.p))]
    if shape.material:
        rows.append(("material", plain(shape.material)))
    rows.append(("touched", "yes" if shape.collision else "no"))
    if shape.path:
        rows.append(("prim", plain(shape.path)))
    return f"**{plain(shape.name)}**, a part of the world\n\n{table(rows)}"
