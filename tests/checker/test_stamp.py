"""Claims of UsdProfiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

UsdProfiles = pytest.importorskip("pxr.UsdProfiles")
from pxr import Sdf, Usd  # noqa: E402 - after the skip

from simwright.checker.result import AssetResult, Suppressed  # noqa: E402
from simwright.checker.suppress import stamp_asset  # noqa: E402
from simwright.core.diag import Diagnostic, Level  # noqa: E402
from simwright.core.errors import InputError, UsageError  # noqa: E402
from simwright.usd.plugins import plugin_path  # noqa: E402

ERROR = Diagnostic("units-meters", Level.ERROR, "wrong")
WARNING = Diagnostic("axis-up-z", Level.WARNING, "odd")


@pytest.fixture
def asset(tmp_path) -> Path:
    file = tmp_path / "a.usda"
    file.write_text(
        '#usda 1.0\n(\n    defaultPrim = "A"\n)\n\ndef Xform "A" (\n    references = @./b.usda@\n)\n{\n}\n'
    )
    return file


def read_claims(file: Path) -> dict[str, list[str]]:
    layer = Sdf.Layer.OpenAsAnonymous(str(file))
    info = layer.GetPrimAtPath("/A").customData.get("profilesInfo", {})
    return {name: list(tokens) for name, tokens in info.get("profileCompatibility", {}).items()}


def test_a_clean_asset_is_claimed(asset):
    assert stamp_asset(AssetResult(str(asset), [WARNING]), "core")
    assert read_claims(asset) == {"rep0158.core": []}
    layer = Sdf.Layer.OpenAsAnonymous(str(asset))
    spec = layer.GetPrimAtPath("/A")
    assert spec.GetInfo("apiSchemas").prependedItems == ["ClaimsAPI"]
    assert spec.referenceList.prependedItems or spec.referenceList.explicitItems
    assert spec.typeName == "Xform"


def test_suppressed_errors_are_exceptions(asset):
    result = AssetResult(str(asset), [], [Suppressed(ERROR, "why"), Suppressed(WARNING, "why")])
    assert stamp_asset(result, "all")
    assert read_claims(asset) == {"rep0158.all": ["rep0158.units-meters"]}


def test_errors_take_the_claim_back(asset):
    assert stamp_asset(AssetResult(str(asset)), "core")
    assert stamp_asset(AssetResult(str(asset)), "ros")
    assert not stamp_asset(AssetResult(str(asset), [ERROR]), "core")
    assert read_claims(asset) == {"rep0158.ros": []}


def test_nothing_is_written_when_nothing_changes(asset):
    untouched = asset.stat()
    assert not stamp_asset(AssetResult(str(asset), [ERROR]), "core")
    assert asset.stat().st_mtime_ns == untouched.st_mtime_ns
    stamp_asset(AssetResult(str(asset)), "core")
    stamped = asset.stat()
    stamp_asset(AssetResult(str(asset)), "core")
    assert (asset.stat().st_ino, asset.stat().st_mtime_ns) == (stamped.st_ino, stamped.st_mtime_ns)


def test_no_default_prim(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("#usda 1.0\n")
    with pytest.raises(InputError, match="no default prim"):
        stamp_asset(AssetResult(str(file)), "core")


def test_a_package_is_refused(tmp_path, asset):
    (tmp_path / "b.usda").write_text("#usda 1.0\n")
    from pxr import UsdUtils

    packed = tmp_path / "a.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(asset), str(packed))
    with pytest.raises(UsageError, match="cannot be stamped"):
        stamp_asset(AssetResult(str(packed)), "core")


def test_a_stamped_asset_still_opens(asset):
    stamp_asset(AssetResult(str(asset)), "core")
    asset.with_name("b.usda").write_text(
        '#usda 1.0\n(defaultPrim = "B")\ndef Xform "B"\n{\ndef Xform "C" {}\n}\n'
    )
    stage = Usd.Stage.Open(str(asset))
    assert stage.GetPrimAtPath("/A/C")
    assert list(UsdProfiles.ClaimsAPI(stage.GetDefaultPrim()).GetCompatibleProfiles()) == ["rep0158.core"]


def test_openusd_knows_our_profiles():
    code = (
        "from pxr import UsdProfiles as U\n"
        "names = set(U.ProfileRegistry.GetAllProfiles())\n"
        "assert names >= {'rep0158.core', 'rep0158.ros', 'rep0158.export', 'rep0158.all'}, names\n"
    )
    environ = {**os.environ, "PXR_PLUGINPATH_NAME": plugin_path()}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)
