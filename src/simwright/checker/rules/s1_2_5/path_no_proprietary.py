# SPDX-License-Identifier: Apache-2.0
"""Files are named by relative paths or package://, not by other schemes.

Why: `omniverse://` needs one vendor's server, `https://` a network, `model://` one simulator's search path.

Fails: `@omniverse://server/robot.usd@`, `@https://example.org/wood.png@`, `@model://box/box.usda@`.
Passes: `@package://my_robot/usd/robot.usda@`; schemes that the setting `allowed_schemes` names.

Reading: file: counts as an absolute path.  Layers in memory and members of a .usdz package are no scheme.

Fix: unsafe.  Needs to know where the files are now.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import PathForm, find_dependencies, scheme_of
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.complaints import describe_missing


@rule("path-no-proprietary", "1.2.5", "must not", on="stage", fix="unsafe", fix_title="rewrite the address")
def path_no_proprietary(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Schemes other than package:// and those allowed."""
    allowed = snapshot.settings.allowed_schemes
    for dependency in find_dependencies(snapshot):
        # package:// has a form of its own and never gets here
        if dependency.form is PathForm.SCHEME and scheme_of(dependency.text) not in allowed:
            yield dependency.finding(
                f"the {dependency.shown} {dependency.text!r} uses the scheme {scheme_of(dependency.text)!r}",
                "copy the file into the asset (./...), or use package:// if a ROS package has it",
                # OpenUSD cannot open such a layer and says so too: one fault, one finding
                **(describe_missing(dependency.text) if dependency.names_layer else {}),
            )
