# SPDX-License-Identifier: Apache-2.0
"""The words of the program's JSON, made by `txmill --generate python`: do not edit."""


class Use:
    MISSING = "missing"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    NAME = "name"
    OUTDATED = "outdated"
    STALE = "stale"
    DAMAGED = "damaged"
    NO_IMAGE = "no-image"
    DIRECT = "direct"
    LOADED = "loaded"


class State:
    FRESH = "fresh"
    SOURCE = "source"
    OUTDATED = "outdated"
    STALE = "stale"
    MISSING = "missing"
    UNUSABLE = "unusable"


class Check:
    FRESH = "fresh"
    AS_IS = "as-is"
    OUTDATED = "outdated"
    STALE = "stale"
    MISSING = "missing"
    UNUSABLE = "unusable"
    NO_IMAGE = "no-image"
    DAMAGED = "damaged"
    FAILED = "failed"


class Made:
    FAILED = "failed"
    CREATED = "created"
    UP_TO_DATE = "up-to-date"
    SKIPPED = "skipped"
    WOULD_CREATE = "would-create"


class Source:
    UNKNOWN = "unknown"
    FRESH = "fresh"
    OUTDATED = "outdated"
    MISSING = "missing"


class Lint:
    DATA_AS_COLOR = "data-as-color"
    COLOR_AS_DATA = "color-as-data"
    WIDE_8_BIT = "wide-8-bit"
    OPAQUE_ALPHA = "opaque-alpha"
    GREY_RGB = "grey-rgb"
    LARGE = "large"


STATES = ("fresh", "source", "outdated", "stale", "missing", "unusable")
READY = ("fresh", "source")  # a render needs nothing more
