# SPDX-License-Identifier: Apache-2.0
"""What an asset itself says about checks: suppressions, each with a reason, and the profile it passed.

A suppression stands on a prim, for itself and everything below it::

    def Xform "Gripper" (
        customData = {
            dictionary simwright = {
                dictionary ignore = {
                    string "mass-positive" = "massless by design, see the data sheet"
                }
            }
        }
    )

In ``customLayerData`` of the root layer the same dictionary is for the whole asset.  A reason that is empty and
a code that does not exist are findings of their own, and suppress nothing.

A result is recorded as a ``UsdProfiles`` claim, where the installed OpenUSD has them: metadata on the default prim:
"compatible with the profile ``rep0158.core``".  Rules whose errors the asset suppresses are listed as its
exceptions.  An asset with errors gets no claim, and loses one it has.  The profiles themselves are declared in the
plugInfo.json beside our ``UsdValidation`` validators.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.result import AssetResult, Suppressed
from simwright.core.diag import Diagnostic, Level, Reporter, Where, declare
from simwright.core.errors import InputError, UnknownNameError, UsageError
from simwright.core.files import write_atomic
from simwright.usd.guard import check_file, is_text
from simwright.usd.layers import encode_layer, write_layer
from simwright.usd.locate import Locator
from simwright.usd.open import open_stage, open_without
from simwright.usd.remarks import carry_remarks
from simwright.usd.silence import capture

SUPPRESSION_UNKNOWN = declare(
    "check-suppression-unknown",
    Level.WARNING,
    "the suppression names the rule {code!r}, which does not exist",
    hint="{advice}",
    doc="customData simwright:ignore names a code that is not a rule and no finding of the checker.",
)
SUPPRESSION_UNREASONED = declare(
    "check-suppression-unreasoned",
    Level.WARNING,
    "the suppression of {code!r} gives no reason and is not applied",
    hint="write why the finding is acceptable as the value: string {code} = '...'",
    doc="A suppression in customData simwright:ignore has an empty reason, or one that is not text.",
)
SUPPRESSION_MALFORMED = declare(
    "check-suppression-malformed",
    Level.WARNING,
    "customData simwright:ignore is {value!r}, not a dictionary of rule codes and reasons",
    hint="write: dictionary ignore = {{ string CODE = 'reason' }}",
    doc="The suppressions of an asset are not written as a dictionary from code to reason.",
)

KEY = "simwright"
ENTRY = "ignore"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule silenced at and below ``prim``; an empty ``prim`` means everywhere."""

    code: str
    reason: str
    prim: str = ""

    def covers(self, finding: Diagnostic) -> bool:
        """Is this finding meant?"""
        if finding.kind != self.code:
            return False
        at = finding.where.prim
        return not self.prim or at == self.prim or at.startswith(f"{self.prim}/")


def gather_suppressions(
    snapshot: StageSnapshot, known: Collection[str], reporter: Reporter, locator: Locator
) -> list[Suppression]:
    """Every suppression of an asset; those that are not right are reported."""
    found: list[Suppression] = []
    whole = snapshot.root_layer.customLayerData.get(KEY)
    if whole is not None:
        where = locator.where_spec(snapshot.root_layer, "/")
        place = Where(where.file, where.line, where.column)
        found += _read_entries(whole, "", place, known, reporter)
    for node in snapshot.nodes:
        # GetCustomDataByKey composes the whole dictionary; few prims have one
        if not node.prim.HasAuthoredMetadata("customData"):
            continue
        own = node.prim.GetCustomDataByKey(KEY)
        if own is not None:
            where = locator.where_prim(node.prim)
            place = Where(where.file, where.line, where.column, node.path)
            found += _read_entries(own, node.path, place, known, reporter)
    return found


def split_suppressed(
    findings: Iterable[Diagnostic], suppressions: Iterable[Suppression]
) -> tuple[list[Diagnostic], list[Suppressed]]:
    """Findings that stay, and those that a suppression covers."""
    by_code: dict[str, list[Suppression]] = {}
    for item in suppressions:
        by_code.setdefault(item.code, []).append(item)
    kept: list[Diagnostic] = []
    silenced: list[Suppressed] = []
    for finding in findings:
        match = next((item for item in by_code.get(finding.kind, ()) if item.covers(finding)), None)
        if match:
            silenced.append(Suppressed(finding, match.reason))
        else:
            kept.append(finding)
    return kept, silenced


def _read_entries(
    own: Any, prim: str, place: Where, known: Collection[str], reporter: Reporter
) -> Iterable[Suppression]:
    entries = own.get(ENTRY, {}) if isinstance(own, Mapping) else own
    if not isinstance(entries, Mapping):
        reporter.report(SUPPRESSION_MALFORMED, place, value=str(entries))
        return
    for code, reason in entries.items():
        if code not in known:
            advice = UnknownNameError("rule", code, known).hint
            reporter.report(SUPPRESSION_UNKNOWN, place, code=code, advice=advice)
        elif not isinstance(reason, str) or not reason.strip():
            reporter.report(SUPPRESSION_UNREASONED, place, code=code)
        else:
            yield Suppression(code, reason.strip(), prim)


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

    The root layer is written again as OpenUSD writes it (comments of a text layer stay), and only if the
    claim is not there already.
    """
    compatible = not result.failed and not any(d.level is Level.ERROR for d in result.findings)
    exceptions = {s.finding.kind for s in result.suppressed if s.finding.level is Level.ERROR}
    tokens = [f"{FAMILY}.{code}" for code in sorted(exceptions)]
    if result.failed:
        require_profiles()
    else:
        write_claims(result.path, {name_profile(profile): tokens if compatible else None})
    return compatible


def write_claims(
    path: str | os.PathLike[str],
    claims: Mapping[str, Sequence[str] | None],
    notes: Mapping[str, str] | None = None,
) -> bool:
    """Write claims into the root layer of an asset, profile by profile; gives whether anything was written.

    A claim is the list of its exceptions; None takes it back.  ``notes`` are texts for ``customData`` by key, an empty
    one removes it.  The layer appears whole, and is left alone where it says all of it already.
    """
    from pxr import Sdf, Usd

    profiles = require_profiles()
    file = check_file(Path(path))
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
        changed = [_set_claim(profiles, prim, name, exceptions) for name, exceptions in claims.items()]
        changed += [_set_note(prim, key, text) for key, text in (notes or {}).items()]
        # an unchanged claim leaves the file alone, and with it the comments and times of a text layer
        if any(changed):
            old = file.read_bytes()
            if is_text(old):
                write_atomic(file, carry_remarks(old, encode_layer(layer, ".usda"))[0])
            else:
                write_layer(layer, file)
    return any(changed)


def _set_claim(profiles: Any, prim: Any, name: str, exceptions: Sequence[str] | None) -> bool:
    claims = profiles.ClaimsAPI(prim)
    claimed = name in claims.GetCompatibleProfiles()
    if exceptions is None:
        if claimed:
            claims.ClearProfileCompatibility(name)
        return claimed
    if claimed and list(claims.GetProfileExceptions(name)) == list(exceptions):
        return False
    profiles.ClaimsAPI.Apply(prim)
    claims.SetProfileCompatibleWithExceptions(name, list(exceptions))
    return True


def _set_note(prim: Any, key: str, text: str) -> bool:
    if (prim.GetCustomDataByKey(key) or "") == text:
        return False
    if text:
        prim.SetCustomDataByKey(key, text)
    else:
        prim.ClearCustomDataByKey(key)
    return True
