# SPDX-License-Identifier: Apache-2.0
"""Sketch as an engine."""
