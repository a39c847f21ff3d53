# SPDX-License-Identifier: Apache-2.0
"""REP-0158 1.2.1: schema isolation and functional layers."""
