# SPDX-License-Identifier: Apache-2.0
"""One prim from an engine's words to neutral ones; then the schemas that say nothing more."""

from __future__ import annotations

from functools import cache, partial

from pxr import Usd

from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.resolve.resolver import DEFAULT_ORDER, find_resolver
from simwright.sanitizer.fixes.translation.followers import translate_follower
from simwright.sanitizer.fixes.translation.inertia import translate_inertia
from simwright.sanitizer.fixes.translation.motors import translate_motor
from simwright.sanitizer.fixes.translation.sayings import Reasons, Survey, attempt, list_apis
from simwright.sanitizer.fixes.translation.values import translate_values
from simwright.usd.edit import Editor


def translate_prim(editor: Editor, prim: Usd.Prim, survey: Survey) -> Reasons:
    """Ask for all that can be translated on a prim; gives what has to stay, by name, and why."""
    if prim.IsInstanceProxy() or not prim:
        return {}
    gone, reasons = translate_values(editor, prim, survey.scale)
    for found, kept in (
        translate_follower(editor, prim),
        translate_motor(editor, prim, survey),
        translate_inertia(editor, prim),
    ):
        gone |= found
        reasons |= kept
    _drop_idle_schemas(editor, prim, gone, reasons)
    return reasons


def _drop_idle_schemas(editor: Editor, prim: Usd.Prim, gone: set[str], reasons: Reasons) -> None:
    """Schemas whose last words were translated."""
    vendors = {vendor_of_property(name) for name in gone} - {None}
    if not vendors:
        return
    left = {name for name in prim.GetAuthoredPropertyNames() if name not in gone}
    applied = [(api, vendor_of_schema(api)) for api in list_apis(prim)]
    for api, vendor in applied:
        owned = _list_owned(api.partition(":")[0])
        if vendor not in vendors or not owned or api in gone or left & owned:
            continue
        is_alone = not any(other != api and whose == vendor for other, whose in applied)
        # words that no table knows may well be another schema's, if there is one
        if is_alone and any(vendor_of_property(name) == vendor and name not in _list_all() for name in left):
            continue
        reason = attempt(editor, partial(editor.remove_api, prim, api))
        if reason:
            reasons[api] = reason


@cache
def _list_owned(api: str) -> frozenset[str]:
    """Attributes that the tables know of a schema; Newton's inertia is read beside them."""
    rows = (row for vendor in DEFAULT_ORDER for row in find_resolver(vendor).rows if row.schema == api)
    extra = {"newton:inertia"} if api == "NewtonMassAPI" else set()
    return frozenset(name for row in rows for name in row.attributes) | extra


@cache
def _list_all() -> frozenset[str]:
    rows = (row for vendor in DEFAULT_ORDER for row in find_resolver(vendor).rows)
    return frozenset(name for row in rows for name in row.attributes) | {"newton:inertia"}
