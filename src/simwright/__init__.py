# SPDX-License-Identifier: Apache-2.0
"""Simwright: robot simulation assets, written once, right in every simulator."""

__version__ = "0.1.0"
