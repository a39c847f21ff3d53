# SPDX-License-Identifier: Apache-2.0
"""What assets name: nothing outside the asset, its packages and allowed folders is read into any result."""

from __future__ import annotations

import base64
import json
import re
import struct
import zipfile
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

import simwright
from simwright.app.cli.main import run
from simwright.core.diag import Reporter, diagnostic_from_error
from simwright.core.errors import SimwrightError, UnsafePathError, UsageError
from simwright.core.gate import Gate, find_root
from simwright.core.packages import find_packages
from simwright.usd.open import open_stage

CANARY = b"canary-0f3e9b7c"
SOURCE = Path(simwright.__file__).parent
TARGETS = ("out/robot", "out/r.xml", "out/r.urdf", "out/r.sdf", "out/r.glb", "out/r.usdz")
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INERTIA = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
SDF_INERTIA = "<inertial><mass>1</mass></inertial>"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of the user with secrets beside an asset; gives the folder of the asset."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    text = PngImagePlugin.PngInfo()
    text.add_text("note", CANARY.decode())
    Image.new("RGB", (4, 4), (200, 10, 30)).save(secrets / "photo.png", pnginfo=text)
    (secrets / "passwd").write_bytes(CANARY + b":x:0:0\n")
    (secrets / "part.obj").write_bytes(b"# " + CANARY + b"\n" + MESH.encode())
    (secrets / "look.mtl").write_bytes(b"# " + CANARY + b"\nnewmtl paint\nKd 0.5 0.25 0.125\n")
    (secrets / "words.yaml").write_bytes(b"word: " + CANARY + b"\n")
    (secrets / "part.xacro").write_bytes(b"<robot><link name='" + CANARY + b"'/></robot>")
    (secrets / "include.xml").write_bytes(
        b"<mujocoinclude><custom><text name='t' data='" + CANARY + b"'/></custom></mujocoinclude>"
    )
    (secrets / "model.sdf").write_bytes(
        b"<sdf version='1.9'><model name='" + CANARY + b"'><link name='l'/></model></sdf>"
    )
    (secrets / "broken.usda").write_bytes(b"#usda 1.0\n" + CANARY + b"\n")
    (secrets / "layer.usda").write_bytes(
        b'#usda 1.0\n(defaultPrim = "A")\ndef Xform "A" {\n custom string note = "' + CANARY + b'"\n}\n'
    )
    buffer = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + CANARY
    (secrets / "data.bin").write_bytes(buffer)
    asset = tmp_path / "asset"
    asset.mkdir()
    (asset / "inside.obj").write_text(MESH)
    return asset


def urdf(body: str, head: str = "") -> str:
    return (
        f"<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>{head}<link name='base'>{INERTIA}{body}"
        "</link></robot>"
    )


def look(texture: str) -> str:
    return (
        "<visual><geometry><mesh filename='inside.obj'/></geometry><material name='m'>"
        f"<texture filename='{texture}'/></material></visual>"
    )


def shape(mesh: str) -> str:
    return f"<visual><geometry><mesh filename='{mesh}'/></geometry></visual>"


def sdf(body: str) -> str:
    return f"<sdf version='1.9'><model name='r'><link name='base'>{SDF_INERTIA}{body}</link></model></sdf>"


def sdf_look(uri: str) -> str:
    return (
        "<visual name='v'><geometry><mesh><uri>inside.obj</uri></mesh></geometry><material><pbr><metal>"
        f"<albedo_map>{uri}</albedo_map></metal></pbr></material></visual>"
    )


def mjcf(asset: str, geom: str = "", head: str = "") -> str:
    return f"<mujoco>{head}<asset>{asset}</asset><worldbody><body><geom size='1'/>{geom}</body></worldbody></mujoco>"


def usda(arcs: str = "", body: str = "", head: str = "") -> str:
    return (
        f'#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n    {head}\n)\n'
        f'def Xform "R" ({arcs})\n{{\n    def Sphere "ball" (prepend apiSchemas = ["MaterialBindingAPI"])\n    {{\n'
        "        rel material:binding = </R/look>\n    }\n"
        f"    {body}\n}}\n"
    )


