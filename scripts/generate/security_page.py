# SPDX-License-Identifier: Apache-2.0
"""docs/security.md: what an asset may name, and how much it may ask for."""

from __future__ import annotations

from generate import NOTE
from simwright.core.gate import FUEL_CACHES, MODEL_PATH_VARIABLES
from simwright.core.gate import VARIABLE as FOLDERS
from simwright.core.limits import BUDGETS
from simwright.core.limits import VARIABLE as LIMITS

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
- **folders that you allow**: `--allow-outside DIR` of `inspect`, `check`, `convert`, `diff`, `fix` and `run` (may be
  repeated), `allow_outside=[...]` of the Python functions, or the environment variable `{FOLDERS}`.

It makes no difference how the file is named: relative, absolute, `file://`, `package://`, `model://`, or by a link in
the asset. What is refused costs that mesh, texture, include or layer, with a finding that names the place and the
folder to allow; layers are muted before the stage has prims. MuJoCo needs every file of a model, so there the model is
refused as a whole. Images are identified, measured and verified, and meshes parsed, before a writer delivers them. A
stage that you made in memory may name what you like.

## How much an asset may ask for

A few hundred bytes can stand for billions of prims, pixels or bodies. What an asset asks for is added up from headers,
counts and texts, and held against these budgets before anything of that size is made. `--limit NAME=VALUE` raises one
(`inspect`, `check`, `convert`, `fix`, `run`); so does the environment variable `{LIMITS}`
(`NAME=VALUE,NAME=VALUE`), for `diff` and Python too.

| budget | default | counted | protects |
|---|---:|---|---|
"""


def generate() -> str:
    """The page."""
    rows = (f"| `{row.name}` | {row.default:,} | {row.unit} | {row.protects} |" for row in BUDGETS.values())
    return NOTE + HEAD + "\n".join(rows).replace("<", "&lt;") + "\n"
