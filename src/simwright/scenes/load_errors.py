# SPDX-License-Identifier: Apache-2.0
"""The error of strict loading."""

from __future__ import annotations

from collections.abc import Sequence

from simwright.core.diag import Where
from simwright.scenes.messages import SceneError


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
