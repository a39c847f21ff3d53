# SPDX-License-Identifier: Apache-2.0
"""Robots at work: actions in simulated time, plans of several robots, and the log of what happened."""
