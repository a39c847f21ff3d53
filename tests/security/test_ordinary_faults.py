# SPDX-License-Identifier: Apache-2.0
"""Faults that are no bug: broken files, full disks and wrong calls end in one clear line, never in exit 3."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.app.cli.main import run
from simwright.core.diag import Where
from simwright.core.errors import EXIT_BAD_INPUT, EXIT_INTERNAL, ParseError, SimwrightError, UsageError
from simwright.core.limits import Tally
from simwright.formats.images import check_image

SAMPLES = Path(__file__).parents[2] / "samples" / "simwright_samples"
SCHEMAS = Path(simwright.__file__).parent / "usd" / "schemas"
ROOT = '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n{head})\ndef Xform "R" {{}}\n'


@pytest.fixture(autouse=True)
def _quiet_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def refuse(arguments: list[str], capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The command ends with exit code 2 and one line that says these words."""
    capsys.readouterr()
    code = run(arguments)
    said = capsys.readouterr()
    assert code == EXIT_BAD_INPUT, (code, said)
    assert len(said.err.strip().splitlines()) == 1, said.err
    assert "Traceback" not in said.err
    for word in words:
        assert word in said.err, said.err
    return said.err


def make_package(path: Path, *, damage: bool = True) -> Path:
    """A .usdz package; the bytes of the layer in it do not match its checksum."""
    source = path.with_suffix(".usda")
    source.write_text(ROOT.format(head=""))
    simwright.convert(source, path)
    if damage:
        data = bytearray(path.read_bytes())
        at = data.index(b"Xform") if b"Xform" in data else data.index(b"PXR-USDC") + 100
        data[at] ^= 0xFF
        path.write_bytes(data)
        with zipfile.ZipFile(path) as package:
            assert package.testzip() is not None
    return path


def test_planning_in_a_world_without_robots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = tmp_path / "world.yaml"
    world.write_text(
        "rooms:\n  - {name: hall, footprint: {type: box, dims: [4.0, 4.0]}, nav_poses: [[0.0, 0.0]]}\n"
    )
    refuse(["world", "plan", str(world), "--to", "hall"], capsys, "robot")
    refuse(
        ["world", "plan", str(world), "--from", "0,0", "--to", "1,1", "--planner", "astar"], capsys, "robot"
    )


@pytest.mark.parametrize("target", ["out/r.usdz", "out/r.usda", "out/r.usdc"])
def test_a_broken_sublayer(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.usda").write_text('#usda 1.0\ndef Xform "R" {\n  double x = = 1\n')
    (tmp_path / "r.usda").write_text(ROOT.format(head="    subLayers = [@broken.usda@]\n"))
    flags = [] if target.endswith("z") else ["--flatten"]
    code = run(["convert", str(tmp_path / "r.usda"), str(tmp_path / target), *flags])
    said = capsys.readouterr()
    assert code in (0, 1, EXIT_BAD_INPUT), said.err
    assert "broken.usda" in said.out + said.err


@pytest.mark.parametrize("name", ["schema.usda", "generatedSchema.usda", "plugInfo.json", "example.usda"])
def test_a_registry_entry_that_is_not_text(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "extension"
    shutil.copytree(SCHEMAS / "extended_physics_friction", folder)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:40] + b"\xff\xfe\x80" + data[40:])
    code = run(["registry", "validate", str(folder)])
    said = capsys.readouterr()
    assert code in (1, EXIT_BAD_INPUT), said
    assert name in said.out + said.err


@pytest.mark.parametrize(
    "flags", [["fix"], ["fix", "--in-place"], ["convert", "--flatten"], ["convert"], ["check"], ["inspect"]]
)
def test_a_package_whose_checksum_is_wrong(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = make_package(tmp_path / "r.usdz")
    arguments = [flags[0], str(package), *flags[1:]]
    if flags == ["fix"]:
        arguments += ["-o", str(tmp_path / "fixed")]
    if flags[0] == "convert":
        arguments.insert(2, str(tmp_path / ("flat.usda" if "--flatten" in flags else "other.usdz")))
    code = run(arguments)
    said = capsys.readouterr()
    assert code in (1, EXIT_BAD_INPUT), (code, said)
    assert not (tmp_path / "fixed").exists()


def test_a_reach_beyond_all_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inertial = (
        "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
    )
    links = "".join(f"<link name='l{n}'>{inertial}</link>" for n in range(4))
    joints = "".join(
        f"<joint name='j{n}' type='revolute'><parent link='l{n}'/><child link='l{n + 1}'/><origin xyz='1e16 0 0'/>"
        "<axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        for n in range(3)
    )
    robot = tmp_path / "long.urdf"
    robot.write_text(f"<robot name='long'>{links}{joints}</robot>")
    assert run(["robots", "inspect", str(robot)]) != EXIT_INTERNAL, capsys.readouterr().err


PLY = (
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
)


@pytest.mark.parametrize("target", ["r.xml", "r.sdf", "r.glb", "robot"])
@pytest.mark.parametrize("text", [PLY, PLY[:120], PLY.replace("3 0 2 1", "3 0 2 9")])
def test_a_ply_mesh(text: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "part.ply").write_text(text)
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='base'><visual><geometry><mesh filename='part.ply'/></geometry></visual>"
        "<collision><geometry><mesh filename='part.ply'/></geometry></collision></link></robot>"
    )
    code = run(["convert", str(tmp_path / "r.urdf"), str(tmp_path / "out" / target)])
    assert code != EXIT_INTERNAL, capsys.readouterr().err


