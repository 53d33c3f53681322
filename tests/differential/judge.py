# SPDX-License-Identifier: Apache-2.0
"""Compares Blender's tx file with txmill's, and decides whether each difference is intended: see "Differences from
Blender's files" in txmill-tx(5).

    judge.py LIST RESULTS    judges a JSON record in each line, see for_each of limits.py
"""
import functools
import json
import os
import re
import struct
import sys

import numpy as np
import OpenImageIO as oiio

import documented
import limits
import txfile

IDENTICAL, CLOSE, INTENDED, WRONG = "identical", "within one code", "intended", "wrong"
ORDER = [IDENTICAL, CLOSE, INTENDED, WRONG]

# LZMA, LERC, zstd and WebP, of TIFF's compressions: the libtiff of official builds has none of them.
LACKING = (34925, 34887, 50000, 50001)
STATISTICS = ("oiio:SHA-1", "oiio:AverageColor", "oiio:ConstantColor")
# TIFF tags that say how level 0 is stored. A difference there is one of shape and not of metadata.
SHAPE_TAGS = {256, 257, 258, 277, 322, 323, 339}


class Finding:
    """One thing that was compared. `key` groups similar findings in the table."""

    def __init__(self, aspect, verdict, key="", detail=""):
        self.aspect, self.verdict, self.key, self.detail = aspect, verdict, key, detail


@functools.lru_cache(maxsize=4)
def source_nan(path):
    """Where the image has NaN in any channel: (height, width). None if it has none."""
    with txfile.opened(path) as image:
        if image is None or image.spec().format not in (oiio.TypeDesc("half"), oiio.TypeDesc("float"), oiio.TypeDesc("double")):
            return None
        pixels = image.read_image(0, 0, 0, image.spec().nchannels, oiio.FLOAT)
        if pixels is None:
            return None
        where = np.isnan(np.asarray(pixels).reshape(image.spec().height, image.spec().width, -1)).any(axis=2)
        return where if where.any() else None


def is_zstd_tiff(path):
    with txfile.opened(path) as source:
        if source is None or source.format_name() != "tiff":
            return False
    return txfile.metadata(path)[1].get("level 0 tag 259") == (50000,)


def stored_as(path):
    """Returns the format of a source, in TIFF with sample type, compression and predictor."""
    with txfile.opened(path) as source:
        kind = source.format_name() if source else os.path.splitext(path)[1][1:].lower()
        if source and source.spec().deep:
            return "deep " + kind
    if kind == "psd" and open(path, "rb").read(26)[24:] == b"\0\2":
        return "psd with a palette"
    if kind != "tiff":
        return kind
    tags = txfile.metadata(path)[1]
    bits, form, code, predictor = ((*tags.get("level 0 tag %d" % tag, ()), 1)[0] for tag in (258, 339, 259, 317))
    cmyk = ", CMYK" if tags.get("level 0 tag 262") == (5,) else ""
    return "tiff, %s%d, compression %d, predictor %d%s" % (
        {1: "uint", 2: "int", 3: "float"}.get(form, "?"), bits, code, predictor, cmyk)


@functools.lru_cache(maxsize=4)
def misread_by_blender(path):
    """Returns why the pixels that Blender reads are not those of the file, or None if they are."""
    with txfile.opened(path) as source:
        if source is None:
            return None
        spec, kind = source.spec(), source.format_name()
    if kind == "dpx" and spec.get_int_attribute("oiio:BitsPerSample") == 10 and \
            spec.width * spec.nchannels % 3:
        return "10-bit DPX whose rows end within a word: Blender reads memory that nobody wrote"  # builds differ
    if kind != "tiff":
        return None
    bits = spec.get_int_attribute("oiio:BitsPerSample")
    if spec.tile_width > 0 and (spec.format == oiio.DOUBLE or spec.format == oiio.FLOAT and bits == 24):
        return "doubles and 24-bit floats in tiles: Blender reads memory that nobody wrote"  # two runs differ
    planes = spec.nchannels > 1 and spec.get_string_attribute("planarconfig") == "separate"
    if spec.height == 1 and spec.format == oiio.DOUBLE and not planes:
        return "doubles of one row: Blender reads memory that nobody wrote"
    tags = txfile.metadata(path)[1]
    if tags.get("level 0 tag 262") == (5,) and "level 0 tag 322" in tags:
        return "CMYK in tiles: Blender writes beyond its memory"  # and crashes more often than not
    if (*tags.get("level 0 tag 259", ()), 1)[0] in LACKING:
        return "a compression that Blender's libtiff lacks: Blender goes on with black or other memory"
    return None


