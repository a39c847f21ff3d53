# SPDX-License-Identifier: Apache-2.0
"""``<material>``, ``<texture>``, ``<camera>`` and ``<light>``: what only pictures show.

MuJoCo's own renderer knows shininess, the opposite of roughness; the physical values are written beside it where they
say more.  An emission is a share of the colour.  MuJoCo reads PNG; other images are turned into PNG where Pillow is
installed, and reported where it is not.  A mesh of another format may have materials in its file (OBJ, COLLADA, glTF):
visuals that the source gives no look of their own get those.  MuJoCo's default light has a colour and no candela;
intensities are written where they are more than one.
"""

from __future__ import annotations

import dataclasses
import io
import math
from pathlib import PurePath
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.math3d import IDENTITY_QUAT, quat_rotate
from simwright.core.names import NameScope
from simwright.formats.mesh import load_image, name_image
from simwright.formats.mjcf.writer.document import MjcfDocument, is_equal
from simwright.formats.mjcf.writer.meshes import make_file_name
from simwright.formats.mjcf.writer.messages import LOOK_LOST, LOOK_UNREADABLE, TEXTURE_LEFT_OUT
from simwright.formats.parts.coordinates import CUBES, STRETCHED, STRIPS, place_repeated
from simwright.formats.parts.looks import FileLooks, is_plain
from simwright.model.asset import Asset, Camera, Light, LightKind, Shape
from simwright.model.geometry import Mesh, Subset
from simwright.model.material import RenderMaterial, Texture, to_display


def take_file_looks(asset: Asset, reporter: Reporter) -> Asset:
    """The asset, or a copy with all looks it needs."""
    # MuJoCo takes no looks from mesh files, so an MJCF source shows all it has
    if asset.provenance.format == "mjcf":
        return asset
    # looks of files are added to the asset, which is the caller's
    twin = asset.copy()
    _FileLooks(twin, reporter).dress()
    return twin


class _FileLooks:
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE, highlights=True)
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh has face sets: each set with a look that is known, or none."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.data.subsets:
                self._dress(shape, mesh)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            changed = dataclasses.replace(mesh.data, subsets=self._choose(mesh, is_plain(shape)))
            self._meshes[key] = Mesh(changed, source=mesh.source, file=mesh.file, gate=mesh.gate)
        shape.geometry = self._meshes[key]

    def _choose(self, mesh: Mesh, is_dressed: bool) -> tuple[Subset, ...]:
        """The sets with a look; where the source gives the shape one, that of the file does not count."""
        result = []
        for subset in mesh.data.subsets:
            name: str | None = subset.material if subset.material in self._looks.own else None
            if name is None and mesh.file and not is_dressed:
                name = self._looks.take(mesh).get(subset.material)
            if name and len(subset.faces):
                result.append(Subset(subset.name or name, subset.faces, name))
        return tuple(result)


MATERIAL_DEFAULTS: dict[str, Any] = {
    "rgba": (1.0, 1.0, 1.0, 1.0), "emission": 0.0, "specular": 0.5, "shininess": 0.5, "reflectance": 0.0,
    "metallic": 0.0, "texuniform": False, "texrepeat": (1.0, 1.0),
}  # fmt: skip
_ROLES = {
    "diffuse": "rgb", "opacity": "opacity", "occlusion": "occlusion", "roughness": "roughness", "metallic": "metallic",
    "normal": "normal", "emissive": "emissive",
}  # fmt: skip
# in the order of the channels of MuJoCo's "orm" role
_PACKED_INPUTS = ("occlusion", "roughness", "metallic")
_MATERIAL_KEPT = ("specular", "shininess", "reflectance", "texuniform", "texrepeat")
_ROLE_WORDS = (
    "rgb", "occlusion", "roughness", "metallic", "normal", "opacity", "emissive", "rgba", "orm", "user",
)  # fmt: skip


def write_materials(document: MjcfDocument) -> None:
    """Every material, with its images."""
    library = MjcfTextureFiles(document)
    library.restore_generated()
    tinted = {shape.material for shape in document.asset.shapes if find_tinted(document, shape) is not None}
    for material in document.asset.materials:
        # a geom with a colour of its own wears the material it had in the source
        if material.name not in tinted:
            _write_material(document, library, material)
    _report_lost_looks(document)


