# SPDX-License-Identifier: Apache-2.0
"""Holding a document against a pydantic model: every problem at once, each with its place and what was meant."""

from __future__ import annotations

import difflib
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError

from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.documents.read import parse_document
from simwright.core.documents.tree import Document, Node, Step, find_child, spell_path
from simwright.core.errors import InputError

M = TypeVar("M", bound=BaseModel)
MAX_SHOWN = 20


class InvalidDocumentError(InputError):
    """The document is well-formed, but does not say what it may.  ``problems`` lists everything that is wrong."""

    code = "invalid-document"

    def __init__(self, problems: Sequence[Diagnostic], *, what: str = "document") -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        if len(self.problems) == 1:
            super().__init__(first.message, hint=first.hint, where=first.where)
            return
        lines = [f"  {_spell_problem(problem)}" for problem in self.problems[:MAX_SHOWN]]
        left = len(self.problems) - MAX_SHOWN
        if left > 0:
            lines.append(f"  ... and {left} more")
        head = f"the {what} has {len(self.problems)} problems:"
        super().__init__("\n".join([head, *lines]), where=Where(first.where.file))


def validate_document(
    model: type[M],
    document: Document,
    *,
    path: Sequence[Step] = (),
    what: str = "document",
    context: Any = None,
    prepare: Callable[[Any], Any] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignored: list[str] | None = None,
) -> M:
    """``document`` (or what is at ``path`` in it) as an object of ``model``, or :class:`InvalidDocumentError`.

    ``context`` is what the validators of the model may ask for; ``prepare`` changes the plain data before;
    ``aliases`` are other words for keys, which validators may rename.  With a list ``ignored``, unknown keys are no
    problem: they are left out, and their paths are put there.
    """
    data, node = _descend(document, path)
    if not isinstance(data, dict):
        where = Where(document.file, node.place.line, node.place.column)
        raise InvalidDocumentError([make_problem(where, f"the {what} has to be a mapping of keys to values")])
    data = prepare(data) if prepare else data
    try:
        return model.model_validate(data, context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    unknown = [one for one in errors if one["type"] == "extra_forbidden"]
    if ignored is not None and unknown:
        paths = [_locate(node, one["loc"], aliases or {})[0] for one in unknown]
        ignored.extend(spell_path((*path, *found)) for found in paths)
        # validated again without them: pydantic gives no object as long as there is one error, and what else is wrong
        # may only show now
        again = Document(document.file, node, _leave_out(data, paths))
        return validate_document(
            model, again, path=(), what=what, context=context, aliases=aliases, ignored=ignored
        )
    found = [_explain(model, document.file, node, tuple(path), one, aliases=aliases or {}) for one in errors]
    # in the order of the file, not in that of the model's fields
    found.sort(key=lambda problem: (problem.where.line or 0, problem.where.column or 0))
    raise InvalidDocumentError(found, what=what)


def validate_values(model: type[M], values: Mapping[str, Any], what: str) -> M:
    """What a program gives as a mapping; what is wrong with it is told in the words that files have."""
    try:
        return model.model_validate(dict(values))
    except ValidationError:
        text = json.dumps(dict(values), default=_spell)
    return validate_document(model, parse_document(text, name=what, syntax="json"), what=what)


def _spell(value: Any) -> Any:
    """Numpy's numbers and arrays as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _descend(document: Document, path: Sequence[Step]) -> tuple[Any, Node]:
    """The plain data and the node at a path that the document has."""
    data, node = document.data, document.root
    for step in path:
        data = data[step]
        child = find_child(node, step)
        assert child is not None
        node = child
    return data, node


def _leave_out(data: Any, paths: Sequence[tuple[Step, ...]]) -> Any:
    """A copy without what is at ``paths``."""
    heads = {path[0]: [other[1:] for other in paths if other[0] == path[0]] for path in paths}
    gone = {step for step, tails in heads.items() if () in tails}
    if isinstance(data, dict):
        return {
            key: _leave_out(value, heads[key]) if key in heads else value
            for key, value in data.items()
            if key not in gone
        }
    return [_leave_out(value, heads[i]) if i in heads else value for i, value in enumerate(data)]


def make_problem(where: Where, message: str, hint: str = "") -> Diagnostic:
    """One entry of :attr:`InvalidDocumentError.problems`."""
    return Diagnostic("invalid-document", Level.ERROR, message, hint, where)


def suggest(word: str, known: Sequence[str]) -> str:
    """``did you mean 'radius'?`` or the known words, for a hint."""
    # keys are lower case; a word that differs by case only is the likeliest mistake
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    if not known:
        return ""
    more = f" and {len(known) - 30} more" if len(known) > 30 else ""
    return f"known: {', '.join(known[:30])}{more}"


def _spell_problem(problem: Diagnostic) -> str:
    hint = f" ({problem.hint})" if problem.hint else ""
    place = f"{problem.where}: " if problem.where else ""
    return f"{place}{problem.message}{hint}"


def _explain(
    model: type[BaseModel],
    file: str,
    root: Node,
    base: tuple[Step, ...],
    error: Any,
    *,
    aliases: Mapping[str, Sequence[str]],
) -> Diagnostic:
    path, node, key_of = _locate(root, error["loc"], aliases)
    kind = error["type"]
    spelled = spell_path((*base, *path))
    if kind == "missing":
        name = str(error["loc"][-1])
        of = f" in {spelled}" if spelled else ""
        return make_problem(_where(file, node), f"the key {name!r} is missing{of}")
    if kind == "extra_forbidden":
        name = str(error["loc"][-1])
        above = spell_path((*base, *path[:-1]))
        known = _list_keys(_find_models(model, error["loc"][:-1]))
        place = key_of or node.place
        message = f"unknown key {name!r}" + (f" in {above}" if above else "")
        return make_problem(Where(file, place.line, place.column), message, suggest(name, known))
    message, hint = _describe(error)
    return make_problem(_where(file, node), f"{spelled}: {message}" if spelled else message, hint)


def _describe(error: Any) -> tuple[str, str]:
    """Message and hint of a wrong value."""
    kind, value, context = error["type"], error.get("input"), error.get("ctx") or {}
    if kind in {"literal_error", "enum", "union_tag_invalid", "unknown_word"}:
        expected = str(context.get("expected") or context.get("expected_tags", ""))
        words = [word.strip(" '\"") for word in expected.replace(" or ", ", ").split(",")]
        found = context.get("tag", value)
        return f"{_show(found)} is not one of {', '.join(words)}", _suggest_word(found, words)
    if kind == "value_error":
        return str(context.get("error", error["msg"])), ""
    if kind == "expression":
        return f"{_show(value)} is not a number: {context['reason']}", ""
    if kind == "union_tag_not_found":
        return f"the key {context['discriminator']} is missing", ""
    text = error["msg"].replace("Input should be", "has to be").replace("valid dictionary", "mapping")
    text = text[:1].lower() + text[1:]
    if kind in {"model_type", "dict_type", "model_attributes_type"}:
        text = "has to be a mapping of keys to values"
    hint = str(context.get("hint", "")) if isinstance(context, dict) else ""
    shown = "" if isinstance(value, dict) or kind not in _WITH_VALUE else f", not {_show(value)}"
    return text + shown, hint


_WITH_VALUE = frozenset(
    {
        "bool_parsing", "bool_type", "float_type", "int_from_float", "int_parsing", "int_type", "list_type",
        "string_type", "greater_than", "greater_than_equal", "less_than", "less_than_equal", "model_type",
        "dict_type", "finite_number", "number", "model_attributes_type",
    }
)  # fmt: skip


def _suggest_word(found: Any, words: list[str]) -> str:
    if not isinstance(found, str):
        return ""
    close = difflib.get_close_matches(found.lower(), words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        text = "[" + ", ".join(_show(item) for item in value[:8]) + (", ...]" if len(value) > 8 else "]")
    elif value is None or isinstance(value, bool):
        text = "null" if value is None else str(value).lower()
    else:
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _locate(
    root: Node, loc: tuple[Step, ...], aliases: Mapping[str, Sequence[str]]
) -> tuple[tuple[Step, ...], Node, Any]:
    """The part of ``loc`` that is in the tree (pydantic puts names of union members between), and what is there."""
    node, path, key = root, [], None
    for step in loc:
        words = [step, *aliases.get(step, ())] if isinstance(step, str) else [step]
        for word in words:
            child = find_child(node, word)
            if child is not None:
                key = node.keys.get(str(word)) if node.keys else None
                node = child
                path.append(word)
                break
        else:
            key = None
    return tuple(path), node, key


def _where(file: str, node: Node) -> Where:
    return Where(file, node.place.line, node.place.column)


def _find_models(model: type[BaseModel], loc: Sequence[Step]) -> list[type[BaseModel]]:
    """The models at the location ``loc`` of a pydantic error, in which names of union members may stand."""
    candidates: list[Any] = [model]
    for step in loc:
        inner = list(_step_into(candidates, step))
        # pydantic puts names of union members into locations, which are no keys of the document
        candidates = inner or _narrow(candidates, step)
    return list(_list_models(candidates))


def _list_keys(models: Iterable[type[BaseModel]]) -> list[str]:
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
