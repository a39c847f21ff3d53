# SPDX-License-Identifier: Apache-2.0
"""Functional layers: what belongs where, and how it gets there without changing what is composed (REP-0158 1.2.1)."""
