# SPDX-License-Identifier: Apache-2.0
"""What MuJoCo's own USD reader sees: ``python -m scripts.engines.see_mujoco_usd FILE.usda [CONFIGURATIONS.json]``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mujoco

from .mujoco_model import describe
from .seen import Configuration, Seen, serve


def see(file: Path, configurations: Sequence[Configuration]) -> Seen:
    """Read, compile and describe."""
    return describe(mujoco.MjSpec.from_file(str(file)).compile(), configurations)


if __name__ == "__main__":
    serve(see)
