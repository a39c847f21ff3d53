# SPDX-License-Identifier: Apache-2.0
"""MJCF -> model, as MuJoCo compiles it: the table of contents, and what only pictures show.

The text is checked first (``source.py``), MuJoCo compiles it (``compiler.py``), and each element family
is read from the compiled model: defaults, includes, attachments, replication, orientation conventions,
inertia from geoms and automatic limits are all resolved by the reference implementation.  MjSpec gives
what compiling drops.

Bodies without a joint are welded to their parent, the world included: MuJoCo's root bodies do not float
unless they have a free joint.  Mocap bodies are kinematic and have no joint.

Render materials, textures, cameras and lights are read here.  Colours are taken as they are written.  MuJoCo's older
look (specular, shininess, reflectance) is kept as extras; where a material gives no roughness it is one minus its
shininess.  Images become textures tinted by the material's colour; the pixels of those that MuJoCo generates, turns
over or puts on cubes are taken from it, and what made them is kept as extras of ``texture/name``.  MuJoCo shows
``rgba`` and the values of images as they are, so both are display colours.  How an image lies on a shape that brings
no texture coordinates is said by the name of the coordinates (``formats.parts.coordinates``).

Clip distances of cameras are MuJoCo's ``znear`` and ``zfar``, which count in model extents.  MuJoCo's default light
has no intensity in candela but a colour and OpenGL attenuation; it gets intensity 1 here, and what only OpenGL knows
(attenuation, exponent, ambient, specular) is kept as extras.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import ParseError
from simwright.core.math3d import HUGE, Pose, quat_between
from simwright.formats.format import ReadOptions
from simwright.formats.mesh import embed_image
from simwright.formats.mjcf.bodies import (
    read_bodies,
    read_contacts,
    read_equalities,
    read_joints,
    read_tendons,
)
from simwright.formats.mjcf.compiler import compile_model, is_plain_image
from simwright.formats.mjcf.control import read_actuators, read_keyframes, read_sensors
from simwright.formats.mjcf.geoms import read_geoms, read_sites
from simwright.formats.mjcf.options import find_extent, read_custom, read_options
from simwright.formats.mjcf.reader import NAMESPACE, MjcfReader, claim_names, make_plain, read_floats
from simwright.formats.mjcf.source import read_source
from simwright.formats.parts.coordinates import (
    CUBE,
    CUBE_UNIFORM,
    CUBES,
    OBJECT,
    SIDE,
    SIDE_UNIFORM,
    UNIFORM,
    place_repeated,
)
from simwright.model.asset import Asset, Camera, Light, LightKind
from simwright.model.kinematics import place_bodies
from simwright.model.material import RenderMaterial, Texture


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read an MJCF file."""
    source = read_source(path, options.make_gate(path, reporter), reporter)
    mujoco, spec, model, scales = compile_model(path, source, reporter)
    asset = Asset(name=str(spec.modelname or path.stem))
    asset.provenance.version = str(mujoco.__version__)
    asset.provenance.identifier = str(spec.modelname or "")
    reader = MjcfReader(mujoco, spec, model, source, reporter, asset, mesh_scales=scales)
    # before anything else: findings name elements
    claim_names(reader)
    _refuse_absurd_numbers(reader)

    read_options(reader)
    read_bodies(reader)
    read_joints(reader)
    # needs bodies and joints; geoms, cameras and the rest are relative to their bodies
    place_bodies(asset)
    read_materials(reader)
    read_geoms(reader)
    read_sites(reader)
    read_cameras(reader)
    read_lights(reader)
    read_tendons(reader)
    read_equalities(reader)
    read_contacts(reader)
    read_actuators(reader)
    read_sensors(reader)
    read_keyframes(reader)
    read_custom(reader)
    _report_losses(reader)
    return asset


# numbers of elements, by family, that everything after reading computes with
_ARRAYS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_ipos"),
    "geom": ("geom_pos", "geom_size"),
    "joint": ("jnt_pos",),
    "site": ("site_pos", "site_size"),
}
# Numbers of many elements in one array, and where each element's begin.
_POOLS = {"mesh": ("mesh_vert", "mesh_vertadr"), "hfield": ("hfield_data", "hfield_adr")}


