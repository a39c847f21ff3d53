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

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.actuators import read_actuators
from simwright.formats.mjcf.bodies import read_bodies
from simwright.formats.mjcf.cameras import read_cameras
from simwright.formats.mjcf.compiler import compile_model
from simwright.formats.mjcf.constraints import read_equalities
from simwright.formats.mjcf.contacts import read_contacts
from simwright.formats.mjcf.context import Context, claim_names
from simwright.formats.mjcf.custom import read_custom
from simwright.formats.mjcf.geoms import read_geoms
from simwright.formats.mjcf.joints import read_joints
from simwright.formats.mjcf.keyframes import read_keyframes
from simwright.formats.mjcf.lights import read_lights
from simwright.formats.mjcf.losses import report_losses
from simwright.formats.mjcf.materials import read_materials
from simwright.formats.mjcf.options import read_options
from simwright.formats.mjcf.sanity import check_numbers
from simwright.formats.mjcf.sensors import read_sensors
from simwright.formats.mjcf.sites import read_sites
from simwright.formats.mjcf.source import read_source
from simwright.formats.mjcf.tendons import read_tendons
from simwright.model.asset import Asset
from simwright.model.kinematics import place_bodies


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read an MJCF file."""
    source = read_source(path, options.make_gate(path, reporter), reporter)
    mujoco, spec, model, scales = compile_model(path, source, reporter)
    asset = Asset(name=str(spec.modelname or path.stem))
    asset.provenance.version = str(mujoco.__version__)
    asset.provenance.identifier = str(spec.modelname or "")
    context = Context(mujoco, spec, model, source, reporter, asset, mesh_scales=scales)
    claim_names(context)
    check_numbers(context)

    read_options(context)
    read_bodies(context)
    read_joints(context)
    place_bodies(asset)
    read_materials(context)
    read_geoms(context)
    read_sites(context)
    read_cameras(context)
    read_lights(context)
    read_tendons(context)
    read_equalities(context)
    read_contacts(context)
    read_actuators(context)
    read_sensors(context)
    read_keyframes(context)
    read_custom(context)
    report_losses(context)
    return asset
