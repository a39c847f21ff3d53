# SPDX-License-Identifier: Apache-2.0
"""The names of SAP Warp's loader, for programs written for it.

``load_sap_scene`` loads with ``compat="sap"``: the data is what SAP Warp's own loader computes (see
``docs/scene-differences.md`` for the few places where it is not), as numpy arrays.  ``sap_model``, ``sap_state`` and
``sap_control`` are the model, state and control of :class:`~simwright.scenes.load.LoadedScene`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simwright.core.documents.read import read_document
from simwright.core.errors import SimwrightError
from simwright.runtime.collision import CollisionModel, CollisionState
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State
from simwright.scenes.load import load_scene
from simwright.scenes.messages import UnsupportedSceneFeature

SapModel = Model
SapState = State
SapControl = Control


class SapSceneLoaderError(ValueError):
    """A scene cannot be loaded; the cause is the error that says where and what to do."""


class SapUnsupportedSceneFeature(SapSceneLoaderError):  # noqa: N818 - SAP Warp's name
    """A scene asks for features that are known and not supported."""

    def __init__(self, features: Sequence[str]) -> None:
        super().__init__(f"SAP scene loader does not yet support: {', '.join(features)}")
        self.features = tuple(features)


@dataclass(frozen=True, slots=True, eq=False)
class SapLoadedScene:
    """A loaded scene under the names SAP Warp gives its parts."""

    collision_model: CollisionModel
    collision_state: CollisionState
    sap_model: Model
    sap_state: State
    sap_control: Control
    body_labels: tuple[str, ...]
    shape_labels: tuple[str, ...]
    unsupported_features: tuple[str, ...] = ()
    source_path: str = ""
    shape_colors: tuple[tuple[float, float, float] | None, ...] = ()


def load_sap_scene(
    path: str | os.PathLike[str],
    *,
    device: str | None = None,
    rigid_contact_max: int | None = None,
    requires_grad: bool = False,
    strict: bool = True,
    num_worlds: int | None = None,
    spacing: Sequence[float] | None = None,
) -> SapLoadedScene:
    """Load a scene file as SAP Warp does; ``strict`` is the default here.  Gradients need another library."""
    # silently going on would give zero gradients
    if requires_grad:
        raise SapSceneLoaderError("arrays of numpy carry no gradients; load without requires_grad")
    try:
        loaded = load_scene(
            path,
            num_worlds,
            strict,
            device,
            compat="sap",
            spacing=spacing,
            rigid_contact_max=rigid_contact_max,
        )
    except UnsupportedSceneFeature as error:
        raise SapUnsupportedSceneFeature(error.features) from error
    # programs for SAP Warp catch its class; ours stays as the cause, with place and hint
    except SimwrightError as error:
        raise SapSceneLoaderError(str(error)) from error
    return SapLoadedScene(
        collision_model=loaded.collision_model,
        collision_state=loaded.collision_state,
        sap_model=loaded.model,
        sap_state=loaded.state,
        sap_control=loaded.control,
        body_labels=tuple(loaded.body_labels),
        shape_labels=tuple(loaded.shape_labels),
        unsupported_features=loaded.unsupported_features,
        source_path=loaded.source_path,
        shape_colors=tuple(loaded.shape_colors),
    )


def load_sap_scene_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The mapping that a scene file holds, before anything is checked but its version."""
    try:
        data = read_document(path).data
    except SimwrightError as error:
        raise SapSceneLoaderError(str(error)) from error
    if not isinstance(data, dict):
        raise SapSceneLoaderError(f"{os.fspath(path)}: a scene file is a mapping")
    try:
        known = int(data.get("schema_version", 1)) == 1
    except (TypeError, ValueError):
        known = False
    if not known:
        raise SapSceneLoaderError(f"schema version {data.get('schema_version')!r} is not known")
    return data
