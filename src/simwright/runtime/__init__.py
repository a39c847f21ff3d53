# SPDX-License-Identifier: Apache-2.0
"""Flat arrays that engines run on: model, state and control, with names beside them; numpy only."""
