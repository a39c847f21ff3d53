# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: every public function and class, and the classes that they give, from signatures and docstrings."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import re
import types
import typing

import simwright
from generate import NOTE
from simwright.model import asset

INTRO = """# Functions and classes

Everything that `import simwright` offers, and the classes of what its functions return, from the docstrings of the
source. [Ten jobs](recipes.md) and [Work with assets in Python](api.md) show them at work; fields of an `Asset` and its
elements are in [the neutral model](model.md). Lengths are metres, angles radians, masses kilograms, times seconds;
quaternions are w, x, y, z. Names that are not listed here may change with any version.
"""
GROUPS = {
    "Files and assets": ("load", "save", "convert", "to_stage", "Asset", "Pose"),
    "Check, fix, compare": ("check", "fix", "diff", "prove", "prove_scene"),
    "Simulate and look": ("run", "render", "load_scene", "LoadedScene"),
    "Robots and tasks": (
        "list_robots", "open_robot", "preflight", "make_env", "make_vector_env", "make_rollout",
    ),
    "Worlds": ("load_world", "build_world"),
    "Names of SAP Warp": (
        "load_sap_scene", "load_sap_scene_config", "SapLoadedScene", "SapSceneLoaderError",
        "SapUnsupportedSceneFeature",
    ),
    "Findings and errors": ("Diagnostic", "Level", "Reporter", "SimwrightError"),
}  # fmt: skip


def generate() -> str:
    """A section for each group, an entry for each name."""
    left = set(simwright.__all__) - {"__version__"} - {name for names in GROUPS.values() for name in names}
    assert not left, f"public names without a place in the page: {sorted(left)}"
    parts = [NOTE, INTRO]
    given: dict[str, type] = {}
    for title, names in GROUPS.items():
        parts.append(f"\n## {title}\n")
        for name in names:
            thing = getattr(simwright, name)
            parts.append(_class(name, thing) if inspect.isclass(thing) else _function(name, thing))
            if not inspect.isclass(thing):
                given |= _results(thing)
    parts.append("\n## What functions return\n")
    public = {id(getattr(simwright, name)) for name in simwright.__all__}
    parts.extend(_class(name, cls) for name, cls in sorted(given.items()) if id(cls) not in public)
    return "".join(parts)


def _function(name: str, function: typing.Any, level: str = "###", prefix: str = "simwright.") -> str:
    heading = f"\n{level} `{name}`\n\n"
    return f"{heading}```python\n{_sign(prefix + name, function)}\n```\n\n{_text(function)}"


def _class(name: str, cls: type) -> str:
    parts = [f"\n### `{name}`\n\n"]
    if name not in simwright.__all__:
        parts.append(f"In `{cls.__module__}`.\n\n")
    parts.append(_text(cls))
    if issubclass(cls, enum.Enum):
        parts.append("\n" + ", ".join(f"`{member.name}`" for member in cls) + ".\n")
    elif dataclasses.is_dataclass(cls):
        parts.append(_fields(cls))
    shown = {
        key: value for key, value in inspect.getmembers(cls) if not key.startswith("_") and _ours(cls, key)
    }
    properties = {key: value for key, value in shown.items() if isinstance(value, property)}
    if properties:
        parts.append("\n| property | what it is |\n|---|---|\n")
        parts.extend(f"| `{key}` | {_line(value)} |\n" for key, value in properties.items())
    for key, value in shown.items():
        if inspect.isfunction(value) or inspect.ismethod(value):
            parts.append(_function(f"{name}.{key}", value, "####", ""))
    return "".join(parts)


def _fields(cls: type) -> str:
    if cls is asset.Asset or cls.__module__.startswith("simwright.model."):
        return f"\nFields: [the neutral model](model.md#{cls.__name__.lower()}).\n"
    rows = [
        f"| `{field.name}` | `{str(field.type).replace('|', chr(92) + '|')}` |\n"
        for field in dataclasses.fields(cls)
        if not field.name.startswith("_")
    ]
    return "\n| field | type |\n|---|---|\n" + "".join(rows) if rows else ""


def _ours(cls: type, key: str) -> bool:
    """Whether a member is written by us: not of Exception, Enum or Gymnasium."""
    owner = next((base for base in cls.__mro__ if key in vars(base)), object)
    return owner.__module__.startswith("simwright.")


def _sign(name: str, function: typing.Any) -> str:
    """The signature, an argument a line where it is long; types as the source writes them."""
    signature = inspect.signature(function)
    arguments = []
    starred = False
    for key, parameter in signature.parameters.items():
        if key == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            arguments.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        arguments.append(re.sub(r"<.*? at 0x\w+>", "...", str(parameter).replace("'", "")))
    back = signature.return_annotation
    tail = "" if back is inspect.Signature.empty else f" -> {str(back).strip(chr(39))}"
    line = f"{name}({', '.join(arguments)}){tail}"
    if len(line) <= 90:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){tail}"


def _results(function: typing.Any) -> dict[str, type]:
    """Classes of ours that a function gives, by name."""
    module = inspect.getmodule(function)
    assert module is not None
    words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
    names = {**vars(module), **_only_for_types(module)}
    found = {word: names[word] for word in words if inspect.isclass(names.get(word))}
    return {word: cls for word, cls in found.items() if cls.__module__.startswith("simwright.")}


def _only_for_types(module: types.ModuleType) -> dict[str, object]:
    """What a module imports where nothing but a type checker looks, to start fast."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simwright."):
            source = importlib.import_module(node.module or "")
            found |= {name.asname or name.name: getattr(source, name.name, None) for name in node.names}
    return found


def _text(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    # the words of docstrings are plain; only the quotes of code differ from Markdown's
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text).strip() + "\n"


def _line(thing: property) -> str:
    return _text(thing).partition("\n\n")[0].replace("\n", " ").replace("|", "\\|").strip()
