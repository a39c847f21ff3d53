# SPDX-License-Identifier: Apache-2.0
"""Crate (.usdc) files, checked before OpenUSD maps them.

OpenUSD trusts parts of a crate.  A table of contents that points outside the file makes it write to stderr, a wrong
count makes it ask for gigabytes, a very deep path tree overflows the stack, a list of children with an unknown name
is followed in a circle until the stack is full, and a child that is named but not there ends the process.  So the
header, the sections, the counts, the path tree, the specs with their children and the values
(:mod:`simwright.usd.crate_values`) are checked here, from the published layout of the format (bootstrap, table of
contents, and the compressed sections of version 0.4.0 and later).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.usd.crate_values import (
    MAX_RATIO,
    CorruptDataError,
    CrateFields,
    are_among,
    are_any_of,
    check_values,
    decode_integers,
    decompress,
    find_arrays,
    find_tokens,
    list_distinct,
    read_lengths,
    read_names,
)

MAGIC = b"PXR-USDC"
_BOOTSTRAP = 88
_SECTION = struct.Struct("<16sqq")
_NEEDED = ("TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS")
_MAX_SECTIONS = 64
_SPEC_TYPES = 11
_ATTRIBUTE = 1
_TYPE = re.compile(rb"[A-Za-z_][A-Za-z0-9_:]*(\[\])?")
"""The name of a type of attributes, as text layers have it."""
_VARIANT = re.compile(r"\{[^{}=\[\]/]+=[^{}=\[\]/]*\}")
_OLDEST_COMPRESSED = (0, 4, 0)
MAX_ITEMS = 10_000_000
"""Most tokens, fields, paths or specs one crate may claim to have."""
_PACKED = (("FIELDS", 1, 2), ("FIELDSETS", 1, 1), ("PATHS", 2, 3), ("SPECS", 1, 3))
"""Sections of integers: name, words before the first block, number of blocks."""


@dataclass(frozen=True, slots=True)
class CrateSection:
    """A named part of the file."""

    name: str
    start: int
    size: int


_NO_NUMBERS = np.zeros(0, np.int32)
_NO_LENGTHS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class CrateOutline:
    """The prims of a crate, and which of them have the same fields with the same values.

    A crate keeps a set of equal fields once for all specs that have it, so that one prim can be asked for thousands.
    """

    parents: npt.NDArray[np.int32]
    """The number of each prim's parent, -1 for the root of the layer."""
    names: npt.NDArray[np.int32]
    """Each prim's name, as a number of ``words``."""
    words: tuple[str, ...]
    sets: npt.NDArray[np.int32]
    """Prims with the same number here have equal fields."""
    arrays: dict[str, tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]]
    """Name of a property -> the prims, in order, that give it an array as its default, and how long that is."""

    def find_length(self, number: int, name: str) -> int | None:
        """The number of elements that a prim gives a property by default; None where that is not known."""
        numbers, lengths = self.arrays.get(name, (_NO_NUMBERS, _NO_LENGTHS))
        place = int(np.searchsorted(numbers, number))
        return int(lengths[place]) if place < len(numbers) and numbers[place] == number else None

    def sort_children(self) -> tuple[list[int], list[int]]:
        """Numbers of prims, those of one parent together and in order of their names, and where each parent's begin.

        The first parent is the root of the layer, and the last beginning is the end.
        """
        order = np.lexsort((self.names, self.parents))
        begins = np.searchsorted(self.parents[order], np.arange(-1, len(self.parents) + 1))
        return order.tolist(), begins.tolist()

    def list_names(self, numbers: list[int]) -> list[str]:
        """Names of prims."""
        return [self.words[name] for name in self.names[numbers].tolist()]


