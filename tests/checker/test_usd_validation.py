"""Our rules in OpenUSD's own validation framework, in a process that only has the environment variable."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from simwright.checker.run import all_rules
from simwright.usd.plugins import plugin_path

PLUGIN = "simwright.checker.adapters.usd_validation"

PROBE = """
import json, sys
from pxr import Usd, UsdGeom, UsdValidation

registry = UsdValidation.ValidationRegistry()
metadata = registry.GetValidatorMetadataForKeyword("rep0158")
answer = {"names": [m.name for m in metadata], "lazy": "simwright" not in sys.modules}
answer["doc"] = {m.name: m.doc for m in metadata}
validators = registry.GetOrLoadValidatorsByName(answer["names"])
answer["loaded"] = len(validators)
context = UsdValidation.ValidationContext(validators)
stage = Usd.Stage.CreateInMemory()
stage.DefinePrim("/A", "Xform")

def run():
    return [
        [e.GetName(), str(e.GetType()), e.GetMessage(), [s.GetPrim().GetPath().pathString for s in e.GetSites()]]
        for e in context.Validate(stage)
    ]

answer["before"] = run()
UsdGeom.SetStageMetersPerUnit(stage, 1)
answer["after"] = run()
stage.GetRootLayer().customLayerData = {"simwright": {"ignore": {"axis-up-z": "it lies down"}}}
answer["suppressed"] = run()
one = registry.GetOrLoadValidatorByName(sys.argv[1])
other = Usd.Stage.CreateInMemory()
answer["one"] = [e.GetIdentifier() for e in one.Validate(other)]
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def answer():
    environ = {**os.environ, "PXR_PLUGINPATH_NAME": plugin_path(validators=True)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, f"{PLUGIN}:units-meters"],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Warning" not in done.stderr, done.stderr
    return json.loads(done.stdout)


def test_every_rule_is_announced_without_loading_us(answer):
    ours = {
        f"{PLUGIN}:{rule.code}" for rule in all_rules() if rule.module.startswith("simwright.checker.rules.")
    }
    assert set(answer["names"]) == ours, "run scripts/generate_docs.py"
    assert answer["lazy"]
    assert answer["doc"][f"{PLUGIN}:units-meters"] == "The root layer sets metersPerUnit = 1 (REP-0158 1.1)."


def test_every_rule_loads(answer):
    assert answer["loaded"] == len(answer["names"])


def test_findings_arrive_with_type_message_and_site(answer):
    found = {name: (kind, message, sites) for name, kind, message, sites in answer["before"]}
    kind, message, sites = found["units-meters"]
    assert kind.endswith("Error")
    assert "metersPerUnit" in message
    assert sites == ["/"]


def test_a_changed_stage_is_looked_at_again(answer):
    before = {name for name, *_ in answer["before"]}
    after = {name for name, *_ in answer["after"]}
    assert before - after == {"units-meters"}


def test_suppressions_count(answer):
    after = {name for name, *_ in answer["after"]}
    assert after - {name for name, *_ in answer["suppressed"]} == {"axis-up-z"}


def test_a_single_validator_on_another_stage(answer):
    assert answer["one"] == [f"{PLUGIN}:units-meters.units-meters"]
