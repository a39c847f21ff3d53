# SPDX-License-Identifier: Apache-2.0
"""Small files that stand for more than a machine holds are refused before anything of that size is made."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest

import simwright
from simwright.app.cli.main import run
from simwright.core.diag import Reporter
from simwright.core.errors import LimitError, UnknownNameError, UsageError
from simwright.core.limits import BUDGETS, VARIABLE, Tally, get_limit, set_limits


def write_png(file: Path, width: int, height: int) -> None:
    """A grey image whose header is all there is to it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""))


def world(body: str, head: str = "") -> str:
    return f"<mujoco>{head}<worldbody><body><joint/><geom size='1'/>{body}</body></worldbody></mujoco>"


TEXTURES = "".join(
    f"<texture name='t{n}' type='2d' builtin='flat' width='4096' height='4096'/>" for n in range(9)
)
CUBES = "".join(
    f"<texture name='t{n}' type='cube' builtin='flat' width='2048' height='2048'/>" for n in range(6)
)
FIELDS = "".join(f"<hfield name='h{n}' nrow='4000' ncol='4000' size='1 1 1 1'/>" for n in range(3))
MODELS = {
    "textures": ("mjcf-pixels", f"<mujoco><asset>{TEXTURES}</asset></mujoco>"),
    "cubes": ("mjcf-pixels", f"<mujoco><asset>{CUBES}</asset></mujoco>"),
    "images": ("mjcf-pixels", "<mujoco><asset><texture name='t' type='2d' file='big.png'/></asset></mujoco>"),
    "height fields": ("height-samples", f"<mujoco><asset>{FIELDS}</asset></mujoco>"),
    "height image": (
        "height-samples",
        "<mujoco><asset><hfield name='h' file='big.png' size='1 1 1 1'/></asset></mujoco>",
    ),
    "replicates": ("mjcf-copies", world("<replicate count='2000'><geom size='1'/></replicate>" * 4)),
    "keyframes": (
        "mjcf-numbers",
        world("<body><joint/><geom size='1'/></body>" * 1000, "<size nkey='9999'/>"),
    ),
    "user data": (
        "mjcf-numbers",
        world("<body><joint/><geom size='1'/></body>" * 1000, "<size nuser_geom='99999'/>"),
    ),
    "custom fields": (
        "mjcf-numbers",
        world("", "<custom><numeric name='n' size='400000000' data='1'/></custom>"),
    ),
    "user sensors": ("mjcf-numbers", world("", "<sensor><user name='s' dim='400000000'/></sensor>")),
}


@pytest.mark.parametrize("case", MODELS)
def test_totals_of_a_mujoco_model(case: str, tmp_path: Path) -> None:
    name, text = MODELS[case]
    write_png(tmp_path / "big.png", 30000, 30000)
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(LimitError, match="the limit is") as caught:
        simwright.load(tmp_path / "r.xml")
    assert f"--limit {name}=" in caught.value.hint
    assert caught.value.where is not None


def write_layers(folder: Path, levels: int, references: int) -> Path:
    for level in range(levels):
        arcs = "".join(
            f'    def Xform "c{n}" (references = @./l{level + 1}.usda@)\n    {{\n    }}\n'
            for n in range(references)
        )
        inside = arcs if level + 1 < levels else '    def Xform "x"\n    {\n    }\n'
        text = f'#usda 1.0\n(\n    defaultPrim = "R"\n)\ndef Xform "R"\n{{\n{inside}}}\n'
        (folder / f"l{level}.usda").write_text(text)
    return folder / "l0.usda"


def test_nine_layers_of_ten_references(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match=r"211,111,111 prims .*limit is 2,000,000"):
        simwright.load(write_layers(tmp_path, 9, 10))
    assert simwright.load(write_layers(tmp_path, 3, 10)) is not None


@pytest.mark.parametrize(
    "arc", ["references = <{}>", "inherits = <{}>", "specializes = <{}>", "payload = <{}>"]
)
def test_prims_that_bring_each_other_inside_a_layer(arc: str, tmp_path: Path) -> None:
    prims = [
        f'def Xform "p{n}"\n{{\n'
        + "".join(f'  def Xform "c{k}" ({arc.format(f"/p{n + 1}")})\n  {{\n  }}\n' for k in range(10))
        + "}\n"
        for n in range(9)
    ]
    (tmp_path / "r.usda").write_text("#usda 1.0\n" + "".join(prims) + 'def Xform "p9"\n{\n}\n')
    with pytest.raises(LimitError, match="prims of a stage"):
        simwright.load(tmp_path / "r.usda")


