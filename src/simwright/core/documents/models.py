# SPDX-License-Identifier: Apache-2.0
"""Which models may stand at a place of a document, to name the keys that were meant."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel

from simwright.core.documents.tree import Step


def find_models(model: type[BaseModel], loc: Sequence[Step]) -> list[type[BaseModel]]:
    """The models at the location ``loc`` of a pydantic error, in which names of union members may stand."""
    candidates: list[Any] = [model]
    for step in loc:
        inner = list(_step_into(candidates, step))
        candidates = inner or _narrow(candidates, step)
    return list(_list_models(candidates))


def list_keys(models: Iterable[type[BaseModel]]) -> list[str]:
    """Every key those models know, sorted."""
    found: set[str] = set()
    for model in models:
        for name, info in model.model_fields.items():
            found.add(info.alias or name)
            alias = info.validation_alias
            if isinstance(alias, AliasChoices):
                found.update(choice for choice in alias.choices if isinstance(choice, str))
    return sorted(found)


def _step_into(candidates: Iterable[Any], step: Step) -> Iterator[Any]:
    for kind in candidates:
        for model in _list_models([kind]):
            for name, info in model.model_fields.items():
                if step in {name, info.alias}:
                    yield info.annotation
        yield from _list_containers(kind)


def _list_containers(kind: Any) -> Iterator[Any]:
    """What a list or a dictionary holds."""
    for part in _flatten(kind):
        origin = get_origin(part)
        if origin in {list, tuple}:
            yield from (inner for inner in get_args(part) if inner is not Ellipsis)
        elif origin is dict:
            yield get_args(part)[1]


def _list_models(kinds: Iterable[Any]) -> Iterator[type[BaseModel]]:
    for kind in kinds:
        for part in _flatten(kind):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield part


def _flatten(kind: Any) -> Iterator[Any]:
    """The members of unions, without what they are annotated with."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _flatten(get_args(kind)[0])
    elif origin in {Union, types.UnionType}:
        for member in get_args(kind):
            yield from _flatten(member)
    else:
        yield kind


def _narrow(candidates: Sequence[Any], step: Step) -> list[Any]:
    """Those whose class or constant is called ``step``; all where none is."""
    models = list(_list_models(candidates))
    chosen = [model for model in models if step == model.__name__ or step in _list_constants(model)]
    return list(chosen or candidates)


def _list_constants(model: type[BaseModel]) -> set[Any]:
    found: set[Any] = set()
    for info in model.model_fields.values():
        if get_origin(info.annotation) is Literal:
            found.update(get_args(info.annotation))
    return found