def check_crate(data: memoryview, where: Where, max_depth: int) -> CrateOutline | None:
    """Raise CorruptDataError or LimitError if the file would be dangerous to open.

    Gives the outline of its prims; None for a file with variants, whose prims stand in several places.
    """
    try:
        sections = _read_contents(data)
        _check_counts(data, sections)
        tokens = _read_tokens(data, sections)
        fields = _read_fields(data, sections, len(tokens))
        check_values(data, fields, tokens)
        tree = _read_paths(data, sections["PATHS"], len(tokens))
        _check_depth(tree.depth, max_depth, where)
        return _check_specs(data, sections, tree, fields, tokens)
    except struct.error as error:
        raise CorruptDataError(str(error)) from None
    except _TooManyError as error:
        raise LimitError(
            f"the crate file claims {error}", hint="is it the right file?", where=where
        ) from None


def _check_depth(depth: int, most: int, where: Where) -> None:
    if depth > most:
        raise LimitError(
            f"prims are nested {depth} deep; the limit is {most}", hint="flatten the hierarchy", where=where
        )


class _TooManyError(Exception):
    """A count beyond what is reasonable."""


def _read_contents(data: memoryview) -> dict[str, CrateSection]:
    """The sections, all of them inside the file, of a version that is read."""
    if len(data) < _BOOTSTRAP:
        raise CorruptDataError("the header is cut off")
    version = tuple(data[8:11])
    # older crates have sections of another layout, which this code could only wave through
    if version[0] != 0 or version < _OLDEST_COMPRESSED:
        raise CorruptDataError("version {}.{}.{} is not read".format(*version))
    (offset,) = struct.unpack_from("<q", data, 16)
    if not _BOOTSTRAP <= offset <= len(data) - 8:
        raise CorruptDataError("the table of contents lies outside the file")
    (count,) = struct.unpack_from("<Q", data, offset)
    if not 0 < count <= _MAX_SECTIONS:
        raise CorruptDataError(f"the table of contents has {count} sections")
    sections: dict[str, CrateSection] = {}
    for number in range(count):
        raw, start, size = _SECTION.unpack_from(data, offset + 8 + number * _SECTION.size)
        name = raw.split(b"\0")[0].decode("ascii", "replace")
        if start < _BOOTSTRAP or size < 0 or start + size > len(data):
            raise CorruptDataError(f"section {name!r} lies outside the file")
        sections[name] = CrateSection(name, start, size)
    for name in _NEEDED:
        if name not in sections:
            raise CorruptDataError(f"section {name!r} is missing")
    return sections


