#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files here and pixels.tsv: what OpenImageIO 3.1, which Blender reads images with, delivers of them and of the
other sources in testdata. Needs the packages openimageio 3.1, tifffile and numpy of PyPI.

python3 make.py FILES    writes the files
python3 make.py TABLE    writes pixels.tsv for those that are there
"""
import hashlib
import os
import sys

import numpy as np
import OpenImageIO as oiio

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "differential"))
import writers  # noqa: E402
W, H = 37, 23
TYPES = {"uint8": (np.uint8, oiio.UINT8), "int8": (np.int8, oiio.INT8), "uint16": (np.uint16, oiio.UINT16),
         "int16": (np.int16, oiio.INT16), "uint32": (np.uint32, oiio.UINT32), "int32": (np.int32, oiio.INT32),
         "half": (np.float16, oiio.HALF), "float": (np.float32, oiio.FLOAT), "double": (np.float64, oiio.DOUBLE)}


def picture(kind, channels):
    """Noise over the whole range of the type, with its ends in the first row."""
    rng = np.random.default_rng(sum(kind.encode()) + channels)
    dtype = TYPES[kind][0]
    if np.issubdtype(dtype, np.floating):
        return (rng.random((H, W, channels)) * 1.5 - 0.25).astype(dtype)
    ends = np.iinfo(dtype)
    a = rng.integers(ends.min, ends.max, size=(H, W, channels), endpoint=True, dtype=dtype)
    a[0, 0], a[0, 1], a[0, 2] = ends.min, ends.max, 0
    return a


def write(name, kind, channels, names=None, tile=None, stored=None, **attributes):
    spec = oiio.ImageSpec(W, H, channels, TYPES[stored or kind][1])
    if names:
        spec.channelnames = names
    if tile:
        spec.tile_width = spec.tile_height = tile
    for key, value in attributes.items():
        spec.attribute(key.replace("__", ":"), value)
    out = oiio.ImageOutput.create(name)
    assert out.open(name, spec) and out.write_image(picture(kind, channels)) and out.close(), out.geterror()


def tiff_files():
    import tifffile
    for kind in ("int8", "int16", "int32", "uint32"):
        write("%s.tif" % kind, kind, 3)
    write("uint16-straight-tiled.tif", "uint16", 4, tile=16, oiio__UnassociatedAlpha=1)
    for kind, compression, channels in (("uint8", "packbits", 3), ("uint16", "lzw", 4), ("int16", "packbits", 3),
                                        ("int32", "deflate", 4), ("float", "deflate", 3), ("double", "lzw", 3)):
        tifffile.imwrite("planes-%s-%s.tif" % (kind, compression), np.moveaxis(picture(kind, channels), 2, 0),
                         compression=compression, planarconfig="separate", photometric="rgb", rowsperstrip=9,
                         extrasamples=["unassalpha"] * (channels - 3), metadata=None)
    tifffile.imwrite("planes-tiled.tif", np.moveaxis(picture("uint16", 3), 2, 0), compression="deflate", predictor=2,
                     planarconfig="separate", photometric="rgb", tile=(16, 16), metadata=None)
    for order in "<>":
        tifffile.imwrite("double-%s.tif" % ("big" if order == ">" else "little"), picture("double", 4), rowsperstrip=7,
                         photometric="rgb", extrasamples=["unassalpha"], byteorder=order, metadata=None)
    tifffile.imwrite("double-predictor.tif", picture("double", 3), compression="deflate", predictor=3, rowsperstrip=10,
                     photometric="rgb", metadata=None)
    for kind in ("uint8", "uint16", "float", "double"):
        tifffile.imwrite("min-is-white-%s.tif" % kind, picture(kind, 1)[:, :, 0], rowsperstrip=6,
                         photometric="miniswhite", metadata=None)
    for bits in (1, 10, 12, 24):
        a = picture("uint32", 3) >> (32 - bits)
        tifffile.imwrite("bits%d.tif" % bits, a.astype(np.uint8 if bits < 9 else np.uint16 if bits < 17 else np.uint32),
                         bitspersample=bits, photometric="rgb", metadata=None)
    # PackBits runs that go on from one row to the next, as some writers make them.
    writers.tiff("packbits-runs.tif", picture("uint32", 5), 32, extra=(0, 0), compression=32773, rows_per_strip=7)
    tifffile.imwrite("private-tags.tif", picture("uint8", 3), photometric="rgb", metadata=None,
                     extratags=[(65000, 2, 5, "abcd", True), (40000, "I", 1, 7, True), (65001, 7, 3, b"xyz", True)])


def exr_files():
    for name, channels in (("position", "X Y Z A"), ("normal", "V.N.X V.N.Y V.N.Z"), ("vector", "V.X V.Y V.Z V.W"),
                           ("two-axes", "N.x N.y"), ("luminance-depth", "Y Z A"), ("axis-alone", "A X"),
                           ("colour-and-axes", "R G B X Y"), ("layers", "a.R b.X b.Y Z A"), ("complex", "real imag X Y"),
                           ("names", "Red green BLUE alpha"), ("unknown", "v u Zback Depth")):
        names = channels.split()
        write("exr-%s.exr" % name, "half", len(names), names, compression="zip")
        write("exr-%s-b44.exr" % name, "half", len(names), names, compression="dwaa")
    write("exr-uint.exr", "uint32", 3, ["X", "Y", "Z"], compression="zip")


def other_files():
    for kind in ("uint8", "int8", "int16", "uint16", "int32", "uint32", "float", "double"):
        write("fits-%s.fits" % kind, kind, 1)
    for kind in ("uint8", "uint16"):
        write("tiled-%s.iff" % kind, kind, 4, tile=64)
        write("%s.sgi" % kind, kind, 4, compression="rle")
        write("%s.rla" % kind, kind, 4)
    write("uint32.rla", "uint32", 3)
    for bits in (8, 10, 12, 16):
        write("bits%d.dpx" % bits, "uint8" if bits == 8 else "uint16", 3, oiio__BitsPerSample=bits)
    write("lossless.webp", "uint8", 4, compression="lossless", oiio__UnassociatedAlpha=1)
    write("opaque.webp", "uint8", 3, compression="lossless")
    write("uint16.ppm", "uint16", 3)
    for peak in (1, 100, 255, 256, 1023, 65534, 65535):
        a = picture("uint16", 3).astype(np.uint32) * peak // 65535
        head = b"%d %d\n# a comment\n%d\n" % (W, H, peak)
        with open("peak%d.ppm" % peak, "wb") as f:
            f.write(b"P6\n" + head + a.astype(">u2" if peak > 255 else "u1").tobytes())
        with open("peak%d-text.pgm" % peak, "wb") as f:
            f.write(b"P2\n" + head + b" ".join(b"%d" % v for v in a[:, :, 0].reshape(-1)) + b"\n")
    with open("bits.pbm", "wb") as f:
        f.write(b"P4\n%d %d\n" % (W, H) + np.packbits(picture("uint8", 1)[:, :, 0] > 127, axis=1).tobytes())
    with open("text.pbm", "wb") as f:
        f.write(b"P1\n%d %d\n" % (W, H) + b"".join(b"%d" % v for v in (picture("uint8", 1).reshape(-1) > 127)) + b"\n")
    for scale in (1.0, -2.5):
        with open("scale%s.pfm" % ("-big" if scale > 0 else "-little"), "wb") as f:
            f.write(b"PF\n%d %d\n%g\n" % (W, H, scale) + picture("float", 3).astype(">f4" if scale > 0 else "<f4").tobytes())


def delivered(path, half):
    """What Blender would get: the layout and the digest of the first four channels; None where it gets nothing."""
    config = oiio.ImageSpec()
    config.attribute("oiio:UnassociatedAlpha", 1)
    image = oiio.ImageInput.open(path, config)
    if not image:
        oiio.geterror()
        return None
    spec = image.spec()
    names = {oiio.HALF: "half", oiio.FLOAT: "float", oiio.DOUBLE: "float", oiio.UINT16: "uint16"}
    kind = names.get(spec.format.basetype, "uint8")
    narrowed = kind == "uint8" and spec.format.basetype != oiio.UINT8
    if half and not narrowed:
        return "-", "-"
    channels = min(spec.nchannels, 4)
    pixels = image.read_image(0, 0, 0, channels, TYPES["half" if half else kind][1])
    if pixels is None or image.geterror() or spec.depth > 1:
        return None
    layout = "%dx%d %d/%d %s" % (spec.width, spec.height, channels, spec.nchannels, kind)
    return layout, hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


# Not decoded alike on purpose: see README.md.
EXCEPT = {"strip-zstd.tif", "no-eoi.jpg", "rgba.psd", "unsupported-luminance-chroma.exr"}


def table():
    oiio.attribute("threads", 1)
    oiio.attribute("dds:bc5normal", 1)
    with open("pixels.tsv", "w", encoding="utf-8") as f:
        f.write("# file\tlayout\tSHA-256 of the pixels\tand as half\n")
        for folder in ("oiio", "sources", "golden", "real"):
            base = os.path.join(HERE, "..", folder)
            for name in sorted(os.listdir(base)) if os.path.isdir(base) else []:
                path = os.path.join(base, name)
                if name in EXCEPT or name.endswith((".py", ".sh", ".md", ".tsv", ".ocio")) or not os.path.isfile(path):
                    continue
                plain = delivered(path, False)
                if plain:
                    half = delivered(path, True)
                    f.write("\t".join((folder + "/" + name,) + plain + half[1:]) + "\n")
                else:
                    print("not read by OpenImageIO:", name)


if __name__ == "__main__":
    os.chdir(HERE)
    if sys.argv[1:] == ["FILES"]:
        tiff_files(), exr_files(), other_files()
    elif sys.argv[1:] == ["TABLE"]:
        table()
    else:
        sys.exit(__doc__)
