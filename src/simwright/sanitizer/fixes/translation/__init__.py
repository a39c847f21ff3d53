# SPDX-License-Identifier: Apache-2.0
"""Engine words that have a neutral form, translated (REP-0158 4.2.2); the tables are in ``simwright.resolve``."""
