# SPDX-License-Identifier: Apache-2.0
"""Entry of the OpenUSD writer: an asset as a folder of layers, as one file, or as a stage in memory.

``build_layers`` is the table of contents.  ``<name>.usda`` says what the asset is and refers to the layers (REP-0158
1.2): vendors first, then ROS, extended physics, physics and the link tree.  In memory the layers are anonymous and
refer to each other by their identifiers; images stay where the source has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pxr import Sdf, Tf

if TYPE_CHECKING:
    from pxr import Usd

from simwright.core.diag import Reporter, Where
from simwright.core.errors import LimitError, OutputError, UsageError
from simwright.core.files import write_staged
from simwright.core.heap import give_back
from simwright.core.math3d import IDENTITY
from simwright.core.names import make_identifier
from simwright.core.scratch import scratch_folder
from simwright.formats.format import ReadOptions, WriteOptions, choose_place
from simwright.formats.usd import FORMAT
from simwright.formats.usd.writer.extended_physics import write_extended
from simwright.formats.usd.writer.extras import find_lost_settings
from simwright.formats.usd.writer.instances import write_geometry, write_optics
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.materials import TextureFiles, settle_looks, write_materials
from simwright.formats.usd.writer.mesh_variants import Decomposer, DetailLevels
from simwright.formats.usd.writer.meshes import FILE
from simwright.formats.usd.writer.messages import (
    ENGINE_LEFT_OUT,
    GLOW_DARK,
    LIGHT_BARE,
    NOT_CARRIED,
    SETTING_LOST,
    SLIDE_ENDLESS,
    TOPIC_ABSOLUTE,
)
from simwright.formats.usd.writer.physics import write_physics, write_remarks
from simwright.formats.usd.writer.plan import (
    COLLISION,
    VISUAL,
    WritePlan,
    list_written,
    make_plan,
    note_order,
    place_sensor,
)
from simwright.formats.usd.writer.prepare import (
    chain_freedoms,
    lend_moments,
    prepare,
    settle_poses,
    settle_references,
    thicken_planes,
    widen_locks,
)
from simwright.formats.usd.writer.ros import write_ros
from simwright.formats.usd.writer.sensors import write_sensors
from simwright.formats.usd.writer.vendor import FILES, write_vendors
from simwright.model.asset import Asset, Light, LightKind, Shape
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, Joint, Motion
from simwright.model.kinematics import build_tree
from simwright.model.ros import OPTICAL
from simwright.usd.layers import export_layer
from simwright.usd.notes import NOTES, PRIMS, mark_layer
from simwright.usd.plugins import register_plugins

# topics that ROS itself has outside of every namespace
_GLOBAL = frozenset({"/tf", "/tf_static", "/diagnostics", "/clock"})
SUFFIX = ".usda"
VERSION = "1.0.0"
OWN_FILES = frozenset(
    {
        "base.usda", "instances.usda", "materials.usda", "physics.usda", "extended_physics.usda", "ros.usda",
        "sensors.usda",
        *FILES.values(), FILE, "textures",
    }
)  # fmt: skip
"""What an asset's folder may hold beside its entry."""
ENGINE_FILES = frozenset({FILES["mjc"], FILES["newton"], FILES["physx"]})
FOR_ENGINES = {
    "neutral": frozenset[str](),
    "mujoco": frozenset({FILES["mjc"]}),
    # Newton reads actuators and tendons in MuJoCo's words, for its MuJoCo solver (1.7)
    "newton": frozenset({FILES["newton"], FILES["mjc"]}),
    # PhysX reads Newton's words too (ovphysx 0.7)
    "isaac": frozenset({FILES["newton"], FILES["physx"]}),
}
"""For whom an asset is -> the engine layers that it has."""
MAX_DEPTH = 400
"""Links below links: readers of OpenUSD, ours included, stop at a thousand levels of brackets."""
_ALIVE: dict[str, list[Sdf.Layer]] = {}
"""For the root layer of each stage in use, by identifier: the layers that it may ask for."""


