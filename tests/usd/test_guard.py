"""Files that would take OpenUSD down are refused; those that only look odd are not."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from fuzz.crates import change_type, damage_crate
from simwright.core.errors import InputError, LimitError, NotFoundError, ParseError
from simwright.usd.guard import MAX_NESTING, check_file

DEEP = 100_000
CASES = (*range(120), 272, 408, 534, 712)
"""Numbers of damages to tables, and some that named variants which are not there."""

OPEN_ALL = """
import json, re, sys
from contextlib import suppress
from pathlib import Path
from pxr import Tf
from simwright.core.errors import SimwrightError
from simwright.usd.open import open_stage
results = []
for name in json.load(sys.stdin):
    try:
        stage = open_stage(name)
        for prim in stage.TraverseAll():
            for attribute in prim.GetAttributes():
                with suppress(Tf.ErrorException):
                    attribute.Get()
                    attribute.Get(1.5)
            with suppress(Tf.ErrorException):
                prim.GetAllMetadata()
        results.append("opened")
    except SimwrightError as error:
        results.append(type(error).__name__)
# not ru_maxrss: that one remembers the size of the process that forked us
memory = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) // 1024
print(json.dumps({"results": results, "memory": memory}))
"""


def open_elsewhere(files: list[Path]) -> tuple[list[str], int, str]:
    """Open files in another process: what came of each, peak memory [MiB] and stderr."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN_ALL],
        input=json.dumps([str(f) for f in files]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"the process died with {done.returncode}: {done.stderr[-500:]}"
    answer = json.loads(done.stdout)
    return answer["results"], answer["memory"], done.stderr


def nest(kind: str, depth: int) -> str:
    body = {
        "prims": 'def "p" {\n' * depth + "}\n" * depth,
        "dictionaries": 'def "p" (\ncustomData = {\n'
        + "dictionary d = {\n" * depth
        + "}\n" * depth
        + "}\n)\n{\n}\n",
        "lists": 'def "p" {\ncustom int[] a = ' + "[" * depth + "1" + "]" * depth + "\n}\n",
        "parentheses": 'def "p" {\ncustom int3 a = ' + "(" * depth + "1" + ")" * depth + "\n}\n",
        "variants": 'def "p" {\n' + 'variantSet "a" = {\n"b" {\n' * depth + "}\n}\n" * depth + "}\n",
    }
    return "#usda 1.0\n" + body[kind]


KINDS = ("prims", "dictionaries", "lists", "parentheses", "variants")


@pytest.fixture
def crate_file(tmp_path: Path) -> Path:
    from pxr import Gf, Usd, UsdGeom

    path = tmp_path / "good.usdc"
    stage = Usd.Stage.CreateNew(str(path))
    root = UsdGeom.Xform.Define(stage, "/R")
    stage.SetDefaultPrim(root.GetPrim())
    for i in range(8):
        mesh = UsdGeom.Mesh.Define(stage, f"/R/m{i}")
        mesh.CreatePointsAttr([Gf.Vec3f(i, j, 0) for j in range(40)])
        mesh.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3), float(i))
        mesh.GetPrim().SetCustomDataByKey("a", {"b": "c"})
    root.GetPrim().GetVariantSets().AddVariantSet("v").AddVariant("a")
    stage.GetRootLayer().Save()
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_deep_text_is_refused_with_its_line(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "deep.usda"
    file.write_text(nest(kind, DEEP))
    with pytest.raises(LimitError, match="nested") as caught:
        check_file(file)
    assert caught.value.where is not None
    assert caught.value.where.line is not None


def test_text_at_the_limit_opens(tmp_path: Path) -> None:
    files = []
    for kind in ("prims", "dictionaries", "variants"):
        file = tmp_path / f"{kind}.usda"
        file.write_text(nest(kind, (MAX_NESTING - 3) // (2 if kind == "variants" else 1)))
        files.append(file)
    results, memory, stderr = open_elsewhere(files)
    assert results == ["opened"] * 3
    assert memory < 1000
    assert not stderr


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "latin.usda"
    file.write_bytes('#usda 1.0\ndef "A"\n{\n string a = "ü"\n}\n'.encode("latin-1"))
    with pytest.raises(ParseError, match="not UTF-8") as caught:
        check_file(file)
    assert caught.value.where is not None
    assert caught.value.where.line == 4


def test_brackets_in_literals_and_comments_do_not_count(tmp_path: Path) -> None:
    many = "{" * 5000
    file = tmp_path / "quoted.usda"
    file.write_text(
        f"#usda 1.0\n# {many}\n// {many}\n/* {many}\n{many} */\n"
        f'def "A" {{\n string a = "{many} \\" {many}"\n string b = """{many}\n"{many}"""\n'
        f" string c = '{many}'\n asset d = @{many}@\n asset e = @@@{many}@{many}@@@\n}}\n"
    )
    assert check_file(file) == file


def test_closing_brackets_in_comments_do_not_hide_depth(tmp_path: Path) -> None:
    file = tmp_path / "hidden.usda"
    file.write_text("#usda 1.0\n" + 'def "p" { # }\n' * 5000)
    with pytest.raises(LimitError):
        check_file(file)


def test_a_large_text_is_scanned_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "large.usda"
    file.write_bytes(
        b'#usda 1.0\ndef "A" {\n point3f[] points = [' + b"(0.125, 1.25, 2.5),\n" * 2_000_000 + b"]\n}\n"
    )
    code = f"""
        import resource
        from simwright.usd.guard import check_file
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        check_file({str(file)!r})
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(done.stdout) < 200


@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("a.usda", b"", InputError, "empty"),
        ("a.usda", b"\0\1\2garbage", ParseError, "not a USD layer"),
        ("a.usda", b"PXR-USDC" + bytes(100), ParseError, "holds .usdc"),
        ("a.usdc", b"#usda 1.0\n", ParseError, "holds .usda"),
        ("a.usdc", b"PXR-USDC\0\x08\0\0\0\0\0\0", ParseError, "cut off"),
        ("a.usdc", b"PXR-USDC\x09" + bytes(200), ParseError, "version 9.0.0"),
        ("a.usdc", b"version https://git-lfs.github.com/spec/v1\noid", ParseError, "Git LFS"),
        ("a.usdz", b"PK\x03\x04 nothing", ParseError, "usdz"),
        ("a.usdz", b"not a zip file", ParseError, "not a USD layer"),
        ("a.usd", b"hello world", ParseError, "not a USD layer"),
    ],
)
def test_wrong_content_is_one_clear_error(
    tmp_path: Path, name: str, content: bytes, error: type[InputError], words: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(error, match=words):
        check_file(file)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        check_file(tmp_path / "none.usda")
    with pytest.raises(InputError, match="folder"):
        check_file(tmp_path)


def test_good_crates_pass(crate_file: Path) -> None:
    assert check_file(crate_file) == crate_file


def test_every_array_type_passes(tmp_path: Path) -> None:
    from pxr import Sdf

    layer = Sdf.Layer.CreateNew(str(tmp_path / "types.usdc"))
    prim = Sdf.PrimSpec(layer, "A", Sdf.SpecifierDef)
    for name in (
        "Int",
        "Float",
        "Double",
        "Token",
        "String",
        "Asset",
        "Matrix4d",
        "Quatd",
        "Point3f",
        "Half3",
    ):
        kind = getattr(Sdf.ValueTypeNames, f"{name}Array")
        Sdf.AttributeSpec(prim, name, kind).default = [kind.scalarType.defaultValue] * 500
    layer.Save()
    assert check_file(tmp_path / "types.usdc")


def test_damaged_crates_are_errors_and_never_a_crash(crate_file: Path, tmp_path: Path) -> None:
    good = crate_file.read_bytes()
    dice = random.Random(7)
    files = []
    for number in range(150):
        data = bytearray(good)
        if number % 3 == 0:
            data = data[: dice.randrange(1, len(data))]
        elif number % 3 == 1:
            for _ in range(dice.randrange(1, 8)):
                data[dice.randrange(8, len(data))] ^= 1 << dice.randrange(8)
        else:
            at = dice.randrange(88, len(data) - 8)
            data[at : at + 8] = dice.choice((b"\xff" * 8, bytes(8), b"\xff\xff\xff\x7f\0\0\0\0"))
        files.append(tmp_path / f"f{number}.usdc")
        files[-1].write_bytes(bytes(data))
    results, memory, _ = open_elsewhere(files)
    assert set(results[0::3]) == {"ParseError"}, "a truncated crate was not noticed"
    assert set(results) <= {"opened", "ParseError", "LimitError"}
    assert memory < 1000


def test_crate_with_children_that_are_not_there(crate_file: Path, tmp_path: Path) -> None:
    """The list of variants names a token beyond the table: OpenUSD would run in a circle."""
    good = crate_file.read_bytes()
    files = []
    for at in range(88, len(good) - 12):
        if good[at : at + 8] == struct.pack("<Q", 1):
            data = bytearray(good)
            data[at + 8 : at + 12] = struct.pack("<I", 10_000)
            files.append(tmp_path / f"v{at}.usdc")
            files[-1].write_bytes(bytes(data))
    results, _, _ = open_elsewhere(files)
    assert "ParseError" in results


@pytest.fixture
def full_crate(tmp_path: Path) -> bytes:
    """A crate with every kind of value that leads to further ones: tables, samples, dictionaries, lists, variants."""
    from pxr import Sdf, Usd

    stage = Usd.Stage.CreateNew(str(tmp_path / "full.usdc"))
    prim = stage.DefinePrim("/R", "Xform")
    stage.SetDefaultPrim(prim)
    names = Sdf.ValueTypeNames
    prim.CreateAttribute("few", names.DoubleArray).Set([0.1, 0.7, 0.3] * 40)
    moving = prim.CreateAttribute("moving", names.FloatArray)
    for time in range(4):
        moving.Set([0.1 * time, 0.5, 0.25, 0.75] * 10, time)
    prim.SetCustomData({"a": {"b": {"c": [1.0, 2.0], "d": "text"}, "e": 1.5}, "f": "text"})
    variants = prim.GetVariantSets().AddVariantSet("look")
    for name in ("one", "two"):
        variants.AddVariant(name)
        variants.SetVariantSelection(name)
        with variants.GetVariantEditContext():
            stage.DefinePrim(f"/R/{name}", "Cube")
    for number in range(4):
        child = stage.DefinePrim(f"/R/child{number}", "Mesh")
        child.CreateAttribute("points", names.Point3fArray).Set([(0, 0, number)] * 30)
        child.CreateRelationship("to").SetTargets(["/R", "/R/child0.points"])
    copy = stage.DefinePrim("/R/copy")
    copy.GetReferences().AddInternalReference("/R/child0", Sdf.LayerOffset(2, 3))
    copy.GetPayloads().AddInternalPayload("/R/child1")
    stage.GetRootLayer().Save()
    return (tmp_path / "full.usdc").read_bytes()


def test_crates_whose_tables_do_not_fit_each_other_never_crash(full_crate: bytes, tmp_path: Path) -> None:
    files = []
    for number in CASES:
        files.append(tmp_path / f"t{number}.usdc")
        files[-1].write_bytes(damage_crate(full_crate, random.Random(number)))
    results, memory, _ = open_elsewhere(files)
    assert set(results) == {"opened", "ParseError"}
    assert memory < 1000


def test_an_array_that_is_longer_than_the_file_is_refused(tmp_path: Path) -> None:
    """OpenUSD would make room for all of it before it reads one."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateNew(str(tmp_path / "good.usdc"))
    spec = Sdf.AttributeSpec(
        Sdf.CreatePrimInLayer(layer, "/R"), "weights", Sdf.ValueTypeNames.Double3Array, Sdf.VariabilityUniform
    )
    spec.default = [(1.25, 2.5, 3.75), (4.5, 5.25, 6.125)]
    layer.Save()
    good = (tmp_path / "good.usdc").read_bytes()
    assert check_file(tmp_path / "good.usdc")
    array = struct.pack("<Q3d", 2, 1.25, 2.5, 3.75)
    assert good.count(array) == 1
    refused = tmp_path / "bad.usdc"
    refused.write_bytes(good.replace(array, struct.pack("<Q3d", 1 << 40, 1.25, 2.5, 3.75)))
    with pytest.raises(ParseError, match="longer than the file"):
        check_file(refused)


def test_a_list_edit_of_another_type_is_refused(tmp_path: Path) -> None:
    """A list of names in the place of the edits of a list of names has none of their methods."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateNew(str(tmp_path / "good.usdc"))
    prim = Sdf.CreatePrimInLayer(layer, "/R")
    prim.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=["A"]))
    layer.Save()
    good = (tmp_path / "good.usdc").read_bytes()
    assert check_file(tmp_path / "good.usdc")
    refused = tmp_path / "bad.usdc"
    refused.write_bytes(change_type(good, 32, 51))
    with pytest.raises(ParseError, match="another kind"):
        check_file(refused)


@pytest.mark.parametrize("word", ["", "no type"])
def test_an_attribute_without_a_type_is_refused(tmp_path: Path, word: str) -> None:
    from pxr import Sdf

    layer = Sdf.Layer.CreateNew(str(tmp_path / "typeless.usdc"))
    Sdf.AttributeSpec(Sdf.CreatePrimInLayer(layer, "/robot"), "good", Sdf.ValueTypeNames.Float)
    Sdf.AttributeSpec(Sdf.CreatePrimInLayer(layer, "/robot/link"), "many", Sdf.ValueTypeNames.TokenArray)
    layer.Save()
    check_file(Path(layer.realPath))
    spec = Sdf.AttributeSpec(layer.GetPrimAtPath("/robot"), "bad", Sdf.ValueTypeNames.Float)
    spec.SetInfo("typeName", word)
    layer.Save()
    with pytest.raises(InputError, match="an attribute has no type"):
        check_file(Path(layer.realPath))


def test_deep_crate_is_refused(tmp_path: Path) -> None:
    text, file = tmp_path / "deep.usda", tmp_path / "deep.usdc"
    text.write_text(nest("prims", 1500))
    code = "import sys; from pxr import Sdf; Sdf.Layer.OpenAsAnonymous(sys.argv[1]).Export(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(text), str(file)], check=True, timeout=60)
    with pytest.raises(LimitError, match="1500 deep"):
        check_file(file)


def make_package(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_packages_are_looked_into(tmp_path: Path) -> None:
    simple = b'#usda 1.0\ndef "A" {\n}\n'
    assert check_file(make_package(tmp_path / "good.usdz", {"a.usda": simple, "t.png": b"x"}))
    inner = make_package(tmp_path / "inner.usdz", {"a.usda": simple}).read_bytes()
    assert check_file(make_package(tmp_path / "outer.usdz", {"a.usda": simple, "b.usdz": inner}))
    deep = nest("prims", 5000).encode()
    with pytest.raises(LimitError, match="nested") as caught:
        check_file(make_package(tmp_path / "deep.usdz", {"a.usda": simple, "b.usda": deep}))
    assert "[b.usda]" in str(caught.value)
    with pytest.raises(ParseError, match="compressed"):
        check_file(make_package(tmp_path / "zip.usdz", {"a.usda": simple}, zipfile.ZIP_DEFLATED))
    with pytest.raises(ParseError, match="leaves"):
        check_file(make_package(tmp_path / "out.usdz", {"a.usda": simple, "../b.usda": simple}))
    with pytest.raises(ParseError, match="first file"):
        check_file(make_package(tmp_path / "first.usdz", {"t.png": b"x", "a.usda": simple}))
    with pytest.raises(ParseError):
        check_file(make_package(tmp_path / "empty.usdz", {}))


def test_truncated_packages(tmp_path: Path) -> None:
    whole = make_package(tmp_path / "good.usdz", {"a.usda": b'#usda 1.0\ndef "A" {\n}\n'}).read_bytes()
    for size in range(4, len(whole), 7):
        file = tmp_path / "cut.usdz"
        file.write_bytes(whole[:size])
        with pytest.raises(ParseError):
            check_file(file)


@pytest.mark.parametrize("kind", [42, 48])
def test_children_that_are_no_list_of_names_are_refused(crate_file: Path, tmp_path: Path, kind: int) -> None:
    """A specifier (42) or numbers (48) in place of names: OpenUSD gives them to whoever asks for the names."""
    refused = tmp_path / "bad.usdc"
    refused.write_bytes(change_type(crate_file.read_bytes(), 41, kind))
    with pytest.raises(ParseError, match=r"not a list of names|longer than the file|another kind"):
        check_file(refused)
