# SPDX-License-Identifier: Apache-2.0
"""Scripted policies that solve tasks with any arm: they look at poses and move the tool."""
