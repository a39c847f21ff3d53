# SPDX-License-Identifier: Apache-2.0
"""Fixes that move opinions between layers (REP-0158 1.2.1, 1.2.3, 1.4): what is composed stays the same."""