def _check_counts(data: memoryview, sections: dict[str, CrateSection]) -> None:
    """Every count must be possible for the size of its section."""
    tokens = _read_words(data, sections["TOKENS"], 3)
    count, unpacked, packed = tokens
    _check_count("tokens", count, unpacked)
    if packed > sections["TOKENS"].size - 24 or unpacked > packed * MAX_RATIO:
        raise CorruptDataError("the token section has impossible sizes")
    (strings,) = _read_words(data, sections["STRINGS"], 1)
    _check_count("strings", strings, sections["STRINGS"].size // 4)
    for name, lead, blocks in _PACKED:
        section = sections[name]
        (items,) = _read_words(data, section, 1)
        # two bits per item before LZ4: at most four items in an unpacked byte
        _check_count(name.lower(), items, section.size * MAX_RATIO * 4)
        # reading the sizes is the check: a block that leaves its section raises
        for _ in _read_blocks(data, section, section.start + 8 * lead, blocks):
            pass


def _read_tokens(data: memoryview, sections: dict[str, CrateSection]) -> list[bytes]:
    tokens = sections["TOKENS"]
    count, unpacked, packed = _read_words(data, tokens, 3)
    start = tokens.start + 24
    text = decompress(data[start : start + packed], unpacked) if count else b""
    try:
        text.decode()
    except UnicodeDecodeError:  # OpenUSD hands it on, and Python cannot take it
        raise CorruptDataError("a token is not UTF-8 text") from None
    names = text.split(b"\0")[:count] if count else []
    if len(names) != count:
        raise CorruptDataError("tokens are cut off")
    return names


def _read_fields(data: memoryview, sections: dict[str, CrateSection], tokens: int) -> CrateFields:
    section = sections["FIELDS"]
    (count,) = _read_words(data, section, 1)
    if not count:
        return CrateFields(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    names, values = _read_blocks(data, section, section.start + 8, 2)
    raw = decompress(values, 8 * count)
    if len(raw) != 8 * count:
        raise CorruptDataError("fields are cut off")
    return CrateFields(np.frombuffer(raw, dtype="<u8"), _read_indexes(names, count, 0, tokens, "a field"))


def _read_indexes(block: memoryview, count: int, low: int, high: int, what: str) -> npt.NDArray[np.int64]:
    """Integers of a block, all of them from ``low`` to below ``high``."""
    numbers = decode_integers(block, count)
    if len(numbers) and (numbers.min() < low or numbers.max() >= high):
        raise CorruptDataError(f"{what} points nowhere")
    return numbers


@dataclass(frozen=True, slots=True)
class _PathTree:
    """The paths in the order of the tree, which has every parent before its children."""

    indexes: npt.NDArray[np.int64]
    """By which number specs know each path."""
    parents: npt.NDArray[np.int64]
    """The entry of the parent; -1 for the root."""
    names: npt.NDArray[np.int64]
    """The token of the last part of each path."""
    is_property: npt.NDArray[np.bool_]
    depth: int


def _read_paths(data: memoryview, section: CrateSection, tokens: int) -> _PathTree:
    paths, encoded = _read_words(data, section, 2)
    if not 0 < encoded <= paths:
        raise CorruptDataError("the path tree has more entries than paths, or none")
    indexes, names, jumps = _read_blocks(data, section, section.start + 16, 3)
    numbers = _read_indexes(indexes, encoded, 0, paths, "a path")
    if len(list_distinct(numbers)) != encoded:
        raise CorruptDataError("two paths have the same number")
    # a property has the negative of its token
    parts = _read_indexes(names, encoded, 1 - tokens, tokens, "a path")
    parents, depth = _walk_tree(decode_integers(jumps, encoded))
    return _PathTree(numbers, np.array(parents, np.int64), np.abs(parts), parts < 0, depth)


_ROOT_TYPE, _PRIM_TYPES, _PROPERTY_TYPES, _VARIANT_TYPES, _VARIANT_SET_TYPES = (
    (7,),
    (6,),
    (1, 8),
    (10,),
    (11,),
)
_CHILDREN = {b"primChildren": b"%s", b"properties": b"%s", b"variantSetChildren": b"{%s=}"}
"""Fields that name children, and how each is named in a path."""
_VARIANTS = b"variantChildren"


def _check_specs(
    data: memoryview,
    sections: dict[str, CrateSection],
    tree: _PathTree,
    fields: CrateFields,
    tokens: list[bytes],
) -> CrateOutline | None:
    """Every spec has a path, a type and fields that exist and fit, and the children that it names are there.

    OpenUSD ends the process when it looks for a child in vain.
    """
    section = sections["SPECS"]
    (count,) = _read_words(data, section, 1)
    (paths,) = _read_words(data, sections["PATHS"], 1)
    (length,) = _read_words(data, sections["FIELDSETS"], 1)
    if not count or not length:
        raise CorruptDataError("there is no root")
    blocks = list(_read_blocks(data, section, section.start + 8, 3))
    numbers = _read_indexes(blocks[0], count, 0, paths, "a spec")
    starts = _read_indexes(blocks[1], count, 0, length, "a spec")
    types = _read_indexes(blocks[2], count, 1, _SPEC_TYPES + 1, "a spec")
    (block,) = _read_blocks(data, sections["FIELDSETS"], sections["FIELDSETS"].start + 8, 1)
    sets = _read_indexes(block, length, -1, len(fields.values), "a field set")
    # field sets stand one behind the other, with -1 behind the last field of each
    ends = np.flatnonzero(sets == -1)
    begins = np.concatenate([[0], ends + 1])
    if sets[-1] != -1 or not np.all(are_among(starts, begins)):
        raise CorruptDataError("a field set does not end, or a spec points into one")
    entries = np.full(paths, -1, np.int64)
    entries[tree.indexes] = np.arange(len(tree.indexes))
    entries = entries[numbers]
    if np.any(entries < 0) or len(list_distinct(entries)) != count:
        raise CorruptDataError("a spec has no path, or the path of another")
    _check_types(tree, entries, types, tokens)
    _check_attributes(list_distinct(starts[types == _ATTRIBUTE]), sets, fields, tokens)
    lists = _ChildLists(data, fields, entries, starts, begins, sets)
    _check_children(lists, tree, tokens)
    return _make_outline(tree, lists, types, tokens)


def _make_outline(
    tree: _PathTree, lists: _ChildLists, types: npt.NDArray[np.int64], tokens: list[bytes]
) -> CrateOutline | None:
    if np.any(are_any_of(types, (*_VARIANT_TYPES, *_VARIANT_SET_TYPES))):
        return None
    chosen = np.flatnonzero(types == _PRIM_TYPES[0])
    entries = lists.entries[chosen]
    numbers = np.full(len(tree.parents), -1, np.int64)
    numbers[entries] = np.arange(len(chosen))
    words = list_distinct(tree.names[entries])
    return CrateOutline(
        numbers[tree.parents[entries]].astype(np.int32),
        np.searchsorted(words, tree.names[entries]).astype(np.int32),
        tuple(tokens[word].decode() for word in words.tolist()),
        lists.starts[chosen].astype(np.int32),
        _list_arrays(tree, lists, np.flatnonzero(types == _ATTRIBUTE), numbers, tokens),
    )


def _list_arrays(
    tree: _PathTree,
    lists: _ChildLists,
    attributes: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    tokens: list[bytes],
) -> dict[str, tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]]:
    """Lengths of arrays by the name of the property; ``numbers`` are those of prims by entry of the path tree."""
    fields = lists.fields
    if b"default" not in tokens:
        return {}
    wanted = (fields.names == tokens.index(b"default")) & find_arrays(fields.values)
    places = np.flatnonzero(wanted[lists.sets] & (lists.sets >= 0))
    known = read_lengths(lists.data, fields.values[lists.sets[places]])
    if known is None or not len(places):
        return {}
    # where the field set of each array begins
    owners = lists.begins[np.searchsorted(lists.begins, places, side="right") - 1]
    starts = lists.starts[attributes]
    found = np.searchsorted(owners, starts)
    has_array = owners.take(found, mode="clip") == starts
    entries, lengths = lists.entries[attributes[has_array]], known[found[has_array]]
    names, prims = tree.names[entries], numbers[tree.parents[entries]]
    arrays = {}
    for name in list_distinct(names).tolist():
        same = np.flatnonzero(names == name)
        same = same[np.argsort(prims[same], kind="stable")]
        arrays[tokens[name].decode()] = (prims[same].astype(np.int32), lengths[same])
    return arrays


def _check_types(
    tree: _PathTree, entries: npt.NDArray[np.int64], types: npt.NDArray[np.int64], tokens: list[bytes]
) -> None:
    """The last part of a path is a name, and a spec of the type that such a path stands for."""
    from pxr import Sdf

    starts = np.array([token[:1] for token in tokens], dtype="S1")[tree.names]
    is_root = tree.parents < 0
    is_variant = ~is_root & ~tree.is_property & (starts == b"{")
    is_target = ~is_root & (starts == b"[")
    is_name = ~is_root & ~is_variant & ~is_target
    is_property, is_prim = is_name & tree.is_property, is_name & ~tree.is_property
    is_set = is_variant & np.array([token.endswith(b"=}") for token in tokens], np.bool_)[tree.names]
    groups = (
        (is_root, _ROOT_TYPE), (is_prim, _PRIM_TYPES), (is_property, _PROPERTY_TYPES), (is_set, _VARIANT_SET_TYPES),
        (is_variant & ~is_set, _VARIANT_TYPES),
    )  # fmt: skip
    for group, allowed in groups:
        if not np.all(are_any_of(types[group[entries]], allowed)):
            raise CorruptDataError("a spec has a type that does not fit its path")
    checks = (
        (is_prim, Sdf.Path.IsValidIdentifier),
        (is_property, Sdf.Path.IsValidNamespacedIdentifier),
        (is_variant, lambda text: bool(_VARIANT.fullmatch(text))),
    )
    for group, is_valid in checks:
        for index in list_distinct(tree.names[group]).tolist():
            if not is_valid(tokens[index].decode()):
                raise CorruptDataError("a path has a part that is not a name")


def _check_attributes(
    starts: npt.NDArray[np.int64], sets: npt.NDArray[np.int64], fields: CrateFields, tokens: list[bytes]
) -> None:
    """Every attribute has a type: without one, OpenUSD writes text that it cannot read again.

    ``starts`` tells where the field sets of attributes begin.
    """
    named = np.array([token == b"typeName" for token in tokens], np.bool_)[fields.names]
    types = find_tokens(fields.values[named], tokens)
    typed = np.zeros(len(fields.values) + 1, np.bool_)
    typed[:-1][named] = [bool(_TYPE.fullmatch(word)) for word in types]
    # what has a type in each field set, counted from the first set on; -1 behind a set has none
    counts = np.concatenate([[0], np.cumsum(typed[sets])])
    ends = np.flatnonzero(sets == -1)
    if not np.all(counts[ends[np.searchsorted(ends, starts)]] > counts[starts]):
        raise CorruptDataError("an attribute has no type")


@dataclass(frozen=True, slots=True)
class _ChildLists:
    """The fields that name children, and the specs that have them."""

    data: memoryview
    fields: CrateFields
    entries: npt.NDArray[np.int64]
    """The entry of the path tree that each spec has."""
    starts: npt.NDArray[np.int64]
    """Where the field set of each spec begins."""
    begins: npt.NDArray[np.int64]
    """Where field sets begin."""
    sets: npt.NDArray[np.int64]
    """The fields of all field sets."""

    def read(self, field: int) -> Iterator[tuple[list[int], list[int]]]:
        """For every list in fields of a name: the tokens in it, and the entries of the specs that have it."""
        places = np.flatnonzero(are_among(self.sets, np.flatnonzero(self.fields.names == field)))
        owners = self.begins[np.searchsorted(self.begins, places, side="right") - 1]
        # specs by their field set, so that those of one stand together
        order = np.argsort(self.starts, kind="stable")
        entries = self.entries[order].tolist()
        low = np.searchsorted(self.starts[order], owners, side="left").tolist()
        high = np.searchsorted(self.starts[order], owners, side="right").tolist()
        values = self.fields.values[self.sets[places]].tolist()
        for value, first, last in zip(values, low, high, strict=True):
            yield read_names(self.data, value), entries[first:last]


def _check_children(lists: _ChildLists, tree: _PathTree, tokens: list[bytes]) -> None:
    # a damaged file may have a name twice: the first stands for all
    same = {token: index for index, token in reversed(list(enumerate(tokens)))}
    first = np.array([same[token] for token in tokens], np.int64)
    keys = _make_keys(tree.parents, tree.is_property, first[tree.names], len(tokens))[lists.entries]
    if len(list_distinct(keys)) != len(keys):
        raise CorruptDataError("two specs have the same path")
    wanted = [np.zeros(0, np.int64)]
    for field, form in _CHILDREN.items():
        above: list[int] = []
        below: list[int] = []
        for names, owners in lists.read(same[field]) if field in same else ():
            children = [same.get(form % tokens[name], -1) for name in names]
            for owner in owners:
                above += [owner] * len(children)
                below += children
        wanted.append(_find_keys(above, below, len(tokens), is_property=field == b"properties"))
    # variants stand beside their set: {look=} names "red" for {look=red}
    for names, owners in lists.read(same[_VARIANTS]) if _VARIANTS in same else ():
        for owner in owners:
            start = tokens[tree.names[owner]].removesuffix(b"}")
            children = [same.get(start + tokens[name] + b"}", -1) for name in names]
            above = [int(tree.parents[owner])] * len(children)
            wanted.append(_find_keys(above, children, len(tokens), is_property=False))
    if not np.all(are_among(np.concatenate(wanted), np.sort(keys))):
        raise CorruptDataError("a child is named but not there")


def _find_keys(
    parents: list[int], names: list[int], tokens: int, *, is_property: bool
) -> npt.NDArray[np.int64]:
    """The keys of children, -1 where a name is not a token."""
    below = np.array(names, np.int64)
    keys = _make_keys(np.array(parents, np.int64), np.full(len(names), is_property), below, tokens)
    return np.where(below < 0, -1, keys)


def _make_keys(
    parents: npt.NDArray[np.int64],
    is_property: npt.NDArray[np.bool_],
    names: npt.NDArray[np.int64],
    tokens: int,
) -> npt.NDArray[np.int64]:
    """A number for each path: its parent, whether it is a property, and its name."""
    return ((parents + 1) * 2 + is_property) * tokens + names


def _check_count(what: str, count: int, most: int) -> None:
    if count > most:
        raise CorruptDataError(f"{count} {what} do not fit their section")
    if count > MAX_ITEMS:
        raise _TooManyError(f"{count} {what}; the limit is {MAX_ITEMS}")


def _read_words(data: memoryview, section: CrateSection, count: int) -> tuple[int, ...]:
    if section.size < 8 * count:
        raise CorruptDataError(f"section {section.name!r} is too short")
    return struct.unpack_from(f"<{count}Q", data, section.start)


def _read_blocks(data: memoryview, section: CrateSection, at: int, count: int) -> Iterator[memoryview]:
    """``count`` blocks, each led by its size."""
    end = section.start + section.size
    for _ in range(count):
        if at + 8 > end:
            raise CorruptDataError(f"section {section.name!r} is cut off")
        (size,) = struct.unpack_from("<Q", data, at)
        at += 8
        if size > end - at:
            raise CorruptDataError(f"section {section.name!r} is cut off")
        yield data[at : at + size]
        at += size


def _walk_tree(jumps: npt.NDArray[np.int64]) -> tuple[list[int], int]:
    """Parents of all entries of the tree stored in depth-first order, and its depth.

    Per entry: -2 a leaf, -1 a child follows, 0 a sibling follows, n > 0 a child follows and the sibling is
    n entries on.
    """
    # a loop and no recursion: this has to survive the trees that overflow OpenUSD's stack
    waiting: list[tuple[int, int, int]] = []
    depth = deepest = 0
    parent, parents = -1, []
    last = len(jumps) - 1
    for index, jump in enumerate(jumps.tolist()):
        parents.append(parent)
        if jump > 0:
            waiting.append((index + jump, depth, parent))
        if jump > 0 or jump == -1:
            parent = index
            depth += 1
            deepest = max(deepest, depth)
        elif jump == -2:
            if not waiting:
                if index != last:
                    raise CorruptDataError("the path tree ends early")
                return parents, deepest
            follower, depth, parent = waiting.pop()
            if follower != index + 1:
                raise CorruptDataError("the path tree is inconsistent")
        elif jump != 0:
            raise CorruptDataError("the path tree is inconsistent")
    raise CorruptDataError("the path tree does not end")
