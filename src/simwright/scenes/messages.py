# SPDX-License-Identifier: Apache-2.0
"""What scene files may have to be told about, and the errors of their operations."""

from __future__ import annotations

from collections.abc import Sequence

from simwright.core.diag import Level, Where, declare
from simwright.core.errors import InputError

SELECTOR_EMPTY = declare(
    "scene-selector-empty",
    Level.WARNING,
    "{selector} matches no {what}: the operation does nothing",
    hint="{hint}",
    doc="An operation chooses joints or shapes by a prefix, a part of their label or a range, and nothing fits.",
)
KEY_WITHOUT_EFFECT = declare(
    "scene-key-without-effect",
    Level.WARNING,
    "{key!r} has no effect",
    hint="{hint}",
    doc="A key that scene files have and that nothing is done with.",
)
ID_REPEATED = declare(
    "scene-id-repeated",
    Level.WARNING,
    "{what} {name!r} is defined twice; references use the later one",
    hint="give each an id of its own",
    doc="Two inline bodies or joints have the same id.",
)
RANGE_CLAMPED = declare(
    "scene-range-clamped",
    Level.WARNING,
    "{range} goes beyond the {count} entries of {array}",
    hint="the range is cut at the end of the array",
    doc="A range of an operation ends after the end of the array.",
)
SOLVER_IGNORED = declare(
    "scene-solver-ignored",
    Level.INFO,
    "{engine} does not use these options of simulation.solver: {options}",
    hint="'--engine drake' has a SAP solver",
    doc="A scene tunes the SAP solver of SAP Warp; an engine with another solver has nothing to do with it.",
)
FILE_ELSEWHERE = declare(
    "scene-file-elsewhere",
    Level.INFO,
    "{path!r} is taken from the working folder, because it is not beside the scene",
    hint="write paths relative to the scene file",
    doc="A relative path of a scene was found from the working folder and not from the folder of the scene.",
)


class SceneError(InputError):
    """A scene file asks for something that cannot be done."""

    code = "scene"


class UnsupportedSceneFeature(SceneError):  # noqa: N818 - a public name that other loaders have
    """A scene asks for features that are known and not supported; ``features`` lists them."""

    code = "unsupported-feature"

    def __init__(self, features: Sequence[str], *, where: Where | None = None) -> None:
        super().__init__(
            f"not supported: {', '.join(features)}",
            hint="load without strict to leave them out",
            where=where,
        )
        self.features = tuple(features)
