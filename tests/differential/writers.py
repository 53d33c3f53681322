# SPDX-License-Identifier: Apache-2.0
"""Writes image files that OpenImageIO's writers do not make, byte by byte from a numpy array (height, width,
channels)."""
import lzma
import struct
import subprocess
import zlib

import numpy as np

TIFF_SIZE = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 11: 4, 12: 8, 16: 8}
TIFF_CODE = {1: "B", 3: "H", 4: "I", 11: "f", 12: "d", 16: "Q"}


def pack_bits(rows, bits):
    """Packs rows (n, samples) of small unsigned integers, most significant bit first, each row padded to a byte."""
    shifts = np.arange(bits - 1, -1, -1, dtype=np.uint32)
    planes = (rows.astype(np.uint32)[:, :, None] >> shifts) & 1
    return np.packbits(planes.reshape(rows.shape[0], -1).astype(np.uint8), axis=1).tobytes()


def packbits_rle(data):
    """Compresses one row with Apple's PackBits, using only literal runs. If a run crosses the end of a row,
    OpenImageIO loses its rest in images that it reads row by row."""
    return b"".join(bytes([len(data[i:i + 128]) - 1]) + data[i:i + 128] for i in range(0, len(data), 128))


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


COMPRESSIONS = {1: lambda data: data, 8: zlib.compress, 34925: lambda data: lzma.compress(data, check=lzma.CHECK_NONE), 50000: zstd}


def float_predictor(rows, step):
    """TIFF's predictor 3: of a row of samples first all upper bytes, then all next ones, as differences."""
    size = rows.dtype.itemsize
    planes = rows.astype(rows.dtype.newbyteorder(">")).view(np.uint8).reshape(rows.shape[0], -1, size).transpose(0, 2, 1)
    out = planes.reshape(rows.shape[0], -1).copy()
    out[:, step:] = out[:, step:] - out[:, :-step]
    return out.tobytes()


