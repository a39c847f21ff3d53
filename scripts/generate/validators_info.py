# SPDX-License-Identifier: Apache-2.0
"""The files that announce our rules to ``UsdValidation`` and our profiles to ``UsdProfiles``.

Two plugins: profiles are plain data for every OpenUSD, while validators are Python code that only runs where Simwright
is installed.
"""

from __future__ import annotations

import json
from typing import Any

from generate import list_our_rules

PLUGIN = "simwright.checker.adapters.usd_validation"
_FAMILY = "rep0158"
_PROFILES = {
    "core": "the asset itself: units, structure, physics, looks (REP-0158 section 1 and 4)",
    "ros": "the ROS interfaces of the asset (REP-0158 section 2)",
    "export": "what converters write (REP-0158 section 3)",
}


def generate() -> str:
    """The plugInfo.json of the validators."""
    return _write({"Validators": _list_validators()}, PLUGIN, "python")


def generate_profiles() -> str:
    """The plugInfo.json of the profiles."""
    return _write({"Profiles": {"Capabilities": _list_capabilities()}}, "simwrightProfiles", "resource")


def _write(info: dict[str, Any], name: str, kind: str) -> str:
    plugin = {"Info": info, "Name": name, "ResourcePath": ".", "Root": ".", "Type": kind}
    return json.dumps({"Plugins": [plugin]}, indent=4) + "\n"


def _list_validators() -> dict[str, Any]:
    from simwright.checker.catalogue import find_statement

    found: dict[str, Any] = {"keywords": [_FAMILY, "simwright"]}
    for rule in list_our_rules():
        keywords = [f"{_FAMILY}:{rule.section}", f"{_FAMILY}:{rule.profile.value}"]
        source = "" if find_statement(rule) else "about "
        doc = f"{rule.title} ({source}REP-0158 {rule.section})."
        found[rule.code] = {"doc": doc, "keywords": keywords}
    return found


def _list_capabilities() -> dict[str, Any]:
    rows: dict[str, Any] = {
        _FAMILY: {
            "name": "REP-0158",
            "docstring": "Robot simulation assets as REP-0158 describes them.",
            "predecessors": ["usd"],
        }
    }
    for name, text in _PROFILES.items():
        rows[f"{_FAMILY}.{name}"] = _make_profile(name, text, [_FAMILY])
    all_of_them = [f"{_FAMILY}.{name}" for name in _PROFILES]
    rows[f"{_FAMILY}.all"] = _make_profile("all", "every rule", all_of_them)
    return rows


def _make_profile(name: str, text: str, predecessors: list[str]) -> dict[str, Any]:
    return {
        "name": f"REP-0158 {name}",
        "docstring": f"Passes the rules of simwright for {text}.",
        "predecessors": predecessors,
        "isProfile": True,
    }