def _refuse_absurd_numbers(reader: MjcfReader) -> None:
    """Refuse a model with a mass, an inertia or a length that is not finite or beyond every use."""
    for family, (name, starts) in _POOLS.items():
        absurd = np.argwhere(~np.isfinite(getattr(reader.model, name)))
        if len(absurd):
            index = int(np.searchsorted(getattr(reader.model, starts), absurd[0][0], side="right")) - 1
            raise ParseError(
                f"{family} {reader.name(family, index)!r} has numbers that are not finite",
                hint="correct them",
                where=reader.where(family, index),
            )
    for family, names in _ARRAYS.items():
        for name in names:
            values = getattr(reader.model, name)
            # written so that NaN counts as absurd too
            absurd = np.argwhere(~(np.abs(values) <= HUGE))
            if len(absurd):
                index = int(absurd[0][0])
                what = name.partition("_")[2]
                raise ParseError(
                    f"the {what} of {family} {reader.name(family, index)!r} is {values[index]}, beyond every use",
                    hint="correct the number",
                    where=reader.where(family, index),
                )


# what the neutral model has no place for, and what to do about it
_LOST_FAMILIES = {
    "flex": "soft bodies have no neutral form; keep the MJCF for simulating them",
    "skin": "skins only change the look; the rigid shapes are kept",
    "plugin": "plugins are MuJoCo code; rebuild their effect in the target engine",
}


ASSET_UNUSED = declare(
    "mjcf-asset-unused",
    Level.INFO,
    "{count} {family} asset(s) are used by no element and left out: {names}",
    hint="keep the MJCF if a program puts them to use",
    doc="A mesh, texture or height field that nothing of the model shows or touches.",
)
# who uses assets of a kind, by the arrays of the compiled model
_USERS = {
    "mesh": ("geom_dataid", "site_dataid"),
    "texture": ("mat_texid", "light_texid"),
    "hfield": ("geom_dataid",),
}


def _report_unused(reader: MjcfReader) -> None:
    model = reader.model
    fields = int(reader.mujoco.mjtGeom.mjGEOM_HFIELD)
    for family, users in _USERS.items():
        used: set[int] = set()
        for name in users:
            values = np.asarray(getattr(model, name, ()))
            if name == "geom_dataid":
                # the number is that of a mesh or of a height field
                values = values[(model.geom_type == fields) == (family == "hfield")]
            used |= {int(value) for value in np.ravel(values)}
        unused = [index for index in range(reader.count(family)) if index not in used]
        if family == "texture":
            # generated ones are written again, and a sky is used by being there
            unused = [
                i
                for i in unused
                if _is_flat(reader, i) and not _read_pattern(reader, reader.find_spec("texture", i))
            ]
        if unused:
            names = ", ".join(repr(reader.name(family, index)) for index in unused)
            where = reader.where(family, unused[0])
            reader.reporter.report(ASSET_UNUSED, where, count=len(unused), family=family, names=names)


def _report_losses(reader: MjcfReader) -> None:
    """One finding for each kind of element that is left behind."""
    _report_unused(reader)
    for family, advice in _LOST_FAMILIES.items():
        count = reader.count(family)
        if count:
            reader.report_loss(family, list(range(count)), advice)


TEXTURE_GENERATED = declare(
    "mjcf-texture-generated",
    Level.INFO,
    "the texture {name!r} is generated by MuJoCo ({pattern}) and has no image file",
    hint="nothing to do: the image that MuJoCo makes is taken",
    doc="A builtin gradient, checker or flat texture exists only inside MuJoCo; other formats get its image.",
)

# MuJoCo's texture role -> inputs of the material, with the channel each takes
_TEXTURE_INPUTS = {
    "rgb": (("diffuse", "rgb"),),
    "rgba": (("diffuse", "rgba"), ("opacity", "a")),
    "occlusion": (("occlusion", "r"),),
    "roughness": (("roughness", "r"),),
    "metallic": (("metallic", "r"),),
    "normal": (("normal", "rgb"),),
    "opacity": (("opacity", "r"),),
    "emissive": (("emissive", "rgb"),),
    "orm": (("occlusion", "r"), ("roughness", "g"), ("metallic", "b")),
}
_COLORS = frozenset({"diffuse", "emissive"})
_COLOR_SPACES = ("auto", "linear", "sRGB")
"""As MJCF writes MuJoCo's numbers."""
_MATERIAL_EXTRAS = {
    "specular": 0.5,
    "shininess": 0.5,
    "reflectance": 0.0,
    "texuniform": False,
    "texrepeat": (1.0, 1.0),
}


def read_materials(reader: MjcfReader) -> None:
    """Materials in MuJoCo's order, and findings about textures."""
    # what an unset value is depends on the version of MuJoCo: -1, or a plain default
    fresh = reader.mujoco.MjSpec().add_material()
    unset = {name: float(getattr(fresh, name)) for name in ("metallic", "roughness")}
    for index in range(reader.count("material")):
        reader.asset.materials.append(_read_material(reader, index, unset))
        for attribute, default in _MATERIAL_EXTRAS.items():
            value = make_plain(reader.field(f"mat_{attribute}", index))
            value = bool(value) if isinstance(default, bool) else value
            reader.keep("material", index, attribute, value, default)
    _note_textures(reader)


