# SPDX-License-Identifier: Apache-2.0
"""Settings of a project: ``simwright.toml``, or ``[tool.simwright.check]`` in ``pyproject.toml``.

::

    [check]
    select = ["all"]
    ignore = ["2.7"]
    profile = "all"
    fail-on = "warning"

    [check.severity]
    "units-*" = "warning"          # error, warning, info or off

    [check.settings]
    heavy-elements = 20000

    [[check.per-path]]
    path = "legacy/**"
    ignore = ["units-meters"]
    reason = "measured in the old lab, replaced in spring"

    [fix]                          # what is meant, for fixes that need to know
    version = "1.2.0"

    [fix.variant]
    gripper = "parallel"

One file counts for a run: the nearest one upwards from the folder that holds all inputs, else upwards from the
working folder.  A key that is not known is an error with the line it is on.

:class:`FindingPolicy` is what the file does to findings: other levels, and silence for some paths, with the reason.
It is applied to finished results, so a changed configuration needs no second check.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from simwright.checker.result import AssetResult, Suppressed
from simwright.checker.select import PROFILES, Selectable, match_words
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.errors import ParseError, UnknownNameError, UsageError
from simwright.core.files import read_bytes

FILE_NAME = "simwright.toml"
PROJECT_FILE = "pyproject.toml"
FAIL_ON = ("error", "warning", "info", "never")
SEVERITIES = ("error", "warning", "info", "off")
_TABLES = ("check", "fix")
_KEYS = ("select", "ignore", "profile", "fail-on", "severity", "settings", "per-path")
_PATH_KEYS = ("path", "ignore", "reason")
# tomllib tells the place in the text of its error only
_TOML_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_CHOICES = {"asset-state": ("final", "source")}


@dataclass(frozen=True, slots=True)
class PathIgnore:
    """Rules that are silent for files that match, and why.  ``where`` is its place in the file."""

    path: str
    ignore: tuple[str, ...]
    reason: str
    where: Where


@dataclass(frozen=True, slots=True)
class FixValue:
    """A value for fixes; ``where`` is its place in the file."""

    name: str
    text: str
    where: Where


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says; the defaults where there is none."""

    file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: str = "all"
    fail_on: str = "error"
    severity: Mapping[str, str] = field(default_factory=dict)
    settings: CheckSettings = field(default_factory=CheckSettings)
    per_path: tuple[PathIgnore, ...] = ()
    fix: tuple[FixValue, ...] = ()

    @property
    def where(self) -> Where | None:
        """The file as a place, for messages."""
        return Where(str(self.file)) if self.file else None


def find_config(inputs: Sequence[str | os.PathLike[str]]) -> Path | None:
    """The file that counts for these inputs, if there is one."""
    places = [Path(path).absolute() for path in inputs]
    # one configuration per run: two assets must not be judged by different rules in one report
    starts = [Path(os.path.commonpath(places))] if places else []
    for start in (*starts, Path.cwd()):
        for folder in (start, *start.parents):
            for name in (FILE_NAME, PROJECT_FILE):
                file = folder / name
                if file.is_file() and (name == FILE_NAME or _has_table(file)):
                    return file
    return None


def read_config(path: str | os.PathLike[str]) -> Config:
    """Read a file; anything in it that is not understood is an error with its line."""
    return _ConfigReader(Path(path)).read()


