# SPDX-License-Identifier: Apache-2.0
"""The order in which bodies and joints go into a builder: the branches of the model, as the choices want them."""

from __future__ import annotations

from simwright.engines.newton.choices import Choices
from simwright.model.asset import Asset
from simwright.model.branches import Branch, Plan, Step
from simwright.model.branches import plan_branches as plan_model_branches

__all__ = ["Branch", "Plan", "Step", "plan_branches"]
_CHOICES = Choices()


def plan_branches(asset: Asset, choices: Choices = _CHOICES) -> Plan:
    """Branches of an asset in the order of ``choices.joint_ordering``."""
    return plan_model_branches(asset, choices.joint_ordering, only_enabled=choices.only_load_enabled_joints)