def build_layers(
    asset: Asset, entry: str, reporter: Reporter, options: WriteOptions | None = None
) -> tuple[dict[str, LayerWriter], TextureFiles]:
    """Every layer of the folder by relative path, the entry last; and the images."""
    options = options or WriteOptions()
    levels = DetailLevels() if options.lod else None
    decomposer = Decomposer() if options.decompose else None
    plan = _plan_layers(asset, reporter, options)
    # while all meshes are there
    glowing = _list_glowing(plan)
    give_back()
    # first of the layers: what cannot be written is taken out of the plan, and the others follow it
    instances, library = write_geometry(
        plan,
        reporter,
        levels=levels,
        decomposer=decomposer,
        consume=options.consume and not plan.is_for_mujoco,
    )
    write_optics(plan, instances, reporter)
    base = write_base(plan)
    physics = write_physics(plan, reporter)
    extended = write_extended(plan, reporter)
    ros, topics = write_ros(plan, physics, reporter)
    sensors = write_sensors(plan, topics)
    # notes go to physics.usda, the one feature layer that every asset has
    write_remarks(plan, physics)
    # last of the features: they hold what no other layer took
    vendors = write_vendors(plan, reporter)
    report_losses(plan, reporter)
    report_decisions(plan, glowing, reporter)
    features = {**vendors, "ros.usda": ros, "sensors.usda": sensors, "extended_physics.usda": extended}
    features["physics.usda"] = physics
    # when all prims are there: the order of prims in the composed stage is compared
    note_order(plan, [instances, base, *reversed(features.values())])
    # an empty layer would be one more file to look into
    features = {file: layer for file, layer in features.items() if layer.is_used}
    layers = {**features, "base.usda": base, "instances.usda": instances}
    images = TextureFiles()
    if plan.materials:
        layers["materials.usda"], images = write_materials(plan, reporter)
    if library.is_used:
        layers[FILE] = library.layer
    composed = _choose_features(features, options.for_, reporter)
    layers = {file: layer for file, layer in layers.items() if file not in features or file in composed}
    layers[entry] = _write_entry(plan, [*composed, "base.usda"], entry)
    return layers, images


def _plan_layers(asset: Asset, reporter: Reporter, options: WriteOptions) -> WritePlan:
    """The plan of a copy of the asset that is settled for the engine it is written for."""
    ready = prepare(asset, reporter)
    if options.for_ == "mujoco":
        thicken_planes(ready, reporter)
        widen_locks(ready, reporter)
    settle_looks(ready, reporter)
    if options.consume:
        _leave_undressed(asset, ready)
    if options.for_ == "newton":
        lend_moments(ready)
    chains = chain_freedoms(ready, options.for_)
    plan = make_plan(ready, exact=options.exact)
    plan.chains = chains
    # after planning, which needs the names of freedoms, and before anything reads a coordinate
    settle_references(plan, reporter)
    plan.is_decomposed = options.decompose
    plan.is_for_mujoco = options.for_ == "mujoco"
    plan.is_for_physx = options.for_ == "isaac"
    plan.is_for_newton = options.for_ == "newton"
    plan.is_divided = options.for_ in ("mujoco", "newton")
    if plan.is_for_mujoco:
        settle_poses(plan, reporter)
    return plan


def _leave_undressed(asset: Asset, ready: Asset) -> None:
    """Let go of the meshes that shapes of the asset have and no shape of the copy, which has them in other looks."""
    kept = {id(shape.geometry) for shape in ready.shapes}
    for shape in asset.shapes:
        if isinstance(shape.geometry, Mesh) and id(shape.geometry) not in kept:
            shape.geometry.release()


