# SPDX-License-Identifier: Apache-2.0
"""What the tests of the gateway stand on: a client, an origin, a gateway process, all of them strict, and Redis."""

from .client import RawClient, request_bytes
from .faults import FaultProxy
from .gateway import Gateway
from .message import Cut, Fields, Malformed, Response, Silence
from .messages import MessageFaults
from .origin import Exchange, Hold, Origin, reply, replay
from .poll import eventually, free_port
from .redis import RedisCluster, RedisServer, documented_permissions
from .resp import RedisClient, RedisError
from .traffic import Traffic, longest, percentile

__all__ = [
    "Cut",
    "Exchange",
    "FaultProxy",
    "Fields",
    "Gateway",
    "Hold",
    "Malformed",
    "MessageFaults",
    "Origin",
    "RawClient",
    "RedisClient",
    "RedisCluster",
    "RedisError",
    "RedisServer",
    "Response",
    "Silence",
    "Traffic",
    "documented_permissions",
    "eventually",
    "free_port",
    "longest",
    "percentile",
    "replay",
    "reply",
    "request_bytes",
]
