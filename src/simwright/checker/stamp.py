# SPDX-License-Identifier: Apache-2.0
"""Recording a result in the asset with ``UsdProfiles`` claims, where the installed OpenUSD has them.

A claim is metadata on the default prim: "compatible with the profile ``rep0158.core``".  Rules whose errors the
asset suppresses are listed as its exceptions.  An asset with errors gets no claim, and loses one it has.  The
profiles themselves are declared in the plugInfo.json beside our ``UsdValidation`` validators.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simwright.checker.result import AssetResult
from simwright.core.diag import Level, Where
from simwright.core.errors import InputError, UsageError
from simwright.usd.guard import check_file
from simwright.usd.layers import write_layer
from simwright.usd.open import open_stage, open_without
from simwright.usd.silence import capture

FAMILY = "rep0158"


def name_profile(profile: str) -> str:
    """The name of one of our profiles in the profile registry of OpenUSD."""
    return f"{FAMILY}.{profile}"


def require_profiles() -> Any:
    """The ``UsdProfiles`` module; a UsageError where this OpenUSD has none."""
    try:
        from pxr import UsdProfiles
    except ImportError:
        from pxr import Usd

        version = ".".join(str(number) for number in Usd.GetVersion()[1:])
        raise UsageError(
            f"--stamp needs UsdProfiles, which OpenUSD {version} does not have",
            hint="install a newer usd-core, or leave --stamp out",
        ) from None
    return UsdProfiles


def stamp_asset(result: AssetResult, profile: str) -> bool:
    """Write, or take back, the claim that a result supports; gives whether the claim stands.

    The root layer is written again as OpenUSD writes it (comments in a text layer are lost), and only if the
    claim is not there already.
    """
    profiles = require_profiles()
    compatible = not result.failed and not any(d.level is Level.ERROR for d in result.findings)
    exceptions = {s.finding.kind for s in result.suppressed if s.finding.level is Level.ERROR}
    tokens = [f"{FAMILY}.{code}" for code in sorted(exceptions)]
    if not result.failed:
        _write_claim(profiles, Path(result.path), name_profile(profile), tokens if compatible else None)
    return compatible


def _write_claim(profiles: Any, path: Path, name: str, exceptions: Sequence[str] | None) -> None:
    """``exceptions`` of None takes the claim back."""
    from pxr import Sdf, Usd

    file = check_file(path)
    if file.suffix.lower() == ".usdz":
        raise UsageError(
            "a .usdz package cannot be stamped",
            hint="stamp the asset, then package it",
            where=Where(str(path)),
        )
    with capture():
        # a copy: the layer on the checked stage must not change under its readers
        layer = Sdf.Layer.OpenAsAnonymous(str(file.absolute()))
        prim_path = layer.GetDefaultPrimAsPath()  # empty where the name is none, or names no prim
        if prim_path.isEmpty or not prim_path.IsPrimPath():
            raise InputError(
                f"there is no default prim to stamp: defaultPrim is {layer.defaultPrim!r}",
                hint="name a root prim in the defaultPrim of the layer",
                where=Where(str(path)),
            )
        muted = list(open_stage(file, load=False).GetMutedLayers())
        stage = open_without(muted, layer, Usd.Stage.LoadNone)
        prim = stage.OverridePrim(prim_path)
        claims = profiles.ClaimsAPI(prim)
        claimed = name in claims.GetCompatibleProfiles()
        if exceptions is None:
            if not claimed:
                return
            claims.ClearProfileCompatibility(name)
        else:
            # an unchanged claim leaves the file alone, and with it the comments and times of a text layer
            if claimed and list(claims.GetProfileExceptions(name)) == list(exceptions):
                return
            profiles.ClaimsAPI.Apply(prim)
            claims.SetProfileCompatibleWithExceptions(name, list(exceptions))
        write_layer(layer, file)