def _read_material(reader: MjcfReader, index: int, unset: dict[str, float]) -> RenderMaterial:
    model = reader.model
    red, green, blue, alpha = read_floats(model.mat_rgba[index])
    glow = read_floats(model.mat_emission[index])[0]
    metallic = read_floats(model.mat_metallic[index])[0]
    roughness = read_floats(model.mat_roughness[index])[0]
    material = RenderMaterial(
        name=reader.name("material", index),
        diffuse=(red, green, blue),
        opacity=alpha,
        # MuJoCo's emission is a share of the colour, the model's a colour
        emissive=(glow * red, glow * green, glow * blue),
        metallic=0.0 if metallic in (unset["metallic"], -1.0) else metallic,
        source=reader.where("material", index),
    )
    dull = roughness in (unset["roughness"], -1.0)
    material.roughness = 1.0 - read_floats(model.mat_shininess[index])[0] if dull else roughness
    if not dull:
        reader.keep("material", index, "roughness", roughness)
    for role, texture in enumerate(model.mat_texid[index]):
        if texture >= 0:
            _add_texture(reader, material, index, reader.read_word("mjtTextureRole", role), int(texture))
    return material


def _add_texture(reader: MjcfReader, material: RenderMaterial, number: int, role: str, index: int) -> None:
    repeat = read_floats(reader.model.mat_texrepeat[number])
    is_uniform = bool(reader.model.mat_texuniform[number])
    inputs = _TEXTURE_INPUTS.get(role, ())
    # the writer of MJCF gives an image its name again, and finds those by it that MuJoCo makes itself
    name, kept = reader.name("texture", index), f"material/{material.name}"
    reader.asset.extras.keep(NAMESPACE, kept, f"texture_{role}", name, material.source)
    image = _find_image(reader, index) if inputs else ""
    scale, offset = place_repeated((repeat[0], repeat[1]))
    uv_set = _choose_coordinates(reader, index, is_uniform)
    for target, channel in inputs:
        # MuJoCo multiplies image and colour; only those two inputs have a colour
        tint = (*material.diffuse, material.opacity) if target in ("diffuse", "opacity") else (1.0,) * 4
        material.textures[target] = Texture(
            image,
            channel=channel,
            # MuJoCo shows colour images as they are, whatever their colour space is said to be
            color_space="sRGB" if target in _COLORS else "raw",
            # the sides of a cube are not repeated
            scale=(1.0, 1.0) if uv_set in CUBES else scale,
            offset=(0.0, 0.0) if uv_set in CUBES else offset,
            uv_set=uv_set,
            gain=(tint[0], tint[1], tint[2], tint[3]),
        )


def _choose_coordinates(reader: MjcfReader, index: int, is_uniform: bool) -> str:
    if _is_flat(reader, index):
        return UNIFORM if is_uniform else OBJECT
    # MuJoCo keeps one image for all sides once
    if reader.model.tex_width[index] == reader.model.tex_height[index]:
        return SIDE_UNIFORM if is_uniform else SIDE
    return CUBE_UNIFORM if is_uniform else CUBE


def _find_image(reader: MjcfReader, index: int) -> str:
    """The file of an image that is shown as it is, or else the pixels that MuJoCo has."""
    name = reader.name("texture", index)
    spec = reader.find_spec("texture", index)
    file = reader.source.files.get(("texture", name))
    # what an attached model names has no specification here
    is_plain = (
        _is_flat(reader, index)
        if spec is None
        else is_plain_image(spec, has_sides=name in reader.source.sides)
    )
    if file is not None and is_plain:
        return str(file)
    return embed_image(name, _make_picture(reader, index))


def _make_picture(reader: MjcfReader, index: int) -> bytes:
    """A PNG of what MuJoCo made of a texture; a cube is one side, if all are the same, or the strip of its sides."""
    from PIL import Image

    model = reader.model
    width, height = int(model.tex_width[index]), int(model.tex_height[index])
    channels, start = int(model.tex_nchannel[index]), int(model.tex_adr[index])
    values = np.array(model.tex_data[start : start + width * height * channels], dtype=np.uint8)
    pixels = values.reshape(height, width, channels)
    stream = io.BytesIO()
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(stream, "PNG")
    return stream.getvalue()


def _is_flat(reader: MjcfReader, index: int) -> bool:
    return int(reader.model.tex_type[index]) == int(reader.mujoco.mjtTexture.mjTEXTURE_2D)