def usd_look(file: str) -> str:
    return (
        'def Material "look" {\n token outputs:surface.connect = </R/look/s.outputs:surface>\n'
        ' def Shader "s" { uniform token info:id = "UsdPreviewSurface"\n'
        "  color3f inputs:diffuseColor.connect = </R/look/t.outputs:rgb>\n  token outputs:surface\n }\n"
        ' def Shader "t" { uniform token info:id = "UsdUVTexture"\n'
        f"  asset inputs:file = @{file}@\n  float3 outputs:rgb\n }}\n}}"
    )


def gltf(buffer: str, image: str) -> str:
    tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "materials": [{"name": "m", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"uri": image}],
        "buffers": [{"uri": buffer, "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
    }
    return json.dumps(tree)


DATA = (
    "data:application/octet-stream;base64,"
    + base64.b64encode(struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)).decode()
)
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_images><image id="i"><init_from>{file}</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="p"><sampler2D><source>s</source></sampler2D></newparam>
<technique sid="c"><lambert><diffuse><texture texture="p" texcoord="u"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="v"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="w"><input semantic="POSITION"
source="#v"/></vertices><triangles count="1" material="k"><input semantic="VERTEX" source="#w" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="z"><node><instance_geometry
url="#g"><bind_material><technique_common><instance_material symbol="k" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#z"/></scene>
</COLLADA>"""

CASES = {
    "urdf-texture-text": {"r.urdf": urdf(look("{way}/passwd"))},
    "urdf-texture": {"r.urdf": urdf(look("{way}/photo.png"))},
    "urdf-mesh": {"r.urdf": urdf(shape("{way}/part.obj"))},
    "urdf-mtl": {
        "r.urdf": urdf(shape("a.obj")),
        "a.obj": "mtllib {way}/look.mtl\nusemtl paint\n" + MESH,
    },
    "urdf-mtl-image": {
        "r.urdf": urdf(shape("a.obj")),
        "a.obj": "mtllib a.mtl\n" + MESH.replace("f 1 3", "usemtl paint\nf 1 3"),
        "a.mtl": "newmtl paint\nmap_Kd {way}/photo.png\n",
    },
    "urdf-dae-image": {"r.urdf": urdf(shape("a.dae")), "a.dae": DAE.replace("{file}", "{way}/photo.png")},
    "urdf-gltf-image": {"r.urdf": urdf(shape("a.gltf")), "a.gltf": gltf(DATA, "{way}/photo.png")},
    "urdf-gltf-buffer": {"r.urdf": urdf(shape("a.gltf")), "a.gltf": gltf("{way}/data.bin", "none.png")},
    "xacro-include": {"r.urdf": urdf("", "<xacro:include filename='{way}/part.xacro'/>")},
    "xacro-yaml": {
        "r.urdf": urdf(
            "", "<xacro:property name='p' value=\"${{load_yaml('{way}/words.yaml')}}\"/><link name='${{p.word}}'/>"
        ).replace("{{", "{").replace("}}", "}")
    },
    "sdf-texture": {"r.sdf": sdf(sdf_look("{way}/photo.png"))},
    "sdf-mesh": {
        "r.sdf": sdf("<visual name='v'><geometry><mesh><uri>{way}/part.obj</uri></mesh></geometry></visual>")
    },
    "sdf-include": {
        "r.sdf": "<sdf version='1.9'><world name='w'><include><uri>{way}/model.sdf</uri></include></world></sdf>"
    },
    "sdf-heights": {
        "r.sdf": sdf(
            "<visual name='v'><geometry><heightmap><uri>{way}/photo.png</uri></heightmap></geometry></visual>"
        )
    },
    "mjcf-mesh": {"r.xml": mjcf("<mesh name='m' file='{way}/part.obj'/>", "<geom type='mesh' mesh='m'/>")},
    "mjcf-meshdir": {
        "r.xml": mjcf(
            "<mesh name='m' file='part.obj'/>",
            "<geom type='mesh' mesh='m'/>",
            "<compiler meshdir='{way}'/>",
        )
    },
    "mjcf-texture": {
        "r.xml": mjcf(
            "<texture name='t' type='2d' file='{way}/photo.png'/><material name='m' texture='t'/>",
            "<geom size='1' material='m'/>",
        )
    },
    "mjcf-cube": {"r.xml": mjcf("<texture name='t' type='cube' fileup='{way}/photo.png'/>")},
    "mjcf-include": {"r.xml": mjcf("", head="<include file='{way}/include.xml'/>")},
    "mjcf-odd-include": {
        "r.xml": mjcf("<include file='odd.xml'/>", "<geom type='mesh' mesh='m'/>"),
        "odd.xml": "<odd><mesh name='m' file='{way}/part.obj'/></odd>",
    },
    "usd-reference": {"r.usda": usda("references = @{way}/layer.usda@")},
    "usd-payload": {"r.usda": usda("payload = @{way}/layer.usda@")},
    "usd-sublayer": {"r.usda": usda(head="subLayers = [@{way}/layer.usda@]")},
    "usd-broken-sublayer": {"r.usda": usda(head="subLayers = [@{way}/broken.usda@]")},
    "usd-broken-reference": {"r.usda": usda("references = @{way}/broken.usda@")},
    "usd-texture": {"r.usda": usda(body=usd_look("{way}/photo.png"))},
}  # fmt: skip
WAYS = ("relative", "absolute", "file", "link")


def plant(asset: Path, files: dict[str, str], way: str) -> Path:
    secrets = asset.parent / "secrets"
    text = {"relative": "../secrets", "absolute": str(secrets), "file": f"file://{secrets}", "link": "near"}[
        way
    ]
    if way == "link":
        (asset / "near").symlink_to(secrets)
    for name, content in files.items():
        (asset / name).write_text(content.replace("{way}", text))
    return asset / next(iter(files))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_no_byte_of_an_outside_file_is_in_any_result(case: str, way: str, home: Path, tmp_path: Path) -> None:
    source = plant(home, CASES[case], way)
    for number, target in enumerate(TARGETS):
        reporter = Reporter()
        out = tmp_path / "results" / str(number)
        try:
            simwright.convert(source, out / target, reporter=reporter)
        except SimwrightError as error:
            reporter.add(diagnostic_from_error(error))
        files = [file for file in out.rglob("*") if file.is_file()]
        leaks = [file for file in files if CANARY in file.read_bytes() or CANARY.decode() in file.name]
        assert not leaks, (target, leaks)
        assert not [found for found in reporter if CANARY.decode() in str(found)]


@pytest.mark.parametrize("case", ["usd-reference", "usd-sublayer", "usd-texture"])
def test_flattening_and_fixing_copy_nothing_from_outside(case: str, home: Path, tmp_path: Path) -> None:
    source = plant(home, CASES[case], "link")
    out = tmp_path / "out"
    simwright.convert(source, out / "flat.usda", flatten=True)
    simwright.fix(source, out / "fixed", unsafe=True)
    assert not [f for f in out.rglob("*") if f.is_file() and CANARY in f.read_bytes()]


@pytest.mark.parametrize(
    ("case", "kind", "named"),
    [
        ("urdf-texture", "texture-missing", "r.urdf"),
        ("urdf-mesh", "mesh-missing", "r.urdf"),
        ("sdf-texture", "sdf-texture-failed", "r.sdf"),
        ("usd-reference", "usd-layer-outside", "r.usda"),
        ("usd-texture", "file-outside", "r.usda"),
    ],
)
def test_a_refused_file_costs_itself_and_says_what_to_do(
    case: str, kind: str, named: str, home: Path
) -> None:
    reporter = Reporter()
    asset = simwright.load(plant(home, CASES[case], "absolute"), reporter=reporter)
    assert asset.shapes or asset.bodies
    found = [item for item in reporter if item.kind == kind]
    assert len(found) == 1
    assert "--allow-outside" in f"{found[0].message} {found[0].hint}"
    assert found[0].where.file.endswith(named)
    assert found[0].where.line or found[0].where.prim


def test_a_library_outside_is_told_with_its_line(home: Path, tmp_path: Path) -> None:
    reporter = Reporter()
    simwright.convert(
        plant(home, CASES["urdf-mtl-image"], "relative"), tmp_path / "o" / "r.sdf", reporter=reporter
    )
    found = [item for item in reporter if item.kind == "file-outside"]
    assert [(Path(item.where.file).name, item.where.line) for item in found] == [("a.mtl", 2)]


@pytest.mark.parametrize("case", ["urdf-mesh", "mjcf-mesh", "usd-reference", "sdf-include", "xacro-yaml"])
def test_the_user_can_allow_a_folder(case: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = plant(home, CASES[case], "relative")
    reporter = Reporter()
    simwright.load(source, allow_outside=[home.parent / "secrets"], reporter=reporter)
    assert not [item for item in reporter if "outside" in f"{item.kind} {item.message}"]
    assert run(["inspect", str(source), "--allow-outside", str(home.parent / "secrets")]) < 2
    assert "outside the asset" not in "".join(capsys.readouterr())
    with pytest.raises(UsageError, match="not a folder"):
        simwright.load(source, allow_outside=[home / "absent"])


def test_the_root_of_an_asset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ws" / "bot"
    (package / "urdf" / "deep").mkdir(parents=True)
    assert find_root(package / "urdf" / "deep" / "r.urdf") == package / "urdf" / "deep"
    assert find_root(package / "urdf" / "r.urdf") == package
    monkeypatch.setenv(
        "HOME", str(package)
    )  # the user's home is never taken whole for what a folder in it names
    assert find_root(package / "urdf" / "r.urdf") == package / "urdf"
    monkeypatch.setenv("HOME", str(tmp_path))
    (package / "package.xml").write_text("<package><name>bot</name></package>")
    assert find_root(package / "urdf" / "deep" / "r.urdf") == package


def test_nothing_hidden_in_the_home_belongs_to_a_file_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    gate = Gate.around(tmp_path / "r.urdf")
    assert gate.admits(tmp_path / "meshes" / "a.stl")
    assert not gate.admits(tmp_path / ".ssh" / "id")
    assert Gate.around(tmp_path / "bot" / "r.urdf").admits(tmp_path / "bot" / ".cache" / "a.stl")


def test_a_folder_beside_the_asset_is_no_package_unless_it_looks_like_one(home: Path) -> None:
    packages = find_packages(near=[home], environ={})
    gate = Gate.around(home / "r.urdf", packages)
    (home.parent / "letters").mkdir()
    (home.parent / "letters" / "a.png").write_bytes(b"x")
    assert gate.find_package("letters", near=home) is None
    with pytest.raises(UnsafePathError):
        gate.admit(home.parent / "letters" / "a.png")
    (home.parent / "letters" / "meshes").mkdir()
    assert gate.find_package("letters", near=home) is not None
    assert gate.admit(home.parent / "letters" / "a.png")


def test_packages_installed_by_links_stay_whole(tmp_path: Path) -> None:
    source, share = tmp_path / "src" / "bot", tmp_path / "install" / "share" / "bot"
    (source / "meshes").mkdir(parents=True)
    share.mkdir(parents=True)
    (source / "package.xml").write_text("<package><name>bot</name></package>")
    (source / "meshes" / "a.obj").write_text(MESH)
    for name in ("package.xml", "meshes"):
        (share / name).symlink_to(source / name)
    (tmp_path / "r.urdf").write_text(urdf(shape("package://bot/meshes/a.obj")))
    reporter = Reporter()
    asset = simwright.load(tmp_path / "r.urdf", packages={"bot": share}, reporter=reporter)
    assert len(asset.shapes) == 1
    assert not list(reporter)


def test_an_image_is_an_image_before_it_is_delivered(home: Path, tmp_path: Path) -> None:
    (home / "passwd").write_bytes(CANARY)
    source = plant(home, {"r.urdf": urdf(look("passwd"))}, "relative")
    for number, target in enumerate(TARGETS):
        reporter = Reporter()
        simwright.convert(source, tmp_path / str(number) / target, reporter=reporter)
        assert [item for item in reporter if "passwd" in item.message], target
        assert not [
            f for f in (tmp_path / str(number)).rglob("*") if f.is_file() and CANARY in f.read_bytes()
        ]


ARCS = {
    "sublayer": ("", "subLayers = [@{}@]"),
    "reference": ("prepend references = @{}@", ""),
    "payload": ("prepend payload = @{}@", ""),
}


@pytest.mark.parametrize("between", [False, True], ids=["named", "named by a new layer"])
@pytest.mark.parametrize("arc", ARCS)
def test_a_stage_that_is_held_reads_nothing_outside_when_its_files_change(
    arc: str, between: bool, home: Path
) -> None:
    """Found by case 5640 of the fuzz tests: a stage of earlier composes again whenever a layer is read again."""
    from pxr import Sdf

    def write(name: str, target: str) -> None:
        prim, head = (text.format(target) for text in ARCS[arc])
        (home / name).write_text(usda(prim, head=head))

    (home / "inside.usda").write_text(usda())
    write("part.usda", "inside.usda")
    (home / "main.usda").write_text(usda("prepend references = @part.usda@"))
    held = open_stage(home / "main.usda")
    outside = "../secrets/layer.usda"
    write("new.usda", outside)
    write("part.usda", "new.usda" if between else outside)
    reporter = Reporter()
    stage = open_stage(home / "main.usda", reporter=reporter)
    assert [item.kind for item in reporter] == ["usd-layer-outside"]
    assert Sdf.Layer.Find(str((home / outside).resolve())) is None
    for each in (held, stage):
        assert each.GetPrimAtPath("/R/ball")
        assert CANARY.decode() not in each.Flatten().ExportToString()


def test_a_stage_that_is_held_stays_as_it_is_when_its_new_files_are_refused(home: Path) -> None:
    from pxr import Sdf

    (home / "part.usda").write_text(usda())
    (home / "main.usda").write_text(usda("prepend references = @part.usda@"))
    held = open_stage(home / "main.usda")
    # a crate cut short: OpenUSD must not get to see it, and a held stage would show it to OpenUSD
    (home / "bad.usdc").write_bytes(b"PXR-USDC" + bytes(200))
    (home / "part.usda").write_text(usda("prepend references = @bad.usdc@"))
    with pytest.raises(SimwrightError, match="crate"):
        open_stage(home / "main.usda")
    assert Sdf.Layer.Find(str(home / "bad.usdc")) is None
    names = {layer.GetDisplayName() for layer in held.GetUsedLayers()}
    assert names >= {"main.usda", "part.usda"}
    assert "bad.usdc" not in names


def test_a_layer_that_became_unreadable_is_not_used_as_it_was(home: Path) -> None:
    (home / "part.usda").write_text(usda(body='def Xform "old" {}'))
    (home / "main.usda").write_text(usda("prepend references = @part.usda@"))
    held = open_stage(home / "main.usda")
    (home / "part.usda").write_text("#usda 1.0\nnothing\n")
    reporter = Reporter()
    stage = open_stage(home / "main.usda", reporter=reporter)
    assert [item.kind for item in reporter] == ["usd-layer-unreadable"]
    assert not stage.GetPrimAtPath("/R/old")
    assert held.GetPrimAtPath("/R/old")


OPENING = re.compile(
    r"\.read_bytes\(|\.read_text\(|(?<!def )(?<![\w.])open\(|\.open\(\"rb|copyfile\(|Image\.open\("
)
OPENED = {
    # the file that the user named
    "formats/table.py", "usd/guard.py", "usd/arcs.py", "usd/locate.py", "usd/complaints.py",
    # what a gate has admitted, or bytes that were read before
    "formats/mesh/load.py", "formats/mjcf/source.py", "formats/images.py", "formats/sdf/include.py",
    "formats/mjcf/writer/visuals.py", "formats/usd/writer/materials.py", "formats/gltf/textures.py",
    "sanitizer/fixes/textures.py", "formats/usd/delivery.py", "usd/archive.py", "sanitizer/workspace.py",
    # a table of our own, our own results and private copies
    "formats/dialects.py", "formats/format.py", "sanitizer/sanitize.py", "sanitizer/fixes/paths.py", "usd/edit.py",
    "usd/layers.py",
    # schema submissions, which are looked at in their own folder
    "usd/plugins.py", "usd/registry.py", "usd/submission.py", "usd/submission_example.py", "usd/submission_plugin.py",
    "usd/submission_rules.py",
}  # fmt: skip
"""Files that open files; whoever adds one says why its files are the user's, admitted, or our own."""


