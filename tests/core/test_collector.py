from __future__ import annotations

import gc

import pytest

from simwright.core.collector import pause_collector


def test_the_collector_rests_and_goes_on():
    assert gc.isenabled()
    with pause_collector():
        assert not gc.isenabled()
        with pause_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="stop"), pause_collector():
        raise ValueError("stop")
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off():
    gc.disable()
    try:
        with pause_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
