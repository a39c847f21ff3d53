# SPDX-License-Identifier: Apache-2.0
"""Thin OpenUSD helpers: the codeless schema plugins, their registry and the submission checks.

Importing this package does not import ``pxr``; each module does so where it needs it.
"""
