# SPDX-License-Identifier: Apache-2.0
"""The tasks: one file each, whose ``SCENE`` is a row in ``table``.  A scene knows no robot.

table     the list of tasks, open to entry points
tabletop  what tasks on a table share
"""
