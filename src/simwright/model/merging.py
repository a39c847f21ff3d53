# SPDX-License-Identifier: Apache-2.0
"""One asset of a whole scene, for formats that have no references.

Names get the name of the placement in front (``rover::wheel``), except where a thing is a single body, which then has
the name of the placement.  Materials are kept once however often an asset is placed.  What is stated for a whole file
and can be stated once only (step, gravity, states to start from) is the scene's own.
"""

from __future__ import annotations

import dataclasses

from simwright.core.diag import Level, Reporter, declare
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.renaming import LOOKS, NAMED, Renaming, hand_over, is_own_topic, place_asset
from simwright.model.scene import Placement, Scene

SEPARATOR = "::"
STATES_LEFT = declare(
    "scene-states",
    Level.INFO,
    "{name!r} brings {count} named state(s), which are not in the scene: a scene starts where things are placed",
    hint="keep the file of the asset for its states",
    doc="A keyframe holds the coordinates of a whole model; in a scene the model is one thing among many.",
    loss=True,
)
SETTINGS_LEFT = declare(
    "scene-settings",
    Level.WARNING,
    "{name!r} brings settings of a world ({settings}), which are not in the scene: they are the scene's own",
    hint="set them in the simulator that runs the scene",
    doc="Step, wind and solver options are stated once for all that is in a scene.",
    loss=True,
)


def merge_scene(scene: Scene, reporter: Reporter | None = None) -> Asset:
    """All present placements as one asset."""
    whole = Asset(scene.name, environment=scene.environment, provenance=scene.provenance)
    whole.lights += scene.lights
    whole.cameras += scene.cameras
    looks: dict[int, dict[str, str]] = {}
    for placement in scene.list_present():
        source = placement.asset
        # an asset placed ten times has its materials once, and its losses told once
        known = looks.get(id(source))
        if known is None:
            known = looks[id(source)] = _share_looks(whole, source, len(looks))
            if reporter is not None:
                _report_left(source, reporter)
        _add_placement(whole, placement, known)
    return whole


def _report_left(source: Asset, reporter: Reporter) -> None:
    if source.keyframes:
        reporter.report(STATES_LEFT, name=source.name, count=len(source.keyframes))
    world = source.environment
    said = [key for key in ("timestep", "wind", "magnetic_field") if getattr(world, key) is not None]
    said += sorted(world.settings)
    if said:
        reporter.report(SETTINGS_LEFT, name=source.name, settings=", ".join(said[:5]))


def _share_looks(whole: Asset, source: Asset, number: int) -> dict[str, str]:
    """Take the materials of an asset over; their new names."""
    names: dict[str, str] = {}
    taken = {material.name for family in LOOKS for material in getattr(whole, family)}
    for family in LOOKS:
        for material in getattr(source, family):
            name = material.name
            # render and physics materials of one asset may share a name
            if name in taken and names.get(name) != name:
                name = f"{source.name}_{name}"
                while name in taken:
                    name = f"{name}_{number}"
            getattr(whole, family).append(dataclasses.replace(material, name=name))
            names.setdefault(material.name, name)
    return names


def _add_placement(whole: Asset, placement: Placement, looks: dict[str, str]) -> None:
    """Rename, place, and hand over."""
    asset = placement.asset.copy()
    # a crate is better called "crate_1" than "crate_1::crate"
    single = asset.bodies[0].name if len(asset.bodies) == 1 and not asset.joints else None
    spaces = "/".join(
        word for word in (placement.namespace, *(c.namespace for c in asset.contexts[:1])) if word
    )

    def rename(name: str) -> str:
        return placement.name if name == single else f"{placement.name}{SEPARATOR}{name}"

    def rename_topic(name: str) -> str:
        """Names of interfaces get the namespace of the placement, as a context would give it to them."""
        return f"{spaces}/{name}" if spaces and is_own_topic(name) else name

    outer = [] if single else [placement.name]
    # before names change: scopes are made of the old ones
    scopes = [SEPARATOR.join((*outer, *filter(None, (body.scope,)))) for body in asset.bodies]
    Renaming(
        asset,
        rename,
        looks=lambda name: looks.get(name, name),
        topics=rename_topic,
        prims=lambda path: f"/{placement.name}{path}" if path else path,
    ).apply()
    for body, scope in zip(asset.bodies, scopes, strict=True):
        body.scope = scope
    place_asset(asset, placement.pose, WORLD, placement.pose)
    # recorded for the asset alone: times and variants of many placements do not fit together
    asset.motion, asset.look_variants = None, []
    hand_over(whole, asset, (*NAMED, "contact_filters", "interfaces"))