def tiff(path, pixels, bits, sample_format=1, photometric=2, extra=(), compression=1, planar=False, rows_per_strip=0,
         tile=0, big_endian=False, bigtiff=False, predictor=0, palette=None, tags=()):
    """`bits` of 8, 16, 32 and 64 write the array's own bytes, 24 the upper bytes of a 32-bit float's bits, others
    packed integers. `predictor`: 2 for
    integers, 3 for floats. `tags`: (tag, type, values) besides the structural ones."""
    height, width, channels = pixels.shape
    end = ">" if big_endian else "<"

    def encode(block):
        rows = block.reshape(block.shape[0], -1)
        step = 1 if planar else channels
        if predictor == 3:
            return COMPRESSIONS[compression](float_predictor(rows, step))
        if predictor:
            rows = rows.copy()
            rows[:, step:] = rows[:, step:] - rows[:, :-step]
        if bits in (8, 16, 32, 64):
            raw = rows.astype(rows.dtype.newbyteorder(end)).tobytes()
        elif bits == 24:
            raw = rows.astype(">u4" if big_endian else "<u4").view(np.uint8).reshape(-1, 4)
            raw = (raw[:, 1:] if big_endian else raw[:, :3]).tobytes()
        else:
            raw = pack_bits(rows, bits)
        if compression == 32773:
            size = len(raw) // rows.shape[0]
            return b"".join(packbits_rle(raw[at:at + size]) for at in range(0, len(raw), size))
        return COMPRESSIONS[compression](raw)

    blocks = []
    for plane in ([pixels[:, :, c:c + 1] for c in range(channels)] if planar else [pixels]):
        if tile:
            for y in range(0, height, tile):
                for x in range(0, width, tile):
                    part = plane[y:y + tile, x:x + tile]
                    pad = ((0, tile - part.shape[0]), (0, tile - part.shape[1]), (0, 0))
                    blocks.append(encode(np.pad(part, pad)))
        else:
            rows = rows_per_strip or height
            blocks += [encode(plane[y:y + rows]) for y in range(0, height, rows)]

    header = 16 if bigtiff else 8
    offsets, at = [], header
    for block in blocks:
        offsets.append(at)
        at += len(block) + len(block) % 2
    offset_type = 16 if bigtiff else 4
    entries = [(256, 4, [width]), (257, 4, [height]), (258, 3, [bits] * channels), (259, 3, [compression]),
               (262, 3, [photometric]), (277, 3, [channels]), (284, 3, [2 if planar else 1]),
               (339, 3, [sample_format] * channels)]
    if tile:
        entries += [(322, 4, [tile]), (323, 4, [tile]), (324, offset_type, offsets), (325, 4, [len(b) for b in blocks])]
    else:
        entries += [(278, 4, [rows_per_strip or height]), (273, offset_type, offsets), (279, 4, [len(b) for b in blocks])]
    if extra:
        entries.append((338, 3, list(extra)))
    if predictor:
        entries.append((317, 3, [predictor]))
    if palette is not None:
        entries.append((320, 3, list(palette)))
    entries = sorted(entries + list(tags))

    def values(kind, data):
        if kind == 2:
            return data
        if kind == 5:
            return b"".join(struct.pack(end + "II", *pair) for pair in data)
        return struct.pack(end + "%d%s" % (len(data), TIFF_CODE[kind]), *data)

    inline, count_code, entry_bytes = (8, "Q", 20) if bigtiff else (4, "I", 12)
    directory = at
    spill = directory + (8 if bigtiff else 2) + entry_bytes * len(entries) + (8 if bigtiff else 4)
    table, tail = struct.pack(end + ("Q" if bigtiff else "H"), len(entries)), b""
    for tag, kind, data in entries:
        raw = values(kind, data)
        table += struct.pack(end + "HH" + count_code, tag, kind, len(raw) // TIFF_SIZE[kind])
        if len(raw) <= inline:
            table += raw.ljust(inline, b"\0")
        else:
            table += struct.pack(end + count_code, spill + len(tail))
            tail += raw + b"\0" * (len(raw) % 2)
    table += struct.pack(end + count_code, 0)
    mark = b"MM" if big_endian else b"II"
    start = struct.pack(end + "HHHQ", 43, 8, 0, directory) if bigtiff else struct.pack(end + "HI", 42, directory)
    with open(path, "wb") as out:
        out.write(mark + start + b"".join(b + b"\0" * (len(b) % 2) for b in blocks) + table + tail)


def png(path, pixels, depth, kind, palette=None, transparent=None, interlaced=False, chunks=()):
    """`kind`: PNG's colour type. Filters cycle through all five from row to row for 8 and 16 bits. `chunks`: (name,
    content), placed before the palette."""
    def row_bytes(rows):
        return [pack_bits(r[None], depth) if depth < 8 else r.astype(">u%d" % (depth // 8)).tobytes() for r in rows]

    def filtered(part):
        step = max(1, part.shape[2] * depth // 8)
        before, out = None, []
        for y, row in enumerate(row_bytes(part.reshape(part.shape[0], -1))):
            cur = np.frombuffer(row, np.uint8).astype(np.int32)
            up = np.zeros_like(cur) if before is None else before
            left = np.concatenate([np.zeros(step, np.int32), cur[:-step]])[:cur.size]
            corner = np.concatenate([np.zeros(step, np.int32), up[:-step]])[:cur.size]
            estimate = left + up - corner
            a, b, c = abs(estimate - left), abs(estimate - up), abs(estimate - corner)
            paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
            method = y % 5 if depth >= 8 else 0
            out.append(bytes([method]) + ((cur - [0, left, up, (left + up) // 2, paeth][method]) & 255).astype(np.uint8).tobytes())
            before = cur
        return b"".join(out)

    height, width, _ = pixels.shape
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)] \
        if interlaced else [(0, 0, 1, 1)]
    body = b"".join(filtered(pixels[y::dy, x::dx]) for x, y, dx, dy in passes if pixels[y::dy, x::dx].size)
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))), *chunks]
    if palette is not None:
        parts.append((b"PLTE", palette.astype(np.uint8).tobytes()))
    if transparent is not None:
        parts.append((b"tRNS", transparent))
    parts += [(b"IDAT", zlib.compress(body)), (b"IEND", b"")]
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        for name, data in parts:
            out.write(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)))


def tga(path, pixels, alpha_type=None, rle=False, top_down=False, id_text=b""):
    """8 bits, 1, 3 or 4 channels. `alpha_type` is a field of the extension area, which is left out if it is None."""
    height, width, channels = pixels.shape
    order = pixels[:, :, [2, 1, 0, 3][:channels]] if channels > 1 else pixels
    order = order if top_down else order[::-1]
    image_type = (3 if channels == 1 else 2) + (8 if rle else 0)
    header = struct.pack("<BBBHHBHHHHBB", len(id_text), 0, image_type, 0, 0, 0, 0, 0, width, height, channels * 8,
                         (8 if channels == 4 else 0) | (0x20 if top_down else 0))
    body = b""
    if rle:
        for row in order:
            for x in range(0, width, 128):
                run = row[x:x + 128]
                if len(run) > 1 and (run == run[0]).all():
                    body += bytes([127 + len(run)]) + run[0].tobytes()
                else:
                    body += bytes([len(run) - 1]) + run.tobytes()
    else:
        body = order.tobytes()
    data = header + id_text + body
    if alpha_type is not None:
        area = len(data)
        data += (struct.pack("<H", 495) + b"\0" * 492 + bytes([alpha_type])).ljust(495, b"\0")
        data += struct.pack("<II", area, 0) + b"TRUEVISION-XFILE.\0"
    with open(path, "wb") as out:
        out.write(data)


def psd(path, pixels, depth, palette=None):
    """The merged image alone, with 1 (grey, or indices of a palette of 256 x 3 codes), 3 or 4 channels, uncompressed."""
    height, width, channels = pixels.shape
    mode = 2 if palette is not None else 1 if channels == 1 else 3
    colours = b"" if palette is None else palette.astype(np.uint8).T.tobytes()
    planes = np.moveaxis(pixels, 2, 0)
    with open(path, "wb") as out:
        out.write(b"8BPS" + struct.pack(">H6xHIIHH", 1, channels, height, width, depth, mode))
        out.write(struct.pack(">I", len(colours)) + colours + struct.pack(">II", 0, 0) + struct.pack(">H", 0))
        out.write(planes.astype(planes.dtype.newbyteorder(">")).tobytes())


def dds(path, pixels):
    """Uncompressed, 8 bits, 3 or 4 channels."""
    height, width, channels = pixels.shape
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000 if channels == 4 else 0)
    with open(path, "wb") as out:
        out.write(b"DDS " + struct.pack("<7I44x", 124, 0x100F, height, width, width * channels, 0, 0))
        out.write(struct.pack("<8I", 32, 0x41 if channels == 4 else 0x40, 0, channels * 8, *masks))
        out.write(struct.pack("<I16x", 0x1000))
        out.write(pixels[:, :, [2, 1, 0, 3][:channels]].tobytes())


