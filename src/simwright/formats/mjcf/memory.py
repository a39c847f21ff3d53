# SPDX-License-Identifier: Apache-2.0
"""An asset as a compiled MuJoCo model, by way of MJCF in memory: what engines and tests run.

The document is the one that the writer of folders makes, with every number as it is.  Mesh and image files that MuJoCo
reads are handed over byte by byte, so its own loaders make the same points, hulls and frames of them; nothing is
written to disk, and MuJoCo opens no file: it gets the content of those that the reader of the asset has named.  A
file in MJCF that was read and goes this way is the same machine as the one MuJoCo makes of the file itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simwright.core.collector import pause_collector
from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError
from simwright.formats.mjcf.compiler import MUJOCO_WARNING
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco
from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.formats.mjcf.writer.entry import build_document, encode
from simwright.model.asset import Asset


@dataclass(frozen=True, slots=True)
class MujocoNames:
    """Under which names MuJoCo knows the elements of an asset; elements that were not written are missing.

    ``bodies``: every body is a MuJoCo body of its own, also one that is fixed to another.  ``joints``, by dof: mostly
    one MuJoCo joint (a ball or free dof is one, of type ball or free); a screw is a hinge and a slide, a free dof
    inside the tree three slides and a ball; dofs without a name stand under that of their joint, in order.
    ``free_joints``: the free joints of bodies that no joint holds, by body.  ``drives``: the servo of a dof's drive,
    by dof.  ``sensors``: an imu is an accelerometer and a gyro.  ``geoms``, by shape: a mesh with several materials
    is several.  ``initial`` is the keyframe of the initial state, None where that is MuJoCo's own.
    """

    bodies: Mapping[str, str]
    joints: Mapping[str, tuple[str, ...]]
    free_joints: Mapping[str, str]
    geoms: Mapping[str, tuple[str, ...]]
    sites: Mapping[str, str]
    cameras: Mapping[str, str]
    tendons: Mapping[str, str]
    actuators: Mapping[str, str]
    drives: Mapping[str, str]
    sensors: Mapping[str, tuple[str, ...]]
    keyframes: Mapping[str, str]
    initial: str | None


@dataclass(frozen=True, slots=True)
class CompiledAsset:
    """A compiled model (``mujoco.MjModel``) with the specification it was made of, its text, files and names."""

    model: Any
    spec: Any
    xml: bytes
    files: Mapping[str, bytes]
    names: MujocoNames


@dataclass(frozen=True, slots=True)
class WrittenSpec:
    """A specification (``mujoco.MjSpec``) that can still be added to, the text and files it was read from, and names.

    ``files`` are by the path that the text names them with.
    """

    spec: Any
    xml: bytes
    files: Mapping[str, bytes]
    names: MujocoNames
    reporter: Reporter
    place: Where

    def compile(self) -> CompiledAsset:
        """Compile it; what MuJoCo refuses is an OutputError, what it warns about a finding."""
        import mujoco

        # the specification may have been added to since it was built, so warnings belong to compiling
        with quiet_mujoco() as texts:
            try:
                model = self.spec.compile()
            except list_refusals(mujoco) as error:
                raise _refuse(error, self.place) from None
        for text in dict.fromkeys(texts):
            self.reporter.report(MUJOCO_WARNING, self.place, text=text.strip().splitlines()[0])
        return CompiledAsset(model, self.spec, self.xml, self.files, self.names)


def compile_asset(asset: Asset, reporter: Reporter, *, sets_springs: bool = False) -> CompiledAsset:
    """The compiled MuJoCo model of an asset; what MJCF cannot say goes to the reporter.

    ``sets_springs``: the caller sets the springs of contacts and stops in the compiled model, so they are not lost.
    """
    return build_spec(asset, reporter, sets_springs=sets_springs).compile()


def build_spec(asset: Asset, reporter: Reporter, *, sets_springs: bool = False) -> WrittenSpec:
    """The MuJoCo specification of an asset, to be added to and compiled."""
    import mujoco

    with pause_collector():
        document = build_document(asset, reporter, exact=True, sets_springs=sets_springs)
    # MuJoCo gets names and bytes: it opens nothing on disk, so nothing outside the gate can be reached
    xml, files = encode(document), document.files
    place = Where(asset.provenance.file)
    with quiet_mujoco():
        try:
            spec = mujoco.MjSpec.from_string(xml.decode(), assets=dict(files))
        except list_refusals(mujoco) as error:
            raise _refuse(error, place) from None
    return WrittenSpec(spec, xml, files, _list_names(document), reporter, place)


def _refuse(error: BaseException, place: Where) -> OutputError:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "unknown error")
    return OutputError(
        f"MuJoCo refuses the model: {text}",
        hint="correct the asset; 'simwright check' may tell more",
        where=place,
    )


def _list_names(document: MjcfDocument) -> MujocoNames:
    asset = document.asset

    def list_made(family: str) -> dict[str, tuple[str, ...]]:
        return {name: tuple(made) for name, made in document.written_names.get(family, {}).items()}

    def list_first(family: str) -> dict[str, str]:
        return {name: made[0] for name, made in document.written_names.get(family, {}).items()}

    # elements with one counterpart go by the name they claimed; others by what was noted while writing
    def list_claimed(family: str, elements: list[Any]) -> dict[str, str]:
        found = ((element.name, document.find_name(family, element.name)) for element in elements)
        return {name: made for name, made in found if made is not None}

    return MujocoNames(
        bodies={name: mjcf_body.name for name, mjcf_body in document.bodies.items()},
        joints=list_made("joint"),
        free_joints=list_first("free"),
        geoms=list_made("shape"),
        sites=list_claimed("site", asset.sites),
        cameras=list_claimed("camera", asset.cameras),
        tendons=list_claimed("tendon", asset.tendons),
        actuators=list_first("actuator"),
        drives=list_first("drive"),
        sensors=list_made("sensor"),
        keyframes=list_first("keyframe"),
        initial=list_first("initial").get(""),
    )
