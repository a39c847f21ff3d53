# SPDX-License-Identifier: Apache-2.0
"""The page of an asset in the browser: see it, move its joints, ask what is there, measure it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, Pose, quat_conjugate, quat_rotate
from simwright.formats.gltf.meshes import make_mesh
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.joint import Motion
from simwright.model.mass import body_inertials
from simwright.view.configuration import Configuration, MovableDof, choose_step, mark_ends
from simwright.view.drawing import draw_asset
from simwright.view.figure import LAYERS, AssetFigure, Picked
from simwright.view.overlay import ConfigurationContacts, ContactArrows
from simwright.view.panel import FindingsPanel, TreePanel, describe_link, describe_shape, find_bodies
from simwright.view.serving import PageServer
from simwright.view.stage import dress, light, save_picture
from simwright.view.words import list_choices, numbers, plain, short

_CHUNK = 200_000
_FLAT = 1e-14


def find_hit(shapes: Sequence[Shape], body: Pose, origin: Array, direction: Array) -> Array | None:
    """The first point [m] of shapes on a body at a pose that a line of sight meets; None where it misses them."""
    nearest = np.inf
    for shape in shapes:
        data = make_mesh(shape.geometry)
        if data is None or not len(data.indices):
            continue
        place = body @ shape.pose
        back = quat_conjugate(place.q)
        # in the frame of the shape: its points are many, the line of sight is one
        start = np.asarray(quat_rotate(back, origin - place.p)) / scaled(shape)
        along = np.asarray(quat_rotate(back, direction)) / scaled(shape)
        triangles = np.asarray(data.triangles())
        for first in range(0, len(triangles), _CHUNK):
            corners = np.asarray(data.vertices, dtype=np.float64)[triangles[first : first + _CHUNK]]
            nearest = min(nearest, meet_triangles(corners, start, along))
    return origin + nearest * direction if np.isfinite(nearest) else None


def meet_triangles(corners: Array, origin: Array, direction: Array) -> float:
    """How many times ``direction`` it is to the first of triangles (n x 3 x 3), from either side; infinite for none."""
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(direction, two)
    volume = np.einsum("ij,ij->i", one, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = origin - corners[:, 0]
        u = np.einsum("ij,ij->i", away, across) / volume
        turned = np.cross(away, one)
        v = turned @ direction / volume
        far = np.einsum("ij,ij->i", turned, two) / volume
        met = (np.abs(volume) > _FLAT) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (far > 0.0)
    return float(np.min(far[met], initial=np.inf))


_OPEN = 1e-3
"""A gap of a loop that is told [m or rad]."""
_NOTHING = "Click a link, or choose one in the tree."
_MOST_SLIDERS = 200


@dataclass(slots=True)
class VariantChoices:
    """Variant sets of an asset: their variants, which of them is chosen, and how the asset is read with others."""

    sets: dict[str, tuple[list[str], str]] = field(default_factory=dict)
    read: Callable[[dict[str, str]], tuple[Asset, list[Diagnostic]]] | None = None


class ViewPage:
    """The page of one asset; ``address`` is what to open."""

    def __init__(
        self,
        asset: Asset,
        findings: Sequence[Diagnostic] = (),
        *,
        coordinates: Mapping[str, float] | None = None,
        variants: VariantChoices | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._lock = threading.RLock()
        self._is_closed = False
        self._variants = variants or VariantChoices()
        # what is wrong with names or numbers is told before anything is served
        configuration = Configuration(asset)
        configuration.move(coordinates or {})
        self._serving = PageServer(asset.name, host, port)
        self.server, self.address, self.port = self._serving.viser, self._serving.address, self._serving.port
        self._fill(configuration, findings)

    def close(self) -> None:
        """Stop serving."""
        with self._lock:
            self._is_closed = True
            self._serving.close()
            self._contacts.close()

    def _fill(
        self, configuration: Configuration, findings: Sequence[Diagnostic], *, again: bool = False
    ) -> None:
        """Draw an asset and its controls on a page that is empty, ``again`` where another was on it."""
        self.configuration, self._findings = configuration, list(findings)
        asset = configuration.asset
        self._inertials = body_inertials(asset)
        self._rows = {name: row for row, name in enumerate(asset.body_names)}
        poses = configuration.list_poses()
        drawing = draw_asset(asset, configuration.tree, poses)
        self._picked = ""
        self._shape: Shape | None = None
        self._sliders: dict[str, Any] = {}
        self._points: list[Array] = []
        self._measured: list[Any] = []
        self._contacts = ConfigurationContacts(asset)
        self._arrows = ContactArrows(self.server, 0.05 * drawing.size)
        self._shows_contacts = False
        dress(self.server, drawing.lower, drawing.upper)
        light(self.server, [drawing], again=again)
        self.figure = AssetFigure(self.server, drawing, poses, on_pick=self._click)
        self._add_controls()

    # -- controls ------------------------------------------------------------------------------------------------

    def _add_controls(self) -> None:
        gui, asset = self.server.gui, self.configuration.asset
        dofs = self.configuration.dofs
        self._gap: Any = None
        gui.set_panel_label(short(asset.name, 40))
        joints = f"{len(asset.joints)} joints ({len(dofs)} with a slider), " if asset.joints else ""
        mass = sum(each.mass for each in self._inertials.values())
        gui.add_markdown(f"**{plain(asset.name)}**  \n{len(asset.bodies)} links, {joints}{mass:.4g} kg")
        self._offer_detail()
        self._add_variants()
        if dofs:
            with gui.add_folder(f"Joints ({len(dofs)})", expand_by_default=len(dofs) <= 12):
                self._add_sliders(dofs)
                self._gap = gui.add_markdown("")
                reset = gui.add_button("Reset joints")
                reset.on_click(lambda _: self._reset())
        with gui.add_folder("Show", expand_by_default=True):
            self._add_toggles()
        with gui.add_folder("Selected"):
            self._facts = gui.add_markdown(_NOTHING)
        self._tree = TreePanel(gui, self.configuration.tree, self.pick)
        self._list = FindingsPanel(gui, self.pick)
        self.show_findings(self._findings)
        with gui.add_folder("Tools", expand_by_default=True):
            self._measures = gui.add_checkbox("Measure", False, hint="Click two points")
            self._measures.on_update(lambda _: self._clear_measure())
            self._distance = gui.add_markdown("")
            picture = gui.add_button("Save a picture")
            picture.on_click(lambda event: save_picture(event.client))

    def _offer_detail(self) -> None:
        """Say where not all triangles are drawn, and let all of them be drawn."""
        gui, drawing = self.server.gui, self.figure.drawing
        if drawing.drawn >= drawing.triangles:
            return
        told = gui.add_markdown(
            f"Drawn with {drawing.drawn / 1e6:.2g} of {drawing.triangles / 1e6:.2g} million triangles, so that the "
            "page stays quick. What you measure is exact."
        )
        every = gui.add_button("Draw every triangle")

        def draw(_: Any) -> None:
            with self._lock:
                told.remove()
                every.remove()
                self._draw_every_triangle()

        every.on_click(draw)

    def _draw_every_triangle(self) -> None:
        """Draw the asset again where it is, whatever that costs the browser."""
        poses, before = self.configuration.list_poses(), self.figure
        drawing = draw_asset(self.configuration.asset, self.configuration.tree, poses, most=sys.maxsize)
        before.remove()
        self.figure = AssetFigure(self.server, drawing, poses, on_pick=self._click)
        for layer, shown in before.shown.items():
            if shown != LAYERS[layer]:
                self.figure.show(layer, shown)
        if self._picked:
            self.pick(self._picked)

    def _add_toggles(self) -> None:
        gui = self.server.gui
        for name in self.figure.list_layers():
            box = gui.add_checkbox(name, LAYERS[name])
            box.on_update(lambda event, name=name: self.figure.show(name, event.target.value))
        if any(shape.collision for shape in self.configuration.asset.shapes):
            box = gui.add_checkbox("Contacts", False, hint="What touches where the joints are now")
            box.on_update(lambda event: self.show_contacts(event.target.value))
            self._contact_note = gui.add_markdown("")
        self._marker = gui.add_checkbox("Findings", False, hint="Links with findings", visible=False)
        self._marker.on_update(lambda event: self._mark(event.target.value))

    def _add_sliders(self, dofs: Mapping[str, MovableDof]) -> None:
        gui = self.server.gui
        for name, dof in list(dofs.items())[:_MOST_SLIDERS]:
            lower, upper = dof.range
            marks = mark_ends(lower, upper)
            value, start = self.configuration.get(name), float(dof.joint.initial()[dof.row])
            # a file may put a joint outside of its limits; the slider says where it is, as the scene shows it
            lower, upper = min(lower, value, start), max(upper, value, start)
            unit = "rad" if dof.dof.motion is Motion.HINGE else "m"
            step = choose_step(lower, upper)
            follows = name in self.configuration.followers
            slider = gui.add_slider(
                f"{short(name, 40)} [{unit}]", lower, max(upper, lower + step), step, value,
                marks=marks,
                hint="follows another joint" if follows else f"{marks[0][1]} to {marks[1][1]} {unit}",
            )  # fmt: skip
            slider.on_update(lambda event, name=name: self._drag(name, event))
            self._sliders[name] = slider

    def _add_variants(self) -> None:
        if not self._variants.sets or self._variants.read is None:
            return
        with self.server.gui.add_folder("Variants"):
            for name, (choices, chosen) in self._variants.sets.items():
                shown = list_choices(choices)
                box = self.server.gui.add_dropdown(
                    short(name, 40),
                    tuple(shown),
                    initial_value=next(
                        (label for label, one in shown.items() if one == chosen), next(iter(shown))
                    ),
                )
                box.on_update(
                    lambda event, name=name, shown=shown: self._choose(name, shown[event.target.value])
                )

    def _choose(self, name: str, variant: str) -> None:
        """Read the asset again with another variant, and show that in place of it."""
        with self._lock:
            sets = self._variants.sets
            chosen = {key: now for key, (_, now) in sets.items() if now} | {name: variant}
            assert self._variants.read is not None
            try:
                asset, findings = self._variants.read(chosen)
                configuration = Configuration(asset)
            except SimwrightError as error:
                self.server.gui.add_markdown(plain(str(error)))
                return
            kept = {
                key: self.configuration.get(key)
                for key in self.configuration.dofs
                if key in configuration.dofs
            }
            configuration.move(kept)
            sets[name] = (sets[name][0], variant)
            self._contacts.close()
            self.server.scene.reset()
            self.server.gui.reset()
            self.server.scene.set_up_direction("+z")
            self._fill(configuration, findings, again=True)

    # -- joints --------------------------------------------------------------------------------------------------

    def _drag(self, name: str, event: Any) -> None:
        if event.client is not None:  # else it is our own update, not a person's
            with self._lock:
                self.configuration.move({name: float(event.target.value)})
                # a slider that somebody holds is not pulled back to where it was when this was sent
                self._place({name})

    def move(self, values: Mapping[str, float]) -> None:
        """Move joints by name [rad or m], and what is coupled to them."""
        with self._lock:
            self.configuration.move(values)
            self._place(set())

    def _reset(self) -> None:
        with self._lock:
            self.configuration.reset()
            self._place(set())

    def _place(self, dragged: set[str]) -> None:
        """Put all bodies where the configuration has them, and show where that is."""
        self.figure.place(self.configuration.list_poses())
        for name, slider in self._sliders.items():
            value = float(np.clip(self.configuration.get(name), slider.min, slider.max))
            if name not in dragged and abs(value - slider.value) > 1e-9:
                slider.value = value
        gap = self.configuration.gap
        if self._gap is not None:
            # joints of a loop that is dragged too far stop at what they can reach
            self._gap.content = f"A loop is open by {gap:.3g} (m or rad)." if gap > _OPEN else ""
        if self._picked:
            self._describe()
        if self._shows_contacts:
            self.show_contacts(True)

    def show_contacts(self, shown: bool) -> None:
        """Show what touches in this configuration, or hide it."""
        with self._lock:
            self._shows_contacts = shown
            if not shown:
                self._arrows.hide()
                self._contact_note.content = ""
                return
            found = self._contacts.find(self.configuration)
            self._arrows.show(found)
            pairs = sorted({" and ".join(sorted((one.a or "world", one.b or "world"))) for one in found})
            told = "; ".join(plain(short(pair)) for pair in pairs[:8]) or "nothing touches"
            self._contact_note.content = plain(self._contacts.problem) or told

    # -- findings ------------------------------------------------------------------------------------------------

    def show_findings(self, findings: Sequence[Diagnostic], note: str = "") -> None:
        """List findings, and let those that are about a link be shown there."""
        with self._lock:
            if self._is_closed:  # the check of a large asset may end later
                return
            self._findings = list(findings)
            self._about = find_bodies(self.configuration.asset, self._findings)
            self._list.show(self._findings, self._about, note)
            self._marker.visible = bool(self._about)

    def _mark(self, shown: bool) -> None:
        """Draw boxes around the links that findings are about."""
        rows = sorted({self._rows[name] for name in self._about.values() if name in self._rows})
        self.figure.mark(rows if shown else [], (220, 50, 40))

    # -- selecting -----------------------------------------------------------------------------------------------

    def _click(self, picked: Picked) -> None:
        if self._measures.value:
            self._add_point(picked)
        elif picked.body >= 0:
            self.pick(self.figure.drawing.names[picked.body])
        else:
            self._pick_shape(picked)

    def pick(self, name: str) -> None:
        """Select a link, in the scene and in the tree; none for the world."""
        with self._lock:
            self._picked, self._shape = name, None
            self._tree.pick(name)
            self.figure.mark([self._rows[name]] if name else [])
            if name:
                self._describe()
            else:
                self._facts.content = _NOTHING

    def _pick_shape(self, picked: Picked) -> None:
        """Something that stands in the world: which of its shapes was hit is worked out from the line of sight."""
        with self._lock:
            self.pick("")
            self._shape = _find_first(picked.shapes, picked)
            if self._shape is not None:
                self._facts.content = describe_shape(self._shape)

    def _describe(self) -> None:
        name = self._picked
        about = [self._findings[number] for number, body in self._about.items() if body == name]
        pose = self.figure.poses[0, self._rows[name]]
        inertial = self._inertials.get(name)
        self._facts.content = describe_link(self.configuration, name, pose, inertial, about)

    # -- measuring -----------------------------------------------------------------------------------------------

    def _add_point(self, picked: Picked) -> None:
        pose = self.figure.poses[0, picked.body] if picked.body >= 0 else np.array((0, 0, 0, 1.0, 0, 0, 0))
        point = find_hit(picked.shapes, Pose.of(pose[:3], pose[3:]), picked.origin, picked.direction)
        if point is None:
            return
        with self._lock:
            if len(self._points) >= 2:
                self._clear_measure()
            self._points.append(point)
            scene, size = self.server.scene, 0.008 * self.figure.drawing.size
            number = len(self._points)
            self._measured.append(
                scene.add_icosphere(
                    f"/measure/{number}", radius=size, color=(220, 40, 120), position=tuple(point)
                )
            )
            self._distance.content = f"first point: {numbers(point)} m"
            if number == 2:
                self._show_distance()

    def _show_distance(self) -> None:
        first, second = self._points
        scene, away = self.server.scene, second - first
        told = f"{float(np.linalg.norm(away)):.4g} m"
        line = np.array([[first, second]], dtype=np.float32)
        self._measured += [
            scene.add_line_segments(
                "/measure/line", line, (220, 40, 120), thickness=3.0, thickness_units="screen"
            ),
            scene.add_label("/measure/label", told, position=tuple((first + second) / 2)),
        ]
        self._distance.content = f"**{told}** along x, y, z: {numbers(away)} m"

    def _clear_measure(self) -> None:
        for node in self._measured:
            node.remove()
        self._measured, self._points = [], []
        self._distance.content = "Click two points." if self._measures.value else ""


def _find_first(shapes: Sequence[Shape], picked: Picked) -> Shape | None:
    """The shape that a line of sight meets first."""
    best: tuple[float, Shape | None] = (np.inf, shapes[0] if len(shapes) == 1 else None)
    for shape in shapes if len(shapes) > 1 else ():
        hit = find_hit([shape], Pose.of(), picked.origin, picked.direction)
        if hit is not None and np.linalg.norm(hit - picked.origin) < best[0]:
            best = float(np.linalg.norm(hit - picked.origin)), shape
    return best[1]