def stored_with_loss(metadata):
    """Blender stores an OpenEXR tx file with the compression of its source: PXR24 (float alone), B44, B44A, DWAA, DWAB."""
    code = metadata.get("compression")
    return code in ("06", "07", "08", "09") or code == "05" and "float" in metadata["channels"]


def split_description(metadata):
    """The statistics in a TIFF's ImageDescription become fields of their own, as they are in OpenEXR."""
    out = dict(metadata)
    text = out.pop("level 0 tag 270", None)
    if text is not None:
        for name, value in re.findall(r"(oiio:(?:SHA-1|AverageColor|ConstantColor))=(\S+)", text):
            out[name] = value
        rest = re.sub(r"oiio:(?:SHA-1|AverageColor|ConstantColor)=\S+ ?", "", text).strip()
        if rest:
            out["ImageDescription"] = rest
    return out


# Source metadata that describes the camera or how the source is stored. In TIFF: make, model, orientation, field of
# view, Exif.
COPIED_BY_BLENDER = {"Make", "Model", "Orientation", "ImageUniqueID", "DocumentName", "level 0 tag 271", "level 0 tag 272",
                     "level 0 tag 274", "level 0 tag 33304", "level 0 tag 34665"}
COPIED_LAYOUT = {"name", "openexr:chunkCount", "lineOrder"}


OUR_NAMES = ("ColorSpace", "Config", "Blender", "Limit", "Content")
OURS = r'txmill:(%s)=("[^"]*"|\S+)' % "|".join(OUR_NAMES)


def is_ours(text):
    return text is not None and re.fullmatch(OURS + "( " + OURS + ")*", text) is not None


def no_density(value):
    """Returns whether images cannot have such a resolution, as a ratio in TIFF and as a number in OpenEXR."""
    if len(value) == 2:
        value = (value[0] / value[1] if value[1] else 0,)
    return not 0 < value[0] < 2**32


DENSITIES = ("level 0 tag 282", "level 0 tag 283", "xDensity")


# Metadata that is copied from a source, under its names in OpenEXR and TIFF.
KEPT = {"Artist", "Copyright", "ImageDescription", "owner", "comments", "pixelAspectRatio", "xDensity"}
KEPT_TAGS = {"level 0 tag 315", "level 0 tag 33432"}


@functools.lru_cache(maxsize=4)
def names_in(path):
    """Returns the attributes of a source under their names in OpenEXR."""
    with txfile.opened(path) as source:
        names = {a.name for a in source.spec().extra_attribs} if source else set()
    if open(path, "rb").read(4) == b"\x76\x2f\x31\x01":
        names |= set(txfile.metadata(path)[1])
    return names | {name[6].lower() + name[7:] for name in names if name in ("smpte:TimeCode", "smpte:KeyCode")}


def iptc_says(path, text):
    """Returns whether the source has this text in an IPTC record."""
    data = open(path, "rb").read()
    value = text.encode() if isinstance(text, str) else b""
    return value and any(b"\x1c\x02" + bytes([record]) + struct.pack(">H", len(value)) + value in data
                         for record in (80, 116, 120))


