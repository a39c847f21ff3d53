# SPDX-License-Identifier: Apache-2.0
"""The compliance checker: REP-0158 rules over OpenUSD stages.

The public function is ``simwright.check``; this package has another name so that importing it does not hide the
function.  One rule is one file in ``rules``; what rules ask about a stage is in ``facts``.

rule          what a rule and a finding are; the decorator that declares a rule
run           the list of all rules, and running some of them over a snapshot of a stage
asset         checking one stage or file, in its default state or in every variant state
batch         checking many files: from the cache, else in worker processes; the ROS packages that each can use
entry_points  which files of a folder are assets
cache         stored results, and whether they are still valid
result        what a check gives for one asset, also as JSON data; the baseline file of known findings
catalogue     the rules as plain data, and the statements of REP-0158 (the ledger)
select        choosing rules by code, pattern, section and profile
settings      thresholds that rules use
config        simwright.toml, and what it does to findings
suppress      suppressions that are written in the asset; the result as a UsdProfiles claim in the asset
"""
