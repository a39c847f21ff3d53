# SPDX-License-Identifier: Apache-2.0
"""Two assets on one page: side by side or one over the other, moved together, with what differs between them.

Both are in one scene, so that one camera looks at both.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simwright.compare.difference import Difference, DifferenceItem
from simwright.model.asset import Asset
from simwright.model.joint import Motion
from simwright.view.configuration import Configuration, choose_step, mark_ends
from simwright.view.drawing import draw_asset
from simwright.view.figure import LAYERS, AssetFigure, Picked, at_offsets
from simwright.view.panel import describe_link
from simwright.view.serving import PageServer
from simwright.view.stage import dress, light, save_picture
from simwright.view.words import plain, short

_COLORS = ((220, 50, 40), (40, 90, 220))
_BESIDE, _OVER = "side by side", "one over the other"
_ROWS = 40
_WIDE = 60
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


class ComparePage:
    """Two assets; ``address`` is what to open."""

    def __init__(
        self,
        assets: tuple[Asset, Asset],
        difference: Difference,
        *,
        coordinates: Mapping[str, float] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._lock = threading.RLock()
        self.difference = difference
        self.configurations = tuple(Configuration(asset) for asset in assets)
        for configuration in self.configurations:
            known = {name: value for name, value in (coordinates or {}).items() if configuration.has(name)}
            configuration.move(known)
        self._expect_known(coordinates or {})
        poses = [configuration.list_poses() for configuration in self.configurations]
        drawings = [
            draw_asset(asset, configuration.tree, rows, copies=2)
            for asset, configuration, rows in zip(assets, self.configurations, poses, strict=True)
        ]
        lower = np.minimum(drawings[0].lower, drawings[1].lower)
        upper = np.maximum(drawings[0].upper, drawings[1].upper)
        # to the left of the first as the first camera sees it, with room between them
        self._away = (
            np.array((-0.76, 0.64, 0.0))
            * 1.25
            * float(np.linalg.norm((upper - lower)[:2]) + 0.1 * max(upper - lower))
        )
        self._serving = PageServer(" and ".join(asset.name for asset in assets), host, port)
        self.server, self.address, self.port = self._serving.viser, self._serving.address, self._serving.port
        dress(self.server, np.minimum(lower, lower + self._away), np.maximum(upper, upper + self._away))
        light(self.server, drawings)
        self.figures = tuple(
            AssetFigure(
                self.server, drawing, rows, path=f"/{'ab'[number]}",
                roots=at_offsets((self._away if number else np.zeros(3))[None]),
                on_pick=functools.partial(self._click, number),
            )
            for number, (drawing, rows) in enumerate(zip(drawings, poses, strict=True))
        )  # fmt: skip
        self.items = list(list_items(difference))
        self._sliders: dict[str, Any] = {}
        self._rows: list[Any] = []
        self._add_controls()
        self._light_all()

    def _expect_known(self, coordinates: Mapping[str, float]) -> None:
        for name in coordinates:
            if not any(configuration.has(name) for configuration in self.configurations):
                self.configurations[0].find(name)  # raises with the names that there are

    def close(self) -> None:
        """Stop serving."""
        self._serving.close()

    # -- controls ------------------------------------------------------------------------------------------------

    def _add_controls(self) -> None:
        gui = self.server.gui
        names = [plain(_shorten(name)) for name in (self.difference.a, self.difference.b)]
        gui.set_panel_label("Comparison")
        gui.add_markdown(f"A (red): **{names[0]}**  \nB (blue): **{names[1]}**")
        place = gui.add_dropdown("Place", (_BESIDE, _OVER), initial_value=_BESIDE)
        place.on_update(lambda event: self.place(event.target.value == _OVER))
        self._shown = [gui.add_checkbox(f"Show {which}", True) for which in "AB"]
        for number, box in enumerate(self._shown):
            box.on_update(lambda _, number=number: self._show(number))
        told = "nothing differs" if self.difference.equal else f"{len(self.items)} differences"
        with gui.add_folder(f"Differences ({len(self.items)})"):
            gui.add_markdown(f"{told}; links they are about have boxes around them")
            sections = [section.name for section in self.difference.sections if not section.equal]
            self._section = gui.add_dropdown("Section", ("all", *sections), initial_value="all")
            self._section.on_update(lambda _: self._fill())
            self._list = gui.add_folder(None)
        self._fill()
        self._add_sliders()
        with gui.add_folder("Show"):
            layers = {name for figure in self.figures for name in figure.list_layers()}
            self._layers = {}
            for name in (name for name in LAYERS if name in layers):
                self._layers[name] = gui.add_checkbox(name, LAYERS[name])
                self._layers[name].on_update(lambda _: self._show_both())
        with gui.add_folder("Selected"):
            self._facts = gui.add_markdown("Click a link.")
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: save_picture(event.client))

    def _add_sliders(self) -> None:
        """One for each joint, by name, over the range of either."""
        gui = self.server.gui
        dofs: dict[str, list[Any]] = {}
        for configuration in self.configurations:
            for name, dof in configuration.dofs.items():
                dofs.setdefault(name, []).append(dof)
        if not dofs:
            return
        with gui.add_folder(f"Joints ({len(dofs)})", expand_by_default=len(dofs) <= 12):
            for name, found in dofs.items():
                lower, upper = min(one.range[0] for one in found), max(one.range[1] for one in found)
                unit = "rad" if found[0].dof.motion is Motion.HINGE else "m"
                step = choose_step(lower, upper)
                side = "" if len(found) == 2 else " (A)" if name in self.configurations[0].dofs else " (B)"
                now = next(one.get(name) for one in self.configurations if one.has(name))
                label, value = f"{short(name, 40)} [{unit}]{side}", float(np.clip(now, lower, upper))
                slider = gui.add_slider(
                    label, lower, max(upper, lower + step), step, value, marks=mark_ends(lower, upper)
                )
                slider.on_update(lambda event, name=name: self._drag(name, event))
                self._sliders[name] = slider

    def _drag(self, name: str, event: Any) -> None:
        if event.client is not None:
            self.move({name: float(event.target.value)})

    def move(self, values: Mapping[str, float]) -> None:
        """Move joints of those names in both [rad or m]."""
        with self._lock:
            for configuration, figure in zip(self.configurations, self.figures, strict=True):
                known = {name: value for name, value in values.items() if configuration.has(name)}
                configuration.move(known)
                figure.place(configuration.list_poses())
            for name, slider in self._sliders.items():
                value = next(one.get(name) for one in self.configurations if one.has(name))
                value = float(np.clip(value, slider.min, slider.max))
                if name not in values and abs(value - slider.value) > 1e-9:
                    slider.value = value

    def place(self, over: bool) -> None:
        """Put B over A or beside it."""
        with self._lock:
            self.figures[1].move_to(at_offsets((np.zeros(3) if over else self._away)[None]))

    def _show_both(self) -> None:
        self._show(0)
        self._show(1)

    def _show(self, number: int) -> None:
        for name, box in self._layers.items():
            self.figures[number].show(name, box.value and self._shown[number].value)

    # -- differences ---------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        for row in self._rows:
            row.remove()
        self._rows = []
        wanted = self._section.value
        chosen = [one for one in self.items if wanted in ("all", one[0])]
        gui = self.server.gui
        with self._list:
            for section, item in chosen[:_ROWS]:
                row = gui.add_button_group(section, (short(item.element, 30),), hint=_tell(item))
                row.on_click(lambda _, item=item: self.light(item))
                self._rows += [row, gui.add_markdown(plain(_tell(item)))]
            if len(chosen) > _ROWS:
                self._rows.append(
                    gui.add_markdown(f"{len(chosen) - _ROWS} more: `simwright diff` lists all of them")
                )

    def find_links(self, item: DifferenceItem) -> list[list[int]]:
        """Numbers of the links that a difference is about, in each asset."""
        names = [found.replace("\\'", "'") for found in _QUOTED.findall(item.element)] or [item.element]
        return [list(_find_rows(configuration.asset, names)) for configuration in self.configurations]

    def light(self, item: DifferenceItem) -> None:
        """Draw boxes around the links that a difference is about."""
        with self._lock:
            for figure, rows, color in zip(self.figures, self.find_links(item), _COLORS, strict=True):
                figure.mark(rows, color)

    def _light_all(self) -> None:
        both: list[set[int]] = [set(), set()]
        for _, item in self.items:
            for rows, found in zip(both, self.find_links(item), strict=True):
                rows.update(found)
        for figure, rows, color in zip(self.figures, both, _COLORS, strict=True):
            figure.mark(sorted(rows), color)

    def _click(self, number: int, picked: Picked) -> None:
        if picked.body < 0:
            return
        with self._lock:
            name = self.figures[number].drawing.names[picked.body]
            told = []
            for which, (configuration, figure, color) in enumerate(
                zip(self.configurations, self.figures, _COLORS, strict=True)
            ):
                names = configuration.asset.body_names
                rows = [names.index(name)] if name in names else []
                figure.mark(rows, color)
                if rows:
                    body = configuration.asset.body(name)
                    pose = figure.poses[0, rows[0]]
                    told.append(
                        f"{'AB'[which]}: " + describe_link(configuration, name, pose, body.inertial, ())
                    )
            self._facts.content = "\n\n".join(told)


def list_items(difference: Difference) -> Iterator[tuple[str, DifferenceItem]]:
    """Every difference with the name of its section."""
    for section in difference.sections:
        for item in section.items:
            yield section.name, item


def _shorten(file: str) -> str:
    """The end of a path, which tells files apart, cut between folders where it can be."""
    shown = short(file, 1000)
    if len(shown) <= 34:
        return shown
    end = shown[-33:]
    return f"\u2026{end[end.index('/') :] if '/' in end[:-1] else end}"


def _tell(item: DifferenceItem) -> str:
    if (item.a is None) != (item.b is None):
        side, value = ("B", item.b) if item.a is None else ("A", item.a)
        return f"{item.what}: only in {side}, {_spell(value)}"
    return f"{item.what}: {_spell(item.a)} in A, {_spell(item.b)} in B"


def _spell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return short(" ".join(f"{one:.4g}" for one in np.ravel(value).tolist()), _WIDE)
    return short(str(value), _WIDE)


def _find_rows(asset: Asset, names: Sequence[str]) -> Iterator[int]:
    """Links that these names are of, or that carry what has them."""
    rows = {body: row for row, body in enumerate(asset.body_names)}
    carried: dict[str, str] = {joint.name: joint.child for joint in asset.joints}
    mounted: list[Any] = [*asset.shapes, *asset.sites, *asset.sensors, *asset.cameras]
    for element in mounted:
        carried.setdefault(element.name, element.body)
    for name in names:
        body = name if name in rows else carried.get(name, "")
        if body in rows:
            yield rows[body]