def intended_metadata(name, theirs, ours, source):
    """Returns the reason if a field differs intentionally, otherwise None."""
    if ours is None and name == "openexr:luminancechroma":
        return "how the source stores its colours is not copied"
    if ours is None and name in names_in(source) - KEPT:
        return "of a source's attributes only some are kept"
    if theirs is None and (name in ["txmill:" + n for n in OUR_NAMES] or name == "ImageDescription" and is_ours(ours)):
        return "txmill's own metadata"
    if theirs is None and name in KEPT | KEPT_TAGS and iptc_says(source, ours):
        return "what IPTC says is kept"
    if name in ("txmill:reserved", "type") and theirs is None:
        return "what the writer of our OpenEXR headers needs"
    if name in COPIED_LAYOUT:
        return "parts and line orders of the source are not copied"
    if name == "ImageDescription" and theirs is None and re.search(" " + OURS + "$", ours):
        return "a description is kept in TIFF as well"
    if name in COPIED_BY_BLENDER or name.startswith(("Exif:", "IPTC:", "GPS:")):
        return "cameras and orientations are not copied"
    if re.fullmatch(r"level [1-9]\d* tag 306", name):
        return "DateTime of the levels is the source's time, not the clock's"
    if name == "compression" or re.fullmatch(r"level \d+ tag (259|317)", name):
        return "always zip: a source's compression is not inherited"
    if re.fullmatch(r"level \d+ tag 700", name) and ours is None:
        return "XMP packets are dropped, as the official build does"
    return None


def compare_metadata(theirs, ours, source):
    theirs, ours = split_description(theirs), split_description(ours)
    # Either one is meaningless without the other.
    nonsense = any(name in theirs and no_density(theirs[name]) for name in DENSITIES)
    for name in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(name), ours.get(name)
        tag = re.fullmatch(r"level (\d+) tag (\d+)", name)
        if tag and int(tag.group(2)) in SHAPE_TAGS:
            continue
        aspect = "statistics" if name in STATISTICS else "metadata"
        key = "tag %s of levels" % tag.group(2) if tag and tag.group(1) != "0" else name
        if a == b:
            yield Finding(aspect, IDENTICAL)
        elif name in DENSITIES and b is None and nonsense:
            yield Finding(aspect, INTENDED, "densities that no image has are left out")
        elif intended_metadata(name, a, b, source):
            yield Finding(aspect, INTENDED, intended_metadata(name, a, b, source))
        else:
            yield Finding(aspect, WRONG, key, "%s: %r, ours %r" % (name, a, b))


def compare_level(level, theirs, ours, run):
    distance = txfile.steps(theirs, ours)
    different = int((distance != 0).sum())
    if not different:
        return Finding("level 0" if level == 0 else "levels 1...", IDENTICAL)
    aspect = "level 0" if level == 0 else "levels 1..."
    worst = int(distance.max())
    y, x, c = (int(i) for i in np.unravel_index(int(distance.argmax()), distance.shape))
    detail = "level %d: %d of %d samples, worst %d steps at x %d y %d c %d: %r, ours %r" % (
        level, different, distance.size, worst, x, y, c, theirs[y, x, c].item(), ours[y, x, c].item())
    if theirs.dtype == np.float32:
        finite = np.isfinite(theirs)
        top = float(np.abs(theirs[finite]).max()) if finite.any() else 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(theirs.astype(np.float64) - ours.astype(np.float64))
        close = bool((np.isfinite(error) & (error <= 1e-6 * top)).all())
    else:
        close = worst <= 1
    if close:
        return Finding(aspect, CLOSE, "", detail)
    return Finding(aspect, WRONG, "%s, %s" % (aspect, theirs.dtype), detail)


def not_a_number(theirs, ours):
    """Returns whether level 0 differs only in pixels that the conversion made NaN: Blender's compiler clamps them to
    +-65504, and txmill writes 0."""
    if theirs.dtype != np.float16:
        return False
    pixels = (txfile.steps(theirs, ours) > 1).any(axis=2)
    grey = theirs.shape[2] == 1
    return bool((np.abs(theirs[pixels]) == 65504).all() and (ours[pixels] == 0).all() and
                (grey or (theirs[pixels] == -65504).any(axis=1).all()))


