# SPDX-License-Identifier: Apache-2.0
"""REP-0158 4.1: the core ROS schemas."""
