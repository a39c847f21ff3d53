# SPDX-License-Identifier: Apache-2.0
"""Visuals in ``instances.usda``: levels of detail, looks, instances of what is repeated (REP-0158 1.3.2, 3.5)."""

from __future__ import annotations

from collections import Counter

from simwright.core.colors import make_linear
from simwright.formats.usd.writer.desk import Desk
from simwright.formats.usd.writer.layout import VISUAL, VISUAL_DEFAULT, VISUAL_SET
from simwright.formats.usd.writer.lod import Tiers
from simwright.formats.usd.writer.meshes import FILE, MESH, Stored, choose_word, is_mesh, name_subsets
from simwright.formats.usd.writer.primitives import is_primitive, write_primitive
from simwright.formats.usd.writer.sheet import join
from simwright.model.asset import Shape, scaled

_REPEATED = 2


class Visuals:
    """What is seen, in levels of detail."""

    def __init__(self, desk: Desk, tiers: Tiers | None) -> None:
        self._desk = desk
        self._layout, self._sheet, self._library = desk.layout, desk.sheet, desk.library
        self._tiers = tiers
        self._double_sided = {m.name for m in desk.layout.asset.materials if m.double_sided}
        uses = Counter(self._key(s) for s in desk.layout.asset.shapes if s.visual and is_mesh(s.geometry))
        self._repeated = {key for key, count in uses.items() if count >= _REPEATED}

    def write(self, shape: Shape) -> bool:
        """A visual in every level of detail there is; False (reported) if it cannot be."""
        scope = self._layout.scope(shape.body, VISUAL)
        name = self._layout.visuals[shape.name].rpartition("/")[2]
        levels: dict[str, Stored | None]
        levels = {VISUAL_DEFAULT: None} if self._tiers is None else self._list_levels(shape)
        if is_mesh(shape.geometry) and None in levels.values():
            stored = self._store(shape)
            if stored is None:
                self._desk.refuse(shape, "it has no faces")
                return False
            levels = {level: found or stored for level, found in levels.items()}
        elif not is_mesh(shape.geometry) and not is_primitive(shape.geometry):
            self._desk.refuse(shape, "OpenUSD has no such primitive")
            return False
        for level, found in levels.items():
            self._sheet.select(scope, VISUAL_SET, VISUAL_DEFAULT)
            path = join(self._sheet.vary(scope, VISUAL_SET, level), name)
            if found is None:
                write_primitive(self._sheet, path, shape)
                self._paint(path, shape)
            else:
                self._write_mesh(path, shape, found)
            self._write_looks(path, shape)
        return True

    def _list_levels(self, shape: Shape) -> dict[str, Stored | None]:
        """Levels and their meshes; None is the mesh of the source, or a primitive."""
        assert self._tiers is not None
        if not is_mesh(shape.geometry):
            return dict.fromkeys(self._tiers.levels)
        return self._tiers.make(shape, self._library, double_sided=self._is_double_sided(shape))

    def _store(self, shape: Shape) -> Stored | None:
        return self._library.store_visual(shape, double_sided=self._is_double_sided(shape))

    def _is_double_sided(self, shape: Shape) -> bool:
        return shape.double_sided or shape.material in self._double_sided

    def _key(self, shape: Shape) -> tuple[bytes | int, tuple[float, ...]]:
        return self._library.identify(shape.geometry), tuple(scaled(shape).tolist())

    def _write_mesh(self, path: str, shape: Shape, stored: Stored) -> None:
        bound = {name: subset.material for name, subset in name_subsets(stored.data)}
        bound = {name: material for name, material in bound.items() if material in self._layout.materials}
        mesh = path
        if self._key(shape) in self._repeated:
            self._sheet.define(path).SetInfo("instanceable", True)
            self._sheet.load(path, FILE, stored.path)
            if bound or self._is_painted(shape):
                color = shape.color if self._is_painted(shape) else None
                prototype = self._desk.prototypes.claim(
                    choose_word(shape), (stored.path, color, *bound.items())
                )
                self._sheet.inherit(path, [prototype])
                mesh = f"{prototype}/{MESH}"
        else:
            self._sheet.define(path, "Mesh")
            self._sheet.load(path, FILE, f"{stored.path}/{MESH}")
        for name, material in bound.items():
            self._bind(f"{mesh}/{name}", material)
        self._paint(mesh, shape)
        self._sheet.place(path, shape.pose)

    def _is_painted(self, shape: Shape) -> bool:
        return shape.color is not None and shape.material not in self._layout.materials

    def _paint(self, path: str, shape: Shape) -> None:
        """A colour without a material, on the geometry itself."""
        if shape.color is not None and self._is_painted(shape):
            self._sheet.set(path, "primvars:displayColor", "color3f[]", [make_linear(shape.color[:3])])
            if shape.color[3] != 1.0:
                self._sheet.set(path, "primvars:displayOpacity", "float[]", [shape.color[3]])

    def _write_looks(self, path: str, shape: Shape) -> None:
        word = f"{shape.name}_visual" if shape.collision else shape.name
        self._sheet.name(path, word)
        if shape.purpose in ("render", "proxy"):
            self._sheet.set(path, "purpose", "token", shape.purpose, uniform=True)
        self._bind(path, shape.material)

    def _bind(self, path: str, material: str) -> None:
        if material in self._layout.materials:
            self._sheet.apply(path, "MaterialBindingAPI")
            self._sheet.relate(path, "material:binding", [self._layout.materials[material]])
