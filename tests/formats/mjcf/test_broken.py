"""Broken and hostile input: one clear error with a place, nothing printed, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import InputError, LimitError, NotFoundError, ParseError, SimwrightError
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.read import read

MUJOCO = tuple(int(part) for part in mujoco.__version__.split(".")[:2])


def world(inside: str) -> str:
    return f"<mujoco>\n<worldbody>\n{inside}\n</worldbody>\n</mujoco>"


REFUSED = {
    "bad number": (world('<geom size="big"/>'), 3, "bad format in attribute 'size'"),
    "unknown element": (world("<widget/>"), 3, "unrecognized element <widget>"),
    "unknown attribute": (world('<geom size="1" colour="red"/>'), 3, "unrecognized attribute: 'colour'"),
    "duplicate name": (world('<geom name="a" size="1"/>\n<geom name="a" size="1"/>'), 4, "repeated name 'a'"),
    "negative mass": (world('<body><freejoint/>\n<geom size="1" mass="-1"/></body>'), 4, "negative"),
    "no mass": (world("<body>\n<freejoint/></body>"), 3, "mass and inertia of moving bodies"),
    "bad inertia": (
        world('<body><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 9"/></body>'),
        3,
        "A + B >= C",
    ),
    "unknown target": (
        '<mujoco>\n<actuator>\n<motor joint="nobody"/></actuator></mujoco>',
        3,
        "unknown transmission target 'nobody'",
    ),
    "not a number": (world('<geom size="nan"/>'), 3, "nan size"),
    "absurd mass": (world('<body>\n<geom name="g" size="1" mass="1e300"/></body>'), 3, "beyond every use"),
    "absurd size": (world('<geom name="g" size="1e99"/>'), 3, "the size of geom 'g'"),
    "NaN in a height field": (
        '<mujoco>\n<asset>\n<hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 0 0 nan"/></asset></mujoco>',
        3,
        "hfield 'h' has numbers",
    ),
    "include without file": ("<mujoco>\n<include/></mujoco>", 2, "<include> has no file"),
    "missing include": ('<mujoco>\n\n<include file="none.xml"/></mujoco>', 3, "'none.xml' does not exist"),
    "include cycle": ('<mujoco>\n<include file="model.xml"/></mujoco>', 2, "already included"),
    "missing model": ('<mujoco>\n<asset>\n<model file="none.xml"/></asset></mujoco>', 3, "does not exist"),
    "model cycle": ('<mujoco>\n<asset>\n<model file="model.xml"/></asset></mujoco>', 3, "attaches itself"),
    "nested too deep": (world("<body>" * 10_000 + "</body>" * 10_000), 3, "nested more than"),
    "not well-formed": ("<mujoco>\n<worldbody>\n</mujoco>", 3, "not well-formed"),
    "entities": ('<!DOCTYPE a [\n<!ENTITY x "y">]>\n<mujoco/>', 2, "declares entities"),
    "another root": ('<robot name="r">\n</robot>', 1, "<robot>, not <mujoco>"),
    "garbage": ("\x01\x02 hello", 1, "not an XML file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_have_a_line(case, read_text, capfd, tmp_path):
    text, line, message = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read_text(text)
    assert message in caught.value.message
    assert caught.value.where.file == str(tmp_path / "model.xml")
    if case != "no mass" or MUJOCO >= (3, 14):  # older ones do not say which body
        assert caught.value.where.line == line
    assert capfd.readouterr() == ("", "")


def test_an_empty_file(read_text):
    with pytest.raises(InputError, match="empty"):
        read_text("")


def test_no_file(tmp_path: Path):
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.xml", ReadOptions(), Reporter())


def test_a_fragment_says_so(read_text):
    with pytest.raises(ParseError, match="cannot be read alone"):
        read_text("<mujocoinclude/>")


def test_every_missing_file_is_reported_before_mujoco_sees_it(read_text, reporter):
    with pytest.raises(NotFoundError, match="3 files") as caught:
        read_text(
            '<mujoco>\n<compiler meshdir="meshes"/>\n<asset>\n<mesh file="a.stl"/>\n'
            '<texture type="2d" file="b.png"/>\n<hfield file="c.png" size="1 1 1 1"/></asset></mujoco>'
        )
    assert [(d.kind, d.where.line) for d in reporter] == [("mjcf-file-missing", n) for n in (4, 5, 6)]
    assert "'a.stl'" in reporter.found[0].message
    assert "meshes" in reporter.found[0].hint
    assert caught.value.where.line == 4


def test_a_missing_mesh_of_an_attached_model(read_text, reporter):
    with pytest.raises(NotFoundError):
        read_text(
            '<mujoco><asset><model file="arm.xml"/></asset></mujoco>',
            arm__xml='<mujoco>\n<asset>\n<mesh file="a.stl"/></asset></mujoco>',
        )
    assert reporter.found[0].where.file.endswith("arm.xml")
    assert reporter.found[0].where.line == 3


def test_a_broken_mesh_file(read_text):
    with pytest.raises(ParseError) as caught:
        read_text('<mujoco>\n<asset>\n<mesh file="a.stl"/></asset></mujoco>', a__stl="not a mesh")
    assert caught.value.where.line == 3


def test_a_longer_include_cycle(read_text):
    with pytest.raises(ParseError, match="already included") as caught:
        read_text(
            '<mujoco><include file="one.xml"/></mujoco>',
            one__xml='<mujoco>\n<include file="two.xml"/></mujoco>',
            two__xml='<mujoco>\n\n<include file="one.xml"/></mujoco>',
        )
    assert (Path(caught.value.where.file).name, caught.value.where.line) == ("two.xml", 3)


@pytest.mark.parametrize(
    "inside",
    [
        '<geom name="bad" size="1" material="none"/>',
        '<geom size="huge"/>',
        '<geom size="1" colour="red"/>',
        "<widget/>",
    ],
)
def test_errors_in_included_files_name_them(inside, read_text):
    with pytest.raises(ParseError) as caught:
        read_text(
            '<mujoco><include file="part.xml"/></mujoco>',
            part__xml=f'<mujoco>\n<worldbody>\n<geom size="1"/>\n{inside}</worldbody></mujoco>',
        )
    assert Path(caught.value.where.file).name == "part.xml"
    assert caught.value.where.line == 4


@pytest.mark.parametrize(
    "text",
    [
        world('<replicate count="1000000000"><geom size="1"/></replicate>'),
        world('<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>'),
        world('<flexcomp name="f" type="grid" count="9999 9999 9999" spacing="1 1 1"/>'),
        '<mujoco>\n<size memory="9999T"/></mujoco>',
        '<mujoco>\n<asset>\n<mesh name="m" builtin="supersphere" params="99999 1 1"/></asset></mujoco>',
        '<mujoco>\n<asset>\n<hfield name="h" nrow="99999" ncol="99999" size="1 1 1 1"/></asset></mujoco>',
        '<mujoco>\n<asset>\n<texture name="t" builtin="flat" width="99999" height="99999"/></asset></mujoco>',
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_allocated(text, read_text):
    with pytest.raises(LimitError) as caught:
        read_text(text)
    assert caught.value.where.line in (2, 3)


def test_copies_multiply_through_includes(read_text):
    with pytest.raises(LimitError):
        read_text(
            world('<replicate count="1000"><include file="part.xml"/></replicate>'),
            part__xml='<mujoco><replicate count="1000"><geom size="1"/></replicate></mujoco>',
        )


def test_mujoco_warnings_are_findings_and_the_hook_is_put_back(read_text, reporter, capfd):
    seen: list[str] = []
    mujoco.set_mju_user_warning(seen.append)
    try:
        with pytest.raises(SimwrightError):
            read_text(world('<geom size="nan"/>'))
        hook = mujoco.get_mju_user_warning()
        read_text('<mujoco><size nuser_site="1"/><worldbody><site user="nan"/></worldbody></mujoco>')
        assert hook is not None
        hook("still mine")
    finally:
        mujoco.set_mju_user_warning(None)
    assert seen == ["still mine"]
    assert [d.kind for d in reporter] == ["mjcf-mujoco-warning"]
    assert capfd.readouterr() == ("", "")


def test_errors_in_attached_models_name_them(read_text):
    with pytest.raises(ParseError) as caught:
        read_text(
            '<mujoco>\n<asset><model name="arm" file="arm.xml"/></asset>\n<worldbody>\n<geom size="1"/>'
            '<attach model="arm" body="a" prefix="p_"/></worldbody></mujoco>',
            arm__xml='<mujoco>\n<worldbody>\n<body name="a">\n<geom size="huge"/></body>'
            "</worldbody></mujoco>",
        )
    assert Path(caught.value.where.file).name == "arm.xml"
    assert caught.value.where.line == 4


def test_python_warnings_of_mujoco_are_findings(read_text, reporter):
    if MUJOCO < (4, 0):
        pytest.skip("this MuJoCo does not warn about a limp flex")
    read_text(world('<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1"/>'))
    warning = next(d for d in reporter if d.kind == "mjcf-mujoco-warning")
    assert "flex 'f' is not rigid" in warning.message
    assert warning.where.line == 3


def test_attachments_that_multiply_are_refused(tmp_path: Path):
    (tmp_path / "m0.xml").write_text(world('<body name="b">' + '<geom size="1"/>' * 100 + "</body>"))
    for level in range(1, 5):
        attach = "".join(f'<attach model="m" body="b" prefix="p{i}_"/>' for i in range(20))
        (tmp_path / f"m{level}.xml").write_text(
            f'<mujoco>\n<asset><model name="m" file="m{level - 1}.xml"/></asset>'
            f'<worldbody><body name="b">{attach}</body></worldbody></mujoco>'
        )
    with pytest.raises(LimitError, match="elements"):
        read(tmp_path / "m4.xml", ReadOptions(), Reporter())
