"""The enumerations of the protocol, by its names; in messages they are plain numbers."""

from __future__ import annotations

from typing import Final

CAPABILITY_CAPABILITIES: Final = 1
CAPABILITY_REQUIRED_RESOURCES: Final = 2
CAPABILITY_CREDENTIALS: Final = 3
CAPABILITY_CONDITIONS: Final = 4
CAPABILITY_REQUIRED_SCHEMAS: Final = 5

READY_UNSPECIFIED: Final = 0
READY_TRUE: Final = 1
READY_FALSE: Final = 2

SEVERITY_FATAL: Final = 1
SEVERITY_WARNING: Final = 2
SEVERITY_NORMAL: Final = 3

STATUS_CONDITION_UNKNOWN: Final = 1
STATUS_CONDITION_TRUE: Final = 2
STATUS_CONDITION_FALSE: Final = 3

TARGET_COMPOSITE: Final = 1
TARGET_COMPOSITE_AND_CLAIM: Final = 2
