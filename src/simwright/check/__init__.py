# SPDX-License-Identifier: Apache-2.0
"""The compliance checker: REP-0158 rules over OpenUSD stages.

``simwright.check`` is both this package and the public function ``simwright.check(path_or_stage, ...)``: an
imported sub-package takes its name in ``simwright``, so the package itself can be called and hands the call
on to :func:`simwright.app.api.check`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, cast

from simwright.core.registry import import_object


class _CallablePackage(ModuleType):
    def __call__(self, path_or_stage: Any, **options: Any) -> Any:
        """Check a file, a folder or an open stage; see :func:`simwright.app.api.check`."""
        function = cast("Any", import_object("simwright.app.api:check"))
        return function(path_or_stage, **options)


sys.modules[__name__].__class__ = _CallablePackage
