# SPDX-License-Identifier: Apache-2.0
"""The OpenUSD reader: a stage becomes an asset, in SI and Z-up (REP-0158 1.3 and 2).

One walk sorts the prims; each element family then has its own file.  Solver attributes are read once: what
they mean is resolved by ``solvers``, and all of them wait in ``asset.extras``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pxr import Tf, Usd

from simwright.core.collector import pause_collector
from simwright.core.diag import Reporter, Where
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.formats.format import ReadOptions
from simwright.formats.usd.actuators import read_actuators
from simwright.formats.usd.bindings import Bindings
from simwright.formats.usd.bodies import read_articulations, read_bodies
from simwright.formats.usd.custom import read_custom
from simwright.formats.usd.environment import read_environment, read_provenance
from simwright.formats.usd.equalities import read_equalities
from simwright.formats.usd.fidelity import select_fine_colliders
from simwright.formats.usd.filters import read_filters
from simwright.formats.usd.instancers import list_geometry, read_instancers, scan_instancers
from simwright.formats.usd.joints import read_joints
from simwright.formats.usd.leftovers import read_attributes, report_unknown_types
from simwright.formats.usd.lights_cameras import read_cameras, read_lights
from simwright.formats.usd.look_variants import read_look_variants
from simwright.formats.usd.mass import read_mass
from simwright.formats.usd.materials import read_materials
from simwright.formats.usd.messages import report_messages
from simwright.formats.usd.mimic import read_mimics
from simwright.formats.usd.mjc_world import (
    read_keyframes,
    read_pairs,
    read_root_options,
    read_tendon_equalities,
)
from simwright.formats.usd.movement import read_movement
from simwright.formats.usd.noted import restore_order
from simwright.formats.usd.noted_joints import restore_joints
from simwright.formats.usd.noted_motors import restore_idle_motors
from simwright.formats.usd.noted_parts import read_noted_sensors, restore_parts
from simwright.formats.usd.ros import read_ros
from simwright.formats.usd.samples import settle_samples
from simwright.formats.usd.scan import scan_stage
from simwright.formats.usd.sensors import read_sensors
from simwright.formats.usd.shapes import read_shapes
from simwright.formats.usd.sites import read_sites
from simwright.formats.usd.solvers import read_solvers
from simwright.formats.usd.source import Source
from simwright.formats.usd.stacks import merge_stacks
from simwright.formats.usd.tendons import read_tendons
from simwright.formats.usd.topology import check_topology
from simwright.formats.usd.transforms import check_turns
from simwright.formats.usd.units import read_units
from simwright.model.asset import Asset
from simwright.model.coordinates import shift_coordinates
from simwright.resolve.resolve import make_order
from simwright.resolve.resolver import make_resolvers
from simwright.usd.silence import capture


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read a .usd, .usda, .usdc or .usdz file."""
    from simwright.usd.open import open_stage

    options = replace(options, gate=options.make_gate(path, reporter))
    stage = open_stage(
        path, packages=options.packages, variants=options.variants, reporter=reporter, gate=options.gate
    )
    if options.fine_colliders:
        select_fine_colliders(stage, options.variants)
    asset = read_stage(stage, options, reporter, name=_choose_name(stage, path), file=str(path))
    if options.look_variants:
        read_look_variants(stage, path, options, reporter, asset=asset, read=read)
    return asset


def read_stage(
    stage: Usd.Stage, options: ReadOptions, reporter: Reporter, name: str = "", file: str = ""
) -> Asset:
    """Read an open stage.  Its meshes are loaded later, so the asset keeps the stage open."""
    file = file or str(stage.GetRootLayer().identifier)
    try:
        with capture() as messages, pause_collector():
            source = _make_source(stage, options, reporter, name, file)
            _read_all(source)
    except Tf.ErrorException as error:
        raise ParseError(f"OpenUSD cannot read the stage: {error}", where=Where(file)) from None
    report_messages(messages, Where(file), reporter)
    return source.release()


def _make_source(stage: Usd.Stage, options: ReadOptions, reporter: Reporter, name: str, file: str) -> Source:
    played = stage if options.time is None else None
    if options.time is None:
        stage = settle_samples(stage, file, reporter)
    return Source(
        stage=stage,
        file=file,
        time=Usd.TimeCode.Default() if options.time is None else Usd.TimeCode(options.time),
        units=read_units(stage, Where(file), reporter),
        reporter=reporter,
        asset=Asset(name or _choose_name(stage, Path(file))),
        order=make_order(make_resolvers(options.resolvers)),
        played=played,
        gate=options.gate or Gate.of_layer(stage.GetRootLayer().realPath, options.packages, reporter),
    )


def _read_all(source: Source) -> None:
    """The table of contents."""
    scan = scan_stage(source)
    read_attributes(source, scan)
    scatters = scan_instancers(source, scan)
    bindings = Bindings(source, scan, list_geometry(scatters))
    read_environment(source, scan)
    read_provenance(source)
    read_materials(source, bindings)
    read_bodies(source, scan)
    read_joints(source, scan)
    read_articulations(source, scan)
    read_shapes(source, scan, bindings)
    read_instancers(source, scatters, bindings)
    read_solvers(source, scan, bindings)
    read_mimics(source, scan)
    read_mass(source, scan)
    read_sites(source, scan)
    read_equalities(source, scan)
    read_tendons(source, scan)
    read_actuators(source, scan)
    read_sensors(source, scan)
    read_noted_sensors(source, scan)
    read_cameras(source, scan)
    read_lights(source, scan)
    read_filters(source, scan)
    read_ros(source, scan)
    read_custom(source, scan)
    read_pairs(source, scan)
    read_tendon_equalities(source, scan)
    read_root_options(source, scan)
    references = restore_joints(source, scan)
    restore_parts(source, scan)
    restore_idle_motors(source, scan)
    merge_stacks(source)
    restore_order(source, scan)
    read_keyframes(source, scan)
    shift_coordinates(source.asset, references)
    report_unknown_types(source, scan)
    check_turns(source, scan)
    read_movement(source)
    check_topology(source)


def _choose_name(stage: Usd.Stage, path: Path) -> str:
    """The default prim's name, else the file's."""
    prim = stage.GetDefaultPrim()
    return str(prim.GetName()) if prim else path.name.partition(".")[0] or "asset"
