# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each capability as a ratio against a peer or a floor in the same run, and how it grows."""
