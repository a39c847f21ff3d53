"""Damage to files, the same for the same number: what editors, disks and adversaries do to them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBERS = (
    "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e308", "1e-320", "-1", "0", "-0", "1e16", "007", "0x10",
    "9" * 40, "2147483648", "-2147483649", "18446744073709551616", "1,5", "1 2 3", "1 2 3 4 5 6 7 8 9", "٣",
)  # fmt: skip
WORDS = (
    "", " ", "\t", "true", "false", "world", "__model__", "__root__", "base", "a" * 5000, "ünï-cödé 🤖", "../..",
    "a/b", "a::b", "<", "&amp;", "&#0;", "&#x1F916;", "${1/0}", "${[0]*9**9}", "$(find nowhere)", "$(env HOME)", "%s%n",
    "{0.__class__}", "None", "\u202e", "\u200b",
)  # fmt: skip
PATHS = (
    "../../../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/null", "file:///etc/hostname", "file://../../x.stl",
    "package://../../etc/passwd", "package://none/x.stl", "model://../x", "http://localhost:9/x.stl", "\\\\host\\x.stl",
    "x.stl\x00.png", ".", "..", "meshes", "~/x", "part.obj", "part.stl", "part.dae", "part.glb", "robot.urdf",
    "robot.sdf", "con", "a" * 300 + ".stl", "../escape/part.obj", "%2e%2e%2fpart.obj",
)  # fmt: skip

_ATTRIBUTE = re.compile(rb'="([^"]*)"')
_TEXT = re.compile(rb">([^<>]+)<")
_TAG = re.compile(rb"</?([A-Za-z_][\w:.-]*)")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?/>|<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>[^<>]*</\2>")
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w:]{2,}")
_LINE = re.compile(rb"[^\n]*\n")
_BRACED = re.compile(rb"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]")


def mutate(data: bytes, rng: random.Random, *, binary: bool) -> bytes:
    """Damage a file in one to four places."""
    kinds = _BINARY if binary else _TEXTUAL
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(kinds)(data, rng)
    return data


def _replace(data: bytes, span: tuple[int, int], new: bytes) -> bytes:
    return data[: span[0]] + new + data[span[1] :]


def _pick(
    pattern: re.Pattern[bytes], data: bytes, rng: random.Random, group: int = 0
) -> tuple[int, int] | None:
    spans = [match.span(group) for match in pattern.finditer(data)]
    return rng.choice(spans) if spans else None


def _value(rng: random.Random) -> bytes:
    return rng.choice(rng.choice((NUMBERS, WORDS, PATHS))).encode()


def flip_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(data: bytes, rng: random.Random) -> bytes:
    size = rng.choice((1, 2, 4, 8))
    word = rng.choice((0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), rng.getrandbits(8 * size)))
    at = rng.randrange(max(len(data) - size, 1))
    return _replace(data, (at, at + size), word.to_bytes(size, "little"))


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def repeat_or_drop_bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    size = rng.choice((1, 2, 4, 16, 64, 256))
    piece = data[at : at + size]
    return _replace(data, (at, at + size), piece * rng.choice((0, 2, 3, 40)))


def insert_noise(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return _replace(data, (at, at), rng.randbytes(rng.randint(1, 16)))


def swap_attribute(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_ATTRIBUTE, data, rng, 1)
    return _replace(data, span, _value(rng)) if span else data


def swap_text(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_TEXT, data, rng, 1)
    return _replace(data, span, _value(rng)) if span else data


def swap_number(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_NUMBER, data, rng)
    return _replace(data, span, rng.choice(NUMBERS).encode()) if span else data


def swap_tokens(data: bytes, rng: random.Random) -> bytes:
    """One word in the place of another."""
    one, two = _pick(_WORD, data, rng), _pick(_WORD, data, rng)
    return _replace(data, one, data[slice(*two)]) if one and two else data


def swap_tag(data: bytes, rng: random.Random) -> bytes:
    one, two = _pick(_TAG, data, rng, 1), _pick(_TAG, data, rng, 1)
    if not one or not two:
        return data
    old, new = data[slice(*one)], data[slice(*two)]
    return re.sub(rb"(</?)" + re.escape(old) + rb"(?=[\s/>])", rb"\g<1>" + new, data)


def repeat_or_drop_element(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_ELEMENT, data, rng) or _pick(_LINE, data, rng)
    return _replace(data, span, data[slice(*span)] * rng.choice((0, 0, 2, 30))) if span else data


def move_element(data: bytes, rng: random.Random) -> bytes:
    """An element where another one was."""
    one, two = _pick(_ELEMENT, data, rng), _pick(_ELEMENT, data, rng)
    return _replace(data, one, data[slice(*two)]) if one and two else data


def nest_element(data: bytes, rng: random.Random) -> bytes:
    """An element inside many copies of the element around it."""
    span = _pick(_ELEMENT, data, rng)
    tag = _pick(_TAG, data, rng, 1)
    if not span or not tag:
        return data
    name, depth = data[slice(*tag)], rng.choice((1, 5, 400))
    return _replace(data, span, b"<%s>" % name * depth + data[slice(*span)] + b"</%s>" % name * depth)


def repeat_or_drop_braces(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_BRACED, data, rng)
    return _replace(data, span, data[slice(*span)] * rng.choice((0, 2))) if span else data


def repeat_or_drop_line(data: bytes, rng: random.Random) -> bytes:
    span = _pick(_LINE, data, rng)
    return _replace(data, span, data[slice(*span)] * rng.choice((0, 0, 2, 20))) if span else data


def add_bomb(data: bytes, rng: random.Random) -> bytes:
    """Entities that grow, in front of the document."""
    bomb = b'<!DOCTYPE b [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>\n'
    return bomb + data if rng.random() < 0.5 else data.replace(b">", b">&b;&c;", 1)


Damage = Callable[[bytes, random.Random], bytes]
_BINARY: tuple[Damage, ...] = (
    flip_bytes,
    flip_bytes,
    overwrite,
    overwrite,
    truncate,
    repeat_or_drop_bytes,
    insert_noise,
)
_TEXTUAL: tuple[Damage, ...] = (
    flip_bytes, truncate, insert_noise, repeat_or_drop_bytes,
    swap_attribute, swap_attribute, swap_attribute, swap_text, swap_text, swap_number, swap_number, swap_tokens,
    swap_tokens, swap_tag, repeat_or_drop_element, repeat_or_drop_element, move_element, nest_element,
    repeat_or_drop_braces, repeat_or_drop_line, add_bomb,
)  # fmt: skip
