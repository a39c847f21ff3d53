# SPDX-License-Identifier: Apache-2.0
"""Variants of the file that is run, to be switched while it runs: a parameter ``variant.<set>`` for each set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError
from simwright.engines.protocol import Closeable
from simwright.model.asset import Asset
from simwright.ros.entities import Resources, VariantSet
from simwright.ros.transports.transport import ParameterValue, Transport

_PREFIX = "variant."


def _leave(asset: Asset) -> Asset:
    return asset


class WorldVariants(Closeable):
    """Variant sets of one file; ``select`` is called for a choice of a peer, and gives why not, "" if it is done."""

    def __init__(
        self, resources: Resources, transports: Sequence[Transport], select: Callable[[str, str], str]
    ) -> None:
        self._resources, self._transports, self._select = resources, transports, select
        self._uri = ""
        self._prepare: Callable[[Asset], Asset] = _leave
        self._chosen: dict[str, str] = {}
        self.sets: dict[str, VariantSet] = {}
        self._parameters: list[Closeable] = []
        self._is_told = True

    def open(self, uri: str, prepare: Callable[[Asset], Asset] = _leave) -> None:
        """Another file is run ("" for none); ``prepare`` is what is done to its asset before."""
        self._uri, self._prepare, self._chosen = uri, prepare, {}
        self.sets = self._resources.list_variants(uri, {}) if uri else {}
        self._is_told = False

    def offer(self) -> None:
        """Let peers see the sets there are; not while a peer sets one of them."""
        if self._is_told:
            return
        self._is_told = True
        self.close()
        values: dict[str, ParameterValue] = {
            f"{_PREFIX}{name}": one.selected for name, one in self.sets.items()
        }
        self._parameters = [t.offer_parameters(values, self._change) for t in self._transports if values]

    def _change(self, name: str, value: ParameterValue) -> str:
        return self._select(name.removeprefix(_PREFIX), str(value))

    def is_selected(self, name: str, choice: str) -> bool:
        """Whether it is run at that variant already."""
        return name in self.sets and self.sets[name].selected == choice

    def read(self, name: str, choice: str, reporter: Reporter) -> Asset:
        """The asset at another variant."""
        if name not in self.sets:
            raise UnknownNameError("variant set", name, self.sets)
        if choice not in self.sets[name].names:
            raise UnknownNameError(f"variant of {name!r}", choice, self.sets[name].names)
        return self._prepare(self._resources.read(self._uri, reporter, {**self._chosen, name: choice}))

    def choose(self, name: str, choice: str) -> None:
        """It is run at that variant now: other sets may be there, or be gone."""
        self._chosen[name] = choice
        self.sets = self._resources.list_variants(self._uri, self._chosen)
        self._is_told = False

    def close(self) -> None:
        """Take the parameters back."""
        for parameter in self._parameters:
            parameter.close()
        self._parameters = []
