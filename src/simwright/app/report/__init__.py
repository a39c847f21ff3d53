# SPDX-License-Identifier: Apache-2.0
"""Findings as text for people and machines: one renderer per file, listed in ``table.py``."""
