# SPDX-License-Identifier: Apache-2.0
"""Simwright: robot simulation assets, written once, right in every simulator.

The public names below are imported when they are first used, so ``import simwright`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simwright.app.api import check as check
    from simwright.app.api import convert as convert
    from simwright.app.api import diff as diff
    from simwright.app.api import fix as fix
    from simwright.app.api import load as load
    from simwright.app.api import save as save
    from simwright.app.api import to_stage as to_stage
    from simwright.app.proving import prove as prove
    from simwright.app.proving import prove_scene as prove_scene
    from simwright.app.rendering import render as render
    from simwright.app.running import run as run
    from simwright.app.world_build import build_world as build_world
    from simwright.app.worlds import load_world as load_world
    from simwright.core.diag import Diagnostic as Diagnostic
    from simwright.core.diag import Level as Level
    from simwright.core.diag import Reporter as Reporter
    from simwright.core.errors import SimwrightError as SimwrightError
    from simwright.core.math3d import Pose as Pose
    from simwright.model.asset import Asset as Asset
    from simwright.scenes.load import LoadedScene as LoadedScene
    from simwright.scenes.load import load_scene as load_scene
    from simwright.scenes.sap import SapLoadedScene as SapLoadedScene
    from simwright.scenes.sap import SapSceneLoaderError as SapSceneLoaderError
    from simwright.scenes.sap import SapUnsupportedSceneFeature as SapUnsupportedSceneFeature
    from simwright.scenes.sap import load_sap_scene as load_sap_scene
    from simwright.scenes.sap import load_sap_scene_config as load_sap_scene_config
    from simwright.tasks.catalog import list_robots as list_robots
    from simwright.tasks.environments import make_env as make_env
    from simwright.tasks.environments import make_rollout as make_rollout
    from simwright.tasks.environments import make_vector_env as make_vector_env
    from simwright.tasks.preflight import preflight as preflight
    from simwright.tasks.robot import open_robot as open_robot

__version__ = "0.1.0"

_PUBLIC = {
    "Asset": "simwright.model.asset:Asset",
    "Diagnostic": "simwright.core.diag:Diagnostic",
    "Level": "simwright.core.diag:Level",
    "LoadedScene": "simwright.scenes.load:LoadedScene",
    "Pose": "simwright.core.math3d:Pose",
    "Reporter": "simwright.core.diag:Reporter",
    "SapLoadedScene": "simwright.scenes.sap:SapLoadedScene",
    "SapSceneLoaderError": "simwright.scenes.sap:SapSceneLoaderError",
    "SapUnsupportedSceneFeature": "simwright.scenes.sap:SapUnsupportedSceneFeature",
    "SimwrightError": "simwright.core.errors:SimwrightError",
    "build_world": "simwright.app.world_build:build_world",
    "check": "simwright.app.api:check",
    "convert": "simwright.app.api:convert",
    "diff": "simwright.app.api:diff",
    "fix": "simwright.app.api:fix",
    "list_robots": "simwright.tasks.catalog:list_robots",
    "load": "simwright.app.api:load",
    "load_sap_scene": "simwright.scenes.sap:load_sap_scene",
    "load_sap_scene_config": "simwright.scenes.sap:load_sap_scene_config",
    "load_scene": "simwright.scenes.load:load_scene",
    "load_world": "simwright.app.worlds:load_world",
    "make_env": "simwright.tasks.environments:make_env",
    "make_rollout": "simwright.tasks.environments:make_rollout",
    "make_vector_env": "simwright.tasks.environments:make_vector_env",
    "open_robot": "simwright.tasks.robot:open_robot",
    "preflight": "simwright.tasks.preflight:preflight",
    "prove": "simwright.app.proving:prove",
    "prove_scene": "simwright.app.proving:prove_scene",
    "render": "simwright.app.rendering:render",
    "run": "simwright.app.running:run",
    "save": "simwright.app.api:save",
    "to_stage": "simwright.app.api:to_stage",
}

__all__ = [
    "Asset",
    "Diagnostic",
    "Level",
    "LoadedScene",
    "Pose",
    "Reporter",
    "SapLoadedScene",
    "SapSceneLoaderError",
    "SapUnsupportedSceneFeature",
    "SimwrightError",
    "__version__",
    "build_world",
    "check",
    "convert",
    "diff",
    "fix",
    "list_robots",
    "load",
    "load_sap_scene",
    "load_sap_scene_config",
    "load_scene",
    "load_world",
    "make_env",
    "make_rollout",
    "make_vector_env",
    "open_robot",
    "preflight",
    "prove",
    "prove_scene",
    "render",
    "run",
    "save",
    "to_stage",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        from simwright.core.registry import import_object

        return import_object(_PUBLIC[name])
    raise AttributeError(f"module 'simwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
