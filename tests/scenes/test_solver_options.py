"""``simulation.solver``: names and values are checked, and an engine that ignores one says so."""

from __future__ import annotations

import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene

SCENE = """
schema_version: 1
simulation: {{dt: 0.002, solver: {solver}}}
bodies: [{{id: ball, mass: 1, shapes: [{{type: sphere, radius: 0.1}}]}}]
joints: [{{id: free, type: free, child: ball}}]
articulations: [{{id: ball, joints: [free]}}]
"""


@pytest.mark.parametrize(
    ("solver", "told"),
    [
        ("{line_search_varient: exact_root}", "line_search_variant"),
        ("{line_search_variant: armijo}", "armijo_decay"),
        ("{contact_preset_variant: drak}", "drake"),
        ("{rho: 1.5}", "rho"),
        ("{max_iterations: 0}", "max_iterations"),
    ],
)
def test_wrong_options_are_errors_that_name_the_right_ones(solver: str, told: str) -> None:
    with pytest.raises(SimwrightError, match=told) as caught:
        parse_scene(SCENE.format(solver=solver))
    assert caught.value.where.line == 3


def test_spellings_of_presets() -> None:
    for word in ("approx_32", "approx-32", "Approx32"):
        scene = parse_scene(SCENE.format(solver=f"{{contact_preset_variant: {word}}}")).scene
        assert scene.simulation.solver.list_said() == {"contact_preset_variant": "approx32"}


def test_mujoco_says_what_it_ignores() -> None:
    reporter = Reporter()
    loaded = assemble_scene(parse_scene(SCENE.format(solver="{contact_beta: 0.5, rho: 0.7}")))
    with open_scene(loaded, reporter=reporter):
        pass
    (found,) = [finding for finding in reporter if finding.kind == "scene-solver-ignored"]
    assert "contact_beta, rho" in found.message


def test_names_of_sap_warp_are_public() -> None:
    assert issubclass(simwright.SapUnsupportedSceneFeature, simwright.SapSceneLoaderError)
    assert simwright.load_sap_scene.__module__ == "simwright.scenes.sap"
    assert {"load_sap_scene", "load_sap_scene_config", "SapLoadedScene"} <= set(simwright.__all__)
