# SPDX-License-Identifier: Apache-2.0
"""docs/security.md: what an asset may name, how much it may ask for, and what happens to hostile files."""

from __future__ import annotations

import sys
from pathlib import Path

from generate import NOTE
from simwright.core.gate import FUEL_CACHES, MODEL_PATH_VARIABLES
from simwright.core.gate import VARIABLE as FOLDERS
from simwright.core.limits import ARCHIVES, BUDGETS, OFFLINE, UNTRUSTED
from simwright.core.limits import VARIABLE as LIMITS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "security"))

from hostile import ROWS

HEAD = f"""# Security

Assets come from anywhere. Simwright reads them as untrusted input: nothing in one is run, nothing is fetched, and what
one names or asks for has bounds.

## What an asset may name

Meshes, textures, material libraries, glTF buffers, includes, xacro files and YAML, parameters, layers, references,
payloads: everything that is opened because a file says so passes one gate (`simwright.core.gate`). With every link and
`..` resolved, it has to lie below one of

- the **root of the asset**: the ROS package (`package.xml`) or Gazebo model (`model.config`) that holds the file you
  named, else the folder of that file; where that folder is called `urdf`, `meshes`, `usd` or the like, the folder
  that holds it. Your home, folders above it and folders at the top of the file system are never taken whole because of
  a folder in them, and for a file that lies in your home itself nothing hidden belongs to it;
- its **ROS packages**: those of `--package`, `AMENT_PREFIX_PATH`, `ROS_PACKAGE_PATH` and those beside its own. A folder
  without `package.xml` that is found by its name alone has to look like a package: it holds meshes, textures or robot
  descriptions;
- the **folders of Gazebo**: {", ".join(f"`{name}`" for name in MODEL_PATH_VARIABLES)};
- **models that Gazebo downloaded** and that are named by their Fuel address: that version of that model in
  {", ".join(f"`~/{folder}` (or `{variable}`)" for variable, folder in FUEL_CACHES)}, nothing else there. Nothing is
  downloaded;
- **folders that you allow**: `--allow-outside DIR` of `inspect`, `check`, `convert`, `diff`, `fix`, `run`, `world` and
  `scene check` (may be repeated), `allow_outside=[...]` of the Python functions, or the environment variable
  `{FOLDERS}`.

It makes no difference how the file is named: relative, absolute, `file://`, `package://`, `model://`, or by a link in
the asset. What is refused costs that mesh, texture, include or layer, with a finding that names the place and the
folder to allow; not a byte of it is read. MuJoCo needs every file of a model, so there the model is
refused as a whole. Images are identified, measured and verified, and meshes parsed, before a writer delivers them. A
stage that you made in memory may name what you like. Scenes and worlds are held to the same: a scene may also name what
lies in the working folder, unless that is your home, and a world what lies in `$DATA`. A robot's manifest names files
in its own project, `package://` and `python:` addresses.

## How much an asset may ask for

A few hundred bytes can stand for billions of prims, pixels or bodies. What an asset asks for is added up from headers,
counts and texts, and compared with these budgets before anything of that size is made. `--limit NAME=VALUE` raises one
(commands with `--allow-outside` have it too, but `diff`); so does the environment variable `{LIMITS}`
(`NAME=VALUE,NAME=VALUE`), for Python too.

| budget | default | `--untrusted` | counted | protects |
|---|---:|---:|---|---|
"""

ARCHIVE_LIST = " and ".join(f"`{suffix}`" for suffix in ARCHIVES)
REST = f"""
## Files from strangers

`--untrusted` is for a file that you would not open otherwise; every command that reads assets has it. Then

- nothing is fetched, and nothing comes from git, not even from the cache;
- the asset names nothing outside its own folder, package or model: packages beside it, those of the environment, the
  folders of Gazebo and `{FOLDERS}` do not count. `--package` and `--allow-outside` of the same command do;
- every budget is a tenth, and `check`, `convert` and `fix` give a file 60 s and 2 GiB, unless `--limit`, `--timeout` or
  `--max-memory` say something else;
- settings that lie beside the asset (`simwright.toml`) do not count.

`check` takes {ARCHIVE_LIST} files for untrusted unless `--trusted` says otherwise. `--offline` fetches nothing but uses
what was fetched before. In Python and for worker processes, the environment variables `{UNTRUSTED}=1` and `{OFFLINE}=1`
say the same.

## What is shown

Names and messages come from files. Control characters, bidirectional marks and other characters that do not show are
shown as `\u241b` or `<U+202E>` in everything that is printed and in every report; JSON has them escaped. Files that are
written, and the fields of findings in Python, keep them.

## What is written

Results appear whole or not at all, also when a command is killed; whoever writes or reads there next undoes what a
killed one had begun, and removes what it left. Nothing but the files of the result is looked at, moved or reported. A
disk that is full, also that of temporary files (`TMPDIR`), is one line and exit code 2.

## Hostile files

Each of these is a test (`tests/security/hostile.py`): the exit code, the message, less than 10 s and 2 GiB, no file
outside of the result, no byte of a file outside of the asset in any result.

| it | in | by | what happens | exit |
|---|---|---|---|---:|
"""


def generate() -> str:
    """The page."""
    budgets = (
        f"| `{row.name}` | {row.default:,} | {row.strict:,} | {row.unit} | {row.protects} |"
        for row in BUDGETS.values()
    )
    files = (f"| {row.category} | {row.name} | {row.tries} | {row.happens} | {row.code} |" for row in ROWS)
    return NOTE + HEAD + "\n".join(budgets).replace("<", "&lt;") + "\n" + REST + "\n".join(files) + "\n"