def find_tinted(document: MjcfDocument, shape: Shape) -> tuple[str, tuple[float, ...]] | None:
    """The material that a geom had in the source, and the colour that the geom had beside it."""
    name = document.kept.get(shape, "geom", "material")
    looks = {material.name: material for material in document.asset.materials} if name is not None else {}
    if name not in looks or shape.material not in looks or name == shape.material:
        return None
    return str(name), _find_rgba(looks[shape.material])


def _find_rgba(material: RenderMaterial) -> tuple[float, ...]:
    diffuse = material.textures.get("diffuse")
    # MuJoCo multiplies image and rgba
    return diffuse.gain if diffuse is not None else (*material.diffuse, material.opacity)


def _write_material(document: MjcfDocument, library: MjcfTextureFiles, material: RenderMaterial) -> None:
    layers = _choose_layers(document, library, material)
    diffuse = material.textures.get("diffuse")
    # MuJoCo multiplies image and rgba; without an image the gain has nothing to act on
    tinted = diffuse is not None and any(role in ("rgb", "rgba") for role in layers)
    rgba = diffuse.gain if tinted and diffuse else (*material.diffuse, material.opacity)
    # MuJoCo's emission is a share of rgba, so the colour of the glow is that of the surface
    glow = max(material.emissive) / max(material.diffuse) if any(material.diffuse) else max(material.emissive)
    kept = document.find_kept(material, "material", *_MATERIAL_KEPT)
    is_said = document.kept.get(material, "material", "roughness") is not None
    # a source that says the roughness and no shininess has MuJoCo's own beside it
    derived = MATERIAL_DEFAULTS["shininess"] if is_said else min(max(1.0 - material.roughness, 0.0), 1.0)
    shininess = kept.get("shininess", derived)
    values: dict[str, Any] = {
        "name": document.claim("material", material.name),
        "rgba": rgba,
        "emission": glow,
        "shininess": shininess,
        "metallic": material.metallic,
        # MuJoCo's renderer knows shininess; both would say the same
        "roughness": None
        if not is_said and math.isclose(material.roughness, 1.0 - shininess, abs_tol=1e-6)
        else material.roughness,
        **kept,
    }
    if diffuse is not None:
        values.setdefault("texrepeat", diffuse.scale)
        values.setdefault("texuniform", diffuse.uv_set in STRETCHED)
    # the attribute is older than <layer>, and every MuJoCo reads it
    plain = list(layers) == ["rgb"]
    if plain:
        values["texture"] = layers["rgb"]
    node = document.add(document.section("asset"), "material", values, MATERIAL_DEFAULTS)
    for role, texture in () if plain else layers.items():
        document.add(node, "layer", {"role": role, "texture": texture})


def _choose_layers(
    document: MjcfDocument, library: MjcfTextureFiles, material: RenderMaterial
) -> dict[str, str]:
    """Texture names by MuJoCo's role."""
    layers: dict[str, str] = {}
    textures = _assign_roles(material)
    for role in _ROLE_WORDS:
        name = document.kept.get(material, "material", f"texture_{role}") or ""
        # what MuJoCo paints itself goes before its image
        made = library.restored.get(name)
        if made is None and role in textures:
            made = library.find(material, textures[role], name)
        if made is not None:
            layers[role] = made
    return layers


def _assign_roles(material: RenderMaterial) -> dict[str, Texture]:
    """Textures by MuJoCo's role; inputs that take channels of one image share a role."""
    textures, words = dict(material.textures), dict(_ROLES)
    roles: dict[str, Texture] = {}
    packed = [textures[name].file for name in _PACKED_INPUTS if name in textures]
    # one image with occlusion, roughness and metallic as its channels
    if len(packed) == len(_PACKED_INPUTS) and len(set(packed)) == 1:
        roles["orm"] = textures[_PACKED_INPUTS[0]]
        textures = {name: texture for name, texture in textures.items() if name not in _PACKED_INPUTS}
    diffuse, opacity = textures.get("diffuse"), textures.get("opacity")
    # a colour image whose alpha channel is the opacity
    if diffuse is not None and opacity is not None and opacity.file == diffuse.file:
        words["diffuse"] = "rgba"
        del textures["opacity"]
    return roles | {words[name]: texture for name, texture in textures.items() if name in words}


