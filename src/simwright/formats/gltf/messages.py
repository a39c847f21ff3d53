# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in glTF, and every guess it makes."""

from __future__ import annotations

from simwright.core.diag import Level, declare

COLLIDERS_LEFT_OUT = declare(
    "gltf-write-colliders",
    Level.WARNING,
    "{count} collision shape(s) are not written, the first {first!r}",
    hint="--collision writes them too",
    doc="glTF is for what is seen; colliders are written where they are asked for.",
    section="3.8",
    loss=True,
)
PURPOSE_LEFT_OUT = declare(
    "gltf-write-purpose",
    Level.INFO,
    "{count} shape(s) are stand-ins or guides and are left out, the first {first!r}",
    doc="Geometry of purpose proxy or guide is not part of the final picture.",
    loss=True,
)
GEOMETRY_LEFT_OUT = declare(
    "gltf-write-geometry",
    Level.WARNING,
    "{kind} {name!r} is left out: {why}",
    hint="replace it by a mesh",
    doc="A geometry that has no triangles.",
    loss=True,
)
TEXTURE_LEFT_OUT = declare(
    "gltf-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is left out: {why}",
    hint="use 8-bit PNG or JPEG images beside the source",
    doc="An image that cannot be read, converted or mapped to glTF.",
    section="3.2",
    loss=True,
)
COORDINATES_MISSING = declare(
    "gltf-write-coordinates",
    Level.WARNING,
    "material {name!r} is used by {count} mesh(es) without the texture coordinates it needs; its images are left "
    "out there",
    hint="author the texture coordinates its images are mapped by",
    doc="An image needs texture coordinates; without them the constant of the input is used.",
    section="3.1",
    loss=True,
)
INPUT_LOST = declare(
    "gltf-write-input",
    Level.WARNING,
    "{what} of material {name!r} has no place in glTF and is left out",
    hint="bake it into the other inputs",
    doc="An input of UsdPreviewSurface that no glTF material has.",
    section="3.1",
    loss=True,
)
WRAP_CHANGED = declare(
    "gltf-write-wrap",
    Level.INFO,
    "images of material {name!r} are black outside their borders, which glTF cannot express; their edges are repeated",
    doc="The wrap mode 'black' has no counterpart and becomes clamping.",
    section="3.1",
)
COLORS_HIDDEN = declare(
    "gltf-write-colors",
    Level.INFO,
    "colours of the vertices of {count} mesh(es) are hidden by their materials and not written, the first {first!r}",
    doc="glTF multiplies vertex colours with the material; a material that does not read them hides them.",
    loss=True,
)
LOOK_UNREADABLE = declare(
    "gltf-write-look-unreadable",
    Level.WARNING,
    "looks of mesh file {file!r} are left out: {why}",
    hint="repair the file, or give the shape a material",
    doc="The materials of a mesh file cannot be read.",
    loss=True,
)
LOOK_HIGHLIGHTS = declare(
    "gltf-write-look-highlights",
    Level.INFO,
    "{count} look(s) of mesh files have highlights (specular colours) that are left out, the first {first!r}",
    doc="Highlights of the Phong model are no reflectance; as one they would make metal of paint.",
    loss=True,
)
EXTRAS_LOST = declare(
    "gltf-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in glTF, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Attributes of solvers are discarded, not injected (REP-0158 3.8).",
    section="3.8",
    loss=True,
)