def _note_textures(reader: MjcfReader) -> None:
    # files of cube maps are kept so that MJCF comes back whole
    for index in range(reader.count("texture")):
        spec = reader.find_spec("texture", index)
        pattern = _read_pattern(reader, spec)
        # MuJoCo looks at the file only where there is no pattern
        if pattern:
            reader.reporter.report(
                TEXTURE_GENERATED,
                reader.where("texture", index),
                name=reader.name("texture", index),
                pattern=pattern,
            )
            _keep_pattern(reader, index, spec, pattern)
        elif not _is_flat(reader, index):
            _keep_cube(reader, index, spec)
        kind = reader.read_word("mjtTexture", reader.model.tex_type[index])
        reader.keep("texture", index, "type", kind, "2d")
        reader.keep("texture", index, "nchannel", int(reader.model.tex_nchannel[index]), 3)
        # flat images are taken as they are after turning
        for attribute in ("hflip", "vflip") if pattern or not _is_flat(reader, index) else ():
            reader.keep("texture", index, attribute, bool(getattr(spec, attribute, False)), False)
        space = int(getattr(spec, "colorspace", 0) or 0)
        # an image that is made anew has no longer what its file says about itself
        if not space and not pattern and not _is_flat(reader, index):
            space = int(reader.field("tex_colorspace", index, 0))
        if space:
            reader.keep("texture", index, "colorspace", _COLOR_SPACES[space])


def _keep_cube(reader: MjcfReader, index: int, spec: Any) -> None:
    """The image of a cube, or those of its sides, and how an image is cut into sides."""
    name = reader.name("texture", index)
    reader.keep("texture", index, "file", str(reader.source.files.get(("texture", name), "")), "")
    for attribute, file in reader.source.sides.get(name, {}).items():
        reader.keep("texture", index, attribute, str(file))
    if spec is not None:
        reader.keep("texture", index, "gridsize", np.asarray(spec.gridsize), (1, 1))
        reader.keep("texture", index, "gridlayout", "".join(spec.gridlayout).rstrip("\0"), "." * 12)


def _read_pattern(reader: MjcfReader, spec: Any) -> str:
    builtin = int(getattr(spec, "builtin", 0) or 0)
    return reader.read_word("mjtBuiltin", builtin) if builtin else ""


def _keep_pattern(reader: MjcfReader, index: int, spec: Any, pattern: str) -> None:
    reader.keep("texture", index, "builtin", pattern)
    for attribute in ("rgb1", "rgb2", "markrgb"):
        reader.keep("texture", index, attribute, [float(v) for v in getattr(spec, attribute)])
    reader.keep("texture", index, "mark", int(spec.mark), 0)
    reader.keep("texture", index, "random", float(spec.random))
    for attribute in ("width", "height"):
        reader.keep("texture", index, attribute, int(getattr(reader.model, f"tex_{attribute}")[index]))


def read_cameras(reader: MjcfReader) -> None:
    """Cameras in MuJoCo's order."""
    model = reader.model
    extent = find_extent(reader)
    for index in range(reader.count("camera")):
        camera = Camera(
            name=reader.name("camera", index),
            body=reader.name("body", int(model.cam_bodyid[index])),
            pose=Pose.of(model.cam_pos[index], model.cam_quat[index]),
            # znear and zfar are multiples of the extent of the model, the same for all cameras
            near=float(model.vis.map.znear) * extent,
            far=float(model.vis.map.zfar) * extent,
            path=reader.key("camera", index),
            source=reader.where("camera", index),
        )
        if _is_orthographic(reader, index):
            camera.orthographic_height = float(model.cam_fovy[index])
        else:
            camera.fov_y = math.radians(float(model.cam_fovy[index]))
        width, height = (int(v) for v in model.cam_resolution[index])
        # 1 x 1 is MuJoCo's default, and no resolution that anybody means
        camera.resolution = (0, 0) if (width, height) == (1, 1) else (width, height)
        _read_intrinsics(reader, index, camera)
        reader.asset.cameras.append(camera)
        _keep_tracking(reader, "camera", index, "cam")
        outputs = int(reader.field("cam_output", index, 1))
        if outputs != 1:
            bits = reader.mujoco.mjtCamOutBit.__members__.items()
            words = [
                name.partition("_")[2].lower() for name, bit in bits if "_" in name and outputs & int(bit)
            ]
            reader.keep("camera", index, "output", " ".join(words))
        reader.keep("camera", index, "ipd", model.cam_ipd[index], 0.068)
        reader.keep_user("camera", index, "cam_user")


