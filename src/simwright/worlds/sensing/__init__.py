# SPDX-License-Identifier: Apache-2.0
"""What robots measure: distances, what is in view, and the state of doors."""
