"""Opening: what is wrong is said once, with its place, and nothing is printed."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pxr import Sdf, Usd

import simwright
from simwright.core.diag import Diagnostic, Reporter
from simwright.core.errors import LimitError, NotFoundError, ParseError, UnknownNameError
from simwright.core.limits import VARIABLE
from simwright.usd import arcs
from simwright.usd.arcs import WalkedLayer, check_multiplicity
from simwright.usd.open import open_stage
from simwright.usd.questions import scalar_type_of


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#usda 1.0\n" + text, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def quiet(capfd: pytest.CaptureFixture[str]) -> object:
    """No test may make OpenUSD print."""
    yield
    printed = capfd.readouterr()
    assert printed.err == ""
    assert printed.out == ""


def find_one(reporter: Reporter) -> Diagnostic:
    assert len(reporter.found) == 1, [str(d) for d in reporter.found]
    return reporter.found[0]


def test_good_file_in_a_unicode_folder(tmp_path: Path, reporter: Reporter) -> None:
    file = write(tmp_path / "Ordner mit ä und 机器人" / "röbot.usda", 'def Xform "A" {\n}\n')
    stage = open_stage(str(file), reporter=reporter)
    assert stage.GetPrimAtPath("/A").GetTypeName() == "Xform"
    assert not reporter.found


def test_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.usda", 'def "A" {\n}\n')
    monkeypatch.chdir(tmp_path)
    assert open_stage("a.usda").GetPrimAtPath("/A")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('def "A" {\n int a = "x\n}\n', 3, "syntax error"),
        ('def "A" {\n int a = (1, 2)\n}\n', 3, "Tuple nesting"),
        ('def "A" {\n', 3, "Expected }"),
        ('def "A" {\n}\n\ndef "A" {\n}\n', 5, "Duplicate prim"),
        ('def "A-b" {\n}\n', 2, "not a valid prim name"),
        ("(\n subLayers = [@x.usda@\n)\n", 4, "Expected ]"),
        ("xyz\n", 2, "syntax error"),
    ],
)
def test_syntax_errors_have_their_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = write(tmp_path / "bad.usda", text)
    with pytest.raises(ParseError) as caught:
        open_stage(file)
    assert words in caught.value.message
    assert "pxr" not in caught.value.message
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (str(file), line)


def test_missing_root(tmp_path: Path) -> None:
    write(tmp_path / "robot.usda", "")
    with pytest.raises(NotFoundError, match=r"robot\.usda"):
        open_stage(tmp_path / "robbot.usda")


CASES = {
    "missing reference": ('def "A" (\n references = @./gone.usda@\n) {\n}\n', 3, "/A", "gone.usda"),
    "missing payload": ('def "A" (\n payload = @./gone.usda@</X>\n) {\n}\n', 3, "/A", "gone.usda"),
    "missing sublayer": ("(\n subLayers = [\n  @./gone.usda@\n ]\n)\n", 4, "/", "gone.usda"),
    "missing prim": ('def "A" (\n references = @./good.usda@</Nope>\n) {\n}\n', 3, "/A", "</Nope>"),
    "no default prim": ('def "A" (\n references = @./good.usda@\n) {\n}\n', 3, "/A", "good.usda"),
    "missing internal": ('def "A" (\n references = </Nope>\n) {\n}\n', 2, "/A", "</Nope>"),
    "reference cycle": ('def "A" (\n references = </A>\n) {\n}\n', 2, "/A", "ycle"),
    "sublayer cycle": ("(\n subLayers = [@./main.usda@]\n)\n", 3, "/", "ycle"),
    "broken sublayer": ("(\n subLayers = [@./broken.usda@]\n)\n", 3, "/", "broken.usda:2"),
}


@pytest.mark.parametrize("case", CASES)
def test_composition_errors_are_diagnostics(tmp_path: Path, reporter: Reporter, case: str) -> None:
    text, line, prim, words = CASES[case]
    write(tmp_path / "good.usda", 'def "G" {\n}\n')
    write(tmp_path / "broken.usda", "oops\n")
    file = write(tmp_path / "main.usda", text)
    stage = open_stage(file, reporter=reporter)
    assert stage
    found = find_one(reporter)
    assert found.kind == "usd-composition-error"
    assert words in found.message
    assert "anon:" not in found.message
    assert (found.where.file, found.where.line, found.where.prim) == (str(file), line, prim)


def test_cycle_over_two_files(tmp_path: Path, reporter: Reporter) -> None:
    write(tmp_path / "b.usda", 'def "B" (\n references = @./a.usda@</A>\n) {\n}\n')
    file = write(tmp_path / "a.usda", 'def "A" (\n references = @./b.usda@</B>\n) {\n}\n')
    assert open_stage(file, reporter=reporter)
    assert {d.kind for d in reporter} == {"usd-composition-error"}


def test_a_nested_layer_that_is_none(tmp_path: Path, reporter: Reporter) -> None:
    (tmp_path / "mesh.usdc").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    file = write(tmp_path / "a.usda", 'def "A" (\n references = @./mesh.usdc@\n) {\n}\n')
    open_stage(file, reporter=reporter)
    found = find_one(reporter)
    assert found.kind == "usd-layer-unreadable"
    assert "Git LFS" in found.message
    assert found.where.line == 3


def test_a_nested_layer_that_is_too_deep(tmp_path: Path) -> None:
    write(tmp_path / "deep.usda", 'def "p" {\n' * 5000 + "}\n" * 5000)
    file = write(tmp_path / "a.usda", 'def "A" (\n payload = @./deep.usda@\n) {\n}\n')
    with pytest.raises(LimitError) as caught:
        open_stage(file, load=False)
    assert "deep.usda" in str(caught.value)


def test_payloads_can_stay_unloaded(tmp_path: Path) -> None:
    write(tmp_path / "p.usda", '(\n defaultPrim = "P"\n)\ndef "P" {\n def "Inner" {\n }\n}\n')
    file = write(tmp_path / "a.usda", 'def "A" (\n payload = @./p.usda@\n) {\n}\n')
    assert open_stage(file).GetPrimAtPath("/A/Inner")
    assert not open_stage(file, load=False).GetPrimAtPath("/A/Inner")


VARIANTS = (
    '(\n defaultPrim = "A"\n)\n'
    'def "A" (\n prepend variantSets = "look"\n variants = {\n string look = "red"\n }\n) {\n'
    ' variantSet "look" = {\n  "red" {\n  }\n  "blue" {\n   def "Blue" (\n    prepend variantSets = "size"\n'
    '   ) {\n    variantSet "size" = {\n     "big" {\n      int big = 1\n     }\n    }\n   }\n  }\n }\n}\n'
)


def test_variants_are_chosen_in_the_session(tmp_path: Path) -> None:
    file = write(tmp_path / "a.usda", VARIANTS)
    stage = open_stage(file, variants={"look": "blue", "size": "big"})
    assert stage.GetPrimAtPath("/A/Blue").GetAttribute("big").Get() == 1
    assert not stage.GetRootLayer().dirty
    assert open_stage(file).GetPrimAtPath("/A/Blue").IsValid() is False


def test_unknown_variants_list_the_valid_ones(tmp_path: Path) -> None:
    file = write(tmp_path / "a.usda", VARIANTS)
    with pytest.raises(UnknownNameError) as caught:
        open_stage(file, variants={"colour": "blue"})
    assert caught.value.known == ["look"]
    with pytest.raises(UnknownNameError) as caught:
        open_stage(file, variants={"look": "green"})
    assert caught.value.known == ["blue", "red"]


def test_what_is_on_disk_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "a.usda", 'def "A" {\n}\n')
    first = open_stage(file)
    write(file, 'def "Longer" {\n}\n')
    assert open_stage(file).GetPrimAtPath("/Longer")
    assert first


def test_package_file(tmp_path: Path, reporter: Reporter) -> None:
    from pxr import UsdUtils

    write(tmp_path / "part.usda", '(\n defaultPrim = "P"\n)\ndef "P" {\n def "Inner" {\n }\n}\n')
    file = write(
        tmp_path / "a.usda", '(\n defaultPrim = "A"\n)\ndef "A" (\n references = @./part.usda@\n) {\n}\n'
    )
    assert UsdUtils.CreateNewUsdzPackage(str(file), str(tmp_path / "a.usdz"))
    stage = open_stage(tmp_path / "a.usdz", reporter=reporter)
    assert stage.GetPrimAtPath("/A/Inner")
    assert not reporter.found


def test_threads_keep_their_own_findings(tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{i}.usda", f'def "A" (\n references = @./gone{i}.usda@\n) {{\n}}\n')
        for i in range(8)
    ]
    reporters = [Reporter() for _ in files]
    threads = [
        threading.Thread(target=open_stage, args=(f,), kwargs={"reporter": r})
        for f, r in zip(files, reporters, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, reporter in enumerate(reporters):
        assert f"gone{number}.usda" in find_one(reporter).message


def test_schemas_are_registered(tmp_path: Path) -> None:
    """In a process of its own: OpenUSD reads schemas once, and other tests were there before."""
    file = write(tmp_path / "a.usda", 'def "A" {\n}\n')
    code = (
        "import sys; from simwright.usd.open import open_stage; open_stage(sys.argv[1]);"
        "from pxr import Usd; assert Usd.SchemaRegistry().FindAppliedAPIPrimDefinition('RosTopicAPI')"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, timeout=60)


@pytest.mark.realworld
def test_real_assets(shared_assets: Path) -> None:
    for file in sorted((shared_assets / "usd").glob("*.usd*")):
        reporter = Reporter()
        stage = open_stage(file, reporter=reporter)
        assert len(list(stage.Traverse())) > 1
        assert not reporter.found, [str(d) for d in reporter.found]


def test_prims_that_come_with_what_a_prim_above_brings_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``/b`` refers to ``/a/part``, which is in no layer under that path: it comes with the reference of ``/a``."""
    (tmp_path / "lib.usda").write_text(
        '#usda 1.0\ndef "set"\n{\n    def "part"\n    {\n        def "x" {}\n        def "y" {}\n    }\n}\n'
    )
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\ndef "a" (references = @./lib.usda@</set>) {}\ndef "b" (references = </a/part>) {}\n'
    )
    stage = Usd.Stage.Open(str(tmp_path / "root.usda"))
    count = len(list(stage.Traverse()))
    root, library = stage.GetRootLayer(), Sdf.Layer.FindOrOpen(str(tmp_path / "lib.usda"))
    layers = [WalkedLayer(layer, layer) for layer in (root, library)]
    monkeypatch.setenv(VARIABLE, f"usd-prims={count}")
    check_multiplicity(root, layers)
    alone = len(list(Usd.PrimRange(stage.GetPrimAtPath("/a"))))
    monkeypatch.setenv(VARIABLE, f"usd-prims={alone + 1}")
    with pytest.raises(LimitError, match="the limit is 5"):
        check_multiplicity(root, layers)


