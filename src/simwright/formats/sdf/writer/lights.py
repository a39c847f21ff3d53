# SPDX-License-Identifier: Apache-2.0
"""``<light>`` on links and in the world: directional, point and spot; along local -Z, as the model has them."""

from __future__ import annotations

from simwright.formats.parts.numbers import tidy
from simwright.formats.sdf.writer.draft import Draft, Seat, add, add_pose
from simwright.formats.sdf.writer.kept import restore
from simwright.formats.xml import Element
from simwright.model.asset import Light, LightKind
from simwright.model.joint import WORLD

_KINDS = {LightKind.DIRECTIONAL: "directional", LightKind.POINT: "point", LightKind.SPOT: "spot"}


def write_lights(draft: Draft) -> None:
    """Every light of a kind that SDFormat has."""
    homeless: list[Light] = []
    for light in draft.asset.lights:
        if light.kind not in _KINDS:
            continue
        if light.body != WORLD and light.body in draft.seats:
            _write_on_link(draft, draft.seats[light.body], light)
        elif draft.top.is_world:
            name = draft.claim(draft.top.names, "light", light.name)
            _write(draft, add(draft.top.node, "light", name=name), light)
        else:
            homeless.append(light)
    draft.lose("light(s) of the world", homeless, "write a world: --world", moves=False)


def _write_on_link(draft: Draft, seat: Seat, light: Light) -> None:
    name = draft.claim(seat.names, "light", light.name)
    node = add(seat.link, "light", name=name)
    _write(draft, node, light, seat)


def _write(draft: Draft, node: Element, light: Light, seat: Seat | None = None) -> None:
    node.set("type", _KINDS[light.kind])
    add_pose(node, light.pose if seat is None else seat.offset @ light.pose)
    add(node, "cast_shadows", bool(light.cast_shadows))
    add(node, "intensity", float(light.intensity))
    add(node, "diffuse", tidy((*light.color, 1.0)))
    if light.range is not None:
        add(add(node, "attenuation"), "range", float(light.range))
    if light.kind is not LightKind.POINT:
        add(node, "direction", [0.0, 0.0, -1.0])
    if light.kind is LightKind.SPOT:
        inner, outer = light.cone or (0.0, 0.0)
        spot = add(node, "spot")
        add(spot, "inner_angle", inner * 2.0)
        add(spot, "outer_angle", outer * 2.0)
        add(spot, "falloff", 0.0)
    restore(draft, node, "light", light.name, light.path)
