# SPDX-License-Identifier: Apache-2.0
"""A scene file as a validated document, schema version 1.

``read_scene`` gives a :class:`SceneFile`: the validated :class:`Scene`, and the text's tree, which knows the place of
every value.  ``compat="sap"`` reads as SAP Warp does: unknown keys are left out silently, numbers stay as written.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.documents.read import DEFAULT_LIMITS, Limits, Syntax, parse_document, read_document
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.tree import Document, Step
from simwright.core.documents.validate import validate_document
from simwright.core.errors import UsageError
from simwright.scenes.document_assets import Asset
from simwright.scenes.document_mechanics import Articulation, Body, InitialPosition, Joint
from simwright.scenes.document_review import review_scene
from simwright.scenes.document_settings import BuilderSettings, ControlSource, Ground, Replicate, Simulation
from simwright.scenes.document_shapes import ALIASES_OF
from simwright.scenes.ops.registry import AnyOperation

SCHEMA_VERSION = 1
_KEEPS_NULL = frozenset({"joint_ordering"})
_KEPT_WHOLE = frozenset({"solver"})


class Scene(Record):
    """Everything a scene file may say."""

    schema_version: int = Field(
        default=SCHEMA_VERSION, description="version of this format: 1", json_schema_extra={"enum": [1]}
    )
    name: str = Field(default="", description="name of the scene")
    simulation: Simulation = Field(default_factory=Simulation, description="how the scene is run")
    builder: BuilderSettings = Field(default_factory=BuilderSettings, description="defaults of what is built")
    ground: Ground = Field(default_factory=Ground, description="the ground plane; false for none")
    assets: list[Asset] = Field(default_factory=list, description="external assets")
    bodies: list[Body] = Field(default_factory=list, description="inline bodies")
    joints: list[Joint] = Field(default_factory=list, description="inline joints")
    articulations: list[Articulation] = Field(default_factory=list, description="joints solved together")
    initial_joint_q: list[InitialPosition] = Field(default_factory=list, description="initial positions")
    post_build: list[AnyOperation] = Field(default_factory=list, description="edits, in this order")
    replicate: Replicate = Field(default_factory=Replicate, description="copies of the world")
    control: ControlSource | None = Field(default=None, description="position targets over time")

    @field_validator("schema_version", mode="before")
    @classmethod
    def _check_version(cls, value: Any, info: ValidationInfo) -> Any:
        del info
        try:
            if int(value) == SCHEMA_VERSION and not isinstance(value, bool):
                return SCHEMA_VERSION
        except (TypeError, ValueError, OverflowError):
            pass
        raise refuse(f"schema version {value!r} is not known; this is version {SCHEMA_VERSION}")

    def choose_worlds(self, asked: int | None = None) -> int:
        """How many worlds: what is asked for, else simulation, else replicate, else one."""
        for count in (asked, self.simulation.num_worlds, self.replicate.num_worlds):
            if count is not None:
                return max(1, count)
        return 1


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A scene and where it is written.  ``ignored`` are keys that ``compat="sap"`` left out."""

    scene: Scene
    document: Document
    folder: Path
    compat: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its file."""
        return self.document.file

    def find_where(self, *path: Step, key: bool = False) -> Where:
        """The place of a value: ``find_where("assets", 0, "source")``."""
        return self.document.find_where(*path, key=key)


def read_scene(
    path: str | os.PathLike[str],
    *,
    compat: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    reporter: Reporter | None = None,
) -> SceneFile:
    """Read and validate a scene file; an InvalidDocumentError lists everything that is wrong."""
    document = read_document(path, limits)
    return validate_scene(document, Path(path).parent, compat=compat, reporter=reporter)


def parse_scene(
    text: str,
    *,
    folder: str | os.PathLike[str] = ".",
    name: str = "",
    syntax: Syntax = "yaml",
    compat: str | None = None,
    reporter: Reporter | None = None,
) -> SceneFile:
    """The same for a text; relative paths in it count from ``folder``."""
    return validate_scene(
        parse_document(text, name=name, syntax=syntax), Path(folder), compat=compat, reporter=reporter
    )


def validate_scene(
    document: Document, folder: Path, *, compat: str | None = None, reporter: Reporter | None = None
) -> SceneFile:
    """Hold a document against the schema; what is odd but allowed goes to ``reporter``."""
    if compat not in {None, "sap"}:
        raise UsageError(f"compat is {compat!r}", hint="there is 'sap', and None", where=NOWHERE)
    ignored: list[str] = []
    scene = validate_document(
        Scene,
        document,
        what="scene",
        context={"compat": compat},
        prepare=drop_nulls,
        aliases=ALIASES_OF,
        ignored=ignored if compat else None,
    )
    if reporter is not None and not compat:
        review_scene(scene, document, reporter)
    return SceneFile(scene, document, folder, compat, tuple(ignored))


def drop_nulls(data: Any) -> Any:
    """A key whose value is null says nothing, except where null has a meaning."""
    if isinstance(data, dict):
        return {
            key: value if key in _KEPT_WHOLE else drop_nulls(value)
            for key, value in data.items()
            if value is not None or key in _KEEPS_NULL
        }
    if isinstance(data, list):
        return [drop_nulls(value) for value in data]
    return data
