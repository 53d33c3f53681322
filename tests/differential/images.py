# SPDX-License-Identifier: Apache-2.0
"""Writes random image files of all formats that Blender and txmill read. draw(rng, stem) writes one and returns its
path."""
import os

import numpy as np
import OpenImageIO as oiio

import contents
import writers

NUMPY = {"uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "half": np.float16, "float": np.float32,
         "double": np.float64}
EXR_CHANNELS = [
    "R G B", "R G B", "R G B A", "R G B A", "Y", "Y A", "A", "R", "G", "Z", "R G", "U V", "B G R", "RED GREEN BLUE ALPHA",
    "X Y Z", "X Y Z A", "X Y", "Y Z", "N.X N.Y N.Z", "Vector.X Vector.Y Vector.Z Vector.W", "P.X P.Y P.Z", "N.X N.Y N.Z P.X P.Y P.Z",
    "UV.U UV.V", "ViewLayer.Combined.R ViewLayer.Combined.G ViewLayer.Combined.B ViewLayer.Combined.A",
    "ViewLayer.Depth.Z", "ViewLayer.Mist.Z ViewLayer.Normal.X ViewLayer.Normal.Y ViewLayer.Normal.Z", "R G B A Z",
    "R G B Z", "R G B AR AG AB", "diffuse.R diffuse.G diffuse.B specular.R specular.G specular.B", "r g b a", "x y z", "foo", "foo bar",
    "R G B X Y Z", "R G B A N.X N.Y N.Z", "Y RY BY",
]
TEXTS = [("Copyright", "(c) Somebody"), ("Artist", "A. Painter"), ("ImageDescription", "a texture"), ("Make", "Camera"),
         ("Software", "Blender 4.2"), ("DocumentName", "doc"), ("DateTime", "2020:01:02 03:04:05"),
         ("oiio:ColorSpace", "sRGB"), ("oiio:ColorSpace", "Linear"), ("PixelAspectRatio", 2.0), ("XResolution", 72.0),
         ("ImageUniqueID", "42"), ("Exif:ExposureTime", 0.5), ("compression", "none")]


def save(path, pixels, kind, prepare=None, **attributes):
    height, width, channels = pixels.shape
    spec = oiio.ImageSpec(width, height, channels, kind)
    if prepare:
        prepare(spec)
    for name, value in attributes.items():
        spec.attribute(name.replace("__", ":"), value)
    out = oiio.ImageOutput.create(path)
    if not out or not out.open(path, spec):
        raise RuntimeError("%s: %s" % (path, out.geterror() if out else oiio.geterror()))
    done = out.write_image(np.ascontiguousarray(pixels))
    out.close()
    if not done:
        raise RuntimeError("%s: %s" % (path, out.geterror()))
    return path


def texts(rng, spec):
    for index in rng.choice(len(TEXTS), int(rng.choice([0, 0, 0, 1, 2])), replace=False):
        name, value = TEXTS[index]
        if name == "PixelAspectRatio" or name == "XResolution":
            value = float(rng.choice([0.5, 1.0, 2.0, 72.0]))
        spec.attribute(name, value)