def _choose_features(features: Iterable[str], engine: str, reporter: Reporter) -> list[str]:
    """The feature layers that are written; says which ones are not."""
    composed = choose_files(features, engine)
    left_out = [file for file in features if file not in composed]
    if left_out:
        reporter.report(ENGINE_LEFT_OUT, files=", ".join(left_out), engine=engine)
    return composed


def choose_files(files: Iterable[str], engine: str) -> list[str]:
    """The feature layers that an asset for an engine has; without an engine, all of them."""
    if not engine:
        return [*files]
    if engine not in FOR_ENGINES:
        raise UsageError(f"no asset is written for {engine!r}", hint=f"there are {', '.join(FOR_ENGINES)}")
    return [file for file in files if file in FOR_ENGINES[engine] or file not in ENGINE_FILES]


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the entry ``<folder>/<name>.usda``.  Gives the entry's path.

    A folder that holds an earlier result is replaced whole.  A ``.usdz`` target is a package of all layers; with
    ``options.flatten`` the target is one layer.
    """
    if options.flatten or target.suffix.lower() == ".usdz":
        return _deliver(asset, target, options, reporter)
    register_plugins()
    folder, name = _choose_place(asset, target)
    named = target.suffix.lower() == SUFFIX
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    check_depth(asset, Where(str(target)))
    try:
        layers, images = build_layers(asset, name, reporter, options)
        options.approve()
        with place.fill() as staging:
            write_staged(staging, images.files)
            while layers:  # one after the other: none is held longer than it takes to write it
                file, layer = layers.popitem()
                export_layer(layer.sdf, staging / file)
    except Tf.ErrorException as error:
        raise OutputError(f"OpenUSD cannot write the asset: {error}", where=Where(str(target))) from None
    return place.path


def _deliver(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """The layers in a folder of our own, then the one file that is wanted."""
    from simwright.formats.usd.delivery import flatten_file, pack_file  # opening stages costs memory

    deliver = flatten_file if options.flatten else pack_file
    with scratch_folder() as folder:
        place = folder / "asset" / name_entry(asset)
        entry = write(asset, place, replace(options, flatten=False, wrote=WriteOptions().wrote), reporter)
        # the inner writing must not tell the caller about files of a temporary folder
        return deliver(entry, target, ReadOptions(), reporter, wrote=options.wrote)


def build_stage(asset: Asset, options: WriteOptions, reporter: Reporter) -> Usd.Stage:
    """The composed stage of an asset."""
    from pxr import Usd  # costs memory that writing files does not need

    register_plugins()
    where = Where(asset.provenance.file)
    check_depth(asset, where)
    entry = name_entry(asset)
    FORMAT.report_losses(asset, reporter)
    try:
        layers, images = build_layers(asset, entry, reporter, options)
        _join(layers, images)
    except Tf.ErrorException as error:
        raise OutputError(f"OpenUSD cannot hold the asset: {error}", where=where) from None
    options.approve()
    root = layers.pop(entry).sdf
    stage = Usd.Stage.Open(root)
    _keep([layer.sdf for layer in layers.values()], stage)
    return stage


def _join(layers: dict[str, LayerWriter], images: TextureFiles) -> None:
    """Let the layers find each other, and the images of the source."""
    from pxr import UsdUtils

    places = {f"./{file}": layer.sdf.identifier for file, layer in layers.items()}
    places |= {f"./{path}": str(Path(file).absolute()) for path, file in images.origins.items()}
    for layer in layers.values():
        UsdUtils.ModifyAssetPaths(layer.sdf, lambda path: places.get(path, path))


def _keep(layers: list[Sdf.Layer], stage: Usd.Stage) -> None:
    # stages cannot hold Python objects, so layers of stages that are gone are let go at the next call (or a later
    # one: OpenUSD 26.11 takes stages apart in threads)
    for root in [root for root in _ALIVE if Sdf.Layer.Find(root) is None]:
        del _ALIVE[root]
    _ALIVE[stage.GetRootLayer().identifier] = layers


def name_entry(asset: Asset) -> str:
    """The file name of the entry, unless the user chose one.  No layer beside it has that name."""
    name = make_identifier(asset.name, "asset")
    return f"{name}_asset{SUFFIX}" if _is_taken(f"{name}{SUFFIX}") else f"{name}{SUFFIX}"


def _is_taken(name: str) -> bool:
    """Is it the name of a layer that the entry refers to?  Some file systems do not tell letters apart."""
    return name.lower() in OWN_FILES


def check_depth(asset: Asset, where: Where) -> None:
    """Refuse chains that readers cannot follow."""
    depth = {WORLD: 0}
    for edge in build_tree(asset).edges:
        depth[edge.child] = depth.get(edge.parent, 0) + 1
    deepest = max(depth.values())
    if deepest > MAX_DEPTH:
        raise LimitError(
            f"a chain of {deepest} links cannot be nested in OpenUSD layers; {MAX_DEPTH} is the limit",
            hint="merge links that are fixed to each other, or cut the model into parts",
            where=where,
        )


def _choose_place(asset: Asset, target: Path) -> tuple[Path, str]:
    suffix = target.suffix.lower()
    if suffix == SUFFIX:
        if _is_taken(target.name):
            message = f"an entry cannot be called {target.name!r}: a layer beside it has that name"
            raise UsageError(message, hint="choose another name, or name a folder", where=Where(str(target)))
        return target.parent, target.name
    if suffix in (".usd", ".usdc"):
        message = f"the entry layer of an asset is text, not {suffix}"
        hint = f"name a folder, or *{SUFFIX} in a folder; or ask for one layer of everything: --flatten"
        raise UsageError(message, hint=hint, where=Where(str(target)))
    return target, name_entry(asset)


def _write_entry(plan: WritePlan, files: list[str], entry: str) -> LayerWriter:
    layer = LayerWriter(plan.root, f"{plan.asset.name}, written by Simwright.")
    # here, and here alone: who flattens the asset keeps what the entry says of its layers and nothing of the others
    mark_layer(layer.sdf, NOTES if plan.exact else PRIMS)
    spec = layer.define(plan.root)
    spec.SetInfo("kind", "component")
    spec.SetInfo("assetInfo", describe_origin(plan.asset, entry))
    layer.name(plan.root, plan.asset.name)
    layer.refer(plan.root, files)
    return layer


def describe_origin(asset: Asset, entry: str) -> dict[str, object]:
    """Identity, version and where the asset was made from (REP-0158 1.2.5)."""
    origin = asset.provenance
    info: dict[str, object] = {
        "identifier": origin.identifier or entry,
        "name": asset.name,
        "version": origin.version if origin.format == "usd" and origin.version else VERSION,
    }
    known = origin.info.get("assetInfo")
    ros = dict(known.get("ros", {})) if isinstance(known, dict) else {}
    if origin.file:
        ros.setdefault("source_file", Path(origin.file).name)
        ros.setdefault("source_format", origin.format)
    if ros:
        info["ros"] = ros
    return info


# links, scopes, frames and sensors are all there is to the tree, in the order of the layer
def write_base(plan: WritePlan) -> LayerWriter:
    """Every link, its two scopes, every frame."""
    layer = LayerWriter(plan.root, f"The link tree of {plan.asset.name}.")
    layer.define(plan.root)
    layer.place(plan.root, IDENTITY)
    layer.refer(plan.root, ["instances.usda"])
    bodies = {body.name: body for body in plan.asset.bodies}
    used = {(shape.body, word) for shape in plan.asset.shapes for word in _list_scopes(plan, shape.name)}
    for name, path in plan.bodies.items():
        spec = layer.define(path)
        spec.SetInfo("kind", "subcomponent")
        layer.name(path, bodies[name].name)
        layer.place(path, plan.poses[name])
        for word in (VISUAL, COLLISION):
            if (name, word) in used:
                layer.define(f"{path}/{word}", "Scope")
    for word in (VISUAL, COLLISION):
        if ("", word) in used:
            layer.define(f"{plan.root}/{word}", "Scope")
    optical = set(plan.optical.values())
    for site in plan.asset.sites:
        path = plan.sites[site.name]
        layer.define(path)
        layer.name(path, site.name)
        layer.place(path, OPTICAL if path in optical else site.pose)
    for sensor in plan.asset.sensors:
        if sensor.name in plan.sensors:
            layer.define(plan.sensors[sensor.name])
            layer.place(plan.sensors[sensor.name], place_sensor(sensor, plan.neutral.get(sensor.name)))
    return layer


def _list_scopes(plan: WritePlan, shape: str) -> list[str]:
    return [word for word, paths in ((VISUAL, plan.visuals), (COLLISION, plan.colliders)) if shape in paths]


def report_losses(plan: WritePlan, reporter: Reporter) -> None:
    """Elements without a place, then values without an attribute."""
    asset = plan.asset
    if plan.tree.dangling:
        first = plan.tree.dangling[0]
        reporter.report(
            NOT_CARRIED,
            first.source,
            count=len(plan.tree.dangling),
            what="joints to bodies that do not exist",
            first=first.name,
        )
    bare = [s for s in asset.shapes if s.settings and s.collision and find_lost_settings(asset, s)]
    if bare:
        reporter.report(
            SETTING_LOST, bare[0].source, what="a contact setting", count=len(bare), first=bare[0].name
        )


# kinds and elements side by side, so that each is reported in the same way
def report_decisions(plan: WritePlan, glowing: list[Shape], reporter: Reporter) -> None:
    """What the source says, is written as it is, and a person has to decide: one finding per kind.

    Each of these is a warning of ``simwright check`` on the result, and is named when it is converted.  ``glowing`` are
    the visuals that :func:`_list_glowing` finds.
    """
    asset = plan.asset
    glowing = _keep_written(plan, glowing)
    lit = {shape.body for shape in glowing}
    found = (
        (TOPIC_ABSOLUTE, [i for i in asset.interfaces if i.name.startswith("/") and i.name not in _GLOBAL]),
        (SLIDE_ENDLESS, [joint for joint in list_written(plan) if _is_endless_slide(joint)]),
        (LIGHT_BARE, [light for light in asset.lights if _is_lamp(light) and light.body not in lit]),
        (GLOW_DARK, [] if asset.lights or not _is_place(asset) else glowing),
    )
    for kind, elements in found:
        if elements:
            reporter.report(kind, elements[0].source, count=len(elements), first=elements[0].name)


def _keep_written(plan: WritePlan, visuals: list[Shape]) -> list[Shape]:
    """Those that were not taken out of the plan since they were listed."""
    return [shape for shape in visuals if shape.name in plan.visuals]


def _list_glowing(plan: WritePlan) -> list[Shape]:
    """Visuals with an emissive material."""
    glowing = {material.name for material in plan.asset.materials if any(material.emissive)}
    if not glowing:
        return []
    return [s for s in plan.asset.shapes if s.name in plan.visuals and _find_looks(s) & glowing]


def _is_endless_slide(joint: Joint) -> bool:
    return [dof.motion for dof in joint.dofs] == [Motion.SLIDE] and math.isinf(
        joint.dofs[0].upper - joint.dofs[0].lower
    )


def _find_looks(shape: Shape) -> set[str]:
    data = getattr(shape.geometry, "data", None)
    return {shape.material, *(subset.material for subset in (data.subsets if data is not None else ()))}


def _is_lamp(light: Light) -> bool:
    return light.body != WORLD and light.kind in (LightKind.POINT, LightKind.SPOT)


def _is_place(asset: Asset) -> bool:
    """Is it surroundings, and no machine?"""
    return not asset.joints