def _has_table(file: Path) -> bool:
    """Does a pyproject.toml speak of us?  One that cannot be read is somebody else's problem."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    tool = document.get("tool")
    ours = tool.get("simwright") if isinstance(tool, dict) else None
    return isinstance(ours, dict) and any(table in ours for table in _TABLES)


class _ConfigReader:
    """Reads one file; every complaint names the line."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = ""
        self.table: tuple[str, ...] = ("check",)

    def read(self) -> Config:
        self.text = read_bytes(self.file).decode("utf-8", "replace")
        try:
            document: Any = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            place = _TOML_PLACE.search(str(error))
            text = _TOML_PLACE.sub("", str(error)).strip()
            line, column = map(int, place.groups()) if place else (None, None)
            raise ParseError(
                f"is not valid TOML: {text}", where=Where(str(self.file), line, column)
            ) from None
        if self.file.name == PROJECT_FILE:
            self.table = ("tool", "simwright", "check")
            document = document.get("tool", {}).get("simwright", {})
        self._check_keys(document, _TABLES, self.table[:-1])
        table = self._expect(document.get("check", {}), dict, "check", self.table[:-1])
        self._check_keys(table, _KEYS, self.table)
        return Config(
            file=self.file,
            select=self._strings(table, "select", self.table),
            ignore=self._strings(table, "ignore", self.table),
            profile=self._choice(table, "profile", PROFILES, "all"),
            fail_on=self._choice(table, "fail-on", FAIL_ON, "error"),
            severity=self._read_severity(table.get("severity", {})),
            settings=self._read_settings(table.get("settings", {})),
            per_path=self._read_paths(table.get("per-path", [])),
            fix=tuple(self._read_values(document.get("fix", {}))),
        )

    def _read_values(self, value: Any) -> Iterator[FixValue]:
        """Values for fixes: ``name = value``, and tables of them, whose names are joined by a dot."""
        place = (*self.table[:-1], "fix")
        for key, item in self._expect(value, dict, "fix", self.table[:-1]).items():
            if not isinstance(item, dict):
                yield self._read_value(key, item, place)
                continue
            for name, inner in item.items():
                found = self._read_value(name, inner, (*place, key))
                text = found.text
                if key == "address" and "://" not in text:
                    text = str(self.file.absolute().parent / text)
                yield FixValue(f"{key}.{name}", text, found.where)

    def _read_value(self, key: str, value: Any, place: tuple[str, ...]) -> FixValue:
        if not isinstance(value, str | int | float):
            raise self._wrong(key, place, f"{key} must be a string or a number, got {value!r}")
        # TOML spells true and false in lower case, and so do the values of fixes
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return FixValue(key, text, Where(str(self.file), find_key(self.text, place, key)))

    def _read_severity(self, value: Any) -> dict[str, str]:
        table = self._expect(value, dict, "severity", self.table)
        place = (*self.table, "severity")
        return {code: self._choice(table, code, SEVERITIES, "", place) for code in table}

    def _read_settings(self, value: Any) -> CheckSettings:
        table = self._expect(value, dict, "settings", self.table)
        place = (*self.table, "settings")
        known = {item.name.replace("_", "-"): item for item in dataclasses.fields(CheckSettings)}
        self._check_keys(table, tuple(known), place)
        default = CheckSettings()
        values = {
            known[key].name: self._setting(table, key, getattr(default, known[key].name), place, known[key])
            for key in table
        }
        return CheckSettings(**values)

    def _setting(
        self, table: Mapping[str, Any], key: str, default: Any, place: tuple[str, ...], item: Any
    ) -> Any:
        if isinstance(default, tuple):
            words = self._strings(table, key, place)
            is_path = "Path" in str(item.type)
            return tuple(self.file.absolute().parent / word for word in words) if is_path else words
        if key in _CHOICES:
            return self._choice(table, key, _CHOICES[key], default, place)
        value = table[key]
        # type() and not isinstance: true would pass as the number 1
        right = type(value) is type(default) or (type(default) is float and type(value) is int)
        if not right or (isinstance(default, int) and value < 0):
            raise self._wrong(key, place, f"{key} must be {_name_kind(default)}, got {value!r}")
        return type(default)(value)

    def _read_paths(self, value: Any) -> tuple[PathIgnore, ...]:
        rows = self._expect(value, list, "per-path", self.table)
        place = (*self.table, "per-path")
        result = []
        for number, row in enumerate(rows):
            item = self._expect(row, dict, "per-path", self.table)
            self._check_keys(item, _PATH_KEYS, place, number)
            where = Where(str(self.file), find_key(self.text, place, "path", number))
            path, reason = item.get("path"), item.get("reason")
            words = self._strings(item, "ignore", place, number)
            if not isinstance(path, str) or not path or not words:
                raise UsageError("a per-path entry needs path and ignore", where=where)
            if not isinstance(reason, str) or not reason.strip():
                raise UsageError(
                    f"the per-path entry for {path!r} has no reason",
                    hint='say why: reason = "..."',
                    where=where,
                )
            result.append(PathIgnore(path, words, reason.strip(), where))
        return tuple(result)

    def _choice(
        self,
        table: Mapping[str, Any],
        key: str,
        choices: Sequence[str],
        default: str,
        place: tuple[str, ...] | None = None,
    ) -> str:
        value = table.get(key, default)
        if value not in choices:
            where = Where(str(self.file), find_key(self.text, place or self.table, key))
            raise UnknownNameError(f"value of {key},", str(value), choices, where=where)
        return str(value)

    def _strings(
        self, table: Mapping[str, Any], key: str, place: tuple[str, ...], number: int = 0
    ) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, place, f"{key} must be a list of strings, got {value!r}", number)
        return tuple(value)

    def _expect(self, value: Any, kind: type, key: str, place: tuple[str, ...]) -> Any:
        if not isinstance(value, kind):
            raise self._wrong(key, place, f"{key} must be a {'table' if kind is dict else 'list of tables'}")
        return value

    def _check_keys(
        self, table: Mapping[str, Any], known: Sequence[str], place: tuple[str, ...], number: int = 0
    ) -> None:
        for key in table:
            if key not in known:
                where = Where(str(self.file), find_key(self.text, place, key, number))
                raise UnknownNameError("key", key, known, where=where)

    def _wrong(self, key: str, place: tuple[str, ...], message: str, number: int = 0) -> UsageError:
        return UsageError(message, where=Where(str(self.file), find_key(self.text, place, key, number)))


