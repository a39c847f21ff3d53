"""One file of many layers: packages and flattened layers say what the stage says, in the same bytes every time."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdValidation

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import InputError, OutputError, StrictError, UnsafePathError, UsageError
from simwright.usd.archive import ALIGNMENT, encode_archive
from simwright.usd.open import open_stage


@pytest.fixture(autouse=True)
def _allow_what_is_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assets here name files beside their own folder, as a user may allow."""
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(tmp_path))


# a transparent pixel
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63000100000500010d0a2db4"
    "0000000049454e44ae426082"
)
ENTRY = """#usda 1.0
(
    defaultPrim = "R"
    doc = "A robot."
    metersPerUnit = 1
    upAxis = "Z"
    subLayers = [@./sub/base.usda@]
)

over "R" (
    prepend references = @../other/part.usda@
    variants = { string tool = "none" }
    prepend variantSets = "tool"
)
{
    asset look = @tex/a.png@
    asset tiles = @./tex/u.<UDIM>.png@
    asset parcel = @package://depot/tex/p.png@
    variantSet "tool" = {
        "none" {
        }
        "grip" (
            payload = @./sub/grip.usdc@
        ) {
        }
    }
}
"""
BASE = """#usda 1.0
(
    defaultPrim = "R"
)

def Xform "R"
{
    double3 xformOp:translate = (0, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]

    def Xform "second" (
        instanceable = true
        references = </Wheel>
    )
    {
        double3 xformOp:translate = (2, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }

    def Xform "first" (
        instanceable = true
        references = </Axle>
    )
    {
    }

    def Xform "third" (
        instanceable = true
        references = </Wheel>
    )
    {
    }
}

class Xform "Wheel"
{
    def Sphere "ball"
    {
        double radius = 0.25
        rel twin = </Wheel/ball>
    }
}

class Xform "Axle"
{
    def Cube "box"
    {
    }
}
"""
PART = """#usda 1.0
(
    defaultPrim = "P"
)

def "P"
{
    asset skin = @./tex/a.png@
}
"""
GRIP = """#usda 1.0
(
    defaultPrim = "G"
)

def "G"
{
    def Cube "finger"
    {
    }
}
"""


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    """An asset of text and crate layers, tiles, and files beside it and in a package."""
    home = tmp_path / "home"
    texts = {"robot/robot.usda": ENTRY, "robot/sub/base.usda": BASE, "other/part.usda": PART}
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(GRIP)
    layer.Export(str(home / "robot/sub/grip.usdc"))
    for name in (
        "robot/tex/a.png",
        "robot/tex/u.1001.png",
        "robot/tex/u.1002.png",
        "other/tex/a.png",
        "depot/tex/p.png",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(PIXEL + name.encode())
    (home / "depot/package.xml").write_text("<package><name>depot</name></package>")
    return home / "robot/robot.usda"


def pack(source: Path, target: Path, **options: object) -> Path:
    packages = {"depot": source.parent.parent / "depot"}
    return simwright.convert(source, target, packages=packages, **options)  # type: ignore[arg-type]


def compose(path: Path, **variants: str) -> dict[str, str]:
    """Every prim and value of a stage, with files by their content instead of their place."""
    stage = open_stage(path, variants=variants)
    found = {}
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        found[str(prim.GetPath())] = f"{prim.GetTypeName()} {prim.IsInstance()}"
        for attribute in prim.GetAttributes():
            value = attribute.Get()
            text = read_asset(value) if isinstance(value, Sdf.AssetPath) else str(value)
            found[str(attribute.GetPath())] = text
    return found


def read_asset(value: Sdf.AssetPath) -> str:
    from pxr import Ar

    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(value.resolvedPath))
    if not asset:
        return Path(value.path).name
    with asset:
        return str(bytes(asset.GetBuffer()))


def test_package_holds_the_same_stage(asset: Path, tmp_path: Path) -> None:
    result = pack(asset, tmp_path / "out/robot.usdz")

    before = compose(asset)
    after = compose(result)
    parcel = "/R.parcel"
    assert before.pop(parcel) == "p.png"  # the reader of this test knows no packages
    assert after.pop(parcel).endswith("depot/tex/p.png'")
    assert before == after
    assert compose(asset, tool="grip").keys() == compose(result, tool="grip").keys()
    assert "/R/finger" in compose(result, tool="grip")


