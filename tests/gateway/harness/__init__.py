# SPDX-License-Identifier: Apache-2.0
"""What the tests of the gateway stand on: a client, an origin and a gateway process, all of them strict."""

from .client import RawClient, request_bytes
from .gateway import Gateway
from .message import Cut, Fields, Malformed, Response, Silence
from .origin import Exchange, Hold, Origin, reply, replay
from .poll import eventually, free_port

__all__ = [
    "Cut",
    "Exchange",
    "Fields",
    "Gateway",
    "Hold",
    "Malformed",
    "Origin",
    "RawClient",
    "Response",
    "Silence",
    "eventually",
    "free_port",
    "replay",
    "reply",
    "request_bytes",
]