def _name_kind(default: Any) -> str:
    kinds = {bool: "true or false", int: "a whole number, 0 or more", float: "a number", str: "a string"}
    return kinds.get(type(default), "of another kind")


_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"^\s*((?:\"[^\"]*\"|'[^']*'|[\w\-. ]+?))\s*=")


def find_key(text: str, table: tuple[str, ...], key: str, number: int = 0) -> int | None:
    """The line, from 1, that assigns ``key`` in a table or opens the table ``table.key``.

    ``number`` says which one of an array of tables.  None where it is written in a way this does not see
    (inline tables over several lines).
    """
    current: tuple[str, ...] = ()
    seen = -1
    for line_number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            current = _split_key(header.group(2))
            if header.group(1) == "[[" and current == table:
                seen += 1
            if current[: len(table) + 1] == (*table, key):
                return line_number
            continue
        assignment = _ASSIGNMENT.match(line)
        # keys of another table of the same array are not meant
        if assignment and seen in (-1, number):
            full = (*current, *_split_key(assignment.group(1)))
            if full[: len(table) + 1] == (*table, key):
                return line_number
    return None


def _split_key(text: str) -> tuple[str, ...]:
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', text)
    return tuple(next(filter(None, part), "") for part in parts)


REASON_OFF = "switched off in the configuration"


@dataclass(frozen=True, slots=True)
class FindingPolicy:
    """The configuration with its words resolved to codes."""

    levels: dict[str, Level | None]
    paths: tuple[tuple[str, frozenset[str], str], ...]
    hidden: frozenset[str]
    root: Path

    def apply(self, result: AssetResult) -> AssetResult:
        """The result with levels replaced and ignored findings moved to the suppressed ones."""
        findings: list[Diagnostic] = []
        suppressed = list(result.suppressed)
        for finding in result.findings:
            if finding.kind in self.hidden:
                continue
            reason = self._find_reason(result.path, finding)
            if reason:
                suppressed.append(Suppressed(finding, reason))
            else:
                findings.append(self._grade(finding))
        return dataclasses.replace(result, findings=findings, suppressed=suppressed)

    def _grade(self, finding: Diagnostic) -> Diagnostic:
        level = self.levels.get(finding.kind)
        return finding if level is None else dataclasses.replace(finding, level=level)

    def _find_reason(self, asset: str, finding: Diagnostic) -> str:
        if finding.kind in self.levels and self.levels[finding.kind] is None:
            return REASON_OFF
        for pattern, codes, reason in self.paths:
            if finding.kind in codes and any(
                _matches(file, pattern, self.root) for file in (asset, finding.where.file) if file
            ):
                return reason
        return ""


def build_policy(config: Config, known: Sequence[Selectable], hidden: frozenset[str]) -> FindingPolicy:
    """Resolve the words of a configuration; one that names nothing is an error."""
    levels: dict[str, Level | None] = {}
    for word, name in config.severity.items():
        level = None if name == "off" else Level(name)
        levels.update(dict.fromkeys(match_words(known, [word], config.where), level))
    paths = tuple(
        (item.path, frozenset(match_words(known, item.ignore, item.where)), item.reason)
        for item in config.per_path
    )
    root = config.file.absolute().parent if config.file else Path.cwd()
    return FindingPolicy(levels, paths, hidden, root)


def _matches(file: str, pattern: str, root: Path) -> bool:
    """Does a path match, relative to the configuration's folder?  A pattern without a slash is a name."""
    # an asset may be named through a link that lies outside the project
    path = PurePath(os.path.realpath(file))
    # "*.usda" means files anywhere, as in .gitignore
    if "/" not in pattern:
        return fnmatchcase(path.name, pattern)
    base = root.resolve()
    return path.is_relative_to(base) and fnmatchcase(path.relative_to(base).as_posix(), pattern)
