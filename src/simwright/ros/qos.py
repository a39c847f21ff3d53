# SPDX-License-Identifier: Apache-2.0
"""Quality of service as an endpoint has it, and which publishers and subscriptions match (REP-0158 2.4).

Assets may leave policies to the system: for data of sensors that means best effort (REP 2003), for maps that they are
kept for those who come later, for all else what ROS nodes have unless told otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simwright.checker.facts.interfaces import MAP_TYPES, SENSOR_TYPES
from simwright.model.ros import Qos

SYSTEM = "system_default"


@dataclass(frozen=True, slots=True)
class EndpointQos:
    """Policies with nothing left open; ``depth`` counts where the history keeps the last messages only.

    ``match_publisher`` says that reliability and durability of a subscription follow the publisher that is found.
    """

    reliability: str = "reliable"
    durability: str = "volatile"
    history: str = "keep_last"
    depth: int = 10
    match_publisher: bool = False

    def __str__(self) -> str:
        depth = f" {self.depth}" if self.history == "keep_last" else ""
        own = "as the publisher" if self.match_publisher else f"{self.reliability}, {self.durability}"
        return f"{own}, {self.history}{depth}"


DEFAULT_QOS = EndpointQos()
"""What ROS nodes have unless they say otherwise."""
TF_QOS = EndpointQos(depth=100)
LATCHED_QOS = EndpointQos(durability="transient_local", depth=1)
"""Sent once, and again to everyone who comes later: /tf_static, robot_description, maps."""
CLOCK_QOS = EndpointQos("best_effort", depth=1)


def settle_qos(qos: Qos, type_name: str, role: str) -> EndpointQos:
    """The policies of a topic of that type, where the asset leaves them to the system too."""
    defaults = DEFAULT_QOS
    if role == "publisher" and type_name in SENSOR_TYPES:
        defaults = replace(defaults, reliability="best_effort")
    if role == "publisher" and type_name in MAP_TYPES:
        defaults = replace(defaults, durability="transient_local")
    return EndpointQos(
        defaults.reliability if qos.reliability == SYSTEM else qos.reliability,
        defaults.durability if qos.durability == SYSTEM else qos.durability,
        defaults.history if qos.history == SYSTEM else qos.history,
        # a queue of no length is what rmw takes as "unset"
        max(qos.depth, 1),
        qos.match_publisher and role == "subscription",
    )


def explain_mismatch(publisher: EndpointQos, subscription: EndpointQos) -> str:
    """Why a subscription would get nothing of a publisher; "" where it does."""
    if subscription.match_publisher:
        return ""
    if publisher.reliability == "best_effort" and subscription.reliability == "reliable":
        return "the publisher is best effort and the subscription wants reliable"
    if publisher.durability == "volatile" and subscription.durability == "transient_local":
        return "the publisher is volatile and the subscription wants transient local"
    return ""
