# SPDX-License-Identifier: Apache-2.0
"""The compliance checker: REP-0158 rules over OpenUSD stages.

The public function is ``simwright.check``; this package has another name so that importing it does not hide the
function.
"""