def draw_exr(rng, stem):
    kind = str(rng.choice(["half", "half", "float", "float", "uint32"], p=[.3, .25, .2, .2, .05]))
    names = str(rng.choice(EXR_CHANNELS)).split()
    width, height = contents.size(rng)
    if kind == "uint32":
        pixels = contents.integers(rng, width, height, len(names), 32)
    else:
        pixels = contents.floats(rng, width, height, len(names), NUMPY[kind])
    mixed = kind != "uint32" and len(names) > 1 and rng.random() < 0.1
    options = {"compression": str(rng.choice(["zip", "zips", "none", "rle", "piz", "pxr24", "b44", "b44a", "dwaa"]))}
    if rng.random() < 0.1:
        options["openexr__lineOrder"] = str(rng.choice(["decreasingY", "randomY"]))
    if rng.random() < 0.15:
        options["colorInteropID"] = str(rng.choice(["lin_rec709_scene", "lin_ap1_scene", "srgb_rec709_scene", "data", "unknown",
                                                    "lin_ap0_scene"]))
    parts = 2 if rng.random() < 0.06 else 1

    def prepare(spec):
        spec.channelnames = names
        if "A" in names:
            spec.alpha_channel = names.index("A")
        if mixed:
            spec.channelformats = tuple(oiio.TypeDesc(str(rng.choice(["half", "float"]))) for _ in names)
        window = rng.random()
        if window < 0.12:  # the data window is a part of the display window, or beyond it
            spec.x, spec.y = int(rng.integers(-20, 20)), int(rng.integers(-20, 20))
            spec.full_x, spec.full_y = 0, 0
            spec.full_width, spec.full_height = int(rng.integers(1, width + 40)), int(rng.integers(1, height + 40))
        if rng.random() < 0.2:
            spec.tile_width = spec.tile_height = int(rng.choice([16, 32, 64, 100]))
        texts(rng, spec)

    path = stem + ".exr"
    if parts == 1:
        return save(path, pixels, kind, prepare, **options)
    specs = []
    for part in range(parts):
        spec = oiio.ImageSpec(width, height, len(names), kind)
        spec.channelnames = names
        spec.attribute("name", "part%d" % part)
        specs.append(spec)
    out = oiio.ImageOutput.create(path)
    if not out.open(path, tuple(specs)):
        raise RuntimeError(out.geterror())
    for part, spec in enumerate(specs):
        if part and not out.open(path, spec, "AppendSubimage"):
            raise RuntimeError(out.geterror())
        out.write_image(np.ascontiguousarray(pixels))
    out.close()
    return path