def test_package_is_stored_aligned_and_the_same_every_time(asset: Path, tmp_path: Path) -> None:
    first = pack(asset, tmp_path / "a.usdz")
    for file in asset.parent.rglob("*"):
        os.utime(file, (1_000_000, 2_000_000))
    second = pack(asset, tmp_path / "elsewhere/b.usdz")
    assert first.read_bytes() == second.read_bytes()

    names = zipfile.ZipFile(first).namelist()
    assert names[0] == "robot.usda"
    assert names[1:] == sorted(names[1:])
    assert {"tex/u.1001.png", "tex/u.1002.png", "sub/grip.usdc", "external/other/part.usda"} <= set(names)
    data = first.read_bytes()
    for member in zipfile.ZipFile(first).infolist():
        assert member.compress_type == zipfile.ZIP_STORED
        name, extra = struct.unpack("<HH", data[member.header_offset + 26 : member.header_offset + 30])
        assert (member.header_offset + 30 + name + extra) % ALIGNMENT == 0
    assert str(tmp_path).encode() not in data


def test_openusd_validators_accept_the_package(asset: Path, tmp_path: Path) -> None:
    tiles = "    asset tiles = @./tex/u.<UDIM>.png@\n"  # its validators do not look for tiles in packages
    asset.write_text(ENTRY.replace(tiles, ""))
    result = pack(asset, tmp_path / "robot.usdz")
    registry = UsdValidation.ValidationRegistry()
    names = [
        entry.name
        for entry in registry.GetAllValidatorMetadata()
        if entry.name.startswith("usdUtilsValidators:")
    ]
    context = UsdValidation.ValidationContext([registry.GetOrLoadValidatorByName(name) for name in names])
    assert len(names) >= 4
    assert [error.GetMessage() for error in context.Validate(Usd.Stage.Open(str(result)))] == []


def test_check_reads_the_package(asset: Path, tmp_path: Path) -> None:
    result = pack(asset, tmp_path / "robot.usdz")
    codes = {finding.kind for _, finding in simwright.check(result)}
    assert "path-no-absolute" not in codes
    assert not any(code.startswith("check-") for code in codes)


def test_variants_asked_for_are_selected_in_the_package(asset: Path, tmp_path: Path) -> None:
    result = pack(asset, tmp_path / "robot.usdz", variants={"tool": "grip"})
    assert "/R/finger" in compose(result)
    assert "/R/finger" not in compose(result, tool="none")


def test_a_package_can_be_packaged_and_flattened_again(asset: Path, tmp_path: Path) -> None:
    first = pack(asset, tmp_path / "a.usdz")
    second = pack(first, tmp_path / "b.usdz")
    assert first.read_bytes() == second.read_bytes()
    flat = pack(first, tmp_path / "flat/robot.usda", flatten=True)
    assert (flat.parent / "textures/a.png").read_bytes() != (flat.parent / "textures/a_2.png").read_bytes()
    assert "usdz" not in flat.read_text()


