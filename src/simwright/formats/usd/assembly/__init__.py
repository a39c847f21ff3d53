# SPDX-License-Identifier: Apache-2.0
"""Scenes as OpenUSD assemblies: every asset in a folder of its own, placed by references."""
