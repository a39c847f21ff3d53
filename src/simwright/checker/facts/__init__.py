# SPDX-License-Identifier: Apache-2.0
"""What rules ask about a stage: gathered once, shared by many rules, judged by none.

:mod:`~simwright.checker.facts.snapshot` walks the stage; every other module derives one family of facts from it.
"""
