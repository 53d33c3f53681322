"""The size that zlib level 6 would give the tiles of a tx file, with the same predictor. Reads the TIFF and EXR files
that txmill itself writes (little-endian), no others."""

import struct
import zlib

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 16: 8}


def _values(data, big, entry):
    _, kind, count = struct.unpack_from("<HHQ" if big else "<HHI", data, entry)
    at = entry + (12 if big else 8)
    if SIZES[kind] * count > (8 if big else 4):
        at = struct.unpack_from("<Q" if big else "<I", data, at)[0]
    code = {1: "B", 3: "H", 4: "I", 16: "Q"}[kind]
    return struct.unpack_from(f"<{count}{code}", data, at)


def _tiff_tiles(data):
    big = struct.unpack_from("<H", data, 2)[0] == 43
    ifd = struct.unpack_from("<Q" if big else "<I", data, 8 if big else 4)[0]
    while ifd:
        count = struct.unpack_from("<Q" if big else "<H", data, ifd)[0]
        step, first = (20, ifd + 8) if big else (12, ifd + 2)
        tags = {struct.unpack_from("<H", data, first + i * step)[0]: first + i * step for i in range(count)}
        yield from zip(_values(data, big, tags[324]), _values(data, big, tags[325]))
        ifd = struct.unpack_from("<Q" if big else "<I", data, first + count * step)[0]


def _exr_tiles(data):
    at = 8
    while data[at]:
        for _ in range(2):
            at = data.index(0, at) + 1
        at += 4 + struct.unpack_from("<I", data, at)[0]
    table = at + 1
    first = struct.unpack_from("<Q", data, table)[0]
    # The table ends where the chunks begin; chunks may be in any order.
    count = 1
    while table + 8 * count < first:
        first = min(first, struct.unpack_from("<Q", data, table + 8 * count)[0])
        count += 1
    for offset in struct.unpack_from(f"<{count}Q", data, table):
        yield offset + 20, struct.unpack_from("<I", data, offset + 16)[0]


def compare(path, image_bytes):
    """(bytes of the image part, the same with every tile encoded by zlib level 6)."""
    with open(path, "rb") as file:
        data = file.read()
    is_exr = data[:4] == b"\x76\x2f\x31\x01"
    ours = reference = 0
    for offset, size in _exr_tiles(data) if is_exr else _tiff_tiles(data):
        tile = data[offset : offset + size]
        ours += size
        try:
            reference += len(zlib.compress(zlib.decompress(tile), 6))
        except zlib.error:
            reference += size  # an EXR tile that did not shrink and is stored uncompressed
    return image_bytes, image_bytes - ours + reference
