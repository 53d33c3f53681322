#!/usr/bin/env python3
"""Files that no program at hand writes: Radiance pixels without runs, Targa alpha types, a run-length BMP, a cICP chunk, IPTC in TIFF,
a DDS volume."""
import struct
import sys
import zlib

W, H = 37, 23


def pixel(x, y):
    """A pattern with runs (left half flat) and gradients (right half), and alpha that falls from top to bottom."""
    if x < W // 2:
        return (200, 100, 50 + 40 * (y // 8), 255 - 11 * y)
    return ((x * 7) % 256, (y * 11) % 256, (x * y) % 256, 255 - 11 * y)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def cicp(src, dst, *codes):
    png = open(src, "rb").read()
    head = 8 + 25  # signature and IHDR
    open(dst, "wb").write(png[:head] + chunk(b"cICP", bytes(int(c) for c in codes)) + png[head:])


def hdr(dst):
    out = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (H, W)
    for y in range(H):
        for x in range(W):
            out += bytes(pixel(x, y)[:3] + (129,))
    open(dst, "wb").write(out)


def tga(dst, alpha_type):
    """Version 2 with an extension area, whose byte 494 is the alpha type; 32 bits, top-down."""
    out = struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, W, H, 32, 0x28)
    for y in range(H):
        for x in range(W):
            r, g, b, a = pixel(x, y)
            out += bytes((b, g, r, a))
    extension = len(out)
    area = bytearray(495)
    struct.pack_into("<H", area, 0, 495)
    area[2:10] = b"a person"
    area[494] = int(alpha_type)
    out += bytes(area) + struct.pack("<II", extension, 0) + b"TRUEVISION-XFILE.\0"
    open(dst, "wb").write(out)


def tga16(dst):
    out = struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, W, H, 16, 0x21)
    for y in range(H):
        for x in range(W):
            r, g, b, a = pixel(x, y)
            out += struct.pack("<H", (a >> 7) << 15 | (r >> 3) << 10 | (g >> 3) << 5 | b >> 3)
    open(dst, "wb").write(out)


def iptc(src, dst):
    """A little-endian TIFF with IPTC records in tag 33723, as an array of LONG; the directory moves to the end."""
    tiff = bytearray(open(src, "rb").read())
    directory = struct.unpack_from("<I", tiff, 4)[0]
    count = struct.unpack_from("<H", tiff, directory)[0]
    tags = [bytes(tiff[directory + 2 + 12 * i : directory + 14 + 12 * i]) for i in range(count)]
    records = b""
    for number, text in ((65, b"a tool"), (80, b"a by-line"), (116, b"a notice"), (120, b"a caption")):
        records += struct.pack(">BBBH", 0x1C, 2, number, len(text)) + text
    records += b"\0" * (-len(records) % 4)
    tiff += b"\0" * (len(tiff) & 1)
    tags.append(struct.pack("<HHII", 33723, 4, len(records) // 4, len(tiff)))
    tags.sort(key=lambda tag: struct.unpack_from("<H", tag)[0])
    tiff += records
    struct.pack_into("<I", tiff, 4, len(tiff))
    tiff += struct.pack("<H", len(tags)) + b"".join(tags) + b"\0" * 4
    open(dst, "wb").write(tiff)


def dds(dst):
    """A volume of four layers, uncompressed."""
    head = struct.pack("<7I", 124, 0x80100F, 4, 4, 16, 4, 1) + b"\0" * 44
    head += struct.pack("<8I", 32, 0x41, 0, 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    head += struct.pack("<5I", 0x401008, 0x200000, 0, 0, 0)
    open(dst, "wb").write(b"DDS " + head + bytes(range(256)))


def dds_la(dst):
    """Luminance with alpha, in 8 bits each."""
    head = struct.pack("<7I", 124, 0x100F, H, W, W * 2, 0, 0) + b"\0" * 44
    head += struct.pack("<8I", 32, 0x20001, 0, 16, 0xFF, 0, 0, 0xFF00)
    head += struct.pack("<5I", 0x1000, 0, 0, 0, 0)
    pixels = [((x * 13 + y * 7) % 256, (x * 29 + y * 31) % 256) for y in range(H) for x in range(W)]
    open(dst, "wb").write(b"DDS " + head + b"".join(map(bytes, pixels)))


def bmp(dst):
    """8-bit palette with absolute and encoded runs, bottom-up."""
    pixels = [[(x // 5 if x < 20 else (x + y) % 16) for x in range(W)] for y in range(H)]
    data = b""
    for y in reversed(range(H)):
        for x in range(0, 20, 5):
            data += bytes((5, pixels[y][x]))
        data += bytes((0, W - 20)) + bytes(pixels[y][20:]) + b"\0" * ((W - 20) & 1)
        data += b"\0\0" if y else b"\0\1"
    palette = b"".join(bytes((10 * i, 15 * i, 255 - 10 * i, 0)) for i in range(16))
    offset = 54 + len(palette)
    out = b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset)
    out += struct.pack("<IiiHHIIiiII", 40, W, H, 1, 8, 1, len(data), 2835, 2835, 16, 16)
    open(dst, "wb").write(out + palette + data)


if __name__ == "__main__":
    {"cicp": cicp, "hdr": hdr, "tga": tga, "tga16": tga16, "bmp": bmp, "iptc": iptc, "dds": dds,
     "dds-la": dds_la}[sys.argv[1]](*sys.argv[2:])
