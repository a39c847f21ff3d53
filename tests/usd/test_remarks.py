"""Comments of a layer that OpenUSD writes again."""

from __future__ import annotations

from pathlib import Path

import simwright
from simwright.usd.remarks import carry_remarks, list_remarks

TEXT = b"""#usda 1.0
# of the whole layer
(
    metersPerUnit = 1 # metres
    upAxis = "Z"
)

# the arm,
# seen from above
def Xform "arm" (
    # a component
    kind = "component"
)
{
    /* in kilograms */
    float mass = 2 // measured
    string note = "# no comment"
    asset file = @./a#b.png@

    def Cube "box" { # a box
        double size = 1
        # float gone = 3
    }
}
"""


def test_what_each_comment_belongs_to():
    found = [(remark.text, remark.path, remark.is_behind) for remark in list_remarks(TEXT)]
    assert found == [
        (b"# of the whole layer", "/", False),
        (b"# metres", "/", False),
        (b"# the arm,", "/", False),
        (b"# seen from above", "/", False),
        (b"# a component", "/arm", False),
        (b"/* in kilograms */", "/arm.mass", False),
        (b"// measured", "/arm.mass", True),
        (b"# a box", "/arm/box", True),
        (b"# float gone = 3", "/arm/box.size", False),
    ]


def test_they_are_put_where_they_belong():
    new = b'#usda 1.0\n\ndef Xform "arm"\n{\n    float mass = 2\n\n    def Cube "box"\n    {\n    }\n}\n'
    merged, lost = carry_remarks(TEXT, new)
    assert lost == 1, "what the last one stood at is gone"
    lines = merged.decode().splitlines()
    assert lines[:6] == [
        "#usda 1.0", "# of the whole layer", "# metres", "# the arm,", "# seen from above", "",
    ]  # fmt: skip
    assert "    /* in kilograms */" in lines
    assert "    float mass = 2  // measured" in lines
    assert '    def Cube "box"  # a box' in lines


def test_a_layer_without_comments_is_not_touched():
    new = b'#usda 1.0\ndef Xform "a"\n{\n}\n'
    assert carry_remarks(b"#usda 1.0\n", new) == (new, 0)


def test_a_fix_keeps_comments_and_tells_of_others(tmp_path):
    source = tmp_path / "arm.usda"
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "arm"\n)\n\n# made by hand\ndef Xform "arm"\n{\n    # the elbow\n'
        '    def Xform "elbow"\n    {\n        # why it is so\n        matrix4d xformOp:transform = ( (1, 0, 0, 0), '
        "(0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1) )\n"
        '        uniform token[] xformOpOrder = ["xformOp:transform"]\n    }\n}\n'
    )
    result = simwright.fix(source, tmp_path / "out", unsafe=True, select=["xform-no-matrix"])
    text = Path(result.entry).read_text()
    assert "# made by hand\n" in text
    assert '    # the elbow\n    def Xform "elbow"' in text
    assert "why it is so" not in text
    assert [note.data["count"] for note in result.notes if note.kind == "fix-comments-lost"] == [1]
    again = simwright.fix(result.entry, tmp_path / "again", unsafe=True, select=["xform-no-matrix"])
    assert Path(again.entry).read_bytes() == Path(result.entry).read_bytes()


def test_in_place_too(tmp_path):
    source = tmp_path / "arm.usda"
    source.write_text('#usda 1.0\n(\n    defaultPrim = "arm"\n)\n# made by hand\ndef Xform "arm"\n{\n}\n')
    simwright.fix(source, in_place=True, unsafe=True, select=["kind-component"])
    text = source.read_text()
    assert 'kind = "component"' in text
    assert "# made by hand" in text
