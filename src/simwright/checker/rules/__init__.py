# SPDX-License-Identifier: Apache-2.0
"""The rules, one file each, named by its code: ``s<section of REP-0158>/<code with underscores>.py``.

The module docstring is the text of ``simwright explain`` and of the rule's page; the function with the ``rule``
decorator yields the findings.  A file that is added here is found by its place, no list has to be edited.
"""