def test_nothing_opens_files_past_the_gate() -> None:
    found = set()
    for folder in ("formats", "usd", "sanitizer"):
        for file in (SOURCE / folder).rglob("*.py"):
            if OPENING.search(file.read_text(encoding="utf-8")):
                found.add(file.relative_to(SOURCE).as_posix())
    assert found - OPENED == set()
    assert OPENED - found == set()


def test_an_image_that_leads_out_of_a_package_is_refused(tmp_path: Path) -> None:
    """It is not found in the package, and the same path counted from the package's folder is the user's file."""
    (tmp_path / "in").mkdir()
    Image.new("RGB", (4, 4), (200, 10, 10)).save(tmp_path / "private.png")
    (tmp_path / "robot.usda").write_text(
        """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def Cube "box" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        rel material:binding = </robot/look>
    }
    def Material "look"
    {
        token outputs:surface.connect = </robot/look/surface.outputs:surface>
        def Shader "surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </robot/look/image.outputs:rgb>
            token outputs:surface
        }
        def Shader "image"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @../private.png@
            float3 outputs:rgb
        }
    }
}
"""
    )
    package = tmp_path / "in" / "robot.usdz"
    with zipfile.ZipFile(package, "w") as archive:
        archive.write(tmp_path / "robot.usda", "robot.usda")
    reporter = Reporter()
    simwright.convert(package, tmp_path / "out" / "r.urdf", reporter=reporter)
    assert [d.message for d in reporter if "private.png" in d.message and "outside" in d.message]
    assert not list((tmp_path / "out").rglob("*.png"))