@pytest.mark.parametrize("damage", ["truncated", "flipped", "header", "toc"])
@pytest.mark.parametrize("command", ["fix", "check", "flatten", "usdz"])
def test_a_corrupt_crate(
    command: str, damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pxr import Sdf

    crate = tmp_path / "r.usdc"
    layer = Sdf.Layer.CreateNew(str(crate))
    layer.ImportFromString((SAMPLES / "fourbar" / "physics.usda").read_text())
    layer.Save()
    del layer
    data = bytearray(crate.read_bytes())
    if damage == "truncated":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        for at in range(100, len(data), 37):
            data[at] ^= 0x55
    elif damage == "header":
        data[8:16] = b"\xff" * 8
    else:
        data[16:24] = (len(data) - 4).to_bytes(8, "little")
    crate.write_bytes(data)
    arguments = {
        "fix": ["fix", str(crate), "-o", str(tmp_path / "fixed")],
        "check": ["check", str(crate)],
        "flatten": ["convert", str(crate), str(tmp_path / "flat.usda"), "--flatten"],
        "usdz": ["convert", str(crate), str(tmp_path / "flat.usdz")],
    }[command]
    code = run(arguments)
    assert code in (1, EXIT_BAD_INPUT), (code, capsys.readouterr())


@pytest.mark.parametrize(
    "head",
    [
        'defaultPrim = ""',
        'defaultPrim = "/"',
        'defaultPrim = "a b"',
        'defaultPrim = "/R/"',
        'defaultPrim = "."',
        'defaultPrim = "None"',
    ],
)
def test_a_stamp_on_no_prim(head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.usda"
    file.write_text(
        f'#usda 1.0\n(\n    {head}\n    metersPerUnit = 1\n    upAxis = "Z"\n)\ndef Xform "R" {{}}\n'
    )
    before = file.read_bytes()
    code = run(["check", str(file), "--stamp", "--no-cache"])
    assert code in (0, 1, EXIT_BAD_INPUT), capsys.readouterr().err
    assert file.read_bytes() == before


FULL = """
import contextlib, io, json, resource, signal, sys
from simwright.app.cli.main import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv[1])
commands = json.loads(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
result = {}
for name, arguments in commands.items():
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        result[name] = [run(arguments), said.getvalue()]
print(json.dumps(result))
"""


def list_commands_that_write(folder: Path) -> dict[str, list[str]]:
    lab = SAMPLES / "lab" / "lab.yaml"
    usd, urdf = SAMPLES / "fourbar" / "fourbar.usda", SAMPLES / "arm" / "urdf" / "arm.urdf"
    return {
        "convert to usd": ["convert", str(urdf), str(folder / "robot")],
        "convert to usdz": ["convert", str(urdf), str(folder / "r.usdz")],
        "convert to mjcf": ["convert", str(urdf), str(folder / "r.xml")],
        "convert to glb": ["convert", str(urdf), str(folder / "r.glb")],
        "flatten": ["convert", str(usd), str(folder / "flat.usdc"), "--flatten"],
        "fix": ["fix", str(usd), "-o", str(folder / "fixed")],
        "check": ["check", str(usd)],
        "inspect": ["inspect", str(usd)],
        "diff": ["diff", str(urdf), str(usd)],
        "world build": ["world", "build", str(lab), "-o", str(folder / "lab")],
        "world render": ["world", "render", str(lab), "-o", str(folder / "lab.png")],
        "run": ["run", str(usd), "--frames", "5", "--record", str(folder / "run.npz")],
        "registry": ["registry", "validate", str(SCHEMAS / "extended_physics_friction")],
    }


@pytest.mark.parametrize("size", [0, 2000])
def test_files_that_cannot_grow(size: int, tmp_path: Path) -> None:
    """What a full disk does to every write, without one: files end at ``size`` bytes."""
    out = tmp_path / "out"
    commands = list_commands_that_write(out)
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(size), json.dumps(commands)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    codes = json.loads(done.stdout)
    assert set(codes) == set(commands)
    assert not {name: end for name, end in codes.items() if end[0] not in (0, 1, EXIT_BAD_INPUT)}
    refused = {name for name, (code, _) in codes.items() if code == EXIT_BAD_INPUT}
    assert refused >= {"convert to usd", "convert to usdz", "convert to glb", "flatten", "fix", "world build"}
    assert all("error" in codes[name][1] for name in refused)
    assert [path for path in out.rglob("*") if path.is_file()] == []


def test_wrong_inputs_of_check() -> None:
    for value in (None, [], 5, {}, [None], b"x"):
        with pytest.raises(UsageError, match="check takes"):
            simwright.check(value)


def test_wrong_coordinates_of_forward_kinematics() -> None:
    asset = simwright.load(SAMPLES / "arm" / "urdf" / "arm.urdf")
    joint = next(joint.name for joint in asset.joints if joint.dofs)
    for positions, words in (
        ({"no_such_joint": 0.0}, "no_such_joint"),
        ({joint: [0.0, 1.0]}, joint),
        ({joint: "fast"}, joint),
        ({joint: np.zeros(7)}, joint),
    ):
        with pytest.raises(SimwrightError, match=words):
            asset.forward_kinematics(positions)


MJCF = """<mujoco>
<option integrator="implicit"/>
<asset><texture name="sky" type="skybox" builtin="gradient" rgb1="1 0 0" rgb2="0 0 1" width="8" height="8"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="1 1 0.5" friction="0.5 0.1 0.1"/>
  <body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/><joint name="k" type="slide"/>
    <geom name="g" type="ellipsoid" size="0.1 0.2 0.3" rgba="1 0 0 1"/><site name="s"/></body>
</worldbody>
<contact><pair name="p" geom1="floor" geom2="g" condim="3" friction="1 1 0.1 0.1 0.1"/></contact>
<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed></tendon>
<equality><tendon name="e" tendon1="t"/><joint name="f" joint1="j" joint2="k"/><weld name="w" body1="b"/></equality>
<actuator><motor name="m" joint="j"/></actuator>
<sensor><framepos name="f" objtype="site" objname="s"/></sensor>
</mujoco>"""
WRONG = (
    ("string[]", '["a", ";-)"]'), ("string", '"x"'), ("double[]", "[nan, inf]"), ("double", "nan"), ("double[]", "[]"),
    ("bool", "true"), ("double[]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"),
)  # fmt: skip


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A robot that was read from MJCF, as one text layer."""
    folder = tmp_path_factory.mktemp("flat")
    (folder / "r.xml").write_text(MJCF)
    whole = simwright.convert(folder / "r.xml", folder / "robot")
    return simwright.convert(whole, folder / "flat.usda", flatten=True).read_text()


@pytest.mark.parametrize(("kind", "value"), WRONG)
@pytest.mark.parametrize(
    "name",
    [
        "mjc:equality:order", "mjc:friction", "mjc:grid", "mjc:option:integrator", "mjc:pair:condim",
        "mjc:pair:friction", "mjc:path:indices", "mjc:texture:sky:rgb1", "mjc:sensor:setting:object_type",
        "primvars:displayColor", "radii",
    ],
)  # fmt: skip
def test_values_of_a_wrong_type_are_left_out(
    name: str, kind: str, value: str, flat: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = re.compile(rf"\S+ {name} = .*")
    assert said.search(flat)
    (tmp_path / "r.usda").write_text(said.sub(f"{kind} {name} = {value}", flat))
    assert run(["convert", "r.usda", "out/r.xml"]) in (0, 1, 2), capsys.readouterr().err


def test_an_op_order_of_an_unknown_type_breaks_no_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found by case 4706 of the fuzz tests."""
    shutil.copytree(SAMPLES.parents[1] / "tests" / "fuzz" / "files" / "tiny", tmp_path / "tiny")
    file = tmp_path / "tiny" / "main.usda"
    file.write_text(file.read_text().replace("token[] xformOpOrder", "note[] xformOpOrder"))
    run(["check", str(file), "--no-cache"])
    assert "check-rule-crashed" not in capsys.readouterr().out


def test_a_png_without_pixels_is_no_image() -> None:
    """Found by case 1008905 of the fuzz tests."""
    parts = ((b"IHDR", struct.pack(">2I5B", 2, 2, 8, 0, 0, 0, 0)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    with pytest.raises(ParseError, match="not an image"):
        check_image(content, Where("skin.png"), Tally())
