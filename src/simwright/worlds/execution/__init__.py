# SPDX-License-Identifier: Apache-2.0
"""Moving along a path in simulated time, and under velocity commands.

executor  what an executor is and the table of them; trajectories; the executor ``constant_velocity``; velocity limits
"""
