# SPDX-License-Identifier: Apache-2.0
"""The rules for the validation frameworks of others, one folder each.

usd_validation  the rules as validators of OpenUSD's UsdValidation
"""
