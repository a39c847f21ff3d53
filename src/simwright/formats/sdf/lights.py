# SPDX-License-Identifier: Apache-2.0
"""``<light>`` in worlds, models and links (SDFormat specification, light).

An SDFormat light shines along ``<direction>``; a light of the model along its local -Z, so the pose is
turned.  Cone angles of a spot light are full angles in SDFormat and half-angles in the model.
"""

from __future__ import annotations

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import IDENTITY, Pose, quat_between
from simwright.formats.sdf.context import LinkPlacement, SdfReadContext
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.sdf.poses import scope_of
from simwright.formats.sdf.tree import NamedElement
from simwright.formats.xml import Element
from simwright.model.asset import Light, LightKind
from simwright.model.joint import WORLD

UNKNOWN_LIGHT = declare(
    "sdf-unknown-light",
    Level.ERROR,
    "light {name!r} has the type {kind!r}",
    hint="write point, directional or spot; it is read as a point light",
    doc="A light whose type SDFormat does not have.",
)

_KINDS = {"point": LightKind.POINT, "directional": LightKind.DIRECTIONAL, "spot": LightKind.SPOT}
_CARRIED = {"pose", "cast_shadows", "intensity", "diffuse", "direction", "attenuation", "spot", "light_on"}
_KNOWN = {"specular", "visualize"}


def read_world_light(context: SdfReadContext, item: NamedElement) -> None:
    """A light that stands in the world or in a model's frame."""
    placer, document = item.placer, item.placer_document
    if placer is None or document is None:
        placer, document = item.element, item.document
    scope = scope_of(item.model)
    pose = context.graph.place(document, placer, scope, scope.model)
    link = context.graph.link_of(scope.model)
    model = context.graph.pose(scope.model)
    # A light of a model moves with its canonical link.
    if link is None or link.model.static:
        _read_light(context, item.document, item.element, WORLD, pose=model @ pose, name=item.name)
        return
    assert link.frame is not None
    local = ~context.graph.pose(link.frame) @ model @ pose
    _read_light(context, item.document, item.element, link.key, pose=local, name=item.name)


def read_link_light(
    context: SdfReadContext, document: SdfDocument, element: Element, placement: LinkPlacement
) -> None:
    """A light on a link."""
    pose = context.place(placement, document, element)
    name = element.get("name", "light")
    _read_light(context, document, element, placement.body, pose=pose, name=name, owner=placement.link.key)


def _read_light(
    context: SdfReadContext,
    document: SdfDocument,
    element: Element,
    body: str,
    *,
    pose: Pose,
    name: str,
    owner: str = "",
) -> None:
    where = document.where(element)
    kind = element.get("type", "point")
    if kind not in _KINDS:
        context.reporter.report(UNKNOWN_LIGHT, where, name=name, kind=kind)
    light = Light(
        context.claim("light", name, owner),
        _KINDS.get(kind, LightKind.POINT),
        body,
        pose @ _read_direction(document, element),
        intensity=document.finite(element, "intensity", default=1.0),
        cast_shadows=document.flag(element, "cast_shadows"),
        source=where,
    )
    light.color = _read_diffuse(document, element)
    light.range = document.amount(element, "attenuation", "range")
    spot = document.child(element, "spot")
    if light.kind is LightKind.SPOT:
        inner, outer = (document.finite(spot, tag, default=0.0) for tag in ("inner_angle", "outer_angle"))
        light.cone = (inner / 2.0, outer / 2.0)
    if not document.flag(element, "light_on", default=True):
        # The model has no switch; the intensity is kept so that it can be switched on again.
        context.asset.extras.keep("gazebo", light.name, "intensity", light.intensity, where)
        light.intensity = 0.0
    context.asset.lights.append(light)
    for child in (document.child(element, "attenuation"), spot):
        if child is not None:
            context.keep_rest(document, child, light.name, {"range", "inner_angle", "outer_angle"})
    context.keep_rest(document, element, light.name, _CARRIED, _KNOWN)


def _read_direction(document: SdfDocument, element: Element) -> Pose:
    direction = document.values(element, "direction", 3, (0.0, 0.0, -1.0))
    # A point light shines everywhere; turning it would only cost digits.
    if element.get("type") == "point" or float(np.linalg.norm(direction)) < 1e-12:
        return IDENTITY
    return Pose.of(q=quat_between((0.0, 0.0, -1.0), direction))


def _read_diffuse(document: SdfDocument, element: Element) -> tuple[float, float, float]:
    child = document.child(element, "diffuse")
    if child is None or not (child.text or "").strip():
        return (1.0, 1.0, 1.0)
    count = 3 if len(child.text.split()) == 3 else 4
    r, g, b = document.numbers(child, child.text, count, (1.0,) * count, "<diffuse>")[:3].tolist()
    return (r, g, b)
