# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row of the table is read as one line
"""Hostile files, what each tries, and what happens: the table of docs/security.md, and a test of every row."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MARK = "canary-5be1a7f0"
"""In every file outside of the asset."""
OUTSIDE = "@outside@"
"""Stands for the folder of those files."""
INERTIA = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SECRETS = {
    "passwd": f"{MARK}:x:0:0\n",
    "part.obj": f"# {MARK}\n{MESH}",
    "paint.mtl": f"newmtl {MARK}\nKd 1 0 0\n",
    "layer.usda": f'#usda 1.0\n(defaultPrim = "R")\ndef Xform "R" {{\n custom string note = "{MARK}"\n}}\n',
    "model.sdf": f"<sdf version='1.9'><model name='{MARK}'><link name='l'/></model></sdf>",
    "include.xml": f"<mujocoinclude><custom><text name='t' data='{MARK}'/></custom></mujocoinclude>",
    "words.yaml": f"word: {MARK}\n",
    "data.bin": MARK * 4,
}


@dataclass(frozen=True, slots=True)
class Hostile:
    """One row.  ``files`` are texts, bytes, or ``-> path`` for a link; the first is opened by ``command``.

    ``code`` is the exit code, ``says`` a part of what is printed, ``happens`` the same in words for the page.
    """

    category: str
    name: str
    tries: str
    happens: str
    files: dict[str, str | bytes] | Callable[[], dict[str, str | bytes]]
    command: str
    code: int
    says: str


def urdf(body: str, head: str = "", after: str = "") -> str:
    xmlns = "xmlns:xacro='http://www.ros.org/wiki/xacro'"
    return f"{head}<robot name='r' {xmlns}><link name='base'>{INERTIA}{body}</link>{after}</robot>"


def shape(mesh: str, look: str = "") -> str:
    return f"<visual><geometry><mesh filename='{mesh}'/></geometry>{look}</visual>"


def painted(texture: str) -> str:
    return shape("part.obj", f"<material name='m'><texture filename='{texture}'/></material>")


def sdf(body: str) -> str:
    return f"<sdf version='1.9'><model name='r'><link name='base'><inertial><mass>1</mass></inertial>{body}</link></model></sdf>"


def mjcf(body: str = "", head: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{body}<body><geom size='1'/></body></worldbody></mujoco>"


def usda(head: str = "", arcs: str = "", body: str = "") -> str:
    return (
        f'#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n    {head}\n)\n'
        f'def Xform "R" ({arcs})\n{{\n    def Sphere "ball" {{}}\n{body}\n}}\n'
    )


def usd_texture(file: str) -> str:
    return (
        'def Material "m" {\n token outputs:surface.connect = </R/m/s.outputs:surface>\n'
        ' def Shader "s" {\n  uniform token info:id = "UsdPreviewSurface"\n'
        "  color3f inputs:diffuseColor.connect = </R/m/t.outputs:rgb>\n  token outputs:surface\n }\n"
        f' def Shader "t" {{\n  uniform token info:id = "UsdUVTexture"\n  asset inputs:file = @{file}@\n'
        "  float3 outputs:rgb\n }\n}\n"
    )


def make_png(width: int, height: int) -> bytes:
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(64))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def make_package(name: str = "r.usda", *, damage: bool = False) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for file in ("r.usda", name)[: 2 if name != "r.usda" else 1]:
            info = zipfile.ZipInfo(file)
            start = buffer.tell() + 34 + len(file)
            info.extra = b"\x86\x19" + struct.pack("<H", -start % 64) + bytes(-start % 64)
            package.writestr(info, usda())
    data = buffer.getvalue()
    return data.replace(b"Sphere", b"Sphery", 1) if damage else data


def make_layers() -> dict[str, str | bytes]:
    """Nine layers of ten references each."""
    layers: dict[str, str | bytes] = {}
    for level in range(9):
        below = f"l{level + 1}.usda" if level < 8 else ""
        arcs = f"references = @{below}@" if below else ""
        body = "".join(f'    def Xform "c{n}" ({arcs}) {{}}\n' for n in range(10))
        layers["r.usda" if level == 0 else f"l{level}.usda"] = usda(body=body)
    return layers


def make_collada() -> str:
    nodes = "".join(
        f'<node id="n{n}"><instance_node url="#n{n + 1}"/><instance_node url="#n{n + 1}"/></node>'
        for n in range(40)
    )
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/><library_geometries>'
        '<geometry id="g"><mesh><source id="v"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array>'
        '<technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" '
        'type="float"/><param name="Z" type="float"/></accessor></technique_common></source><vertices id="w"><input '
        'semantic="POSITION" source="#v"/></vertices><triangles count="1"><input semantic="VERTEX" source="#w" '
        'offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries><library_nodes>' + nodes +
        '<node id="n40"><instance_geometry url="#g"/></node></library_nodes><library_visual_scenes><visual_scene id="z">'
        '<node><instance_node url="#n0"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#z"/></scene></COLLADA>'
    )  # fmt: skip


def gltf(buffer: str) -> str:
    return (
        '{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "meshes": [{"primitives": '
        f'[{{"attributes": {{"POSITION": 0}}}}]}}], "buffers": [{{"uri": "{buffer}", "byteLength": 36}}], "bufferViews": '
        '[{"buffer": 0, "byteLength": 36}], "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}]}'
    )


WORLD = "rooms:\n  - {name: hall, footprint: {type: box, dims: [4.0, 4.0]}, nav_poses: [[0.0, 0.0]]}\n"
NAMES, CODE, MUCH, DAMAGED, SHOWN = (
    "names files outside", "wants something run or fetched", "asks for too much", "is damaged", "plays with the terminal",
)  # fmt: skip
ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12)
) + "]>"  # fmt: skip
ROWS: tuple[Hostile, ...] = (
    Hostile(NAMES, "`texture` of a URDF", "`/etc/passwd` as an image", "texture left out, warned",
            {"r.urdf": urdf(painted(f"{OUTSIDE}/passwd")), "part.obj": MESH}, "convert r.urdf out/r.sdf", 0, "lies outside"),
    Hostile(NAMES, "`mesh` of a URDF", "`../` out of the asset", "shape left out, error",
            {"r.urdf": urdf(shape("../outside/part.obj"))}, "convert r.urdf out/r", 1, "lies outside"),
    Hostile(NAMES, "`package://` address", "`..` out of its package", "shape left out, error",
            {"r.urdf": urdf(shape("package://a/../../outside/part.obj"))}, "convert r.urdf out/r", 1, "package"),
    Hostile(NAMES, "link in the asset", "a mesh that is a link to a file elsewhere", "shape left out, error",
            {"r.urdf": urdf(shape("part.obj")), "part.obj": f"-> {OUTSIDE}/part.obj"}, "convert r.urdf out/r.xml", 1, "lies outside"),
    Hostile(NAMES, "`mtllib` of an OBJ", "a material library elsewhere", "library left out, warned",
            {"r.urdf": urdf(shape("part.obj")), "part.obj": f"mtllib {OUTSIDE}/paint.mtl\n" + MESH.replace("f 1 3 2", "usemtl red\nf 1 3 2")}, "convert r.urdf out/r", 0, "lies outside"),
    Hostile(NAMES, "buffer of a glTF", "a buffer elsewhere", "shape left out, warned",
            {"r.urdf": urdf(shape("m.gltf")), "m.gltf": gltf(f"{OUTSIDE}/data.bin")}, "convert r.urdf out/r", 0, "data.bin"),
    Hostile(NAMES, "`xacro:include`", "a file elsewhere", "refused",
            {"r.xacro": urdf("", after=f"<xacro:include filename='{OUTSIDE}/passwd'/>")}, "inspect r.xacro", 2, "lies outside"),
    Hostile(NAMES, "`xacro.load_yaml`", "values of a file elsewhere", "refused",
            {"r.xacro": urdf("", after=f"<xacro:property name='p' value='${{xacro.load_yaml(\"{OUTSIDE}/words.yaml\")}}'/><link name='${{p}}'/>")}, "inspect r.xacro", 2, ""),
    Hostile(NAMES, "`include` of SDFormat", "a model by `file://`", "left out, error",
            {"r.sdf": f"<sdf version='1.9'><world name='w'><include><uri>file://{OUTSIDE}/model.sdf</uri></include></world></sdf>"}, "convert r.sdf out/r", 1, "outside"),
    Hostile(NAMES, "`albedo_map` of SDFormat", "an image elsewhere", "texture left out, warned",
            {"r.sdf": sdf(f"<visual name='v'><geometry><box><size>1 1 1</size></box></geometry><material><pbr><metal><albedo_map>{OUTSIDE}/passwd</albedo_map></metal></pbr></material></visual>")}, "convert r.sdf out/r.glb", 0, "lies outside"),
    Hostile(NAMES, "`include` of MJCF", "a file elsewhere", "refused",
            {"r.xml": mjcf(head=f"<include file='{OUTSIDE}/include.xml'/>")}, "inspect r.xml", 2, "lies outside"),
    Hostile(NAMES, "`mesh` of MJCF", "a mesh elsewhere", "refused",
            {"r.xml": mjcf(head=f"<asset><mesh name='m' file='{OUTSIDE}/part.obj'/></asset>")}, "convert r.xml out/r", 2, "lies outside"),
    Hostile(NAMES, "sublayer of USD", "a layer elsewhere", "layer left out unread, error",
            {"r.usda": usda(head=f"subLayers = [@{OUTSIDE}/layer.usda@]")}, "convert r.usda out/flat.usda --flatten", 1, "lies outside"),
    Hostile(NAMES, "reference of USD", "a layer through a link", "layer left out unread, error",
            {"r.usda": usda(arcs="references = @l.usda@"), "l.usda": f"-> {OUTSIDE}/layer.usda"}, "convert r.usda out/r.usdz", 1, "lies outside"),
    Hostile(NAMES, "texture of USD", "a text file as an image", "not packaged, warned",
            {"r.usda": usda(body=usd_texture(f"{OUTSIDE}/passwd"))}, "convert r.usda out/r.usdz", 1, "passwd"),
    Hostile(NAMES, "member of a .usdz", "a name with `..`", "refused",
            {"r.usdz": make_package("../../evil.usda")}, "fix r.usdz -o out/r", 2, "leaves the package"),
    Hostile(NAMES, "metadata of a world", "a file of the user's home", "left out, error",
            {"w.yaml": f"metadata: {{locations: {OUTSIDE}/words.yaml}}\n{WORLD}"}, "world check w.yaml", 1, "lies outside"),
    Hostile(NAMES, "asset of a scene", "a model elsewhere", "refused",
            {"s.yaml": f"assets: [{{type: sdf, source: {OUTSIDE}/model.sdf}}]\n"}, "run s.yaml --frames 1", 2, "lies outside"),
    Hostile(CODE, "XML entity", "`file:///etc/passwd` by an entity", "refused",
            {"r.urdf": urdf("&x;", f"<!DOCTYPE r [<!ENTITY x SYSTEM 'file://{OUTSIDE}/passwd'>]>")}, "inspect r.urdf", 2, "entit"),
    Hostile(CODE, "xacro expression", "`__import__('os').system(...)`", "refused",
            {"r.xacro": urdf("", after="<link name='${__import__(\"os\").system(\"touch pwned\")}'/>")}, "inspect r.xacro", 2, "__import__"),
    Hostile(CODE, "YAML tag", "`!!python/object/apply:os.system`", "refused",
            {"s.yaml": "name: !!python/object/apply:os.system ['touch pwned']\n"}, "scene check s.yaml", 2, "tag"),
    Hostile(CODE, "git source of a scene", "the transport `ext::`, which runs a shell", "refused",
            {"s.yaml": "assets: [{type: mjcf, source: {git: {repo: 'ext::sh -c touch% pwned', rev: v1, path: a.xml}}}]\n"}, "scene check s.yaml", 1, "repo"),
    Hostile(CODE, "mesh by `http://`", "a download", "shape left out, error",
            {"r.urdf": urdf(shape("http://127.0.0.1:9/x.stl"))}, "convert r.urdf out/r", 1, "http"),
    Hostile(CODE, "configuration beside an asset", "every rule off", "ignored with `--untrusted`",
            {"r.usda": usda().replace("metersPerUnit = 1", "metersPerUnit = 0.01"), "simwright.toml": "[check]\nselect = ['default-prim']\n"}, "check r.usda --untrusted", 1, "units-meters"),
    Hostile(MUCH, "XML entities", "a billion laughs", "refused",
            {"r.urdf": urdf("&m;", ENTITIES)}, "inspect r.urdf", 2, "entit"),
    Hostile(MUCH, "YAML aliases", "a list of lists of lists", "refused",
            {"s.yaml": "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12))}, "scene check s.yaml", 2, ""),
    Hostile(MUCH, "nested XML", "100,000 elements deep", "refused",
            {"r.urdf": urdf("<a>" * 100_000 + "</a>" * 100_000)}, "inspect r.urdf", 2, ""),
    Hostile(MUCH, "nested JSON", "100,000 lists deep", "refused",
            {"s.json": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"}, "scene check s.json", 2, ""),
    Hostile(MUCH, "`replicate` of MJCF", "10^9 bodies", "refused",
            {"r.xml": mjcf("<replicate count='1000000000' offset='1 0 0'><body><geom size='1'/></body></replicate>")}, "inspect r.xml", 2, "mjcf-"),
    Hostile(MUCH, "`texture` of MJCF", "a gradient of 10^10 pixels", "refused",
            {"r.xml": mjcf(head="<asset><texture name='t' type='2d' builtin='gradient' width='100000' height='100000'/></asset>")}, "inspect r.xml", 2, "mjcf-pixels"),
    Hostile(MUCH, "`hfield` of MJCF", "10^10 samples", "refused",
            {"r.xml": mjcf(head="<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>")}, "inspect r.xml", 2, "height-samples"),
    Hostile(MUCH, "user data of MJCF", "10^9 numbers", "refused",
            {"r.xml": mjcf(head="<size nuserdata='1000000000'/>")}, "inspect r.xml", 2, "mjcf-numbers"),
    Hostile(MUCH, "references of USD", "nine layers that compose 10^8 prims", "refused",
            make_layers, "check r.usda", 2, "usd-prims"),
    Hostile(MUCH, "sublayers of USD", "a layer below itself", "composed without the circle, error",
            {"r.usda": usda(head="subLayers = [@b.usda@]"), "b.usda": usda(head="subLayers = [@r.usda@]")}, "check r.usda", 1, "cycle"),
    Hostile(MUCH, "PNG", "a header of 60,000 x 60,000 pixels", "texture left out, warned",
            {"r.urdf": urdf(painted("t.png")), "part.obj": MESH, "t.png": make_png(60_000, 60_000)}, "convert r.urdf out/r.sdf", 0, "3,600,000,000 pixels"),
    Hostile(MUCH, "STL", "a header of four billion triangles", "shape left out, warned",
            {"r.urdf": urdf(shape("m.stl")), "m.stl": bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(100)}, "convert r.urdf out/r", 0, "m.stl"),
    Hostile(MUCH, "PLY", "a header of a billion vertices", "shape left out, warned",
            {"r.urdf": urdf(shape("m.ply")), "m.ply": "ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n"}, "convert r.urdf out/r.xml", 0, "m.ply"),
    Hostile(MUCH, "nodes of COLLADA", "2^40 copies of a triangle", "refused",
            {"r.urdf": urdf(shape("m.dae")), "m.dae": make_collada()}, "convert r.urdf out/r", 2, "m.dae"),
    Hostile(MUCH, "scene", "10^12 worlds", "refused",
            {"s.yaml": "simulation: {num_worlds: 1000000000000}\nbodies: [{id: a, shapes: [{type: sphere, radius: 1}]}]\n"}, "run s.yaml --frames 1", 2, ""),
    Hostile(MUCH, "planner of a world", "a grid of 10^-9 m", "refused",
            {"w.yaml": WORLD + "robots:\n  - {name: a, radius: 0.1, location: hall, path_planner: {type: astar, grid_resolution: 1.0e-9, grid_inflation_radius: 0.1}}\n"}, "world plan w.yaml --to 1,1", 2, ""),
    Hostile(DAMAGED, "crate", "an offset beyond the end", "refused",
            {"r.usdc": b"PXR-USDC\0\x08\0\0\0\0\0\0" + struct.pack("<Q", 1 << 60) + bytes(100)}, "fix r.usdc -o out/r", 2, ""),
    Hostile(DAMAGED, ".usdz", "a wrong checksum", "refused",
            {"r.usdz": make_package(damage=True)}, "convert r.usdz out/flat.usda --flatten", 2, "damaged"),
    Hostile(DAMAGED, "text", "bytes that are no UTF-8", "refused",
            {"r.urdf": b"<robot name='\xff\xfe'/>"}, "inspect r.urdf", 2, ""),
    Hostile(DAMAGED, "numbers", "`nan`, `1e400`, `-inf`", "each reported, error",
            {"r.urdf": urdf("").replace("value='1'", "value='nan'").replace("ixx='1'", "ixx='1e400'")}, "convert r.urdf out/r", 1, "not a finite number"),
    Hostile(SHOWN, "name of a link", "bidirectional marks", "shown as `<U+202E>`",
            {"r.urdf": urdf("", after="<link name='a\u202eb'/>")}, "inspect r.urdf", 1, "<U+202E>"),
    Hostile(SHOWN, "name of a robot", "escape codes of a terminal", "shown as `\u241b[2J`",
            {"w.yaml": WORLD + 'robots:\n  - {name: "a\\e[2Jb", radius: 0.1, location: nowhere}\n'}, "world check w.yaml", 0, "\u241b[2J"),
)  # fmt: skip


def write(row: Hostile, folder: Path) -> Path:
    """The files of a row in ``folder/asset``, the files outside of it beside; gives the folder of the asset."""
    outside, asset = folder / "outside", folder / "asset"
    outside.mkdir(parents=True)
    asset.mkdir()
    for name, text in SECRETS.items():
        (outside / name).write_text(text)
    files = row.files() if callable(row.files) else row.files
    for name, content in files.items():
        if isinstance(content, bytes):
            (asset / name).write_bytes(content)
            continue
        text = content.replace(OUTSIDE, str(outside))
        if text.startswith("-> "):
            (asset / name).symlink_to(text[3:])
        else:
            (asset / name).write_text(text, encoding="utf-8")
    return asset
