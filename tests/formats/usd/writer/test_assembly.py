# SPDX-License-Identifier: Apache-2.0
"""What an assembly keeps of its parts."""

from __future__ import annotations

from pxr import Vt

from simwright.formats.usd.writer.assembly import _make_plain


def test_facts_are_kept_in_words_that_openusd_has() -> None:
    found = _make_plain({"is open": True, "height": 0.5, "rooms": ["a", "b"], "at": {"room": "hall"}})
    assert found == {
        "is_open": True,
        "height": 0.5,
        "rooms": Vt.StringArray(["a", "b"]),
        "at": {"room": "hall"},
    }
