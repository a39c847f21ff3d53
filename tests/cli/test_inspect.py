"""``simwright inspect`` on every sample: text, JSON by its schema, and clear answers to hostile input."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from simwright.app.cli.main import run

SAMPLES = [
    "arm/urdf/arm.urdf.xacro",
    "arm/urdf/arm.urdf",
    "rover/model.sdf",
    "quadruped/quadruped.xml",
    "fourbar/fourbar.usda",
    "rack/rack.usda",
    "box/box.usda",
    "warehouse/warehouse.usda",
    "warehouse/warehouse.sdf",
]
SCHEMA = Path(__file__).parents[2] / "src/simwright/app/schemas/inspect.v1.schema.json"


@pytest.mark.parametrize("name", SAMPLES)
def test_text(name, samples, capsys):
    assert run(["inspect", str(samples / name)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert " kg" in out
    assert "DOF" in out


@pytest.mark.parametrize("name", SAMPLES)
def test_json_follows_its_schema(name, samples, capsys):
    assert run(["inspect", str(samples / name), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert data["summary"]["bodies"] == len(data["bodies"])
    assert [f for f in data["findings"] if f["level"] == "error"] == []


def test_expanded_urdf_and_its_xacro_are_the_same_robot(samples, capsys):
    shown = []
    for name in ("arm/urdf/arm.urdf.xacro", "arm/urdf/arm.urdf"):
        run(["inspect", str(samples / name), "--format", "json"])
        data = json.loads(capsys.readouterr().out)
        shown.append([(b["name"], b["pose"], b["inertial"]) for b in data["bodies"]] + [data["summary"]])
    assert shown[0] == shown[1]


def test_xacro_argument(samples, capsys):
    file = str(samples / "arm/urdf/arm.urdf.xacro")
    run(["inspect", file, "--arg", "gripper=false", "--format", "json"])
    names = {b["name"] for b in json.loads(capsys.readouterr().out)["bodies"]}
    assert "tool0" in names
    assert "left_finger" not in names


def test_variant(samples, capsys):
    file = str(samples / "box/box.usda")
    assert run(["inspect", file, "--variant", "collision_fidelity=advanced"]) == 0
    assert "mesh collision" in capsys.readouterr().out
    assert run(["inspect", file, "--variant", "collision_fidelity=nonsense"]) == 2
    assert "advanced" in capsys.readouterr().err


def test_depth_cuts_the_tree(samples, capsys):
    run(["inspect", str(samples / "arm/urdf/arm.urdf"), "--depth", "2"])
    out = capsys.readouterr().out
    assert "shoulder_link" in out
    assert "upper_arm_link" not in out
    assert "deeper than --depth 2" in out


def test_findings_make_exit_code_1_and_strict_2(tmp_path, capsys):
    file = tmp_path / "bad.urdf"
    file.write_text(
        '<robot name="x">\n<link name="a">\n<inertial><mass value="-1"/></inertial>\n</link>\n</robot>\n'
    )
    assert run(["inspect", str(file)]) == 1
    assert "bad.urdf:3" in capsys.readouterr().out
    assert run(["inspect", str(file), "--strict"]) == 2
    assert "strict mode" in capsys.readouterr().err


def test_notes_are_shown_on_request(samples, capsys):
    file = str(samples / "warehouse/warehouse.sdf")
    assert run(["inspect", file]) == 0
    out = capsys.readouterr().out
    assert "info[" not in out
    assert "not shown (--notes shows them)" in out
    assert run(["inspect", file, "--notes"]) == 0
    assert "info[" in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--arg", "x"], ["--variant", "=y"]])
def test_wrong_pairs(option, samples, capsys):
    assert run(["inspect", str(samples / "arm/urdf/arm.urdf"), *option]) == 2
    assert "NAME=VALUE" in capsys.readouterr().err


# -- hostile input: one line, exit code 2, no traceback, whatever the format


def nested(start: str, opening: str, closing: str, end: str) -> bytes:
    return (start + opening * 10_000 + closing * 10_000 + end).encode()


DEEP = {
    "urdf": nested('<robot name="x">', '<link name="a">', "</link>", "</robot>"),
    "xacro": nested('<robot name="x">', '<link name="a">', "</link>", "</robot>"),
    "sdf": nested('<sdf version="1.9">', '<model name="a">', "</model>", "</sdf>"),
    "xml": nested("<mujoco><worldbody>", "<body>", "</body>", "</worldbody></mujoco>"),
    "usda": nested("#usda 1.0\n", 'def Xform "a"\n{\n', "}\n", ""),
}
WHOLE = {
    "urdf": "arm/urdf/arm.urdf",
    "xacro": "arm/urdf/arm.urdf.xacro",
    "sdf": "rover/model.sdf",
    "xml": "quadruped/quadruped.xml",
    "usda": "fourbar/fourbar.usda",
    "usdc": "fourbar/geometries.usdc",
}


def hostile(samples: Path, kind: str, extension: str) -> bytes:
    if kind == "deep":
        return DEEP[extension]
    if kind == "empty":
        return b""
    if kind == "garbage":
        return random.Random(extension).randbytes(100_000)
    whole = (samples / WHOLE[extension]).read_bytes()
    return whole[: len(whole) // 2]


CASES = [("deep", e) for e in DEEP] + [(k, e) for k in ("empty", "garbage", "truncated") for e in WHOLE]


INSPECT = """
import os, sys
from simwright.app.cli.main import run
for file in sys.argv[1:]:
    for stream, ending in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{file}.{ending}", os.O_WRONLY | os.O_CREAT), stream)
    os.chdir(os.path.dirname(file))
    code = run(["inspect", file])
    sys.stdout.flush(), sys.stderr.flush()
    with open(f"{file}.code", "w") as stream:
        stream.write(str(code))