def fits(path, pixels, bitpix):
    """One plane; the first row of the file is the bottom one."""
    height, width, _ = pixels.shape
    cards = [("SIMPLE", "T"), ("BITPIX", bitpix), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", height)]
    header = "".join("%-8s= %20s%50s" % (key, value, "") for key, value in cards) + "%-80s" % "END"
    kind = {8: ">u1", 16: ">i2", 32: ">i4", -32: ">f4", -64: ">f8"}[bitpix]
    data = pixels[::-1, :, 0].astype(kind).tobytes()
    with open(path, "wb") as out:
        out.write(header.ljust(-(-len(header) // 2880) * 2880).encode())
        out.write(data.ljust(-(-len(data) // 2880) * 2880, b"\0"))


def exr(path, channels, width, height):
    """Uncompressed halves. `channels`: {name: (pixels, step)}, where pixels has every step-th column and row."""
    def attribute(name, kind, value):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value

    names = sorted(channels)
    listing = b"".join(name.encode() + b"\0" + struct.pack("<4i", 1, 0, channels[name][1], channels[name][1]) for name in names)
    window = struct.pack("<4i", 0, 0, width - 1, height - 1)
    head = struct.pack("<II", 20000630, 2) + b"".join((
        attribute(b"channels", b"chlist", listing + b"\0"), attribute(b"compression", b"compression", b"\0"),
        attribute(b"dataWindow", b"box2i", window), attribute(b"displayWindow", b"box2i", window),
        attribute(b"lineOrder", b"lineOrder", b"\0"), attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)),
        attribute(b"screenWindowCenter", b"v2f", bytes(8)), attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1)), b"\0"))
    rows, offsets, at = [], [], len(head) + 8 * height
    for y in range(height):
        data = b"".join(channels[name][0][y // channels[name][1]].astype("<f2").tobytes() for name in names
                        if y % channels[name][1] == 0)
        offsets.append(at)
        rows.append(struct.pack("<iI", y, len(data)) + data)
        at += len(rows[-1])
    with open(path, "wb") as f:
        f.write(head + struct.pack("<%dQ" % height, *offsets) + b"".join(rows))