def test_sublayers_that_meet_again_and_again(tmp_path: Path) -> None:
    for level in range(30):
        for side in "ab":
            below = f"subLayers = [@./a{level + 1}.usda@, @./b{level + 1}.usda@]" if level < 29 else ""
            (tmp_path / f"{side}{level}.usda").write_text(f"#usda 1.0\n(\n    {below}\n)\n")
    with pytest.raises(LimitError, match="layers of a stage"):
        simwright.load(tmp_path / "a0.usda")


def test_circles_are_left_to_openusd(tmp_path: Path) -> None:
    (tmp_path / "r.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Xform "A" (references = @./r.usda@)\n{\n}\n'
    )
    reporter = Reporter()
    simwright.load(tmp_path / "r.usda", reporter=reporter)
    assert [item for item in reporter if item.kind == "usd-composition-error"]


def test_instances_of_a_mesh_file_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "mesh-elements=1000")
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    (tmp_path / "a.bin").write_bytes(points)
    tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": list(range(500))}],
        "nodes": [{"mesh": 0}] * 500,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": "a.bin", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
    }
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='l'><visual><geometry><mesh filename='a.gltf'/></geometry></visual></link></robot>"
    )
    asset = simwright.load(tmp_path / "r.urdf")
    with pytest.raises(LimitError, match="--limit mesh-elements"):
        _ = asset.shapes[0].geometry.data  # type: ignore[union-attr]


@pytest.mark.parametrize("target", ["o/r.urdf", "o/r.sdf", "o/r.xml", "o/r.glb", "o/robot"])
def test_images_that_are_small_only_as_files(target: str, tmp_path: Path) -> None:
    write_png(tmp_path / "big.png", 60000, 60000)
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='l'><visual><geometry><box size='1 1 1'/></geometry><material name='m'>"
        "<texture filename='big.png'/></material></visual></link></robot>"
    )
    reporter = Reporter()
    simwright.convert(tmp_path / "r.urdf", tmp_path / target, reporter=reporter)
    assert [item for item in reporter if "big.png" in item.message]
    assert not list((tmp_path / "o").rglob("*.png"))


def test_an_elevation_model_has_a_limit(tmp_path: Path) -> None:
    write_png(tmp_path / "big.png", 30000, 30000)
    (tmp_path / "r.sdf").write_text(
        "<sdf version='1.9'><model name='r'><link name='l'><collision name='c'><geometry><heightmap><uri>big.png</uri>"
        "</heightmap></geometry></collision></link></model></sdf>"
    )
    reporter = Reporter()
    simwright.load(tmp_path / "r.sdf", reporter=reporter)
    assert [item for item in reporter if "900,000,000 samples" in item.message]


def test_limits_are_raised_and_put_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.xml"
    file.write_text(world("<replicate count='30'><geom size='1'/></replicate>"))
    assert run(["inspect", str(file), "--limit", "mjcf-copies=10"]) == 2
    assert "--limit mjcf-copies=30" in capsys.readouterr().err
    assert run(["inspect", str(file), "--limit", "mjcf-copies=30"]) == 0
    assert get_limit("mjcf-copies") == BUDGETS["mjcf-copies"].default


def test_limits_are_names_and_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(UnknownNameError, match="usd-prim"):
        set_limits(["usd-prim=3"])
    for text in ("usd-prims", "usd-prims=-1", "usd-prims=1e9"):
        with pytest.raises(UsageError, match="NAME=VALUE"):
            set_limits([text])
    set_limits(["usd-prims=7", "usd-layers=3"])
    set_limits(["usd-prims=9_000"])
    assert (get_limit("usd-prims"), get_limit("usd-layers")) == (9000, 3)
    tally = Tally()
    tally.add("usd-layers", 2)
    with pytest.raises(LimitError, match="4 layers"):
        tally.add("usd-layers", 2)