def _is_orthographic(reader: MjcfReader, index: int) -> bool:
    """By the field of this MuJoCo: ``cam_projection``, before it ``cam_orthographic``."""
    value = reader.field("cam_projection", index)
    return bool(reader.field("cam_orthographic", index, 0) if value is None else value)


def _keep_tracking(reader: MjcfReader, family: str, index: int, array: str) -> None:
    """Keep how a camera or light follows its body or looks at a target."""
    mode = int(getattr(reader.model, f"{array}_mode")[index])
    if mode:
        name = reader.read_word("mjtCamLight", mode)
        reader.keep(family, index, "mode", name)
    target = int(getattr(reader.model, f"{array}_targetbodyid")[index])
    if target >= 0:
        reader.keep(family, index, "target", reader.name("body", target))


def _read_intrinsics(reader: MjcfReader, index: int, camera: Camera) -> None:
    width, height = read_floats(reader.model.cam_sensorsize[index])
    if width <= 0 or height <= 0:
        # a camera of OpenUSD always has a sensor: this tells that MJCF has none
        if any(camera.resolution):
            reader.keep("camera", index, "fovy", float(reader.model.cam_fovy[index]))
        return
    focal_x, focal_y, principal_x, principal_y = read_floats(reader.model.cam_intrinsic[index])
    camera.aperture = (width, height)
    # the model has one focal length; another one for x is kept as an extra
    camera.focal_length = focal_y
    reader.keep("camera", index, "focal", (focal_x, focal_y), (focal_y, focal_y))
    reader.keep("camera", index, "principal", (principal_x, principal_y), (0.0, 0.0))


_LIGHT_KINDS = {
    "spot": LightKind.SPOT,
    "directional": LightKind.DIRECTIONAL,
    "point": LightKind.POINT,
    "image": LightKind.DOME,
}
# MuJoCo's defaults of what the model has no word for
_LIGHT_DEFAULTS = {
    "attenuation": (1.0, 0.0, 0.0),
    "exponent": 10.0,
    "ambient": (0.0, 0.0, 0.0),
    "specular": (0.3, 0.3, 0.3),
    "softness": 0.2,
    "active": True,
}


def read_lights(reader: MjcfReader) -> None:
    """Lights in MuJoCo's order."""
    model = reader.model
    for index in range(reader.count("light")):
        kind = _read_light_kind(reader, index)
        red, green, blue = read_floats(model.light_diffuse[index])
        # the model's lights shine along -Z
        turn = quat_between((0.0, 0.0, -1.0), model.light_dir[index])
        reach = reader.field("light_range", index)
        light = Light(
            name=reader.name("light", index),
            kind=kind,
            body=reader.name("body", int(model.light_bodyid[index])),
            pose=Pose.of(model.light_pos[index], turn),
            color=(red, green, blue),
            intensity=read_floats(reader.field("light_intensity", index, 0.0))[0] or 1.0,
            radius=read_floats(reader.field("light_bulbradius", index, 0.0))[0],
            range=None if reach is None or kind is LightKind.DIRECTIONAL else read_floats(reach)[0],
            cast_shadows=bool(model.light_castshadow[index]),
            path=reader.key("light", index),
            source=reader.where("light", index),
        )
        if kind is LightKind.SPOT:
            outer = math.radians(read_floats(model.light_cutoff[index])[0])
            softness = read_floats(reader.field("light_softness", index, 0.0))[0]
            # softness is the share of the cone over which the light fades
            light.cone = (outer * (1.0 - softness), outer)
        else:
            # of no use to such a light, but MuJoCo keeps it
            reader.keep("light", index, "cutoff", reader.model.light_cutoff[index], 45.0)
        if light.range is None:
            reader.keep("light", index, "range", reach, 10.0)
        reader.asset.lights.append(light)
        _keep_light_extras(reader, index)


def _read_light_kind(reader: MjcfReader, index: int) -> LightKind:
    """By the field of this MuJoCo: ``light_type``, before it ``light_directional``."""
    number = reader.field("light_type", index)
    if number is None:
        return LightKind.DIRECTIONAL if reader.field("light_directional", index, 0) else LightKind.SPOT
    return _LIGHT_KINDS[reader.read_word("mjtLightType", number)]


def _keep_light_extras(reader: MjcfReader, index: int) -> None:
    for attribute, default in _LIGHT_DEFAULTS.items():
        value = reader.field(f"light_{attribute}", index)
        if attribute == "active" and value is not None:
            value = bool(value)
        reader.keep("light", index, attribute, value, default)
    texture = int(reader.field("light_texid", index, -1))
    reader.keep("light", index, "texture", reader.name("texture", texture), "")
    _keep_tracking(reader, "light", index, "light")
