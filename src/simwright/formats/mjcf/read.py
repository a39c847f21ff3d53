# SPDX-License-Identifier: Apache-2.0
"""MJCF -> model, as MuJoCo compiles it: the table of contents.

The text is checked first (``source.py``), MuJoCo compiles it (``compiler.py``), and each element family
is read from the compiled model: defaults, includes, attachments, replication, orientation conventions,
inertia from geoms and automatic limits are all resolved by the reference implementation.  MjSpec gives
what compiling drops.

Bodies without a joint are welded to their parent, the world included: MuJoCo's root bodies do not float
unless they have a free joint.  Mocap bodies are kinematic and have no joint.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import ParseError
from simwright.core.math3d import HUGE
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.bodies import read_bodies, read_joints
from simwright.formats.mjcf.compiler import compile_model
from simwright.formats.mjcf.constraints import read_contacts, read_equalities, read_tendons
from simwright.formats.mjcf.control import read_actuators, read_keyframes, read_sensors
from simwright.formats.mjcf.geoms import read_geoms, read_sites
from simwright.formats.mjcf.options import read_custom, read_options
from simwright.formats.mjcf.reader import MjcfReader, claim_names
from simwright.formats.mjcf.source import read_source
from simwright.formats.mjcf.visuals import read_cameras, read_lights, read_materials
from simwright.model.asset import Asset
from simwright.model.kinematics import place_bodies


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read an MJCF file."""
    source = read_source(path, options.make_gate(path, reporter), reporter)
    mujoco, spec, model, scales = compile_model(path, source, reporter)
    asset = Asset(name=str(spec.modelname or path.stem))
    asset.provenance.version = str(mujoco.__version__)
    asset.provenance.identifier = str(spec.modelname or "")
    reader = MjcfReader(mujoco, spec, model, source, reporter, asset, mesh_scales=scales)
    # before anything else: findings name elements
    claim_names(reader)
    _refuse_absurd_numbers(reader)

    read_options(reader)
    read_bodies(reader)
    read_joints(reader)
    # needs bodies and joints; geoms, cameras and the rest are relative to their bodies
    place_bodies(asset)
    read_materials(reader)
    read_geoms(reader)
    read_sites(reader)
    read_cameras(reader)
    read_lights(reader)
    read_tendons(reader)
    read_equalities(reader)
    read_contacts(reader)
    read_actuators(reader)
    read_sensors(reader)
    read_keyframes(reader)
    read_custom(reader)
    _report_losses(reader)
    return asset


# numbers of elements, by family, that everything after reading computes with
_ARRAYS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_ipos"),
    "geom": ("geom_pos", "geom_size"),
    "joint": ("jnt_pos",),
    "site": ("site_pos", "site_size"),
}
# Numbers of many elements in one array, and where each element's begin.
_POOLS = {"mesh": ("mesh_vert", "mesh_vertadr"), "hfield": ("hfield_data", "hfield_adr")}


def _refuse_absurd_numbers(reader: MjcfReader) -> None:
    """Refuse a model with a mass, an inertia or a length that is not finite or beyond every use."""
    for family, (name, starts) in _POOLS.items():
        absurd = np.argwhere(~np.isfinite(getattr(reader.model, name)))
        if len(absurd):
            index = int(np.searchsorted(getattr(reader.model, starts), absurd[0][0], side="right")) - 1
            raise ParseError(
                f"{family} {reader.name(family, index)!r} has numbers that are not finite",
                hint="correct them",
                where=reader.where(family, index),
            )
    for family, names in _ARRAYS.items():
        for name in names:
            values = getattr(reader.model, name)
            # written so that NaN counts as absurd too
            absurd = np.argwhere(~(np.abs(values) <= HUGE))
            if len(absurd):
                index = int(absurd[0][0])
                what = name.partition("_")[2]
                raise ParseError(
                    f"the {what} of {family} {reader.name(family, index)!r} is {values[index]}, beyond every use",
                    hint="correct the number",
                    where=reader.where(family, index),
                )


# what the neutral model has no place for, and what to do about it
_LOST_FAMILIES = {
    "flex": "soft bodies have no neutral form; keep the MJCF for simulating them",
    "skin": "skins only change the look; the rigid shapes are kept",
    "plugin": "plugins are MuJoCo code; rebuild their effect in the target engine",
}


def _report_losses(reader: MjcfReader) -> None:
    """One finding for each kind of element that is left behind."""
    for family, advice in _LOST_FAMILIES.items():
        count = reader.count(family)
        if count:
            reader.report_loss(family, list(range(count)), advice)
