"""Every spec of a text layer is found at the line that declares it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pxr import Sdf, Usd

from simwright.usd.locate import Locator, TextIndex
from simwright.usd.open import open_stage

TRICKY = '''#usda 1.0
(
    defaultPrim = "A"   # } comment
    doc = """multi
def "Fake" {
}"""
    customLayerData = { string s = "def \\"X\\" {" }
)
/* block
def "Fake2" { } */
// def "Fake3" {}
reorder rootPrims = ["A", "B"]
def Xform "A" (
    variants = { string look = "red" }
    customData = { dictionary d = { string s = "}" } }
    prepend variantSets = "look"
) {
    custom uniform token[] a:b = ["x", "}", 'y'] (
        doc = "int c = 3"
    )
    double3 xformOp:translate = (1, 2, 3); int one = 1 ; int two = 2
    float q.timeSamples = { 1: 2, 3: 4, }
    rel r = [</B>, </A.q>]
    prepend rel r2 = </B>
    delete rel r3 = </B>
    rel empty
    float inputs:z.connect = </B.x>
    string s = \'\'\'it's
def "Nope" {
\'\'\'
    asset as = @a}b.usda@
    asset as2 = @@@a@b{.usda@@@
    int[] big = [
       1, 2,
       3
    ] (
       hidden = true
    )
    custom int  spaced   = 5
    matrix4d m = ( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1) )
    opaque op
    int def = 3
    int over
    variantSet "look" = {
        "red" (
            doc = "x"
        ) {
            int inred = 1
            def "Child" {
                int x = 1
            }
            variantSet "inner" = {
                "i1" {
                   over "Child2" {
                   }
                }
            }
        }
        "blue" { }
    }
    def Scope "Übung" { int ñ = 3
    }
    def "B" {}
}
over "B"
{
    int x
}
class "_C" { }
'''


def check_layer(layer: Any, text: str) -> int:
    """Every spec is found where its name stands, and nothing else is; gives the number of specs."""
    index = TextIndex.of(text.encode())
    lines = text.split("\n")
    specs: set[str] = set()

    def look(path: Any) -> None:
        if not path.IsTargetPath():
            specs.add(str(path))

    layer.Traverse(Sdf.Path.absoluteRootPath, look)
    for path in specs - {"/"}:
        line, column = index.position(index.places.find(path))
        sdf = Sdf.Path(path)
        variant_set, variant = sdf.GetVariantSelection() if path.endswith("}") else ("", "")
        name = variant or variant_set or sdf.name
        assert lines[line - 1][column - 1 :].lstrip("\"'").startswith(name), (path, line, column)
    assert set(index.places.list_all()) == specs | {"/"}
    return len(specs)


def test_tricky_text() -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(TRICKY)
    assert check_layer(layer, TRICKY) == 36


NAMES = st.sampled_from(["a", "b", "def", "over", "rel", "Übung", "custom", "x_1", "variantSet"])
VALUES = st.sampled_from(
    [
        (Sdf.ValueTypeNames.Int, 3),
        (Sdf.ValueTypeNames.String, 'def "a" {\n} # "'),
        (Sdf.ValueTypeNames.String, "it's \"\"\" '''"),
        (Sdf.ValueTypeNames.Asset, Sdf.AssetPath("a}@b.usda")),
        (Sdf.ValueTypeNames.TokenArray, ["{", "[", "def"]),
        (Sdf.ValueTypeNames.Double3, (1, 2, 3)),
        (Sdf.ValueTypeNames.Int, None),
    ]
)
PRIM = st.recursive(
    st.builds(dict, props=st.dictionaries(NAMES, VALUES, max_size=3)),
    lambda inner: st.builds(
        dict,
        props=st.dictionaries(NAMES, VALUES, max_size=2),
        prims=st.dictionaries(NAMES, inner, max_size=2),
        variants=st.dictionaries(NAMES, inner, max_size=2),
        note=st.sampled_from(["", 'a "quoted" }', "two\nlines {"]),
    ),
    max_leaves=6,
)


def author(prim: Any, plan: dict[str, Any]) -> None:
    for name, (kind, value) in plan["props"].items():
        attribute = Sdf.AttributeSpec(prim, name, kind)
        if value is not None:
            attribute.default = value
            attribute.documentation = "x = {"
    if plan.get("note"):
        prim.documentation = plan["note"]
    for name, inner in plan.get("prims", {}).items():
        author(Sdf.PrimSpec(prim, name, Sdf.SpecifierDef, "Xform"), inner)
    for name, inner in plan.get("variants", {}).items():
        author(Sdf.VariantSpec(Sdf.VariantSetSpec(prim, name), "one").primSpec, inner)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, PRIM, min_size=1, max_size=3))
def test_exported_layers_round_trip(plan: dict[str, Any]) -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for name, inner in plan.items():
        author(Sdf.PrimSpec(layer, name, Sdf.SpecifierOver), inner)
    check_layer(layer, layer.ExportToString())


@given(st.text(alphabet="def\"'{}[]()=@<>#/*\n a1:.;", max_size=200))
def test_nonsense_is_outlined_without_failing(text: str) -> None:
    index = TextIndex.of(b"#usda 1.0\n" + text.encode())
    assert all(0 <= place <= len(index.data) for place in index.places.list_all().values())


def test_a_large_text_is_outlined() -> None:
    block = (
        '  def Xform "p%d" (\n    kind = "x"\n  ) {\n    custom double a:b = 1.5\n    rel r = </A/B>\n'
        '    token[] order = ["a", "b"]\n    double3 t = (1, 2, 3) (\n      doc = "x"\n    )\n  }\n'
    )
    text = '#usda 1.0\ndef "R" {\n' + "".join(block % i for i in range(10_000)) + "}\n"
    index = TextIndex.of(text.encode())
    assert len(index.places.list_all()) == 50_002


def test_what_is_said_twice_is_where_it_is_first() -> None:
    text = (
        '#usda 1.0\ndef "A"\n{\n    int x = 1\n    int x (\n        doc = "again"\n    )\n}\n'
        'over "A"\n{\n    int y = 1\n    int x = 2\n}\n'
    )
    places = TextIndex.of(text.encode()).places
    assert places.find("/A.x") == text.index("x = 1")
    assert places.find("/A.y") == text.index("y = 1")
    assert places.find("/A.z") == places.find("/A/B") == places.find("/A") == text.index('"A"')
    swapped = text.replace("int x = 1", "int x.timeSamples = { 1: 2 }").encode()
    assert TextIndex.of(swapped).places.find("/A.x") == swapped.index(b"x.timeSamples")


def test_stage_places(tmp_path: Path) -> None:
    (tmp_path / "base.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Xform "A" {\n    int size = 1\n    int only = 2\n}\n'
    )
    top = tmp_path / "tøp.usda"
    top.write_text(
        '#usda 1.0\n\ndef "A" (\n    references = @./base.usda@\n) {\n    int size = 3\n}\n', encoding="utf-8"
    )
    stage = open_stage(top)
    locator = Locator.for_stage(stage)
    prim = stage.GetPrimAtPath("/A")
    assert str(locator.where_prim(prim)) == f"{top}:3:5 </A>"
    assert str(locator.where_property(prim.GetAttribute("size"))) == f"{top}:6:9 </A.size>"
    assert str(locator.where_property(prim.GetAttribute("only"))) == f"{tmp_path / 'base.usda'}:7:9 </A.only>"
    order = locator.where_property(prim.GetAttribute("xformOpOrder"))
    assert (order.line, order.prop) == (3, "xformOpOrder"), "nothing is authored: the prim is the place"
    root = stage.GetRootLayer()
    assert locator.where_spec(root, "/A/Gone.x").line == 3
    assert locator.where_asset(root, "/A", "./base.usda").line == 4


def test_session_opinions_do_not_hide_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.usda"
    file.write_text('#usda 1.0\ndef "A" {\n}\n')
    stage = open_stage(file)
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.OverridePrim("/A")
    assert Locator.for_stage(stage).where_prim(stage.GetPrimAtPath("/A")).line == 2


def test_binary_and_changed_layers_have_no_line(tmp_path: Path) -> None:
    stage = Usd.Stage.CreateNew(str(tmp_path / "a.usdc"))
    prim = stage.DefinePrim("/A")
    stage.Save()
    where = Locator.for_stage(stage).where_prim(prim)
    assert (where.file, where.line, where.prim) == (str(tmp_path / "a.usdc"), None, "/A")
    text = Usd.Stage.CreateNew(str(tmp_path / "b.usda"))
    prim = text.DefinePrim("/A")
    assert Locator.for_stage(text).where_prim(prim).line is None


def test_member_of_a_package(tmp_path: Path) -> None:
    from pxr import UsdUtils

    file = tmp_path / "a.usda"
    file.write_text('#usda 1.0\n\n\ndef "A" {\n}\n')
    assert UsdUtils.CreateNewUsdzPackage(str(file), str(tmp_path / "a.usdz"))
    stage = open_stage(tmp_path / "a.usdz")
    where = Locator.for_stage(stage).where_prim(stage.GetPrimAtPath("/A"))
    assert where.line == 4
    assert where.file.startswith(str(tmp_path / "a.usdz"))


@pytest.mark.realworld
def test_real_assets(shared_assets: Path) -> None:
    files = sorted((shared_assets / "usd").glob("*.usda"))
    assert files
    for file in files:
        check_layer(Sdf.Layer.FindOrOpen(str(file)), file.read_text(encoding="utf-8"))
