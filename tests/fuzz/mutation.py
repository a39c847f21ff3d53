"""Damage to files, the same for the same number: what editors, disks and adversaries do to them."""

from __future__ import annotations

import io
import random
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

from .crates import damage_crate

CANARY = "@canary@"
"""Stands for the folder of the canary files, whose path is known when a case is run."""
SECRETS = (
    "passwd", "skin.png", "part.obj", "part.stl", "part.mtl", "words.yaml", "leg.xacro", "body.xml", "tool.sdf",
    "arm.urdf", "part.usda", "broken.usda",
)  # fmt: skip
NUMBERS = (
    "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e308", "1e-320", "-1", "0", "-0", "1e16", "007", "0x10",
    "9" * 40, "2147483648", "-2147483649", "18446744073709551616", "1,5", "1 2 3", "1 2 3 4 5 6 7 8 9", "٣",
)  # fmt: skip
WORDS = (
    "", " ", "\t", "true", "false", "world", "__model__", "__root__", "base", "a" * 5000, "ünï-cödé 🤖", "../..",
    "a/b", "a::b", "<", "&amp;", "&#0;", "&#x1F916;", "${1/0}", "${[0]*9**9}", "$(find nowhere)", "$(env HOME)", "%s%n",
    "{0.__class__}", "None", "\u202e", "\u200b", "\x1b[2J", "\x9b31m", "[/x]", "[bold]", "\u2066a", "null", "~", "- a",
    "{", "[", "&a [*a]", "!!python/object:os.system", "'", '"', "#", "@", "</R>",
)  # fmt: skip
PATHS = (
    "../../../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/null", "file:///etc/hostname", "file://../../x.stl",
    "package://../../etc/passwd", "package://none/x.stl", "model://../x", "http://localhost:9/x.stl", "\\\\host\\x.stl",
    *(f"../home/secrets/{name}" for name in SECRETS), *(f"{CANARY}/{name}" for name in SECRETS),
    "x.stl\x00.png", ".", "..", "meshes", "~/x", "part.obj", "part.stl", "part.dae", "part.glb", "robot.urdf",
    "robot.sdf", "con", "a" * 300 + ".stl", "../escape/part.obj", "%2e%2e%2fpart.obj",
)  # fmt: skip

BINARY = (".usdc", ".usdz", ".stl", ".glb", ".png")
_NAMED = (".yaml", ".json", ".toml", ".usda")

_ATTRIBUTE = re.compile(rb'="([^"]*)"')
_TEXT = re.compile(rb">([^<>]+)<")
_TAG = re.compile(rb"</?([A-Za-z_][\w:.-]*)")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?/>|<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>[^<>]*</\2>")
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w:]{2,}")
_VALUE = re.compile(rb"[\w\"] *[:=] *([^\s:=][^\n]*?)(?=[,}\])]?\n|, )")
_QUOTED = re.compile(rb"[\"'@<]([^\"'@<>\n]*)[\"'@>]")
_LINE = re.compile(rb"[^\n]*\n")
_BRACED = re.compile(rb"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]")


def mutate(data: bytes, rng: random.Random, suffix: str) -> bytes:
    """Damage a file in one to four places."""
    if suffix in _CONTAINERS and rng.random() < 0.7:
        return _CONTAINERS[suffix](data, rng)
    kinds = _BINARY if suffix in BINARY else _NAMES if suffix in _NAMED else _TEXTUAL
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


def swap_value(data: bytes, rng: random.Random) -> bytes:
    """What stands behind a key, in YAML, JSON, TOML and USD text."""
    span = _pick(_VALUE, data, rng, 1)
    return _replace(data, span, _value(rng)) if span else data


def swap_quoted(data: bytes, rng: random.Random) -> bytes:
    """A text in quotes, or an asset path of USD."""
    span = _pick(_QUOTED, data, rng, 1)
    return _replace(data, span, _value(rng)) if span else data


def nest_value(data: bytes, rng: random.Random) -> bytes:
    """A value inside many brackets."""
    span = _pick(_VALUE, data, rng, 1)
    depth = rng.choice((1, 5, 400))
    opening, closing = rng.choice(((b"[", b"]"), (b"{a: ", b"}"), (b"(", b")")))
    return _replace(data, span, opening * depth + data[slice(*span)] + closing * depth) if span else data


def damage_package(data: bytes, rng: random.Random) -> bytes:
    """A member of a .usdz package, in a package that is whole, or has a wrong checksum, name or order."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = [(member.filename, package.read(member)) for member in package.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return data
    at = rng.randrange(len(members))
    name, body = members[at]
    choice = rng.random()
    if choice < 0.6:
        body = mutate(body, rng, "." + name.rpartition(".")[2])
    elif choice < 0.75:
        name = rng.choice((*PATHS, *WORDS)).replace("\0", "") or "x"
    elif choice < 0.85:
        rng.shuffle(members)
        at = 0
        name, body = members[0]
    members[at] = (name, body)
    buffer = io.BytesIO()
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(
            buffer, "w", zipfile.ZIP_DEFLATED if choice > 0.95 else zipfile.ZIP_STORED
        ) as package,
    ):
        warnings.simplefilter("ignore")
        for number, (file, content) in enumerate(members):
            info = zipfile.ZipInfo(file)
            if rng.random() < 0.9:  # USD wants the content of a member at a multiple of 64 bytes
                start = buffer.tell() + 30 + len(file.encode()) + 4
                info.extra = b"\x86\x19" + struct.pack("<H", -start % 64) + bytes(-start % 64)
            package.writestr(info, content)
            if number and rng.random() < 0.05:
                package.writestr(file, content)
    result = bytearray(buffer.getvalue())
    if 0.85 <= choice < 0.95:
        found = bytes(result).find(body[:16])
        if found >= 0 and body:
            result[found + rng.randrange(min(16, len(body)))] ^= 0x40
    return bytes(result)


def damage_glb(data: bytes, rng: random.Random) -> bytes:
    """The table of a binary glTF file, its lengths made to fit again."""
    size = struct.unpack_from("<I", data, 12)[0]
    table = mutate(data[20 : 20 + size].rstrip(b" "), rng, ".json")
    table += b" " * (-len(table) % 4)
    rest = data[20 + size :]
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(table) + len(rest))
    return head + struct.pack("<I4s", len(table), b"JSON") + table + rest


def damage_png(data: bytes, rng: random.Random) -> bytes:
    """A chunk of an image, its checksum made to fit again."""
    chunks, at = [], 8
    while at + 12 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += 12 + size
    if not chunks:
        return data
    number = rng.randrange(len(chunks))
    kind, body = chunks[number]
    changed = (
        rng.choice((overwrite, flip_bytes, truncate, repeat_or_drop_bytes))(body, rng)
        if body
        else rng.randbytes(4)
    )
    chunks[number] = (rng.choice((kind, kind, kind, b"tEXt", b"IDAT")), changed)
    return data[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


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
_NAMES: tuple[Damage, ...] = (
    flip_bytes, truncate, insert_noise, swap_value, swap_value, swap_value, swap_quoted, swap_quoted, nest_value,
    swap_number, swap_number, swap_tokens, swap_tokens, swap_tokens, repeat_or_drop_braces, repeat_or_drop_line,
    repeat_or_drop_line,
)  # fmt: skip
_CONTAINERS: dict[str, Damage] = {
    ".usdz": damage_package,
    ".usdc": damage_crate,
    ".glb": damage_glb,
    ".png": damage_png,
}