def was_not_a_number(theirs, ours, path, lossy):
    """Returns whether level 0 differs only in pixels that have NaN in the source, for which txmill writes 0. Lossy
    compression spreads them, and PXR24 rounds floats to 16 bits."""
    where = source_nan(path)
    if where is None or where.shape != theirs.shape[:2]:
        return False
    if lossy and theirs.dtype == np.float32:
        different = (np.abs(theirs - ours) > 2**-15 * np.maximum(np.abs(theirs), np.abs(ours))).any(axis=2)
    else:
        different = (txfile.steps(theirs, ours) != 0).any(axis=2)
    return not (ours[where & different] != 0).any() and (lossy or not (different & ~where).any())


def is_not_a_number(theirs, ours):
    """Returns whether levels differ only where Blender's is NaN."""
    return all(np.isnan(a[txfile.steps(a, b) != 0]).all() for a, b in zip(theirs[1:], ours[1:]) if a.dtype.kind == "f")


def not_a_number_before_loss(theirs, ours, level):
    """Like not_a_number, for a file that was then compressed with loss: the averages show it, by the pixels that are
    0 in txmill's file and -65504 in Blender's. `theirs`, `ours`: metadata; `level`: txmill's level 0."""
    share = float((level == 0).all(axis=2).mean())
    averages = [[float(v) for v in m.get("oiio:AverageColor", "").split(",") if v] for m in (theirs, ours)]
    return share > 0 and len(averages[0]) == len(averages[1]) > 0 and all(
        abs(b - a - 65504 * share) <= 1e-4 * max(abs(a), abs(b)) for a, b in zip(*averages))