"""


@pytest.fixture(scope="module")
def hostile_files(tmp_path_factory):
    """Every hostile file in a folder of its own, inspected; what was printed and the exit code stand beside it.

    In another process: a crash of a C++ parser must fail one test, not end all of them.
    """
    samples = Path(__file__).parents[2] / "samples" / "simwright_samples"
    files = {}
    for kind, extension in CASES:
        file = tmp_path_factory.mktemp(kind) / f"robot.{extension}"
        file.write_bytes(hostile(samples, kind, extension))
        files[kind, extension] = file
    left = list(files.values())
    while left:
        subprocess.run([sys.executable, "-c", INSPECT, *map(str, left)], check=False, timeout=120)
        done = sum(Path(f"{file}.code").exists() for file in left)
        left = left[done + 1 :]  # the one that it crashed at has no exit code
    return files


@pytest.mark.parametrize(("kind", "extension"), CASES)
def test_hostile_input_gets_one_clear_line(kind, extension, hostile_files):
    file = hostile_files[kind, extension]
    out, err, code = (Path(f"{file}.{ending}") for ending in ("out", "err", "code"))
    assert code.exists(), f"crashed: {err.read_text()}"
    said = err.read_text()
    assert code.read_text() == "2", said
    assert out.read_text() == ""
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert file.name in said
    assert {p.name for p in file.parent.iterdir()} == {p.name for p in (file, out, err, code)}


def test_hostile_input_in_a_process_of_its_own(samples, tmp_path):
    file = tmp_path / "robot.usdc"
    file.write_bytes(hostile(samples, "truncated", "usdc"))
    result = subprocess.run(
        [sys.executable, "-m", "simwright", "inspect", str(file)],
        capture_output=True, check=False, text=True, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("extension", ["urdf", "xacro", "sdf", "xml"])
def test_200_megabytes_of_xml_are_refused_unread(extension, tmp_path, capsys):
    file = tmp_path / f"robot.{extension}"
    with file.open("wb") as stream:
        stream.write(DEEP[extension][:40])
        stream.truncate(200 << 20)
    assert run(["inspect", str(file)]) == 2
    assert "the limit for this format is 64 MiB" in capsys.readouterr().err
