"""What formats say they can hold: complete, true, and what is not held is reported."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simwright.core.diag import Diagnostic, Level, Reporter
from simwright.formats import table as formats
from simwright.formats.format import Format, WriteOptions
from simwright.formats.holds import CONDITIONS, Held, Holding, find_holding
from simwright.formats.table import FORMATS, read_asset, write_asset
from simwright.formats.vocabulary import BOOKKEEPING, FAMILIES, REFERENCES
from simwright.model import asset as model
from simwright.model import geometry
from simwright.model.asset import Asset

from .examples import CHOICES, find_value, is_same, list_examples, make_example, make_machine

TARGETS = {"urdf": "m.urdf", "sdf": "m.sdf", "mjcf": "m.xml", "usd": "m.usda", "gltf": "m.gltf"}
KEYS = [key for f in FAMILIES.values() for key in (f.key, *(aspect.key for aspect in f.aspects))]


# --- the vocabulary ---


def _list_types(hint: Any) -> Iterator[type]:
    """The dataclasses in an annotation."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from _list_types(part)


def _list_fields(cls: type, key: str, seen: tuple[type, ...] = ()) -> Iterator[str]:
    """The keys of all fields of a dataclass, and of those inside it unless a row speaks of them as a whole."""
    hints = typing.get_type_hints(cls, localns=vars(model))
    for field in dataclasses.fields(cls):
        name = f"{key}.{field.name}" if key else field.name
        inner = [kind for kind in _list_types(hints[field.name]) if kind not in seen]
        below = [row for row in KEYS if row.startswith(f"{name}.")]
        if inner and below and name != "shapes.geometry":
            for kind in inner:
                yield from _list_fields(kind, name, (*seen, cls))
        else:
            yield name


def _is_known(key: str) -> bool:
    field = key.rpartition(".")[2]
    family = FAMILIES.get(key.partition(".")[0])
    whole = family is not None and not family.aspects
    return key in KEYS or field in BOOKKEEPING or field in REFERENCES or whole


def test_every_field_of_the_model_has_a_key():
    forgotten = [key for key in _list_fields(Asset, "") if not _is_known(key)]
    assert forgotten == []
    stored = {
        "vertices",
        "indices",
        "counts",
        "left_handed",
        "uv_name",
    }  # how faces are kept, not what they are
    arrays = {field.name for field in dataclasses.fields(geometry.MeshData)} - stored
    assert {key.rpartition(".")[2] for key in KEYS if key.startswith("shapes.geometry.data.")} == arrays


def test_a_new_field_is_noticed():
    @dataclasses.dataclass
    class Grown(model.Site):
        glow: float = 0.0

    assert [key for key in _list_fields(Grown, "sites") if not _is_known(key)] == ["sites.glow"]


def test_every_list_of_the_asset_is_a_family():
    assert set(model.ELEMENT_LISTS) <= set(FAMILIES)


def test_every_key_has_an_example():
    assert {key for key, _ in list_examples()} == set(KEYS)


@pytest.mark.parametrize("name", TARGETS)
def test_tables_name_keys_and_conditions_that_exist(name: str):
    rows = FORMATS.get(name).load_table()
    assert set(rows) <= set(KEYS)
    for key, row in rows.items():
        assert not row.where or row.where in CONDITIONS
        assert set(row.only) <= set(CHOICES.get(key, row.only)) or key in ("sensors.kind", "sensors.settings")
        assert row.why or row.held is Held.YES


# --- a format that forgets ---


