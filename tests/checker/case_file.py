"""Case files: one Markdown page per rule, with stages that pass and stages that fail.

A page has ``## pass: title`` and ``## fail: title`` sections.  Each holds fenced blocks that become files:

* the first block is the root layer; `` ```usda name.usda `` names a further text layer, `` ```usdc name.usdc ``
  is text that is written as a crate, `` ```png name.png 4x4 rgb 8 `` (size, channels grey/rgb/rgba, bit depth)
  and `` ```jpeg name.jpg `` are tiny images, `` ```text name`` any other file (``hex:`` first line for bytes);
* ``expect: LEVEL "words in the message" [at /prim/path] [line N]`` lines before the blocks, one per finding;
* `` ```fixed name.usda `` is the text of a layer after its fix (see ``tests/sanitizer``), not a file of the case;
* ``settings: key=value`` sets a threshold; ``variants: on`` sweeps variants;
  ``plugins: off`` is for stages whose schemas must look unregistered.

A pass section has no finding at all; a fail section exactly the expected ones.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from pxr import Sdf

_SECTION = re.compile(r"^## (pass|fail): (.+)$")
_FENCE = re.compile(r"^```(\w+)\s*(.*)$")
_EXPECT = re.compile(r'^expect: (error|warning|info) "(.*)"(?: at (\S+))?(?: line (\d+))?$')


@dataclass
class Expectation:
    level: str
    words: str
    at: str = ""
    line: int | None = None


@dataclass
class Case:
    rule: str
    outcome: str
    title: str
    expected: list[Expectation] = field(default_factory=list)
    files: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(kind, name, arguments, text)"""
    options: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    """Layers after the fix, by name."""

    @property
    def id(self) -> str:
        return f"{self.rule}: {self.outcome}: {self.title}"

    def write(self, folder: Path) -> Path:
        """Write the files; gives the root layer's path."""
        root = None
        for kind, name, arguments, text in self.files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "usda":
                path.write_text(text)
            elif kind == "usdc":
                layer = Sdf.Layer.CreateAnonymous(".usda")
                assert layer.ImportFromString(text), f"{self.id}: {name} is not valid usda"
                assert layer.Export(str(path), args={"format": "usdc"})
            elif kind == "png":
                path.write_bytes(make_png(arguments))
            elif kind == "jpeg":
                path.write_bytes(TINY_JPEG)
            elif kind == "text":
                first, _, rest = text.partition("\n")
                path.write_bytes(bytes.fromhex(rest) if first == "hex:" else text.encode())
            else:
                raise AssertionError(f"{self.id}: unknown block {kind!r}")
            root = root or path
        assert root is not None, f"{self.id}: no root layer"
        return root


def read_cases(path: Path) -> list[Case]:
    cases: list[Case] = []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if match := _SECTION.match(line):
            cases.append(Case(path.stem, match.group(1), match.group(2).strip()))
        elif match := _EXPECT.match(line):
            level, words, at, number = match.groups()
            cases[-1].expected.append(Expectation(level, words, at or "", int(number) if number else None))
        elif line.startswith("expect:"):
            raise AssertionError(f"{path.name}: cannot read {line!r}")
        elif cases and (match := re.match(r"^(settings|variants|plugins): (.+)$", line)):
            cases[-1].options[match.group(1)] = match.group(2)
        elif cases and (match := _FENCE.match(line)):
            kind, _, rest = match.group(1), None, match.group(2)
            name, _, arguments = rest.partition(" ")
            text = []
            for inner in lines:
                if inner.strip() == "```":
                    break
                text.append(inner)
            if kind == "fixed":
                cases[-1].fixed[name] = "\n".join(text) + "\n"
                continue
            default = f"root.{kind}" if not cases[-1].files else f"file{len(cases[-1].files)}.{kind}"
            cases[-1].files.append((kind, name or default, arguments, "\n".join(text) + "\n"))
    for case in cases:
        assert bool(case.expected) == (case.outcome == "fail"), f"{case.id}: expectations do not fit"
    return cases


def make_png(arguments: str) -> bytes:
    """A flat PNG: ``WxH channels depth``."""
    size, channels, depth = (arguments or "4x4 rgb 8").split()
    width, height = (int(n) for n in size.split("x"))
    count, color = {"grey": (1, 0), "rgb": (3, 2), "rgba": (4, 6)}[channels]
    row = b"\0" + b"\x80" * (width * count * int(depth) // 8)

    def chunk(tag: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    header = struct.pack(">IIBBBBB", width, height, int(depth), color, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(row * height))
        + chunk(b"IEND", b"")
    )


TINY_JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912130f14"
    "1d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b08000100010101"
    "1100ffc4001f0000010501010101010100000000000000000102030405060708090a0bffc400b5100002010303020403"
    "050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a16"
    "1718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a"
    "838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6"
    "d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffda0008010100003f00fbfeffd9"
)
