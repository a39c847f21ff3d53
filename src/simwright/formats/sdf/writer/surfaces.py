# SPDX-License-Identifier: Apache-2.0
"""``<surface>`` of collisions: friction, bounce, contact stiffness and bitmasks."""

from __future__ import annotations

import math

from simwright.formats.sdf.surfaces import PATCH_TORQUE
from simwright.formats.sdf.writer.draft import Draft, add
from simwright.formats.sdf.writer.filters import Bits
from simwright.formats.sdf.writer.messages import FRICTION_APPROXIMATED
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.material import PhysicsMaterial

_HUGE = 1e16
"""What stands for friction and stiffness without an end."""


class SurfaceWriter:
    """Writes surfaces; keeps what has to be said about them."""

    def __init__(self, draft: Draft, bits: dict[str, Bits]) -> None:
        self._draft = draft
        self._bits = bits
        self._materials = {material.name: material for material in draft.asset.physics_materials}

    def write(self, collision: Element, shape: Shape) -> None:
        """``<surface>``, if there is anything to say."""
        surface = add(collision, "surface")
        material = self._materials.get(shape.physics_material)
        if material is not None:
            _write_material(surface, material)
        self._write_bits(surface, shape)
        if not len(surface):
            collision.remove(surface)

    def _write_bits(self, surface: Element, shape: Shape) -> None:
        category, collide = self._bits.get(shape.name, (None, None))
        for tag, bits in (("collide_bitmask", collide), ("category_bitmask", category)):
            if bits is not None:
                add(_enter(surface, "contact"), tag, bits)

    def report(self) -> None:
        """What contact materials say and SDFormat has no word for."""
        used = {shape.physics_material for shape in self._draft.asset.shapes if shape.collision}
        materials = [m for m in self._draft.asset.physics_materials if m.name in used]
        split = [m for m in materials if m.static_friction is not None and _differ(m)]
        if split:
            self._draft.report(FRICTION_APPROXIMATED, split)


def _differ(material: PhysicsMaterial) -> bool:
    return material.dynamic_friction is not None and material.static_friction != material.dynamic_friction


def _write_material(surface: Element, material: PhysicsMaterial) -> None:
    friction = (
        material.dynamic_friction if material.dynamic_friction is not None else material.static_friction
    )
    if friction is not None:
        ode = _enter(surface, "friction", "ode")
        add(ode, "mu", _bound(friction))
        add(ode, "mu2", _bound(friction))
    if material.rolling_friction is not None:
        bullet = _enter(surface, "friction", "bullet")
        if friction is not None:
            add(bullet, "friction", _bound(friction))
            add(bullet, "friction2", _bound(friction))
        add(bullet, "rolling_friction", _bound(material.rolling_friction))
    if material.torsional_friction is not None:
        torsional = _enter(surface, "friction", "torsional")
        add(torsional, "coefficient", 1.0)
        add(torsional, "use_patch_radius", True)
        add(torsional, "patch_radius", _bound(material.torsional_friction / PATCH_TORQUE))
    if material.restitution is not None:
        add(
            _enter(surface, "bounce"),
            "restitution_coefficient",
            min(max(float(material.restitution), 0.0), 1.0),
        )
    for tag, value in (("kp", material.stiffness), ("kd", material.damping)):
        if value is not None:
            add(_enter(surface, "contact", "ode"), tag, _bound(value))


def _bound(value: float) -> float:
    return _HUGE if math.isinf(value) else float(value)


def _enter(node: Element, *tags: str) -> Element:
    """The descendant along a path of tags, made where it is not there."""
    for tag in tags:
        found = node.find(tag)
        node = add(node, tag) if found is None else found
    return node
