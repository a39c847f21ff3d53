"""Messages of OpenUSD as data."""

from __future__ import annotations

from simwright.usd.silence import read_text


def test_bytes_that_are_no_text_are_shown_as_far_as_they_are() -> None:
    assert read_text(b"layer \xff broken".decode) == "layer \ufffd broken"
    assert read_text(lambda: "plain") == "plain"
