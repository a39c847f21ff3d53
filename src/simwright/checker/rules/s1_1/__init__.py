# SPDX-License-Identifier: Apache-2.0
"""REP-0158 1.1: coordinate systems and units."""
