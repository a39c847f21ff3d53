# SPDX-License-Identifier: Apache-2.0
"""Colliders in ``instances.usda``: hulls by default, triangles and convex parts as choices (REP-0158 1.3.1, 3.5).

Colliders that are the same share a prototype, which says what is the same of them; their contact material is bound to
the instance, so that it may differ.
"""

from __future__ import annotations

from collections import Counter

from simwright.formats.usd.writer.contact import Touchable, find_touchable
from simwright.formats.usd.writer.desk import Desk
from simwright.formats.usd.writer.layout import ADVANCED, BASELINE, COLLISION_SET, DECOMPOSED, Form
from simwright.formats.usd.writer.meshes import FILE, MESH, Stored, choose_word, is_mesh
from simwright.formats.usd.writer.messages import COLLIDER_OPEN
from simwright.formats.usd.writer.parts import Decomposer
from simwright.formats.usd.writer.primitives import write_primitive
from simwright.formats.usd.writer.sheet import join
from simwright.model.asset import Shape

_REPEATED = 3


class Touchables:
    """What is touched: not drawn, and said to be so; hulls by default, the triangles as a choice."""

    def __init__(self, desk: Desk, decomposer: Decomposer | None) -> None:
        self._desk = desk
        self._layout, self._sheet, self._library = desk.layout, desk.sheet, desk.library
        self._decomposer = decomposer
        self._filtered = {n for f in desk.layout.asset.contact_filters if f.of != "body" for n in (f.a, f.b)}
        self._extras: dict[str, list[tuple[str, str, str]]] = {}
        for space, element, attribute, extra in desk.layout.asset.extras:
            self._extras.setdefault(element, []).append((space, attribute, repr(extra.value)))

    def write(self) -> None:
        """All colliders; those that cannot be written are reported and taken out of the layout."""
        shapes = [shape for shape in self._layout.asset.shapes if shape.name in self._layout.colliders]
        found = {shape.name: find_touchable(shape, self._library) for shape in shapes}
        uses = Counter(t.coarse.path for t in found.values() if t is not None and t.coarse is not None)
        for shape in shapes:
            touchable = found[shape.name]
            if touchable is None:
                why = "it has no faces" if is_mesh(shape.geometry) else "OpenUSD has no such primitive"
                self._desk.refuse(shape, why)
                del self._layout.colliders[shape.name], self._layout.touched[shape.name]
            elif touchable.coarse is None:
                path = self._layout.touched[shape.name]
                write_primitive(self._sheet, path, shape)
                self._sheet.name(path, shape.name)
                self._sheet.set(path, "purpose", "token", "guide", uniform=True)
            else:
                self._write_mesh(shape, touchable, uses[touchable.coarse.path])
        self._report_open(shapes, found)

    def _write_mesh(self, shape: Shape, touchable: Touchable, count: int) -> None:
        assert touchable.coarse is not None
        layout, path = self._layout, self._layout.touched[shape.name]
        form = layout.forms[shape.name] = Form(fine=touchable.fine is not None)
        parts = [] if self._decomposer is None else self._decomposer.make(shape, touchable, self._library)
        is_shared = (count >= _REPEATED and shape.name not in self._filtered) or bool(parts)
        spec = self._sheet.define(path, "Xform" if is_shared else "Mesh")
        self._sheet.name(path, shape.name)
        self._sheet.place(path, shape.pose)
        self._sheet.set(path, "purpose", "token", "guide", uniform=True)
        classes: list[str] = []
        if is_shared:
            spec.SetInfo("instanceable", True)
            classes = [self._claim(shape, touchable, form)]
            layout.colliders[shape.name] = f"{classes[0]}/{MESH}"
        scope, name = path.rsplit("/", 1)
        if touchable.fine is None and not parts:
            self._compose(path, touchable.coarse, classes)
        else:
            self._sheet.select(scope, COLLISION_SET, BASELINE)
            self._compose(self._enter(scope, BASELINE, name), touchable.coarse, classes)
            finer = [form.finer, *classes] if form.finer else classes
            self._compose(self._enter(scope, ADVANCED, name), touchable.fine or touchable.coarse, finer)
            self._write_parts(shape, scope, name, parts, classes)
        if touchable.radii is not None:
            self._sheet.note(layout.colliders[shape.name], radii=touchable.radii)

    def _enter(self, scope: str, variant: str, name: str) -> str:
        return join(self._sheet.vary(scope, COLLISION_SET, variant), name)

    def _compose(self, path: str, stored: Stored, classes: list[str]) -> None:
        """A mesh prim, or an instance of a prototype."""
        self._sheet.load(path, FILE, stored.path if classes else f"{stored.path}/{MESH}")
        if classes:
            self._sheet.inherit(path, classes)

    def _write_parts(
        self, shape: Shape, scope: str, name: str, parts: list[Stored], classes: list[str]
    ) -> None:
        """Convex parts beside the collider, which is switched off there."""
        if self._decomposer is None:
            return
        if not parts:  # what is convex stays as it is
            stored = self._library.store_hull(shape)
            assert stored is not None
            self._compose(self._enter(scope, DECOMPOSED, name), stored, classes)
            return
        self._sheet.over(self._enter(scope, DECOMPOSED, name)).SetInfo("active", False)
        for stored in parts:
            home, _, part = self._layout.names.claim(scope, f"{name}_part").rpartition("/")
            path = self._enter(home, DECOMPOSED, part)
            self._sheet.define(path).SetInfo("instanceable", True)
            self._compose(path, stored, classes)
            self._sheet.place(path, shape.pose)
            self._sheet.set(path, "purpose", "token", "guide", uniform=True)
            self._layout.forms[shape.name].parts.append(path)

    def _claim(self, shape: Shape, touchable: Touchable, form: Form) -> str:
        """The prototype of colliders of which the same is said."""
        assert touchable.coarse is not None
        said = (
            shape.enabled, shape.mass, shape.density, shape.margin, shape.gap, shape.category_bits,
            shape.collide_bits, None if shape.approximation is None else shape.approximation.token,
            repr(sorted(shape.settings.items())), *self._list_extras(shape),
        )  # fmt: skip
        fine = touchable.fine.path if touchable.fine else ""
        prototype = self._desk.prototypes.claim(
            f"{choose_word(shape)}_collider", (touchable.coarse.path, fine, *said)
        )
        if touchable.fine is not None:
            form.finer = self._desk.prototypes.claim(
                f"{prototype.rpartition('/')[2]}_{ADVANCED}", (prototype,)
            )
        return prototype

    def _list_extras(self, shape: Shape) -> list[tuple[str, str, str]]:
        """What solvers are told about a shape; each format has its own way to name it."""
        keys = dict.fromkeys((shape.path, shape.name, f"geom/{shape.name}"))
        return [extra for key in keys if key for extra in self._extras.get(key, ())]

    def _report_open(self, shapes: list[Shape], found: dict[str, Touchable | None]) -> None:
        bare = [s for s in shapes if (t := found[s.name]) is not None and t.is_open]
        if bare:
            self._desk.reporter.report(COLLIDER_OPEN, bare[0].source, count=len(bare), first=bare[0].name)
