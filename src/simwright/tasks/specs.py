# SPDX-License-Identifier: Apache-2.0
"""A robot file of any format as MuJoCo's editable specification (``MjSpec``).

MJCF is taken as it is.  Other formats go through the neutral model and the MJCF writer; what that writes lies in
a folder that lives as long as the :class:`SpecSource`, since MuJoCo reads files when it compiles.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError, NotFoundError, ParseError
from simwright.core.gate import Gate
from simwright.core.packages import PackageMap
from simwright.core.scratch import Scratch
from simwright.engines.mujoco.queries import MjModel
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco
from simwright.model.asset import Asset

_NO_SPEED_LIMIT = 1e4
"""A velocity limit from here on says nothing [rad/s or m/s]."""
_URI_KEYS = {"mjcf": "mjcf_uri", "urdf": "urdf_uri", "usd": "usd_uri", "sdf": "sdf_uri"}


class MjBody(Protocol):
    """The part of ``mujoco.MjsBody`` that tasks use; elements that it gives are MuJoCo's own."""

    name: str
    pos: Any
    quat: Any
    mass: float
    inertia: Any
    fullinertia: Any
    bodies: Sequence[MjBody]
    joints: Sequence[Any]
    geoms: Sequence[Any]
    sites: Sequence[Any]
    cameras: Sequence[Any]
    lights: Sequence[Any]

    def add_body(self, **values: Any) -> MjBody:
        """A body on this one."""

    def add_geom(self, **values: Any) -> Any:
        """A geom on it."""

    def add_joint(self, **values: Any) -> Any:
        """A joint between it and its parent."""

    def add_freejoint(self, **values: Any) -> Any:
        """All six degrees of freedom."""

    def add_site(self, **values: Any) -> Any:
        """A site on it."""

    def add_camera(self, **values: Any) -> Any:
        """A camera on it."""

    def add_light(self, **values: Any) -> Any:
        """A lamp on it."""

    def add_frame(self, **values: Any) -> Any:
        """A frame, which vanishes when the model is compiled."""


class MjSpec(Protocol):
    """The part of ``mujoco.MjSpec`` that tasks use: an editable model.  ``delete`` takes any element of it."""

    modelname: str
    modelfiledir: str
    meshdir: str
    texturedir: str
    option: Any
    compiler: Any
    visual: Any
    worldbody: MjBody
    bodies: Sequence[MjBody]
    joints: Sequence[Any]
    sites: Sequence[Any]
    lights: Sequence[Any]
    keys: Sequence[Any]
    actuators: Sequence[Any]
    equalities: Sequence[Any]
    textures: Sequence[Any]

    def copy(self) -> MjSpec:
        """A second one that is changed by itself."""

    def compile(self) -> Any:
        """The ``MjModel``."""

    def to_xml(self) -> str:
        """As MJCF; only after it was compiled."""

    def delete(self, element: Any) -> None:
        """Take an element out."""

    def body(self, name: str) -> MjBody:
        """The body of a name."""

    def joint(self, name: str) -> Any:
        """The joint of a name."""

    def site(self, name: str) -> Any:
        """The site of a name."""

    def add_actuator(self, **values: Any) -> Any:
        """A new actuator."""

    def add_texture(self, **values: Any) -> Any:
        """A new texture."""

    def add_key(self, **values: Any) -> Any:
        """A new keyframe."""

    def attach(self, child: MjSpec, *, prefix: str, frame: Any) -> Any:
        """Put another specification below a frame of this one; names of it get the prefix."""


def start_spec(name: str) -> MjSpec:
    """An empty specification; solver options of what is attached to it count, instead of its own."""
    import mujoco

    spec: MjSpec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.conflict = mujoco.mjtConflict.mjCONFLICT_MERGE
    return spec


@dataclass(slots=True, weakref_slot=True)
class SpecSource:
    """An MJCF file that specifications are made from, again and again.

    ``speed_limits`` are the largest velocities of joints that the robot's own file gives, by name [rad/s or m/s]; MJCF
    has no place for them.
    """

    file: Path
    origin: Path
    speed_limits: dict[str, float] = field(default_factory=dict)

    def make_spec(self) -> MjSpec:
        """A new ``MjSpec``, to be changed at will."""
        import mujoco

        with quiet_mujoco():
            try:
                spec: MjSpec = mujoco.MjSpec.from_file(str(self.file))
            except list_refusals(mujoco) as error:
                raise ParseError(
                    f"MuJoCo refuses the robot: {first_line(error)}", where=Where(str(self.origin))
                ) from None
        return spec


def open_robot_file(
    path: Path, *, packages: PackageMap | None = None, reporter: Reporter | None = None
) -> SpecSource:
    """The source of specifications for a robot file; findings of readers and the writer go to the reporter."""
    from simwright.formats.format import ReadOptions
    from simwright.formats.mjcf.source import read_source
    from simwright.formats.table import detect_format, find_near, read_asset, write_asset

    file = path.absolute()
    if not file.is_file():
        raise NotFoundError("the robot file is not there", where=Where(str(path)))
    reporter = Reporter() if reporter is None else reporter
    if detect_format(file).name == "mjcf":
        # the same guard as the reader's: MuJoCo sees nothing that is not well-formed, has entities or lies elsewhere
        read_source(file, Gate.around(file, packages, reporter), reporter)
        return SpecSource(file, path)
    options = ReadOptions(packages=find_near(file) if packages is None else packages)
    asset = read_asset(file, options=options, reporter=reporter)
    # not a context manager: the files are needed as long as the source is used
    scratch = Scratch()
    try:
        written = write_asset(asset, scratch.path / "robot" / "robot.xml", reporter=reporter)
    except BaseException:
        scratch.close()
        raise
    source = SpecSource(Path(written), path, _list_speed_limits(asset))
    weakref.finalize(source, scratch.close)
    return source


def _list_speed_limits(asset: Asset) -> dict[str, float]:
    """Velocity limits of hinges and slides by the name that the MJCF writer gives their joints."""
    found: dict[str, float] = {}
    for joint in asset.joints:
        for dof in joint.dofs:
            limit = dof.velocity_limit
            # some exporters write 0 or a huge number where nothing is known
            if limit is None or not 0.0 < limit < _NO_SPEED_LIMIT:
                continue
            found[joint.name if len(joint.dofs) == 1 else dof.name] = float(limit)
    return found


def find_uri_key(file: Path) -> str:
    """The key of a manifest that takes a file of this format."""
    from simwright.formats.table import detect_format

    name = detect_format(file).name
    if name not in _URI_KEYS:
        raise InputError(f"a robot is not read from {name}", where=Where(str(file)))
    return _URI_KEYS[name]


def compile_spec(spec: MjSpec, what: str, where: Where) -> MjModel:
    """The ``MjModel`` of a specification, or one clear error."""
    import mujoco

    with quiet_mujoco():
        try:
            model: MjModel = spec.compile()
        except list_refusals(mujoco) as error:
            raise ParseError(f"MuJoCo cannot compile {what}: {first_line(error)}", where=where) from None
    return model


def write_spec(spec: MjSpec, file: Path, where: Where) -> None:
    """Write a specification as MJCF, or raise one clear error."""
    import mujoco

    with quiet_mujoco():
        try:
            file.write_text(spec.to_xml(), encoding="utf-8")
        except list_refusals(mujoco) as error:
            raise InputError(f"MuJoCo cannot write the scene: {error}", where=where) from None


def first_line(error: BaseException) -> str:
    """The first line of what MuJoCo says that is not empty."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "unknown error")
