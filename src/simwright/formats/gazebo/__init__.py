# SPDX-License-Identifier: Apache-2.0
"""What Gazebo's words mean, for every format that uses them (SDFormat, and ``<gazebo>`` blocks in URDF)."""
