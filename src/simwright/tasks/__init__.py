# SPDX-License-Identifier: Apache-2.0
"""Robot manifests and task scenes in which the robot is a flag."""