def _write_bodies(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """A writer that has not got far yet."""
    del options, reporter
    target.write_text("\n".join(body.name for body in asset.bodies))
    return target


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Format:
    """A format of somebody else, without a table."""
    row = Format("toy", "Toy", (".toy",), writer=f"{__name__}:_write_bodies")
    monkeypatch.setattr(formats.FORMATS, "get", lambda name: row)
    return row


def test_a_format_without_a_table_reports_all_there_is(tmp_path: Path, toy: Format):
    said = Reporter()
    write_asset(make_example(tmp_path, "lights"), tmp_path / "a.toy", format_name=toy.name, reporter=said)
    told = {d.data["aspect"]: d for d in said}
    assert set(told) == {"bodies", "joints", "shapes", "lights", "materials", "physics_materials"}
    assert told["joints"].message == (
        "Toy has no place for 3 joints, the first 'anchor'; the result moves differently"
    )
    assert told["joints"].level is Level.WARNING
    assert told["lights"].message == "Toy has no place for 1 light, the first 'lamp'"
    assert told["lights"].level is Level.INFO
    assert all(d.loss for d in said)


@pytest.mark.parametrize("key", FAMILIES)
def test_every_family_is_reported_by_a_format_that_forgets_it(tmp_path: Path, toy: Format, key: str):
    said = Reporter()
    toy.report_losses(make_example(tmp_path, key), said)
    assert key in {str(d.data["aspect"]).partition(".")[0] for d in said}


# --- the tables are true ---


@functools.cache
def _write(folder: Path, name: str, key: str, word: str) -> tuple[Asset, Path, tuple[Diagnostic, ...]]:
    """An example in a format: the asset, its file and what was said."""
    place = folder / f"{name}-{key}-{word}"
    place.mkdir()
    plain = Asset("machine") if word == "nothing" else make_machine()
    asset, said = make_example(place, key, word) if key else plain, Reporter()
    options = WriteOptions(collision=True)
    path = write_asset(asset, place / "out" / TARGETS[name], format_name=name, options=options, reporter=said)
    return asset, path, tuple(d for d in said if d.loss)


def _read_bytes(path: Path) -> dict[str, bytes]:
    files = sorted(file for file in path.parent.rglob("*") if file.is_file())
    return {file.relative_to(path.parent).as_posix(): file.read_bytes() for file in files}


def _survives(name: str, key: str, word: str, asset: Asset, path: Path) -> bool:
    """Is it read again as it was?  What nobody reads is at least in the file."""
    again = read_asset(path, format_name=name)
    before, after = find_value(asset, key, asset), find_value(again, key, asset)
    if key == "materials.textures":
        return after is not None and word in after
    if key.startswith("shapes.geometry.data."):
        return after is not None and len(after) > 0 if before is not False else after == before
    return is_same(before, after)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("holds")


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_table_says_is_true(folder: Path, name: str):
    """Held things are read again, others are in another form or reported, and nothing is reported that is held."""
    row = FORMATS.get(name)
    rows, wrong = row.load_table(), []
    usual = {(d.kind, d.data.get("aspect"), d.message) for d in _write(folder, name, "", "")[2]}
    for key, word in list_examples():
        family = key.partition(".")[0]
        is_gone = find_holding(rows, family).held is Held.NO and not FAMILIES[family].quiet
        holding = NO if is_gone else find_holding(rows, key)
        problem = _judge(folder, row, (key, word), holding, usual)
        if problem:
            wrong.append(f"{key} {word} is declared {holding.held.value!r}, but {problem}")
    assert not wrong, "\n".join(wrong)


NO = Holding(Held.NO)


def _judge(
    folder: Path, row: Format, example: tuple[str, str], holding: Holding, usual: set[tuple[str, Any, str]]
) -> str:
    key, word = example
    asset, path, losses = _write(folder, row.name, key, word)
    found = [d for d in losses if (d.kind, d.data.get("aspect"), d.message) not in usual]
    lost = {str(d.data.get("aspect")) for d in losses}
    if holding.held is Held.NO or (word and holding.only and word not in holding.only):
        return "" if lost & _list_wholes(key) else "nothing reports its loss"
    if key in lost:
        return "" if holding.where or holding.only else "it is reported as lost"
    if holding.held is Held.YES and row.reader:
        if found:
            return f"a loss is reported: {found[0]}"
        return "" if _survives(row.name, key, word, asset, path) else "it is not read again"
    if found or _read_bytes(path) != _read_bytes(
        _write(folder, row.name, *_find_base(folder, asset, key))[1]
    ):
        return ""
    return (
        "" if row.reader and _survives(row.name, key, word, asset, path) else "the file does not tell of it"
    )


def _list_wholes(key: str) -> set[str]:
    """Keys whose loss is the loss of this one too."""
    family = FAMILIES[key.partition(".")[0]]
    aspect = next((aspect for aspect in family.aspects if aspect.key == key), None)
    above = {".".join(key.split(".")[:end]) for end in range(1, key.count(".") + 2)}
    others = {a.key for a in family.aspects if a.whole or (family.quiet and key == family.key)}
    return {*above, *others, aspect.part_of if aspect else ""}


def _find_base(folder: Path, asset: Asset, key: str) -> tuple[str, str]:
    """The example that says all but this."""
    family = key.partition(".")[0]
    if key == family:
        return ("", "") if family not in MACHINE else ("", "nothing")
    usual = make_example(folder, family)
    if is_same(find_value(asset, key, asset), find_value(usual, key, usual)):
        return _find_base(folder, asset, family)
    return (family, "")


MACHINE = ("bodies", "joints", "shapes", "materials", "physics_materials")
