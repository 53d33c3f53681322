# SPDX-License-Identifier: Apache-2.0
"""Makes random pixels: contents of textures, and values that break converters. Arrays are (height, width, channels)."""
import numpy as np

EDGES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 96, 100, 127, 128, 129, 150, 200, 255, 256,
         257, 300)


def size(rng):
    width, height = int(rng.choice(EDGES)), int(rng.choice(EDGES))
    if rng.random() < 0.3:
        width, height = int(rng.integers(1, 400)), int(rng.integers(1, 400))
    if rng.random() < 0.2:
        height = width
    return width, height


def unit_plane(rng, kind, width, height):
    """Makes one channel of values in 0..1."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    if kind == "noise":
        return rng.random((height, width))
    if kind == "smooth":
        fx, fy, phase = rng.uniform(0.5, 6, 3)
        return 0.5 + 0.5 * np.sin(fx * x / max(width, 2) * 6.28 + phase) * np.cos(fy * y / max(height, 2) * 6.28)
    if kind == "ramp":
        return (x + y) / max(width + height - 2, 1)
    if kind == "checker":
        cell = int(rng.integers(1, 12))
        return ((x // cell + y // cell) % 2) * rng.random() + 0.1 * rng.random()
    if kind == "sparse":
        return np.where(rng.random((height, width)) < 0.02, rng.random((height, width)), rng.random())
    return np.full((height, width), rng.choice([0.0, 1.0, rng.random()]))


def unit(rng, width, height, channels):
    """Makes values in 0..1; with 2 and 4 channels the last one is alpha."""
    kind = str(rng.choice(["noise", "smooth", "ramp", "checker", "sparse", "flat"], p=[.35, .25, .12, .1, .1, .08]))
    colour = channels - (channels in (2, 4))
    planes = [unit_plane(rng, kind, width, height) for _ in range(colour)]
    if kind == "smooth" and rng.random() < 0.5:
        planes = [np.clip(p + rng.normal(0, 0.03, p.shape), 0, 1) for p in planes]
    if rng.random() < 0.1:
        planes = [planes[0]] * colour
    if channels in (2, 4):
        planes.append(alpha(rng, kind, width, height))
    return np.clip(np.stack(planes, axis=2), 0, 1)


def alpha(rng, kind, width, height):
    style = rng.choice(["opaque", "clear", "noise", "soft", "binary", "same", "half"])
    if style == "opaque":
        return np.ones((height, width))
    if style == "clear":
        return np.zeros((height, width))
    if style == "soft":  # tiny alpha below full colour
        return rng.integers(0, 5, (height, width)) / 255
    if style == "binary":
        return (rng.random((height, width)) < 0.5).astype(np.float64)
    if style == "half":
        return np.full((height, width), 0.5)
    return unit_plane(rng, "noise" if style == "noise" else kind, width, height)


def integers(rng, width, height, channels, bits, signed=False):
    top = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
    values = np.floor(unit(rng, width, height, channels) * top + 0.5)
    if signed and rng.random() < 0.7:
        values *= np.where(rng.random(values.shape) < 0.3, -1, 1)
    if rng.random() < 0.2:  # 8-bit content in wider samples
        values = np.floor(values / top * 255) * (top // 255) if bits > 8 else values
    return values.astype(np.dtype("%s%d" % ("i" if signed else "u", max(8, 1 << (bits - 1).bit_length()) // 8)))


def floats(rng, width, height, channels, kind, plain=0.6):
    """`kind`: a numpy float type. With probability `plain` values stay in 0..1."""
    values = unit(rng, width, height, channels)
    colour = channels - (channels in (2, 4))
    if rng.random() > plain:
        style = rng.choice(["hdr", "negative", "tiny", "overflow", "inf", "nan", "nan-alpha", "wild-alpha"],
                           p=[.3, .2, .1, .15, .1, .05, .05, .05])
        spot = rng.random((height, width)) < 0.05
        if style == "hdr":
            values[:, :, :colour] *= 10 ** rng.uniform(0, 4)
        elif style == "negative":
            values[:, :, :colour] -= rng.uniform(0, 1)
        elif style == "tiny":
            values[:, :, :colour] *= 10 ** rng.uniform(-9, -3)
        elif style == "overflow":
            values[spot, :colour] = rng.choice([6.0e4, 65504, 7.0e4, 1e6, 3e38, -1e5])
        elif style == "inf":
            values[spot, int(rng.integers(0, colour))] = rng.choice([np.inf, -np.inf])
        elif style == "nan":
            values[spot, int(rng.integers(0, colour))] = np.nan
        elif style == "nan-alpha":
            values[spot, -1] = np.nan
        else:
            values[:, :, -1] = values[:, :, -1] * 3 - 1
    if np.dtype(kind) != np.float64:
        limit = np.float64(np.finfo(kind).max)
        outside = np.isfinite(values) & (np.abs(values) > limit)
        if rng.random() < 0.5 or np.dtype(kind) == np.float32:
            values = np.where(outside, np.copysign(limit, values), values)
    with np.errstate(over="ignore"):
        return values.astype(kind)
