"""xacro: expansion, places, packages, and closed doors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simwright
from simwright.core.errors import InputError, LimitError, NotFoundError, ParseError, UnsafePathError
from simwright.core.packages import Package, PackageMap

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def kinds(reporter: Any) -> list[str]:
    return [found.kind for found in reporter]


def robot(inside: str) -> str:
    return f"{HEAD}{inside}</robot>"


def names(asset: Any) -> list[str]:
    return [body.name for body in asset.bodies]


def test_macros_properties_arguments_and_conditions(load: Any) -> None:
    asset, reporter = load(
        robot(
            '<xacro:arg name="side" default="left"/><xacro:property name="n" value="2"/>'
            '<xacro:macro name="part" params="name size:=1"><link name="$(arg side)_${name}">'
            '<visual><geometry><sphere radius="${size * n}"/></geometry></visual></link></xacro:macro>'
            '<xacro:part name="hand"/><xacro:if value="${n > 1}">'
            '<xacro:part name="foot" size="3"/></xacro:if>'
        ),
        "r.urdf.xacro",
        {"side": "right"},
    )
    assert names(asset) == ["right_hand", "right_foot"]
    assert [s.geometry.radius for s in asset.shapes] == [2, 6]
    assert kinds(reporter) == ["urdf-several-roots"]


def test_a_urdf_file_with_xacro_in_it_is_expanded_and_one_without_is_not(load: Any) -> None:
    asset, _ = load(robot('<xacro:property name="p" value="x"/><link name="${p}"/>'))
    assert names(asset) == ["x"]
    asset, _ = load(robot('<link name="${p}"/>'))
    assert names(asset) == ["${p}"]


def test_findings_point_into_the_xacro_files(load: Any, tmp_path: Path) -> None:
    (tmp_path / "part.xacro").write_text(
        f'{HEAD}\n\n<xacro:macro name="m" params="n">\n<link name="${{n}}">\n'
        '<inertial><mass value="-1"/></inertial></link></xacro:macro></robot>'
    )
    asset, reporter = load(
        robot('\n<xacro:include filename="part.xacro"/>\n<xacro:m n="a"/><joint/>'), "r.xacro"
    )
    places = {found.kind: (Path(found.where.file).name, found.where.line) for found in reporter}
    assert places["urdf-mass-negative"] == ("part.xacro", 5)
    assert places["urdf-missing-attribute"] == ("r.xacro", 3)
    assert asset.body("a").source.line == 4


def test_find_asks_our_packages_and_eval_works(load: Any, tmp_path: Path) -> None:
    package = tmp_path / "elsewhere" / "parts"
    package.mkdir(parents=True)
    (package / "p.xacro").write_text(robot('<link name="found"/>'))
    (package / "v.yaml").write_text("size: {x: 2}\nangle: !degrees 180\nlist: [1, 2]\n")
    packages = PackageMap({"parts": Package("parts", package, "test")})
    asset, _ = load(
        robot(
            '<xacro:include filename="$(find parts)/p.xacro"/><xacro:arg name="n" default="4"/>'
            '<xacro:property name="c" value="${xacro.load_yaml(\'$(find parts)/v.yaml\')}"/>'
            "<link name=\"y${c.size.x}_${round(c['angle'], 2)}_$(eval n * 2)_${len(c.list)}\"/>"
            '<link name="$(eval n + 1)"/>'
        ),
        "r.xacro",
        packages=packages,
    )
    assert names(asset) == ["found", "y2_3.14_8_2", "5"]


def test_lazy_properties_are_seen_inside_nested_expressions(load: Any) -> None:
    asset, _ = load(
        robot(
            '<xacro:property name="b" value="${a + 1}"/><xacro:property name="a" value="2"/>'
            '<link name="${python.sum([b * i for i in range(3)])}_${list(map(lambda i: i + b, [1]))[0]}"/>'
        ),
        "r.xacro",
    )
    assert names(asset) == ["9_4"]


def test_unused_arguments_and_messages_are_reported(load: Any) -> None:
    _, reporter = load(
        robot('<link name="a"/>${xacro.warning("careful")}${xacro.message("hi")}'),
        "r.xacro",
        {"sied": "left"},
    )
    assert kinds(reporter) == ["xacro-warning", "xacro-message", "xacro-argument-unused"]
    assert "careful" in reporter.found[0].message


def test_nothing_is_printed_and_the_module_is_put_back(load: Any, capfd: Any) -> None:
    import xacro

    before = dict(vars(xacro))
    load(robot('<xacro:property name="pi" value="3"/><link name="a"/>${xacro.error("x")}'), "r.xacro")
    assert {k: v for k, v in vars(xacro).items() if before.get(k) is not v} == {}
    assert capfd.readouterr() == ("", "")


def test_one_file_does_not_change_the_next(load: Any) -> None:
    with pytest.raises(ParseError):
        load(robot('<link name="${math.update(dict(pi=3))}"/>'), "r.xacro")
    asset, _ = load(robot('<link name="${round(math.pi, 3)}"/>'), "r.xacro")
    assert names(asset) == ["3.142"]


@pytest.mark.parametrize(
    ("inside", "error", "message"),
    [
        ('<link name="${undefined_thing}"/>', ParseError, "undefined_thing"),
        ("<xacro:nothing/>", ParseError, "unknown macro"),
        ('<link name="$(arg x)"/>', ParseError, "argument"),
        ('<link name="$(find nobody)"/>', NotFoundError, "nobody"),
        ('<xacro:include filename="gone.xacro"/>', NotFoundError, "no such file"),
        ('<xacro:include filename="../../../../../../etc/passwd"/>', UnsafePathError, "outside"),
        ('<xacro:include filename="/etc/*"/>', UnsafePathError, "outside"),
        ("${xacro.load_yaml('/etc/passwd')}", UnsafePathError, "outside"),
        ("${xacro.fatal('stop')}", ParseError, "stop"),
        ("${python.vars(python.type)}", ParseError, "vars"),
        ("${[x.__class__ for x in [1]]}", ParseError, "refused"),
        ("$(eval [x.__class__ for x in [1]])", ParseError, "refused"),
        ("${(lambda: ().__class__)()}", ParseError, "refused"),
        ("${9**9**9}", LimitError, "power"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', LimitError, "nest"),
        ('<xacro:include filename="r.xacro"/>', LimitError, "includes itself"),
        ('<xacro:property name="a" value="${a}"/><link name="${a}"/>', ParseError, "circular"),
        ("<a></b>", ParseError, "not well-formed"),
    ],
)  # fmt: skip
def test_what_fails_says_why(inside: str, error: type[InputError], message: str, load: Any) -> None:
    with pytest.raises(error, match=message) as caught:
        load(robot(inside), "r.xacro")
    assert caught.value.where is not None
    assert caught.value.where.file.endswith("r.xacro")


def test_calls_left_in_an_expanded_file_are_passed_over_with_a_warning(load: Any) -> None:
    asset, reporter = load(robot('<xacro:sensors tag="none"/><link name="a"/><xacro:hand/>'), "r.urdf")
    assert names(asset) == ["a"]
    assert kinds(reporter) == ["xacro-call-left-out", "xml-unknown-element", "xml-unknown-element"]
    assert "2 call(s)" in str(reporter.found[0])
    assert "<xacro:sensors>" in str(reporter.found[0])


@pytest.mark.parametrize("inside", ['<xacro:macro name="b"/>', '<xacro:property name="b" value="1"/>'])
def test_a_file_called_urdf_that_uses_xacro_is_expanded(inside: str, load: Any) -> None:
    with pytest.raises(ParseError, match="unknown macro"):
        load(robot(f'{inside}<xacro:nothing/><link name="a"/>'), "r.urdf")


def test_an_optional_include_may_be_absent(load: Any) -> None:
    asset, _ = load(
        robot('<xacro:include filename="gone.xacro" optional="true"/><link name="a"/>'), "r.xacro"
    )
    assert names(asset) == ["a"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_every_encoding(encoding: str, load: Any, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE robot [<!ENTITY a "b">]>{robot("&a;")}'
    (tmp_path / "bomb.xacro").write_bytes(text.encode(encoding))
    with pytest.raises(ParseError, match="entit"):
        load(robot('<xacro:include filename="bomb.xacro"/>'), "r.xacro")


def test_macros_that_multiply_each_other_are_stopped(load: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("simwright.formats.urdf.expressions.MAX_STEPS", 20_000)
    levels = "".join(f'<xacro:macro name="m{i}">{f"<xacro:m{i + 1}/>" * 10}</xacro:macro>' for i in range(9))
    with pytest.raises(LimitError, match="steps"):
        load(robot(f'{levels}<xacro:macro name="m9"><link name="a"/></xacro:macro><xacro:m0/>'), "r.xacro")


def test_yaml_that_contains_itself_or_explodes_is_refused(load: Any, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("&a [*a]")
    (tmp_path / "e.yaml").write_text(
        "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 10)}]\n" for i in range(8))
    )
    for name, error in (("c.yaml", ParseError), ("e.yaml", LimitError)):
        with pytest.raises(error, match="YAML"):
            load(robot(f"${{xacro.load_yaml('{name}')}}<link name='a'/>"), "r.xacro")


def test_an_argument_without_a_value_says_how_to_give_one(tmp_path):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">\n'
        '  <link name="a"/>\n</robot>\n'
    )
    with pytest.raises(ParseError, match="the xacro argument 'name' has no value") as caught:
        simwright.load(file)
    assert "--arg name=VALUE" in str(caught.value.hint)
    assert simwright.load(file, arguments={"name": "ur"}).name == "ur"
