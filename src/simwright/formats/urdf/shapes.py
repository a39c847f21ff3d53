# SPDX-License-Identifier: Apache-2.0
"""``<visual>`` and ``<collision>``: shapes on a link.

URDF geometry is box, cylinder, sphere and mesh.  Common dialects are read too: capsule, ellipsoid, PyBullet's plane,
Drake's capsule and ellipsoid.  A mesh's ``scale`` goes to the shape (it may mirror); the mesh itself stays unread until
somebody looks at it.
"""

from __future__ import annotations

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import IDENTITY, Array, Pose, quat_between
from simwright.formats.urdf.document import Document
from simwright.formats.urdf.materials import MaterialTable
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere

BAD_SIZE = declare(
    "urdf-bad-size",
    Level.ERROR,
    "the {kind} of link {link!r} has size {size}",
    hint="sizes are positive; the shape is left out",
    doc="A primitive shape has a size that is missing, zero or negative.",
)
NO_GEOMETRY = declare(
    "urdf-no-geometry",
    Level.ERROR,
    "a <{tag}> of link {link!r} has no geometry",
    hint="give it a box, cylinder, sphere or mesh; the shape is left out",
    doc="A visual or collision without a geometry that Simwright knows.",
)
BAD_SCALE = declare(
    "urdf-bad-scale",
    Level.ERROR,
    "the mesh of link {link!r} has scale {scale}",
    hint="no factor may be zero; the shape is left out",
    doc="A mesh is scaled by zero.",
)

_DRAKE = "{http://drake.mit.edu}"
_GEOMETRY_TAGS = {
    "box", "cylinder", "sphere", "capsule", "mesh", "plane", "ellipsoid", f"{_DRAKE}capsule", f"{_DRAKE}ellipsoid",
}  # fmt: skip
_KEYS = {
    "box": ("size",),
    "sphere": ("radius",),
    "ellipsoid": ("radii",),
    f"{_DRAKE}ellipsoid": ("a", "b", "c"),
}


def read_shapes(
    document: Document, link: Element, name: str, materials: MaterialTable, surface: str = ""
) -> None:
    """Visuals, then collisions of a link; ``surface`` is the physics material of its collisions."""
    for tag in ("visual", "collision"):
        for element in document.children(link, tag):
            shape = _read_shape(document, element, name)
            if shape is None:
                continue
            if tag == "visual":
                document.unknown(element, {"origin", "geometry", "material"})
                shape.material, shape.color = materials.of_visual(element, name)
            else:
                document.unknown(element, {"origin", "geometry"})
                shape.visual, shape.collision = False, True
                shape.physics_material = surface
            document.asset.shapes.append(shape)


def _read_shape(document: Document, element: Element, link: str) -> Shape | None:
    holder = element.find("geometry")
    known = [] if holder is None else [c for c in document.children(holder) if c.tag in _GEOMETRY_TAGS]
    if not known:
        document.reporter.report(NO_GEOMETRY, document.where(element), tag=element.tag, link=link)
        return None
    geometry_element = known[0]
    document.unknown(holder, _GEOMETRY_TAGS)
    geometry = _read_geometry(document, geometry_element, link)
    if geometry is None:
        return None
    scale = None
    if isinstance(geometry, Mesh):
        scale = _read_scale(document, geometry_element)
        if scale is not None and not np.all(scale):
            document.reporter.report(
                BAD_SCALE, document.where(geometry_element), link=link, scale=geometry_element.get("scale")
            )
            return None
    name = document.shape_names.claim(str(element.get("name") or "").strip() or f"{link}_{element.tag}")
    return Shape(
        name,
        geometry,
        body=link,
        pose=document.origin(element) @ _turn(document, geometry_element),
        scale=scale,
        path=f"{link}/{element.tag}",
        source=document.where(element),
    )


def _read_geometry(document: Document, element: Element, link: str) -> Geometry | None:
    if element.tag == "mesh":
        uri = document.required(element, "filename", "the shape is left out")
        return document.mesh(element, uri, link) if uri else None
    if element.tag == "plane":
        return Plane()
    keys = _KEYS.get(element.tag, ("radius", "length"))
    width = 3 if element.tag in ("box", "ellipsoid") else 1
    values = [document.vector(element, key, width, (0.0,) * width) for key in keys]
    sizes = np.concatenate(values)
    if np.any(sizes <= 0):
        size = " ".join(f"{v:g}" for v in sizes)
        document.reporter.report(BAD_SIZE, document.where(element), kind=element.tag, link=link, size=size)
        return None
    match element.tag:
        case "box":
            return Box(sizes)
        case "sphere":
            return Sphere(float(sizes[0]))
        case "cylinder":
            return Cylinder(float(sizes[0]), float(sizes[1]))
        case tag if tag.endswith("ellipsoid"):
            return Ellipsoid(sizes)
        case _:
            return Capsule(float(sizes[0]), float(sizes[1]))


def _turn(document: Document, element: Element) -> Pose:
    """A plane faces its ``normal``; everything else lies as it is."""
    if element.tag != "plane" or not element.get("normal"):
        return IDENTITY
    normal = document.vector(element, "normal", 3, (0.0, 0.0, 1.0))
    if not np.any(normal):
        return IDENTITY
    return Pose.of(q=quat_between((0.0, 0.0, 1.0), normal))


def _read_scale(document: Document, element: Element) -> Array | None:
    text = (element.get("scale") or "").split()
    if len(text) == 1:  # one factor for all axes, as some exporters write
        scale = np.repeat(document.vector(element, "scale", 1, (1.0,)), 3)
    else:
        scale = document.vector(element, "scale", 3, (1.0, 1.0, 1.0))
    return None if np.all(scale == 1.0) else scale