def test_a_folder_that_is_admitted_admits_nothing_beside_it_and_nothing_hidden(tmp_path, monkeypatch):
    home = tmp_path / "users" / "me"
    (home / "asset" / "meshes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    gate = Gate([home / "asset"])
    # the folder itself first: what lies beside it is asked for afterwards
    assert gate.admits(home / "asset")
    assert not gate.admits(home / "secret.txt")
    assert gate.admits(home / "asset" / "meshes" / "a.stl")
    assert gate.admits(home / "asset" / "meshes" / "b.stl")
    (home / "asset" / "meshes" / "link.stl").symlink_to(home / "secret.txt")
    assert not gate.admits(home / "asset" / "meshes" / "link.stl")
    assert not gate.admits(str(home / "asset" / "meshes") + "/../../secret.txt")
    mine = Gate([home])
    assert mine.admits(home / "a.stl")
    assert not mine.admits(home / ".netrc")
    assert not mine.admits(home / ".ssh" / "id")


def test_a_link_into_the_asset_does_not_open_the_folder_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "asset").mkdir()
    (tmp_path / "beside").mkdir()
    (tmp_path / "asset" / "a.stl").touch()
    (tmp_path / "beside" / "secret.txt").touch()
    (tmp_path / "beside" / "link.stl").symlink_to(tmp_path / "asset" / "a.stl")
    gate = Gate([tmp_path / "asset"])
    assert gate.admits(tmp_path / "beside" / "link.stl")
    assert not gate.admits(tmp_path / "beside" / "secret.txt")
