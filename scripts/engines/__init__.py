# SPDX-License-Identifier: Apache-2.0
"""What other engines see of a USD file: a worker for each (``see_*``), and what holds them against MuJoCo."""