def test_missing_and_foreign_files_are_reported(asset: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for others")
    asset.write_text(ENTRY.replace("@tex/a.png@", f"@{secret}@").replace("./tex/u", "./gone/u"))
    reporter = Reporter()
    result = pack(asset, tmp_path / "robot.usdz", reporter=reporter)
    codes = [finding.kind for finding in reporter]
    assert codes.count("usd-package-file-missing") == 1
    assert codes.count("usd-package-file-refused") == 1
    assert b"not for others" not in result.read_bytes()
    with pytest.raises(StrictError):
        pack(asset, tmp_path / "strict.usdz", strict=True)
    assert not (tmp_path / "strict.usdz").exists()


@pytest.mark.parametrize("address", ["/etc/x.usda", "../../x.usda", "package://depot/x.usda"])
def test_arcs_that_leave_a_package_are_refused(tmp_path: Path, address: str) -> None:
    text = f'#usda 1.0\n(\n    defaultPrim = "R"\n)\ndef "R" (\n    references = @{address}@\n)\n{{\n}}\n'
    file = tmp_path / "bad.usdz"
    file.write_bytes(encode_archive([("sub/r.usda", text.encode())]))
    with pytest.raises(UnsafePathError, match="leads out of the package"):
        open_stage(file)
    assert [f.kind for _, f in simwright.check(file)] == ["unsafe-path"]


def test_members_that_leave_a_package_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.usdz"
    file.write_bytes(encode_archive([("r.usda", b"#usda 1.0\n"), ("../out.png", PIXEL)]))
    with pytest.raises(InputError, match="leaves the package"):
        pack(file, tmp_path / "again/good.usdz")
    assert not (tmp_path / "out.png").exists()


def test_a_file_that_is_no_part_of_an_asset_is_reported_when_flattening(asset: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for others")
    asset.write_text(ENTRY.replace("@tex/a.png@", f"@{secret}@"))
    reporter = Reporter()
    result = pack(asset, tmp_path / "flat/robot.usda", flatten=True, reporter=reporter)
    (found,) = [finding for finding in reporter if finding.kind == "usd-package-file-refused"]
    assert "secret.txt" in found.message
    assert not list(result.parent.rglob("secret.txt"))


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_flattening_keeps_frames_and_instances(asset: Path, tmp_path: Path, suffix: str) -> None:
    result = pack(asset, tmp_path / f"flat/robot{suffix}", flatten=True, variants={"tool": "grip"})
    stage = Usd.Stage.Open(str(result))
    source = open_stage(asset, variants={"tool": "grip"})
    assert len(stage.GetPrototypes()) == 2
    for prim in source.Traverse(Usd.TraverseInstanceProxies()):
        other = stage.GetPrimAtPath(prim.GetPath())
        assert other.GetTypeName() == prim.GetTypeName()
        assert other.IsInstance() == prim.IsInstance()
        if prim.IsA(UsdGeom.Xformable):
            local = UsdGeom.Xformable(prim).GetLocalTransformation()
            assert UsdGeom.Xformable(other).GetLocalTransformation() == local
    layer = stage.GetRootLayer()
    assert layer.documentation == "A robot."
    assert not layer.subLayerPaths
    assert "/R/finger" in {str(prim.GetPath()) for prim in stage.Traverse()}
    assert str(tmp_path) not in layer.ExportToString()
    assert (result.parent / "textures/a.png").exists()


def test_flattening_is_the_same_every_time_and_numbers_prototypes_by_use(asset: Path, tmp_path: Path) -> None:
    texts = {pack(asset, tmp_path / f"{n}/robot.usda", flatten=True).read_text() for n in range(5)}
    assert len(texts) == 1
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(texts.pop())
    first = layer.GetPrimAtPath("/R/second").referenceList.GetAddedOrExplicitItems()[0].primPath
    assert str(first) == "/Flattened_Prototype_1"
    ball = layer.GetRelationshipAtPath("/Flattened_Prototype_1/ball.twin")
    assert list(ball.targetPathList.GetAddedOrExplicitItems()) == [Sdf.Path("/Flattened_Prototype_1/ball")]


def test_flattening_overwrites_neither_source_nor_other_files(asset: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is the source"):
        pack(asset, asset, flatten=True)
    (tmp_path / "flat/textures").mkdir(parents=True)
    (tmp_path / "flat/textures/a.png").write_text("mine")
    with pytest.raises(OutputError, match="another file"):
        pack(asset, tmp_path / "flat/robot.usda", flatten=True)
    with pytest.raises(UsageError, match="cannot be named"):
        pack(asset, tmp_path / "robot.usdz", flatten=True)


@pytest.mark.parametrize("name", ["arm.usdz", "arm.usdc"])
def test_other_formats_become_one_file(samples: Path, tmp_path: Path, name: str) -> None:
    source = samples / "arm/urdf/arm.urdf"
    result = simwright.convert(source, tmp_path / name, flatten=not name.endswith("z"))
    folder = simwright.convert(source, tmp_path / "layers")
    assert simwright.diff(folder, result).equal
    assert list(tmp_path.glob("*.usd*")) == [result]
