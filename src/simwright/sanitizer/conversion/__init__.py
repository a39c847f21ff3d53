# SPDX-License-Identifier: Apache-2.0
"""Whole assets in other units, axes and times; and transforms pushed from a prim to what is below it."""
