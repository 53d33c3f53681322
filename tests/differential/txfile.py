# SPDX-License-Identifier: Apache-2.0
"""Reads a tx file as any reader would: levels with OpenImageIO, metadata from the bytes of the file itself."""
import contextlib
import struct

import numpy as np
import OpenImageIO as oiio

TIFF_TYPES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d", 13: "I",
              16: "Q", 17: "q", 18: "Q"}
# Tags for the places and sizes of pixels, which are not metadata.
TIFF_PLACES = {273, 279, 324, 325}


class TxError(Exception):
    pass


@contextlib.contextmanager
def opened(path):
    """Opens a file with OpenImageIO, or gives None if that cannot read it. An input that is not closed keeps its
    descriptor open."""
    source = oiio.ImageInput.open(path)
    try:
        yield source
    finally:
        if source is not None:
            source.close()


def levels(path):
    """Returns a list of arrays (height, width, channels), in the file's own type."""
    with opened(path) as source:
        if source is None:
            raise TxError("%s: %s" % (path, oiio.geterror()))
        out = []
        while source.seek_subimage(0, len(out)):
            spec = source.spec()
            pixels = source.read_image(0, len(out), 0, spec.nchannels, spec.format)
            if pixels is None:
                raise TxError("%s: level %d: %s" % (path, len(out), source.geterror()))
            out.append(pixels.reshape(spec.height, spec.width, spec.nchannels))
        return out


def tiff_metadata(data):
    end = "<" if data[:2] == b"II" else ">"
    big = struct.unpack_from(end + "H", data, 2)[0] == 43
    count_code, width, entry = ("Q", 8, 20) if big else ("I", 4, 12)
    at = struct.unpack_from(end + ("Q" if big else "I"), data, 8 if big else 4)[0]
    out, level, seen = {}, 0, set()
    while at and at not in seen:  # a source's directories may be circular
        seen.add(at)
        count = struct.unpack_from(end + ("Q" if big else "H"), data, at)[0]
        at += 8 if big else 2
        for _ in range(count):
            tag, kind, number = struct.unpack_from(end + "HH" + count_code, data, at)
            code = TIFF_TYPES[kind]
            size = struct.calcsize("=" + code if code != "s" else "=c") * number
            place = at + 4 + width if size <= width else struct.unpack_from(end + count_code, data, at + 4 + width)[0]
            if code == "s":
                value = data[place:place + size].rstrip(b"\0").decode("utf-8", "replace")
            else:
                value = struct.unpack_from(end + code * number, data, place)
            if tag not in TIFF_PLACES:
                out["level %d tag %d" % (level, tag)] = value
            at += entry
        at = struct.unpack_from(end + count_code, data, at)[0]
        level += 1
    return out


def exr_value(kind, raw):
    if kind == "string":
        return raw.decode("utf-8", "replace")
    if kind == "float":
        return struct.unpack("<f", raw)
    if kind == "int":
        return struct.unpack("<i", raw)
    if kind == "chlist":
        names, at = [], 0
        while raw[at]:
            stop = raw.index(b"\0", at)
            names.append("%s:%s" % (raw[at:stop].decode(), ("uint", "half", "float")[raw[stop + 1]]))
            at = stop + 17
        return " ".join(names)
    return raw.hex()


def exr_metadata(data):
    at, out = 8, {}
    while data[at]:
        stop = data.index(b"\0", at)
        name, at = data[at:stop].decode(), stop + 1
        stop = data.index(b"\0", at)
        kind, at = data[at:stop].decode(), stop + 1
        size = struct.unpack_from("<I", data, at)[0]
        out[name] = exr_value(kind, data[at + 4:at + 4 + size])
        at += 4 + size
    return out


def metadata(path):
    """Returns {name: value} of everything in the header except the places of pixels."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF", tiff_metadata(data)
    if data[:4] == b"\x76\x2f\x31\x01":
        return "EXR", exr_metadata(data)
    raise TxError("%s is neither TIFF nor EXR" % path)


def steps(a, b):
    """Returns the distance of two arrays of the same type in representable values: codes for integers, ulps for
    floats. If one value is NaN or infinite and they differ, it is huge."""
    if a.dtype.kind == "u":
        return np.abs(a.astype(np.int64) - b.astype(np.int64))
    whole = {2: np.int16, 4: np.int32}[a.dtype.itemsize]

    def ordered(x):
        i = np.ascontiguousarray(x).view(whole).astype(np.int64)
        return np.where(i < 0, np.int64(np.iinfo(whole).min) - i, i)

    distance = np.abs(ordered(a) - ordered(b))
    wild = ~(np.isfinite(a) & np.isfinite(b)) & (distance != 0)
    return np.where(wild, np.int64(1) << 40, distance)
