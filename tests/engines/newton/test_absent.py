"""Without the extra, the adapter says what to install."""

from __future__ import annotations

import sys

import pytest

from simwright.core.errors import MissingExtraError
from simwright.engines.newton import add_asset, add_usd
from simwright.model.asset import Asset


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "newton", None)


def test_the_install_line_is_given(absent, tmp_path):
    with pytest.raises(MissingExtraError) as caught:
        add_asset(object(), Asset("nothing"))
    assert "simwright[newton]" in caught.value.hint
    with pytest.raises(MissingExtraError):
        add_usd(object(), tmp_path / "not_even_there.usda")