def draw_luminance_chroma(rng, stem):
    """Makes Y with RY and BY of half the width and height, and perhaps A. Values are finite, because it would be
    unknown which colours become NaN."""
    width, height = (2 * max(1, side // 2) for side in contents.size(rng))
    names = ["Y", "A"] if rng.random() < 0.5 else ["Y"]
    channels = {name: (contents.floats(rng, width, height, 1, np.float16, plain=1)[:, :, 0], 1) for name in names}
    channels["Y"] = (channels["Y"][0] * np.float16(10 ** rng.uniform(-2, 3)), 1)
    for name in ("RY", "BY"):
        channels[name] = (contents.floats(rng, width // 2, height // 2, 1, np.float16, plain=1)[:, :, 0] - np.float16(0.5), 2)
    writers.exr(stem + ".exr", channels, width, height)
    return stem + ".exr"


def draw_tiff(rng, stem):
    """Written with OpenImageIO: LZW, zip, PackBits, CCITT-free; straight or associated alpha."""
    kind = str(rng.choice(["uint8", "uint8", "uint16", "uint32", "half", "float", "double"]))
    channels = int(rng.choice([1, 2, 3, 3, 4, 4, 5, 6]))
    width, height = contents.size(rng)
    if kind.startswith("uint"):
        pixels = contents.integers(rng, width, height, channels, int(kind[4:]))
    else:
        pixels = contents.floats(rng, width, height, channels, NUMPY[kind])

    def prepare(spec):
        spec.attribute("compression", str(rng.choice(["zip", "lzw", "packbits", "none"])))
        if rng.random() < 0.3:
            spec.attribute("planarconfig", "separate")
        if rng.random() < 0.4:
            spec.attribute("tiff:RowsPerStrip", int(rng.integers(1, height + 1)))
        if rng.random() < 0.2:
            spec.tile_width = spec.tile_height = int(rng.choice([16, 64, 128]))
        if channels in (2, 4) and rng.random() < 0.5:
            spec.attribute("oiio:UnassociatedAlpha", 1)
        if channels in (4,) and rng.random() < 0.1:
            spec.alpha_channel = -1
        if rng.random() < 0.15:
            spec.attribute("Orientation", int(rng.integers(1, 9)))
        texts(rng, spec)

    return save(stem + ".tif", pixels, kind, prepare)


def draw_raw_tiff(rng, stem):
    """Writes layouts and sample types that OpenImageIO does not write."""
    width, height = contents.size(rng)
    channels = int(rng.choice([1, 2, 3, 4, 5]))
    style = str(rng.choice(["uint8", "uint16", "int8", "int16", "int32", "uint32", "half", "float24", "float", "double",
                            "bits", "palette", "white", "cmyk"]))
    options, photometric, bits, form = {}, 2 if channels >= 3 else 1, 8, 1
    extra = {2: 1, 4: 1, 5: 2}.get(channels, 0)
    if style in ("uint8", "uint16", "uint32"):
        bits = int(style[4:])
        pixels = contents.integers(rng, width, height, channels, bits)
    elif style in ("int8", "int16", "int32"):
        bits, form = int(style[3:]), 2
        pixels = contents.integers(rng, width, height, channels, bits, signed=True)
    elif style == "float24":
        bits, form = 24, 3
        pixels = contents.floats(rng, width, height, channels, np.float32, plain=1.0).view(np.uint32) >> 8
    elif style in ("half", "float", "double"):
        form = 3
        pixels = contents.floats(rng, width, height, channels, NUMPY[style])
        bits = pixels.dtype.itemsize * 8
    elif style == "bits":
        bits = int(rng.choice([1, 2, 4, 10, 12, 14]))
        channels, extra, photometric = (1, 0, 1) if bits < 8 else (channels, extra, photometric)
        pixels = contents.integers(rng, width, height, channels, bits)
    elif style == "palette":
        channels, extra, photometric = 1, 0, 3
        bits = int(rng.choice([4, 8]))
        pixels = contents.integers(rng, width, height, 1, bits)
        options["palette"] = [int(v) for v in rng.integers(0, 65536, 3 << bits)]
    elif style == "white":
        channels, extra, photometric = 1, 0, 0
        pixels = contents.integers(rng, width, height, 1, 8)
    else:
        channels, extra, photometric = 4, 0, 5
        pixels = contents.integers(rng, width, height, 4, 8)
    whole = pixels.dtype.kind in "ui" and bits in (8, 16, 32) and style != "palette"
    options["compression"] = int(rng.choice([1, 8, 32773]))
    options["predictor"] = 2 if whole and options["compression"] == 8 and rng.random() < 0.5 else 0
    options["planar"] = channels > 1 and rng.random() < 0.3
    options["tile"] = int(rng.choice([0, 0, 0, 16, 64]))
    options["rows_per_strip"] = int(rng.choice([0, 1, 7, 64]))
    options["big_endian"] = rng.random() < 0.25
    options["bigtiff"] = rng.random() < 0.15
    kinds = [int(rng.choice([0, 1, 2]))] + [0] * (extra - 1) if extra and rng.random() < 0.9 else [0] * extra
    tags = []
    if rng.random() < 0.1:
        tags.append((274, 3, [int(rng.integers(1, 9))]))
    if rng.random() < 0.15:
        tags += [(282, 5, [(300, 1)]), (283, 5, [(int(rng.choice([150, 300])), 1)]), (296, 3, [2])]
    if rng.random() < 0.1:
        tags.append((50000, 3, [1, 2, 3]))  # an unused tag
    writers.tiff(stem + ".tif", pixels, bits, form, photometric, kinds, tags=tags, **options)
    return stem + ".tif"


def draw_coded_tiff(rng, stem):
    """Writes TIFF as releases of Blender refuse it, and as they do not: LZMA, zstd, and the predictor of floats."""
    width, height = contents.size(rng)
    channels = int(rng.choice([1, 3, 4]))
    kind = str(rng.choice(["uint8", "uint16", "half", "float", "double"]))
    form = 1 if kind.startswith("uint") else 3
    pixels = contents.integers(rng, width, height, channels, int(kind[4:])) if form == 1 else \
        contents.floats(rng, width, height, channels, NUMPY[kind], plain=1)
    predictor = int(rng.choice([0, 2 if form == 1 else 3]))
    writers.tiff(stem + ".tif", pixels, pixels.dtype.itemsize * 8, form, 1 if channels == 1 else 2, [2] * (channels == 4),
                 compression=int(rng.choice([8, 34925, 50000])), predictor=predictor, rows_per_strip=int(rng.choice([0, 7])),
                 big_endian=rng.random() < 0.2)
    return stem + ".tif"


def draw_lossy_exr(rng, stem):
    """Values that are not numbers, in compressions that spread them."""
    width, height = contents.size(rng)
    channels, kind = int(rng.choice([1, 3, 4])), str(rng.choice(["half", "float"]))
    pixels = contents.floats(rng, width, height, channels, NUMPY[kind], plain=1).copy()
    pixels[rng.random((height, width)) < 0.05, int(rng.integers(0, channels))] = np.nan
    return save(stem + ".exr", pixels, kind, compression=str(rng.choice(["dwaa", "dwab", "b44", "pxr24"])))


def draw_deep_exr(rng, stem):
    width, height = (min(side, 64) for side in contents.size(rng))
    names, kinds = ("A", "B", "G", "R", "Z"), tuple([oiio.TypeDesc("half")] * 4 + [oiio.TypeDesc("float")])
    spec, deep = oiio.ImageSpec(width, height, len(names), "half"), oiio.DeepData()
    spec.deep, spec.channelnames, spec.channelformats = True, names, kinds
    deep.init(width * height, len(names), kinds, names)
    for pixel in range(width * height):
        deep.set_samples(pixel, int(rng.integers(0, 3)))
        for sample in range(deep.samples(pixel)):
            for channel in range(len(names)):
                deep.set_deep_value(pixel, channel, sample, float(rng.random()))
    out = oiio.ImageOutput.create(stem + ".exr")
    if not out.open(stem + ".exr", spec) or not out.write_deep_image(deep):
        raise RuntimeError(out.geterror())
    out.close()
    return stem + ".exr"


def draw_avif(rng, stem):
    width, height = contents.size(rng)
    return save(stem + ".avif", contents.integers(rng, width, height, int(rng.choice([3, 4])), 8), "uint8")


def draw_png(rng, stem):
    width, height = contents.size(rng)
    kind = int(rng.choice([0, 2, 2, 3, 4, 6, 6]))
    depth = int(rng.choice({0: [1, 2, 4, 8, 16], 3: [1, 2, 4, 8]}.get(kind, [8, 8, 16])))
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    pixels = contents.integers(rng, width, height, channels, depth)
    palette = transparent = None
    chunks = []
    if kind == 3:
        entries = 1 << depth if rng.random() < 0.8 else max(1, (1 << depth) // 2)
        palette = rng.integers(0, 256, (entries, 3))
        pixels = (pixels % entries).astype(np.uint8)
        if rng.random() < 0.5:
            transparent = rng.integers(0, 256, int(rng.integers(1, entries + 1))).astype(np.uint8).tobytes()
    elif kind in (0, 2) and rng.random() < 0.15:
        transparent = pixels[0, 0].astype(">u2").tobytes()
    for name, data, share in ((b"gAMA", (45455).to_bytes(4, "big"), .1), (b"gAMA", (100000).to_bytes(4, "big"), .06),
                              (b"sRGB", b"\0", .1), (b"cICP", bytes([1, 13, 0, 1]), .05), (b"cICP", bytes([9, 16, 0, 1]), .04),
                              (b"pHYs", (2000).to_bytes(4, "big") + (1000).to_bytes(4, "big") + b"\1", .08),
                              (b"tEXt", b"Author\0Somebody", .08)):
        if rng.random() < share and all(name != other for other, _ in chunks):
            chunks.append((name, data))
    writers.png(stem + ".png", pixels, depth, kind, palette, transparent, rng.random() < 0.15, chunks)
    return stem + ".png"


def draw_jpeg(rng, stem):
    width, height = contents.size(rng)
    pixels = contents.integers(rng, width, height, int(rng.choice([1, 3, 3])), 8)

    def prepare(spec):
        spec.attribute("CompressionQuality", int(rng.integers(10, 101)))
        if pixels.shape[2] == 3:
            spec.attribute("jpeg:subsampling", str(rng.choice(["4:4:4", "4:2:2", "4:2:0", "4:2:1"])))
        spec.attribute("jpeg:progressive", int(rng.random() < 0.3))
        if rng.random() < 0.15:
            spec.attribute("Orientation", int(rng.integers(1, 9)))
        texts(rng, spec)

    path = save(stem + str(rng.choice([".jpg", ".jpeg", ".JPG"])), pixels, "uint8", prepare)
    if rng.random() < 0.05:
        os.truncate(path, os.path.getsize(path) - 2)  # all rows, no end marker
    return path


def draw_tga(rng, stem):
    width, height = contents.size(rng)
    pixels = contents.integers(rng, width, height, int(rng.choice([1, 3, 4, 4])), 8)
    kind = rng.choice([None, 0, 1, 2, 3, 4])
    writers.tga(stem + ".tga", pixels, None if kind is None else int(kind), rng.random() < 0.5, rng.random() < 0.5,
                b"name" if rng.random() < 0.2 else b"")
    return stem + ".tga"


def draw_hdr(rng, stem):
    width, height = contents.size(rng)
    pixels = np.abs(np.nan_to_num(contents.floats(rng, width, height, 3, np.float32), posinf=1e30, neginf=0))
    return save(stem + ".hdr", np.minimum(pixels, 1e30).astype(np.float32), "float")


def draw_psd(rng, stem):
    depth = int(rng.choice([8, 8, 16, 32]))
    width, height = contents.size(rng)
    channels, palette = int(rng.choice([1, 3, 4])), None
    if rng.random() < 0.2:
        depth, channels, palette = 8, 1, rng.integers(0, 256, (256, 3))
    if depth == 32:
        pixels = contents.floats(rng, width, height, channels, np.float32)
    else:
        pixels = contents.integers(rng, width, height, channels, depth)
    writers.psd(stem + ".psd", pixels, depth, palette)
    return stem + ".psd"


def draw_dds(rng, stem):
    width, height = contents.size(rng)
    writers.dds(stem + ".dds", contents.integers(rng, width, height, int(rng.choice([3, 4])), 8))
    return stem + ".dds"


def draw_fits(rng, stem):
    bitpix = int(rng.choice([8, 16, 32, -32, -64]))
    width, height = contents.size(rng)
    if bitpix > 0:
        pixels = contents.integers(rng, width, height, 1, bitpix, signed=bitpix > 8)
    else:
        pixels = contents.floats(rng, width, height, 1, np.float32 if bitpix == -32 else np.float64)
    writers.fits(stem + ".fits", pixels, bitpix)
    return stem + ".fits"


def draw_other(rng, stem):
    """Writes other formats with OpenImageIO."""
    formats = {  # extension: types, channels
        "bmp": (["uint8"], [1, 3, 4]), "dpx": (["uint8", "uint16"], [1, 3, 4]), "iff": (["uint8", "uint16"], [3, 4]),
        "jp2": (["uint8", "uint16"], [1, 3, 4]), "rla": (["uint8", "uint16", "float"], [3, 4]),
        "sgi": (["uint8", "uint16"], [1, 3, 4]), "webp": (["uint8"], [3, 4]), "ico": (["uint8"], [4]),
        "ppm": (["uint8", "uint16"], [3]), "pgm": (["uint8", "uint16"], [1]), "pfm": (["float"], [1, 3]), "gif": (["uint8"], [3, 4]),
    }
    extension = str(rng.choice(list(formats)))
    kinds, counts = formats[extension]
    kind, channels = str(rng.choice(kinds)), int(rng.choice(counts))
    width, height = contents.size(rng)
    if extension == "ico":
        width, height = min(width, 256), min(height, 256)
    if kind == "float":
        pixels = contents.floats(rng, width, height, channels, np.float32, plain=0.8)
    else:
        pixels = contents.integers(rng, width, height, channels, int(kind[4:]))

    def prepare(spec):
        if extension == "dpx" and kind == "uint16":
            spec.attribute("oiio:BitsPerSample", int(rng.choice([10, 12, 16])))
        if extension == "webp" or extension == "jp2":
            spec.attribute("CompressionQuality", int(rng.choice([50, 100])))
        if extension == "iff" and rng.random() < 0.7:
            spec.tile_width = spec.tile_height = 64

    return save(stem + "." + extension, pixels, kind, prepare)


FORMATS = [(draw_exr, .20), (draw_luminance_chroma, .02), (draw_tiff, .14), (draw_raw_tiff, .14), (draw_png, .15), (draw_jpeg, .06), (draw_tga, .05),
           (draw_hdr, .03), (draw_psd, .03), (draw_dds, .02), (draw_fits, .02), (draw_other, .07), (draw_coded_tiff, .04),
           (draw_lossy_exr, .015), (draw_deep_exr, .005), (draw_avif, .01)]


def draw(rng, stem):
    """Writes STEM.something. If the writer of a format refuses the values that were drawn, others are drawn."""
    for _ in range(20):
        index = rng.choice(len(FORMATS), p=[share for _, share in FORMATS])
        try:
            return FORMATS[index][0](rng, stem)
        except RuntimeError:
            continue
    raise RuntimeError("no image could be written at %s" % stem)
