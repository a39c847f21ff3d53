"""Every way a robot file is commonly broken, in every format: what is said, about which line, with which exit code.

Exit code 2: nothing usable can be made, and nothing is written.  Exit code 1: the rest of the file is read and
converted, and the fault is listed as an error.  A fault that only loses something is a warning and leaves 0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from simwright.app.cli.main import run

BOMB = '<!DOCTYPE r [\n<!ENTITY a "aaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
MASS = '<mass value="1"/>'
SIX = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


@dataclass(frozen=True)
class Case:
    """A broken file: the name it gets, its text, the finding or the words of the refusal, its line, the exit code."""

    file: str
    text: str
    said: str
    line: int
    code: int = 1


def urdf(inside: str) -> tuple[str, str]:
    return "robot.urdf", f'<robot name="r">\n{inside}\n</robot>\n'


def xacro(inside: str) -> tuple[str, str]:
    return (
        "robot.xacro",
        f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n{inside}\n</robot>\n',
    )


def link(name: str, mass: str = MASS, inertia: str = SIX) -> str:
    return f'<link name="{name}">\n<inertial>\n{mass}\n{inertia}\n</inertial>\n</link>'


def sdf(inside: str) -> tuple[str, str]:
    return "robot.sdf", f'<sdf version="1.9">\n<model name="m">\n{inside}\n</model>\n</sdf>\n'


def mjcf(inside: str) -> tuple[str, str]:
    return "robot.xml", f"<mujoco>\n<worldbody>\n{inside}\n</worldbody>\n</mujoco>\n"


CASES = {
    # URDF
    "urdf missing mesh": Case(
        *urdf('<link name="a"><visual><geometry>\n<mesh filename="none.stl"/></geometry></visual></link>'),
        "mesh-missing", 3,
    ),
    "urdf wrong XML": Case("robot.urdf", '<robot name="r">\n<link name="a">\n</robot>\n', "not well-formed", 3, 2),
    "urdf entity bomb": Case("robot.urdf", BOMB + '<robot name="&b;"/>', "declares entities", 2, 2),
    "urdf negative mass": Case(*urdf(link("a", '<mass value="-1"/>')), "urdf-mass-negative", 4),
    "urdf indefinite inertia": Case(
        *urdf(link("a", inertia='<inertia ixx="1" iyy="1" izz="1" ixy="5" ixz="0" iyz="0"/>')),
        "urdf-inertia-indefinite", 5, 0,
    ),
    "urdf duplicate names": Case(*urdf('<link name="a"/>\n<link name="a"/>'), "urdf-duplicate-name", 3),
    "urdf joint to nowhere": Case(
        *urdf('<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/>\n<child link="b"/></joint>'),
        "urdf-joint-link", 3,
    ),
    "urdf NaN": Case(*urdf(link("a", '<mass value="nan"/>')), "xml-bad-number", 4),
    # xacro
    "xacro missing mesh": Case(
        *xacro('<link name="a"><visual><geometry>\n<mesh filename="${1}.stl"/></geometry></visual></link>'),
        "mesh-missing", 3,
    ),
    "xacro wrong XML": Case("robot.xacro", '<robot name="r">\n<link name="a">\n</robot>\n', "not well-formed", 3, 2),
    "xacro include cycle": Case(
        *xacro('<link name="a"/>\n<xacro:include filename="robot.xacro"/>'), "include", 3, 2
    ),
    "xacro entity bomb": Case("robot.xacro", BOMB + '<robot name="&b;"/>', "declares entities", 2, 2),
    "xacro negative mass": Case(*xacro(link("a", '<mass value="${1 - 3}"/>')), "urdf-mass-negative", 4),
    "xacro indefinite inertia": Case(
        *xacro(link("a", inertia='<inertia ixx="1" iyy="1" izz="1" ixy="${2 + 3}" ixz="0" iyz="0"/>')),
        "urdf-inertia-indefinite", 5, 0,
    ),
    "xacro duplicate names": Case(*xacro('<link name="${1}"/>\n<link name="1"/>'), "urdf-duplicate-name", 3),
    "xacro unknown name": Case(*xacro('\n<link name="${nobody}"/>'), "nobody", 3, 2),
    "xacro unknown macro": Case(*xacro("\n<xacro:nothing/>"), "xacro:nothing", 3, 2),
    "xacro missing include": Case(*xacro('\n<xacro:include filename="none.xacro"/>'), "none.xacro", 3, 2),
    "xacro missing package": Case(*xacro('\n<link name="$(find nobody)"/>'), "nobody", 3, 2),
    "xacro division by zero": Case(*xacro('\n<link name="${1 / 0}"/>'), "division by zero", 3, 2),
    "xacro joint to nowhere": Case(
        *xacro('<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/>\n<child link="${1}"/></joint>'),
        "urdf-joint-link", 3,
    ),
    "xacro NaN": Case(*xacro(link("a", '<mass value="${float(\'nan\')}"/>')), "xml-bad-number", 4),
    # SDFormat
    "sdf missing mesh": Case(
        *sdf('<link name="a"><visual name="v"><geometry>\n<mesh><uri>none.stl</uri></mesh></geometry></visual></link>'),
        "sdf-mesh-failed", 4,
    ),
    "sdf wrong XML": Case("robot.sdf", '<sdf version="1.9">\n<model name="m">\n</sdf>\n', "not well-formed", 3, 2),
    "sdf include cycle": Case(
        *sdf('<link name="a"/>\n<include><uri>robot.sdf</uri></include>'), "sdf-include-cycle", 4
    ),
    "sdf entity bomb": Case("robot.sdf", BOMB + '<sdf version="1.9"/>', "declares entities", 2, 2),
    "sdf negative mass": Case(
        *sdf('<link name="a">\n<inertial><mass>-1</mass></inertial></link>'), "sdf-bad-mass", 4
    ),
    "sdf indefinite inertia": Case(
        *sdf('<link name="a">\n<inertial><inertia><ixy>5</ixy></inertia></inertial></link>'),
        "sdf-bad-inertia", 4, 0,
    ),
    "sdf duplicate names": Case(*sdf('<link name="a"/>\n<link name="a"/>'), "sdf-duplicate-name", 4),
    "sdf joint to nowhere": Case(
        *sdf('<link name="a"/>\n<joint name="j" type="fixed"><parent>a</parent><child>b</child></joint>'),
        "sdf-unknown-link", 4,
    ),
    "sdf NaN": Case(*sdf('<link name="a">\n<pose>nan 0 0 0 0 0</pose></link>'), "xml-bad-number", 4),
    "sdf frame cycle": Case(
        *sdf('<frame name="f"><pose relative_to="g"/></frame>\n<frame name="g"><pose relative_to="f"/></frame>'
             '<link name="a"><pose relative_to="f"/></link>'),
        "in a circle", 3, 2,
    ),
    # MJCF
    "mjcf missing mesh": Case(
        "robot.xml", '<mujoco>\n<asset>\n<mesh name="m" file="none.stl"/></asset></mujoco>', "none.stl", 3, 2
    ),
    "mjcf wrong XML": Case("robot.xml", "<mujoco>\n<worldbody>\n</mujoco>\n", "not well-formed", 3, 2),
    "mjcf include cycle": Case("robot.xml", '<mujoco>\n<include file="robot.xml"/></mujoco>', "already included", 2, 2),
    "mjcf entity bomb": Case("robot.xml", BOMB + "<mujoco/>", "declares entities", 2, 2),
    "mjcf negative mass": Case(*mjcf('<body><freejoint/>\n<geom size="1" mass="-1"/></body>'), "negative", 4, 2),
    "mjcf indefinite inertia": Case(
        *mjcf('\n<body><freejoint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 5 0 0"/></body>'), "inertia", 4, 2
    ),
    "mjcf duplicate names": Case(
        *mjcf('<geom name="a" size="1"/>\n<geom name="a" size="1"/>'), "repeated name 'a'", 4, 2
    ),
    "mjcf joint to nowhere": Case(
        "robot.xml", '<mujoco>\n<equality>\n<joint joint1="nobody"/></equality></mujoco>', "nobody", 3, 2
    ),
    "mjcf NaN": Case(*mjcf('<geom size="nan"/>'), "nan", 3, 2),
    # OpenUSD
    "usd wrong text": Case("robot.usda", '#usda 1.0\ndef Xform "A"\n{\n  oops\n}\n', "Expected }", 4, 2),
    "usd reference cycle": Case(
        "robot.usda", '#usda 1.0\n(\n defaultPrim = "A"\n)\ndef Xform "A" (\n references = @robot.usda@</A>\n)\n{\n}\n',
        "usd-composition-error", 5,
    ),
}  # fmt: skip


def inspect(case: Case, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict], str]:
    """Exit code, findings and error line of ``simwright inspect``."""
    file = folder / case.file
    file.write_text(case.text)
    code = run(["inspect", str(file), "--format", "json"])
    out, err = capsys.readouterr()
    return code, json.loads(out)["findings"] if out else [], err


@pytest.mark.parametrize("name", CASES)
def test_inspect_names_the_fault_its_file_and_its_line(name, tmp_path, capsys):
    case = CASES[name]
    code, found, err = inspect(case, tmp_path, capsys)
    assert code == case.code, (found, err)
    if case.code == 2:
        assert case.said in err
        assert f"{case.file}:{case.line}:" in err
        assert "Traceback" not in err
        return
    places = [(f["kind"], Path(f["where"]["file"]).name, f["where"].get("line")) for f in found]
    assert (case.said, case.file, case.line) in places


@pytest.mark.parametrize("name", CASES)
def test_convert_writes_what_is_left_or_nothing(name, tmp_path, capsys):
    case = CASES[name]
    (tmp_path / case.file).write_text(case.text)
    code = run(["convert", str(tmp_path / case.file), str(tmp_path / "out")])
    out, err = capsys.readouterr()
    assert code == case.code, (out, err)
    assert (tmp_path / "out").exists() == (case.code != 2)
    assert {path.name for path in tmp_path.iterdir()} <= {case.file, "out"}
    assert case.said in (err if case.code == 2 else out)
