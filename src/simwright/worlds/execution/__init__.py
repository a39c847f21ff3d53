# SPDX-License-Identifier: Apache-2.0
"""Moving along a path in simulated time, and under velocity commands."""