def _report_lost_looks(document: MjcfDocument) -> None:
    materials = document.asset.materials
    lost: tuple[tuple[str, list[RenderMaterial]], ...] = (
        ("the coat", [m for m in materials if m.clearcoat]),
        (
            "the placement of images",
            [m for m in materials if any(_is_placed(t) for t in m.textures.values())],
        ),
        ("an image input", [m for m in materials if set(m.textures) - set(_ROLES)]),
    )
    for what, found in lost:
        if found:
            document.reporter.report(
                LOOK_LOST, found[0].source, what=what, count=len(found), first=found[0].name
            )


def _is_placed(texture: Texture) -> bool:
    offset = place_repeated(texture.scale)[1]
    moved = [abs(value - usual) % 1.0 for value, usual in zip(texture.offset, offset, strict=True)]
    turned = texture.rotation != 0.0 or any(1e-6 < value < 1.0 - 1e-6 for value in moved)
    return (
        turned or {texture.wrap_s, texture.wrap_t} - {"repeat", "useMetadata"} != set() or any(texture.bias)
    )


TEXTURE_FOLDER = "textures"
MAX_IMAGE_BYTES = 256 * MIB
_PNG = b"\x89PNG\r\n\x1a\n"
# what a chunk holds [bytes], for all colour types and for each
_CHUNK_SIZES = {b"cHRM": 32, b"gAMA": 4, b"pHYs": 9, b"sRGB": 1, b"tIME": 7}
_CHUNK_SIZES_BY_COLOUR = {
    b"bKGD": {0: 2, 2: 6, 3: 1, 4: 2, 6: 6},
    b"sBIT": {0: 1, 2: 3, 3: 3, 4: 2, 6: 4},
}
_GENERATED_ATTRIBUTES = (
    "type", "builtin", "rgb1", "rgb2", "mark", "markrgb", "random", "width", "height", "gridsize", "gridlayout",
    "hflip", "vflip", "nchannel",
)  # fmt: skip
_CUBE_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_MARKS = ("none", "edge", "cross", "random")


class MjcfTextureFiles:
    """Hands out texture names; writes each image once."""

    def __init__(self, document: MjcfDocument) -> None:
        self._document = document
        self.restored: dict[str, str] = {}
        """Textures of the source that were written already, by the name they had."""
        self._known: dict[tuple[str, str, bool, bool, bool], str | None] = {}
        self._file_names = NameScope()
        self._tally = Tally()

    def restore_generated(self) -> None:
        """Gradients, checkers and flat colours that MuJoCo paints itself, and images on cubes."""
        for key in self._document.kept.find_keys("texture/"):
            builtin = self._document.kept.take(key, "builtin")
            files = self._find_files(key)
            name = key.partition("/")[2]
            contents = {attribute: self._read(file, name) for attribute, file in files.items()}
            # an image that cannot be read was reported, and the texture goes with it
            if None in contents.values() or (builtin is None and not files):
                continue
            values: dict[str, Any] = {"name": self._document.claim("texture", name)}
            self.restored[name] = str(values["name"])
            for attribute in _GENERATED_ATTRIBUTES:
                values[attribute] = self._document.kept.take(key, attribute)
            values["type"] = values["type"] or "2d"
            if values["mark"] is not None:
                values["mark"] = _MARKS[int(values["mark"])]
            # MuJoCo's default, which means something with random marks only
            if values["random"] is not None and values["mark"] != "random":
                values["random"] = None
            for attribute, file in files.items():
                values[attribute] = self._store(file, contents[attribute])
            self._document.add(self._document.section("asset"), "texture", values)

    def _find_files(self, key: str) -> dict[str, str]:
        """Images of a cube texture that the MJCF reader found; an attribute of a stage never names a file to open."""
        # an attribute in a stage could name any file of the machine
        if self._document.kept.find_place(key).prim:
            return {}
        found = {attribute: self._document.kept.take(key, attribute) for attribute in _CUBE_FILES}
        return {attribute: str(file) for attribute, file in found.items() if file}

    def find(self, material: RenderMaterial, texture: Texture, name: str = "") -> str | None:
        """The texture asset of an image, called as in the source; None, and a finding, if MuJoCo cannot read it."""
        is_linear = texture.color_space == "raw" and any(
            texture is material.textures.get(key) for key in ("diffuse", "emissive")
        )
        key = (texture.file, name, texture.uv_set in CUBES, texture.uv_set in STRIPS, is_linear)
        if key not in self._known:
            self._known[key] = self._add(material, texture, name or name_image(texture.file), is_linear)
        return self._known[key]

    def _add(self, material: RenderMaterial, texture: Texture, name: str, is_linear: bool) -> str | None:
        content = self._read(texture.file, material.name)
        if content is None:
            return None
        document, is_cube, is_strip = self._document, texture.uv_set in CUBES, texture.uv_set in STRIPS
        # a skybox that a material uses is a cube of another type
        kind = document.kept.take(f"texture/{name}", "type") if is_cube else None
        values = {
            "type": (kind or "cube") if is_cube else "2d",
            "name": document.claim("texture", name),
            # MuJoCo shows the values of an image as they are
            "file": self._store(texture.file, show_linear(content) if is_linear else content),
            # the six sides of a strip: right, left, up, down, front, back
            "gridsize": (6, 1) if is_strip else None,
            "gridlayout": "RLUDFB" if is_strip else None,
            "colorspace": document.kept.take(f"texture/{name}", "colorspace"),
            "nchannel": document.kept.take(f"texture/{name}", "nchannel"),
        }
        document.kept.mark_written(f"texture/{name}", "type")
        document.add(document.section("asset"), "texture", values)
        return str(values["name"])

    def _store(self, file: str, content: bytes | None) -> str | None:
        if content is None:
            return None
        name = f"{self._file_names.claim(make_file_name(name_image(file)))}.png"
        self._document.files[f"{TEXTURE_FOLDER}/{name}"] = content
        return name

    def _read(self, file: str, material: str) -> bytes | None:
        """The content as PNG."""
        why, advice = "it cannot be read", "check the path"
        try:
            content = load_image(file, MAX_IMAGE_BYTES, self._tally)
        except SimwrightError as error:
            why = error.message
        else:
            if content.startswith(_PNG):
                return drop_wrong_chunks(content)
            made, why, advice = make_png(content)
            if made is not None:
                return made
        self._document.reporter.report(
            # an embedded image has a name alone
            TEXTURE_LEFT_OUT,
            file=name_image(file) if file.startswith("data:") else PurePath(file).name,
            name=material,
            why=why,
            advice=advice,
        )
        return None


