#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the images of this folder: every way in which a file says its aspect and resolution, and some in which it lies.

    python3 make.py

Needs PyPI's openimageio and numpy. blender.tsv is not made here: see README.md.
"""
import math
import struct
import zlib

import numpy
import OpenImageIO as oiio

PIXELS = numpy.tile(numpy.linspace(0.1, 0.9, 48, dtype="f").reshape(4, 4, 3), (2, 2, 1))


def write(name, kind="uint8", **said):
    spec = oiio.ImageSpec(8, 8, 3, kind)
    for key, value in said.items():
        spec.attribute(key, value)
    out = oiio.ImageOutput.create(name)
    if not out or not out.open(name, spec) or not out.write_image(PIXELS) or not out.close():
        raise SystemExit(oiio.geterror())


def read(name):
    with open(name, "rb") as f:
        return f.read()


def save(name, data):
    with open(name, "wb") as f:
        f.write(data)


def exif(x, y, unit):
    """A little-endian Exif block of two ratios and, if not None, a unit."""
    count = 2 + (unit is not None)
    end = 8 + 2 + 12 * count + 4
    block = b"II*\0" + struct.pack("<IH", 8, count)
    block += struct.pack("<HHII", 0x11A, 5, 1, end) + struct.pack("<HHII", 0x11B, 5, 1, end + 8)
    if unit is not None:
        block += struct.pack("<HHIHH", 0x128, 3, 1, unit, 0)
    return block + struct.pack("<I", 0) + struct.pack("<IIII", *x, *y)


def png(name, phys=None, block=None):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    write(name)
    data = read(name)
    at = data.index(b"IDAT") - 4
    new = chunk(b"pHYs", struct.pack(">IIB", *phys)) if phys else b""
    new += chunk(b"eXIf", block) if block else b""
    save(name, data[:at] + new + data[at:])


def jpeg(name, jfif=None, block=None):
    """jfif: unit and densities; None: no JFIF marker."""
    write(name)
    data = bytearray(read(name))
    head, body = data[:20], data[20:]  # the start marker and JFIF's, of 18 bytes
    if jfif:
        head[13:18] = struct.pack(">BHH", *jfif)
    else:
        head = head[:2]
    if block:
        head += b"\xff\xe1" + struct.pack(">H", len(block) + 8) + b"Exif\0\0" + block
    save(name, bytes(head + body))


def tiff(name, x=None, y=None, unit=None, kind=5):
    """kind: 5 ratios, 10 signed ratios, 11 floats."""
    data = (PIXELS * 255).astype("u1").tobytes()
    entries = [(256, 3, 8), (257, 3, 8), (258, 3, None), (259, 3, 1), (262, 3, 2), (273, 4, None), (277, 3, 3)]
    entries += [(278, 3, 8), (279, 4, len(data))]
    entries += [(282, kind, x)] if x is not None else []
    entries += [(283, kind, y)] if y is not None else []
    entries += [(296, 3, unit)] if unit is not None else []
    end = 8 + 2 + 12 * len(entries) + 4
    extra, lines = struct.pack("<HHH", 8, 8, 8), b""
    pixels_at = end + 6 + sum(8 for e in entries if e[1] in (5, 10))
    for tag, type_, value in entries:
        if tag == 258:
            field, count = struct.pack("<I", end), 3
        elif type_ in (5, 10):
            field, count = struct.pack("<I", end + len(extra)), 1
            extra += struct.pack("<II" if type_ == 5 else "<ii", *value)
        elif type_ == 11:
            field, count = struct.pack("<f", value), 1
        else:
            field, count = struct.pack("<I", pixels_at if tag == 273 else value), 1
        lines += struct.pack("<HHI", tag, type_, count) + field
    head = b"II*\0" + struct.pack("<IH", 8, len(entries))
    save(name, head + lines + struct.pack("<I", 0) + extra + data)


def with_float(name, of, attribute, value):
    """An EXR file with another value in a float attribute."""
    data = read(of)
    at = data.index(attribute.encode() + b"\0float\0") + len(attribute) + 7 + 4
    save(name, data[:at] + struct.pack("<f", value) + data[at + 4:])


png("none.png")
png("metre.png", (2835, 2835, 1))
png("metre-300.png", (11811, 11811, 1))
png("metre-anamorphic.png", (3780, 2835, 1))
png("metre-few.png", (10, 20, 1))
png("square.png", (1, 1, 0))
png("double.png", (1, 2, 0))
png("half.png", (2, 1, 0))
png("anamorphic.png", (4, 3, 0))
png("huge.png", (0x7FFFFFFF, 1, 0))
png("zero.png", (0, 0, 1))
png("zero-x.png", (0, 5, 0))
png("exif.png", None, exif((300, 1), (150, 1), 2))

jpeg("none.jpg", (0, 1, 1))
jpeg("bare.jpg")
jpeg("inch.jpg", (1, 72, 72))
jpeg("centimetre.jpg", (2, 28, 28))
jpeg("double.jpg", (0, 2, 1))
jpeg("half.jpg", (0, 1, 2))
jpeg("anamorphic.jpg", (1, 96, 72))
jpeg("unknown-unit.jpg", (9, 300, 300))
jpeg("zero.jpg", (0, 0, 0))
jpeg("zero-x.jpg", (1, 0, 72))
jpeg("largest.jpg", (1, 65535, 2))
jpeg("exif.jpg", None, exif((300, 1), (300, 1), 2))
jpeg("exif-anamorphic.jpg", None, exif((144, 1), (72, 1), 3))
jpeg("exif-after-jfif.jpg", (1, 72, 72), exif((300, 1), (150, 1), 2))
jpeg("exif-after-aspect.jpg", (0, 1, 1), exif((300, 1), (150, 1), 2))
jpeg("exif-infinite.jpg", None, exif((300, 0), (300, 0), 2))

tiff("none.tif")
tiff("inch.tif", (72, 1), (72, 1), 2)
tiff("centimetre.tif", (28346, 1000), (28346, 1000), 3)
tiff("double.tif", (1, 1), (2, 1), 1)
tiff("half.tif", (2, 1), (1, 1), 1)
tiff("anamorphic.tif", (72, 1), (96, 1), 2)
tiff("thirds.tif", (10000, 3), (20000, 7), 2)
tiff("few.tif", (1, 2), (1, 2), 2)
tiff("few-x.tif", (1, 2), (3, 1), 2)
tiff("unit.tif", None, None, 3)
tiff("no-unit.tif", (72, 1), (72, 1))
tiff("unknown-unit.tif", (72, 1), (72, 1), 9)
tiff("x.tif", (72, 1), None, 2)
tiff("zero.tif", (0, 1), (0, 1), 2)
tiff("infinite.tif", math.inf, math.inf, 2, 11)
tiff("nan.tif", math.nan, math.nan, 2, 11)
tiff("negative.tif", (-72, 1), (-72, 1), 2, 10)
tiff("huge.tif", (0xFFFFFFFF, 1), (1, 1), 2)
write("float.tif", "float", XResolution=300.0, YResolution=300.0, ResolutionUnit="cm")
write("float-double.tif", "float", PixelAspectRatio=2.0)

write("none.exr", "half")
write("double.exr", "half", PixelAspectRatio=2.0)
write("half.exr", "float", PixelAspectRatio=0.5)
write("anamorphic.exr", "half", PixelAspectRatio=1.33)
write("density.exr", "half", XResolution=300.0, PixelAspectRatio=1.5)
for word, number in {"smallest": 1e-6, "largest": 1e6}.items():
    with_float(f"{word}.exr", "double.exr", "pixelAspectRatio", number)
for word, number in {"zero": 0.0, "negative": -1.0, "nan": math.nan, "infinite": math.inf, "huge": 1e30}.items():
    with_float(f"density-{word}.exr", "density.exr", "xDensity", number)

write("none.dpx", "uint16")
write("anamorphic.dpx", "uint16", PixelAspectRatio=1.33)
write("none.tga")
write("double.tga", PixelAspectRatio=2.0)
write("anamorphic.rla", PixelAspectRatio=1.33)
write("metre.bmp", XResolution=2835, YResolution=2835, ResolutionUnit="m")
write("none.hdr", "float")
hdr = read("none.hdr")
first = hdr.index(b"\n") + 1
save("aspect.hdr", hdr[:first] + b"PIXASPECT=2\n" + hdr[first:])
