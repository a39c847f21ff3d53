# SPDX-License-Identifier: Apache-2.0
"""Sites: named frames with an optional picture."""

from __future__ import annotations

from simwright.formats.mjcf.context import Context, pose_of
from simwright.formats.mjcf.geoms import DEFAULT_RGBA, kind_of, make_primitive
from simwright.model.asset import Site

_PRIMITIVES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")


def read_sites(context: Context) -> None:
    """Sites in MuJoCo's order."""
    model = context.model
    for index in range(context.count("site")):
        kind = kind_of(context, "site", index)
        site = Site(
            name=context.name("site", index),
            body=context.name("body", int(model.site_bodyid[index])),
            pose=pose_of(model.site_pos[index], model.site_quat[index]),
            path=context.key("site", index),
            source=context.where("site", index),
        )
        data = int(context.field("site_dataid", index, -1))
        if kind in _PRIMITIVES:
            site.geometry = make_primitive(kind, model.site_size[index])
        elif data >= 0:
            context.keep("site", index, "mesh", context.name("mesh", data))
        context.asset.sites.append(site)
        context.keep("site", index, "group", model.site_group[index], 0)
        context.keep("site", index, "rgba", model.site_rgba[index], DEFAULT_RGBA)
        material = context.name("material", int(model.site_matid[index]))
        context.keep("site", index, "material", material, "")
        context.keep_user("site", index, "site_user")
