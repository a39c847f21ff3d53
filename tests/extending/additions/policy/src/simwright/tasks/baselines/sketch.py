# SPDX-License-Identifier: Apache-2.0
"""The policy that holds still, under another name."""

from __future__ import annotations

from simwright.tasks.baselines.policy import HoldPolicy


class Sketch(HoldPolicy):
    """As it says."""
