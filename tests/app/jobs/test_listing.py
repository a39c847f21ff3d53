"""Manifest files, folders and patterns as the items of a job."""

from __future__ import annotations

import json

import pytest

from simwright.app.jobs.listing import expand_inputs, pair_files, read_manifest
from simwright.core.errors import NotFoundError, ParseError, SimwrightError, UnknownNameError, UsageError

KINDS = {"ignore": "texts", "variants": "flag", "config": "path", "packages": "pairs"}


def test_yaml_json_and_lines_say_the_same(tmp_path):
    for name in ("a.usda", "b1.usda", "b2.usda"):
        (tmp_path / name).write_text("")
    entries = ["a.usda", {"asset": "b*.usda", "ignore": ["x"], "timeout": 3, "config": "s.toml"}]
    (tmp_path / "m.json").write_text(json.dumps(entries))
    (tmp_path / "m.yaml").write_text(
        "assets:\n- a.usda\n- {asset: 'b*.usda', ignore: [x], timeout: 3, config: s.toml}\n"
    )
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, entries)) + "\n\n")
    own = {"ignore": ["x"], "timeout": 3, "config": str(tmp_path / "s.toml")}
    expected = [
        (str(tmp_path / "a.usda"), {}),
        (str(tmp_path / "b1.usda"), own),
        (str(tmp_path / "b2.usda"), own),
    ]
    for name in ("m.json", "m.yaml", "m.jsonl"):
        assert read_manifest(tmp_path / name, KINDS) == expected


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("- {asset: a.usda, ignor: [x]}", UnknownNameError, "m.yaml:1.*did you mean 'ignore'"),
        ("- a.usda\n- {asset: a.usda, ignore: x}", ParseError, "m.yaml:2.*a list of texts"),
        ("- {asset: a.usda, timeout: 0}", ParseError, "timeout"),
        ("- {asset: a.usda, timeout: .inf}", ParseError, "timeout"),
        ("- {ignore: [x]}", ParseError, "the key 'asset'"),
        ("- 3", ParseError, "an asset is a path"),
        ("robots: [a]", UnknownNameError, "robots"),
        ("assets: 3", ParseError, "a list"),
        ("[]", UsageError, "no assets"),
        ("- 'x*.usda'", UsageError, "no file matches"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, kind, told):
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(kind, match=told):
        read_manifest(tmp_path / "m.yaml", KINDS)


@pytest.mark.parametrize("text", ["{", '"a"\n{"asset":', "\x80"])
def test_lines_that_are_no_json(tmp_path, text):
    (tmp_path / "m.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(ParseError):
        read_manifest(tmp_path / "m.jsonl", KINDS)


def test_a_manifest_that_is_not_there(tmp_path):
    for name in ("m.yaml", "m.jsonl"):
        with pytest.raises(NotFoundError):
            read_manifest(tmp_path / name, KINDS)


def test_folders_and_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("r/a.urdf", "r/in/b.urdf", "r/.hidden/c.urdf", "r/a.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    assert expand_inputs(["r", "r/a.urdf", "gone.urdf"], (".urdf",)) == [
        "r/a.urdf",
        "r/in/b.urdf",
        "gone.urdf",
    ]
    assert expand_inputs(["r/**/*.urdf"], (".urdf",)) == ["r/a.urdf", "r/in/b.urdf"]
    with pytest.raises(SimwrightError, match=r"no \.sdf file"):
        expand_inputs(["r"], (".sdf",))


def test_pairs_of_two_folders(tmp_path):
    for name in ("a/x.urdf", "a/in/y.urdf", "b/x.xml", "b/in/y.sdf"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    assert pair_files(a, b) == [(f"{a}/x.urdf", f"{b}/x.xml"), (f"{a}/in/y.urdf", f"{b}/in/y.sdf")]
    (tmp_path / "b" / "z.urdf").write_text("")
    with pytest.raises(UsageError, match=r"z is in .*b only"):
        pair_files(a, b)