def test_layers_that_were_weighed_before_are_held_against_the_limits_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "root.usda"
    file.write_text('#usda 1.0\ndef "a"\n{\n    def "b" {}\n}\n')
    layer = Sdf.Layer.FindOrOpen(str(file))
    layers = [WalkedLayer(layer, layer, (str(file), 1, 2, 3, 4, 5))]
    repeats = check_multiplicity(layer, layers)
    counted = []
    monkeypatch.setattr(arcs, "_weigh_layers", lambda *given: counted.append(given))
    assert check_multiplicity(layer, layers) == repeats
    assert counted == []
    monkeypatch.setenv(VARIABLE, "usd-prims=1")
    with pytest.raises(LimitError, match="the limit is 1"):
        check_multiplicity(layer, layers)


def test_a_value_type_that_openusd_does_not_know_is_no_crash(tmp_path: Path) -> None:
    """OpenUSD leaves the scalar type of such a type unset: asking it anything ended the process."""
    layer = Sdf.Layer.CreateNew(str(tmp_path / "odd.usdc"))
    prim = Sdf.CreatePrimInLayer(layer, "/R")
    prim.specifier = Sdf.SpecifierDef
    layer.defaultPrim = "R"
    for name, kind in (("points", ""), ("newton:odd", "nonsense"), ("inputs:file", "nonsense[]")):
        spec = Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.FloatArray)
        spec.default = [1, 2, 3]
        spec.SetInfo("typeName", kind)
        assert str(scalar_type_of(spec.typeName)) == kind
    layer.Save()
    assert str(scalar_type_of(Sdf.ValueTypeNames.FloatArray)) == "float"
    assert simwright.check(tmp_path / "odd.usdc", profile="all")
    source = Path(simwright.__file__).parent
    asking = [file for file in source.rglob("*.py") if ".scalarType" in file.read_text("utf-8")]
    assert [file.name for file in asking] == ["questions.py"]


@pytest.mark.parametrize("name", ["metersPerUnit", "kilogramsPerUnit"])
def test_a_unit_that_is_no_number_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    """OpenUSD's parser takes a path for a unit of UsdPhysics, and raises where somebody asks for the number."""
    file = write(tmp_path / "r.usda", f'(\n    defaultPrim = "R"\n    {name} = </R>\n)\ndef Xform "R" {{}}\n')
    with pytest.raises(ParseError) as error:
        open_stage(file)
    assert error.value.where.file == str(file)
    assert error.value.where.line == 4
