# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON text become trees with places, and what is hostile is refused."""

import json

import pytest
import yaml

from simwright.core.documents.read import DocumentLimits, parse_document, read_document
from simwright.core.errors import InputError, LimitError, NotFoundError, ParseError

TEXT = """\
# a comment
name: arm
wheels:
  - radius: 0.5
    tags: [a, "b c"]
  - {radius: pi, on: yes}
"""


def test_places_are_of_keys_and_values():
    document = parse_document(TEXT, name="robot.yaml")
    assert str(document.find_where("name")) == "robot.yaml:2:7"
    assert str(document.find_where("name", key=True)) == "robot.yaml:2:1"
    assert str(document.find_where("wheels", 0, "tags", 1)) == "robot.yaml:5:15"
    assert str(document.find_where("wheels", 1, "radius")) == "robot.yaml:6:14"
    assert str(document.find_where("wheels", 7, "radius")) == "robot.yaml:4:3"


def test_json_has_the_same_places():
    document = parse_document('{"name": "arm",\n  "wheels": [{"radius": 1e3}]}', name="a.json", syntax="json")
    assert document.data == {"name": "arm", "wheels": [{"radius": 1000.0}]}
    assert str(document.find_where("wheels", 0, "radius")) == "a.json:2:25"
    assert str(document.find_where("wheels", key=True)) == "a.json:2:3"


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: -2.5\nc: 1.5e+3\nd: 0x1F\ne: 1_000\nf: .inf\ng: ~\nh:\ni: null\nj: Yes\nk: off\nl: 'no'\nm: 1e6\n",
        "- a\n- [1, 2, {x: y}]\n- |\n  block\n  text\n- >-\n  folded\n  text\n- ''\n",
        "base: &b {a: 1, c: 2}\nuse: *b\nmerged: {<<: *b, c: 3}\ntwo: {<<: [*b, {d: 4}]}\n",
        "- !!str 12\n- !!float 3\n- !!int '7'\n- ! 12\n- 017\n- 0b11\n",
    ],
)
def test_values_are_those_of_every_yaml_program(text):
    assert parse_document(text).data == yaml.safe_load(text)


def test_dates_and_sexagesimals_stay_text():
    assert parse_document("a: 2024-01-02\nb: 1:30\nc: 12:30:45.5\n").data == {
        "a": "2024-01-02",
        "b": "1:30",
        "c": "12:30:45.5",
    }


def test_keys_are_text_as_written():
    assert parse_document("on: 1\n2: b\n1.50: c\n").data == {"on": 1, "2": "b", "1.50": "c"}


@pytest.mark.parametrize(
    "value", [[1, -2.5, 1e-7, True, None, 'é\n"\\/\t'], {"a": {"b": []}, "c": {}}, 3, "x"]
)
def test_json_agrees_with_the_standard_library(value):
    for text in (json.dumps(value), json.dumps(value, indent=3), json.dumps(value, ensure_ascii=False)):
        assert parse_document(text, syntax="json").data == value


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "the key 'a' is given twice", "3:1"),
        ("a: !!python/object/apply:os.system ['x']\n", "is not allowed", "1:4"),
        ("a: !custom 3\n", "the tag '!custom' is not allowed", "1:4"),
        ("!!set {a, b}\n", "is not allowed", "1:1"),
        ("a: !!binary aGk=\n", "is not allowed", "1:4"),
        ("a: 1\n---\nb: 2\n", "second document", "2:1"),
        ("? [a, b]\n: 1\n", "a key has to be plain text", "1:3"),
        ("a: [1, 2\nb: 3\n", "not valid YAML", "2:"),
        ("a:\n\t- 1\n", "not valid YAML", "2:1"),
        ("a: *nowhere\n", "the alias *nowhere", "1:4"),
        ("a: &x [*x]\n", "inside what it stands for", "1:8"),
        ("a: {<<: 3}\n", "'<<' merges a mapping", "1:5"),
        ("a: 1\nb: x\x00y\n", "the control character U+0000 is not allowed", "2:5"),
        ("\x1f", "the control character U+001F is not allowed", "1:1"),
        ("a: 1\r\nb: 'ü\x7f'\r\n", "the control character U+007F is not allowed", "2:6"),
        ("a: !!int many\n", "'many' is not a valid int", "1:4"),
        ("a: " + "9" * 5000 + "\n", "is not a valid int", "1:4"),
    ],
)
def test_what_yaml_may_not_hold(text, message, place):
    with pytest.raises(ParseError) as caught:
        parse_document(text, name="f")
    assert message in caught.value.message
    assert str(caught.value.where).startswith(f"f:{place}")


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a": 1, "a": 2}', "given twice", "1:10"),
        ('{"a": 1,}', "comma before the end", "1:9"),
        ("[1, 2,]", "comma before the end", "1:7"),
        ('{"a": NaN}', "'N' is not expected", "1:7"),
        ("{a: 1}", "'a' is not expected", "1:2"),
        ("[1 2]", "',' or ']' is expected", "1:4"),
        ("[1, 2", "ends too early", "1:6"),
        ("[01]", "is not expected", "1:2"),
        ("{} {}", "there is more", "1:4"),
        ('["a\nb"]', "is not expected", "1:2"),
        ("[}", "a value is expected", "1:2"),
        ("{1: 2}", "a key in double quotes", "1:2"),
        ('["\\ud800"]', "half of a surrogate pair", "1:2"),
        ('{"\\udc00": 1}', "half of a surrogate pair", "1:2"),
        ("[" + "9" * 5000 + "]", "too many digits", "1:2"),
    ],
)
def test_what_json_may_not_hold(text, message, place):
    with pytest.raises(ParseError) as caught:
        parse_document(text, name="f", syntax="json")
    assert message in caught.value.message
    assert str(caught.value.where) == f"f:{place}"


