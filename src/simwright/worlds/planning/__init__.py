# SPDX-License-Identifier: Apache-2.0
"""Ways through a world: planners behind one protocol, and what their goals mean."""