def fewer_bits(theirs, ours):
    """For a TIFF tx file with the source's bits for each sample, returns level 0 as Blender makes it. It truncates
    the pixels of 10-bit and 12-bit files, and divides the bits of palettes in ICO and TGA files by three.
    `theirs`, `ours`: (metadata, level 0)."""
    (meta, cut), (our_meta, whole) = theirs, ours
    bits = meta.get("level 0 tag 258", (16,))[0]
    if bits in (10, 12) and whole.dtype == np.uint16:
        same = [split_description(m).get("oiio:SHA-1") for m in (meta, our_meta)]
        upper = cut >> (16 - bits) == whole >> (16 - bits)
        return bool((upper & (same[0] == same[1]) | (txfile.steps(cut, whole) <= 1)).all())
    if bits >= 8 or whole.dtype != np.uint8:
        return False
    top = (1 << bits) - 1
    return bool((cut == (whole >> (8 - bits)) * (255 // top)).all())


def are_zeros(theirs, ours, levels):
    """Returns whether the metadata are those of two images of one colour that is 0 in some channel, and differ only
    in its signs."""
    colors = [split_description(m).get("oiio:ConstantColor", "").split(",") for m in (theirs, ours)]
    if levels[0].dtype.kind != "f" or colors[0] == colors[1] or "" in colors[0] + colors[1]:
        return False
    return len(colors[0]) == len(colors[1]) and all(float(a) == float(b) for a, b in zip(*colors))


def is_wide_pnm(path):
    """In a PNM of more than 8 bits, OpenImageIO makes many samples one or two codes smaller."""
    head = re.sub(rb"#[^\n]*", b"", open(path, "rb").read(1024)).split()
    return len(head) > 3 and head[0] in (b"P2", b"P3", b"P5", b"P6") and head[3].isdigit() and int(head[3]) > 255


def is_cut_iff(path):
    """An IFF of one pixel whose last block ends beyond the file, by the bytes that would pad it. OpenImageIO has
    written such files, and refuses them since a version of 3.1. Similar files are read by no version."""
    data = open(path, "rb").read()
    at = data.find(b"TBMP") + 4
    if data[:4] != b"FOR4" or data[8:16] != b"CIMGTBHD" or struct.unpack_from(">II", data, 20) != (1, 1) or at < 4:
        return False
    while at + 8 <= len(data):
        name, size = struct.unpack_from(">4sI", data, at)
        at += 8 + size
    return name in (b"RGBA", b"ZBUF") and len(data) < at <= len(data) + 3


def compare_files(run, theirs, ours):
    """Returns the findings about two tx files of one source."""
    try:
        container_a, meta_a = txfile.metadata(theirs)
        container_b, meta_b = txfile.metadata(ours)
        levels_a, levels_b = txfile.levels(theirs), txfile.levels(ours)
    except txfile.TxError as error:
        if os.path.getsize(theirs) == 0 and os.path.getsize(ours) > 0:
            return [Finding("shape", INTENDED, "Blender leaves an empty file")]
        return [Finding("shape", WRONG, "unreadable", str(error))]
    shape_a = [container_a, str(levels_a[0].dtype)] + [level.shape for level in levels_a]
    shape_b = [container_b, str(levels_b[0].dtype)] + [level.shape for level in levels_b]
    if shape_a != shape_b:
        if misread_by_blender(run["path"]):
            return [Finding("shape", INTENDED, misread_by_blender(run["path"]))]
        if not levels_b[0].any() and not_a_number(levels_a[0], np.zeros_like(levels_a[0])):  # one colour, unlike Blender's
            return [Finding("shape", INTENDED, "NaN after the conversion is 0")]
        return [Finding("shape", WRONG, "%s %s %d channels, ours %s %s %d" % (
            *shape_a[:2], shape_a[2][2], *shape_b[:2], shape_b[2][2]),
            "%s, ours %s" % (shape_a[:3], shape_b[:3]))]
    findings = [Finding("shape", IDENTICAL)]
    pixels = [compare_level(i, a, b, run) for i, (a, b) in enumerate(zip(levels_a, levels_b))]
    # The digest is that of level 0 before it was compressed.
    if stored_with_loss(meta_a) and meta_a.get("oiio:SHA-1") == meta_b.get("oiio:SHA-1"):
        pixels = [Finding(f.aspect, INTENDED, "a source's lossy compression is not inherited") if f.verdict == WRONG else f
                  for f in pixels]
    if stored_with_loss(meta_a) and pixels[0].verdict == WRONG and not_a_number_before_loss(meta_a, meta_b, levels_b[0]):
        pixels = [Finding(f.aspect, INTENDED, "NaN after the conversion is 0") if f.verdict == WRONG else f for f in pixels]
    # Smaller levels inherit undefined values from such pixels.
    if pixels[0].verdict == WRONG and not_a_number(levels_a[0], levels_b[0]):
        pixels = [Finding(f.aspect, INTENDED, "NaN after the conversion is 0") if f.verdict == WRONG else f for f in pixels]
    if pixels[0].verdict == WRONG and was_not_a_number(levels_a[0], levels_b[0], run["path"], stored_with_loss(meta_a)):
        pixels = [Finding(f.aspect, INTENDED, "pixels that are NaN in the source are 0") if f.verdict == WRONG else f
                  for f in pixels]
    if pixels[0].verdict != WRONG and is_not_a_number(levels_a, levels_b):
        pixels = [Finding(f.aspect, INTENDED, "NaN where decoding sRGB overflows is 0") if f.verdict == WRONG else f
                  for f in pixels]
    if pixels[0].verdict in (CLOSE, WRONG) and fewer_bits((meta_a, levels_a[0]), (meta_b, levels_b[0])):
        pixels[0] = Finding(pixels[0].aspect, INTENDED, "level 0 keeps its bits where the source had fewer or more than 8 or 16")
    if is_wide_pnm(run["path"]):
        pixels = [Finding(f.aspect, INTENDED, "PNM of 16 bits keeps its values") if f.verdict == WRONG else f for f in pixels]
    findings += pixels
    if are_zeros(meta_a, meta_b, levels_a):
        meta_a, meta_b = ({name: value for name, value in split_description(m).items() if name not in ("oiio:SHA-1", "oiio:ConstantColor")}
                          for m in (meta_a, meta_b))
        findings.append(Finding("statistics", INTENDED, "zeros of both signs: Blender's are of any pixel, two runs differ"))
    if misread_by_blender(run["path"]) and any(f.verdict == WRONG for f in findings):
        return [Finding("level 0", INTENDED, misread_by_blender(run["path"]))]
    worst = max((f for f in findings if f.aspect in ("level 0", "levels 1...")), key=lambda f: ORDER.index(f.verdict))
    for finding in compare_metadata(meta_a, meta_b, run["path"]):
        # If pixels differ by one code, the digest and the averages differ, too.
        if finding.aspect == "statistics" and finding.verdict == WRONG and worst.verdict in (CLOSE, INTENDED):
            finding = Finding("statistics", worst.verdict, worst.key, finding.detail)
        findings.append(finding)
    return findings


def compare(run):
    """Returns the findings about a run, which has "blender_tx", the path of Blender's tx file, or None and
    "blender_error", and the same for txmill's file."""
    theirs, ours = run["blender_tx"], run["txmill_tx"]
    serves = [p is not None and os.path.realpath(p) == os.path.realpath(run["path"]) for p in (theirs, ours)]
    if theirs is None and ours is None:
        return [Finding("made", IDENTICAL, "refused by both")]
    if theirs is None:
        if run["blender_error"].startswith(limits.KILLED):
            return [Finding("made", WRONG, "Blender was killed", run["blender_error"])]
        if run["blender_error"].startswith(limits.CRASH):
            return [Finding("made", INTENDED, "Blender crashes")]
        return [Finding("made", INTENDED, "txmill reads what Blender refuses: " + stored_as(run["path"]), run["blender_error"])]
    if ours is None and "channels are subsampled" in run["txmill_error"]:
        return [Finding("made", INTENDED, "luminance and chroma of a layer are black in Blender")]
    if ours is None and "CMYK in tiles" in run["txmill_error"]:
        return [Finding("made", INTENDED, "CMYK in tiles: Blender writes beyond its memory")]
    if ours is None and "nonsensical chunk size" in run["txmill_error"] and is_cut_iff(run["path"]):
        return [Finding("made", INTENDED, "an IFF of one pixel that ends before its padding: newer OpenImageIO refuses it")]
    if ours is None:
        return [Finding("made", WRONG, "txmill refuses what Blender reads: " + stored_as(run["path"]), run["txmill_error"])]
    if serves[0] or serves[1]:
        if serves[0] and serves[1]:
            return [Finding("made", IDENTICAL, "the image serves itself")]
        if serves[0] and is_zstd_tiff(run["path"]):
            return [Finding("made", INTENDED, "a tx file in zstd: the official Blender takes it and cannot read it")]
        return [Finding("made", WRONG, "used as it is by %s alone" % ("Blender" if serves[0] else "txmill"))]
    findings = [Finding("made", IDENTICAL)]
    if os.path.basename(theirs) != os.path.basename(ours):
        findings.append(Finding("name", WRONG, "name", "%s, ours %s" % (os.path.basename(theirs), os.path.basename(ours))))
    else:
        findings.append(Finding("name", IDENTICAL))
    return findings + compare_files(run, theirs, ours)


def documented_alone(run, findings):
    """What is intended must be documented, and what is documented alone is intended."""
    source = "%s %s, %s" % (os.path.basename(run["path"]), stored_as(run["path"]), run["colorspace"])
    for f in findings:
        if f.verdict == INTENDED and not documented.find("random", f.key, run["release"], source):
            yield Finding(f.aspect, WRONG, "not documented: " + f.key, f.detail)
        elif f.verdict == WRONG and documented.find("random", "%s: %s: %s" % (f.aspect, f.key, f.detail), run["release"], source):
            yield Finding(f.aspect, INTENDED, f.key, f.detail)
        else:
            yield f


def compare_all(runs, folder, limit):
    """Returns the findings of each run, from a process that any image may crash; an image that does is wrong."""
    items = [json.dumps(run) for run in runs]
    files = (os.path.join(folder, "judge." + kind) for kind in ("list", "results"))
    for line in limits.for_each([sys.executable, os.path.abspath(__file__)], items, *files, limit):
        if line.startswith((limits.CRASH, limits.KILLED)):
            yield [Finding("made", WRONG, "not judged", line.replace("\t", ": "))]
        else:
            yield [Finding(*fields) for fields in json.loads(line)]


def main():
    for item, answer in limits.pending(*sys.argv[1:]):
        run = json.loads(item)
        answer(json.dumps([[f.aspect, f.verdict, f.key, f.detail] for f in documented_alone(run, compare(run))]))


if __name__ == "__main__":
    main()