def test_alias_bombs_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(LimitError, match="values, aliases counted"):
        parse_document("\n".join(lines))


def test_merge_bombs_are_refused():
    keys = ", ".join(f"k{n}: 1" for n in range(100))
    lines = [f"a0: &a0 {{{keys}}}", *(f"b{n}: {{<<: *a0}}" for n in range(200))]
    with pytest.raises(LimitError):
        parse_document("\n".join(lines), limits=DocumentLimits(max_values=10_000))


@pytest.mark.parametrize(
    ("text", "syntax"), [("[" * 5000, "yaml"), ("[" * 100_000, "json"), ('{"a":' * 5000, "json")]
)
def test_deep_nesting_is_refused(text, syntax):
    with pytest.raises(LimitError, match="nested more than 64 deep"):
        parse_document(text, syntax=syntax)


def test_deep_block_nesting_is_refused():
    text = "".join(" " * n + "a:\n" for n in range(100))
    with pytest.raises(LimitError, match="nested"):
        parse_document(text)


@pytest.mark.parametrize("syntax", ["yaml", "json"])
def test_the_number_of_values_is_limited(syntax):
    with pytest.raises(LimitError, match="more than 100 values"):
        parse_document("[" + "1, " * 200 + "1]", syntax=syntax, limits=DocumentLimits(max_values=100))


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(100 << 20)
    with pytest.raises(LimitError, match="100 MiB; the limit for this format is 16 MiB"):
        read_document(file)
    with pytest.raises(LimitError):
        parse_document("x" * 100, limits=DocumentLimits(max_bytes=10))


def test_files_that_are_no_text(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_bytes(b"a: 1\nb: \xff\xfe\n")
    with pytest.raises(ParseError, match="not UTF-8") as caught:
        read_document(bad)
    assert caught.value.where.line == 2
    bad.write_bytes(b"a: \x07\n")
    with pytest.raises(ParseError, match="not valid YAML"):
        read_document(bad)
    bad.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        read_document(bad)
    bad.write_bytes(b"# only a comment\n")
    with pytest.raises(ParseError, match="the document is empty"):
        read_document(bad)
    with pytest.raises(NotFoundError):
        read_document(tmp_path / "absent.yaml")


def test_a_byte_order_mark_is_no_key(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_document(file).data == {"a": 1}


@pytest.mark.parametrize("syntax", ["yaml", "json"])
def test_halves_of_pairs_are_no_text(syntax):
    with pytest.raises(ParseError, match="surrogate"):
        parse_document('["\ud800"]', syntax=syntax)
    assert parse_document('["\\ud83d\\ude00"]', syntax="json").data == ["\U0001f600"]