def drop_wrong_chunks(png: bytes) -> bytes:
    """A PNG without the chunks that have another size than they should; the pixels are never in these.

    Most readers pass over them; MuJoCo 4.0 refuses the image, and the model with it.
    """
    colour_type = png[25] if len(png) > 25 else -1
    kept, at = [png[: len(_PNG)]], len(_PNG)
    while at + 8 <= len(png):
        size, name = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        if size == (_CHUNK_SIZES.get(name) or _CHUNK_SIZES_BY_COLOUR.get(name, {}).get(colour_type, size)):
            kept.append(png[at : at + 12 + size])
        at += 12 + size
    return b"".join(kept) if len(kept) > 1 else png


def make_png(content: bytes) -> tuple[bytes | None, str, str]:
    """An image as PNG; else why not and what to do."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return None, "MuJoCo reads PNG only, and Pillow is not installed", "python -m pip install pillow"
    try:
        with Image.open(io.BytesIO(content)) as image:
            buffer = io.BytesIO()
            image.convert("RGBA" if "A" in image.getbands() else "RGB").save(buffer, "PNG")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        return None, f"it is not an image that can be read ({type(error).__name__})", "provide it as PNG"
    return buffer.getvalue(), "", ""


def show_linear(content: bytes) -> bytes:
    """A PNG of linear colours as one of display colours."""
    from PIL import Image

    levels = [round(to_display(level / 255.0) * 255.0) for level in range(256)]
    with Image.open(io.BytesIO(content)) as image:
        picture = image.convert("RGBA" if "A" in image.getbands() else "RGB")
        bands = picture.split()
        shown = [band.point(levels) for band in bands[:3]]
        buffer = io.BytesIO()
        Image.merge(picture.mode, (*shown, *bands[3:])).save(buffer, "PNG")
    return buffer.getvalue()


CAMERA_DEFAULTS: dict[str, Any] = {"fovy": 45.0, "ipd": 0.068, "principal": (0.0, 0.0)}
LIGHT_DEFAULTS: dict[str, Any] = {
    "dir": (0, 0, -1), "diffuse": (0.7, 0.7, 0.7), "castshadow": True, "cutoff": 45.0, "bulbradius": 0.02,
    "range": 10.0, "type": "spot", "attenuation": (1, 0, 0), "exponent": 10.0, "ambient": (0, 0, 0),
    "specular": (0.3, 0.3, 0.3), "active": True, "intensity": 0.0,
}  # fmt: skip
_LIGHT_KINDS = {LightKind.DIRECTIONAL: "directional", LightKind.SPOT: "spot", LightKind.POINT: "point"}
_LIGHT_KEPT = ("attenuation", "exponent", "ambient", "specular", "softness", "active", "cutoff", "range")


def write_optics(document: MjcfDocument) -> None:
    """Cameras and lights on their bodies."""
    for camera in document.asset.cameras:
        _write_camera(document, camera)
    lost = []
    for light in document.asset.lights:
        if light.kind in _LIGHT_KINDS:
            _write_light(document, light)
        else:
            lost.append(light)
    document.report_lost("dome and area lights", lost, "light the scene with directional or spot lights")


def _write_camera(document: MjcfDocument, camera: Camera) -> None:
    values: dict[str, Any] = {
        "name": document.claim("camera", camera.name),
        **document.describe_pose(camera.pose),
    }
    has_angle = _has_angle(document, camera)
    if camera.orthographic_height is not None:
        values |= {"projection": "orthographic", "fovy": camera.orthographic_height}
    # MuJoCo wants a resolution beside the size of a sensor
    elif camera.aperture and camera.focal_length and any(camera.resolution) and not has_angle:
        focal = (camera.focal_length, camera.focal_length)
        kept = document.find_kept(camera, "camera", "focal", "principal")
        values |= {"sensorsize": camera.aperture, "focal": focal, **kept}
    else:
        values["fovy"] = _round_degrees(camera.fov_y)
    if any(camera.resolution):
        values["resolution"] = camera.resolution
    values |= document.find_kept(camera, "camera", "ipd", "user", "output") | _describe_tracking(
        document, camera, "camera"
    )
    if "output" in values:
        values["output"] = values["output"].replace("seg", "segmentation").replace("dist", "distance")
    document.add(document.nodes[camera.body], "camera", values, CAMERA_DEFAULTS)


def _has_angle(document: MjcfDocument, camera: Camera) -> bool:
    """Did an MJCF source say the angle of view and no sensor, and is it still that angle?"""
    angle = document.kept.get(camera, "camera", "fovy")
    return angle is not None and math.isclose(angle, math.degrees(camera.fov_y), rel_tol=1e-5)


def _round_degrees(angle: float) -> float:
    """Degrees without the last bits that the way to radians and back adds."""
    # the way to radians and back disturbs the digits after these
    return float(f"{math.degrees(angle):.14g}")


def _describe_tracking(document: MjcfDocument, element: Camera | Light, family: str) -> dict[str, Any]:
    """How it follows a body, as read."""
    values = document.find_kept(element, family, "mode", "target")
    if "target" in values:
        values["target"] = document.find_name("body", values["target"])
    return values


def _write_light(document: MjcfDocument, light: Light) -> None:
    values: dict[str, Any] = {
        "name": document.claim("light", light.name),
        "type": _LIGHT_KINDS[light.kind],
        "pos": light.pose.p if light.pose.p.any() else None,
        "dir": _find_direction(light),
        "diffuse": light.color,
        "intensity": None if light.intensity == 1.0 else light.intensity,
        "castshadow": light.cast_shadows,
        "bulbradius": light.radius or None,
        "range": light.range,
    }
    if light.cone is not None:
        values["cutoff"] = _round_degrees(light.cone[1])
    values |= document.find_kept(light, "light", *_LIGHT_KEPT) | _describe_tracking(document, light, "light")
    texture = document.kept.get(light, "light", "texture")
    if texture:
        values["texture"] = document.find_name("texture", texture)
    document.add(document.nodes[light.body], "light", values, LIGHT_DEFAULTS)


def _find_direction(light: Light) -> Any:
    # exact: rotating would leave -0.0 and rounding in the text
    if is_equal(light.pose.q, IDENTITY_QUAT):
        return (0.0, 0.0, -1.0)
    return quat_rotate(light.pose.q, (0.0, 0.0, -1.0))
