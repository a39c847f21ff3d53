"""Stages written as text, read in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from pxr import Sdf, Usd

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.asset import Asset
from simwright.resolve import DEFAULT_ORDER
from simwright.usd.plugins import register_plugins

register_plugins()


@dataclass
class Reading:
    """An asset and what was said about it."""

    asset: Asset
    reporter: Reporter = field(default_factory=Reporter)

    @property
    def kinds(self) -> set[str]:
        return {d.kind for d in self.reporter}


def make_stage(
    content: str, *, meters: float = 1.0, up: str = "Z", kilograms: float = 1.0, said: str = ""
) -> Usd.Stage:
    header = (
        f'#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = {meters}\n'
        f'    kilogramsPerUnit = {kilograms}\n    upAxis = "{up}"\n    {said}\n)\n'
    )
    layer = Sdf.Layer.CreateAnonymous("test.usda")
    # the text format wants a line break around every closing brace; one-liners read better in tests
    assert layer.ImportFromString(header + content.replace("}", "\n}\n"))
    return Usd.Stage.Open(layer)


@pytest.fixture
def read() -> Callable[..., Reading]:
    def read_text(
        content: str,
        *,
        time: float | None = None,
        resolvers: tuple[str, ...] = DEFAULT_ORDER,
        visuals: bool = True,
        **units: object,
    ) -> Reading:
        reporter = Reporter()
        stage = make_stage(content, **units)  # type: ignore[arg-type]
        options = ReadOptions(time=time, schema_resolvers=resolvers, visuals=visuals)
        return Reading(read_stage(stage, options, reporter), reporter)

    return read_text
