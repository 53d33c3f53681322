# SPDX-License-Identifier: Apache-2.0
"""Measures scenes of a gigabyte: scenes.py BUILD [MIB]. To a scene of the test data, written by Blender, meshes are added
before its struct definitions until it is that large: arrays of a few megabytes, as subdivided meshes have them, or blocks
of half a kilobyte, as rigs and animations do. Plain, gzip in one stream and zstd in frames of 1 MiB with a seek table,
as Blender compresses. Prints what `txmill list` takes for each."""

import ctypes
import os
import shutil
import statistics
import struct
import sys
import tempfile
import zlib

from measure import run

BUILD, MIB = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1024
HERE = os.path.dirname(os.path.abspath(__file__))
TEST_SCENES = os.path.join(HERE, "..", "testdata", "blend")
HEADER_BYTES, HEAD_BYTES, FRAME_BYTES = 12, 24, 1 << 20

zstd = ctypes.CDLL("libzstd.so.1")
for function in (zstd.ZSTD_compress, zstd.ZSTD_decompress, zstd.ZSTD_compressBound, zstd.ZSTD_findFrameCompressedSize,
                 zstd.ZSTD_getFrameContentSize):
    function.restype = ctypes.c_size_t


def zstd_frames(data):
    """The content of all frames; the seek table has none."""
    out = b""
    while data and data[:4] == b"\x28\xb5\x2f\xfd":
        size = zstd.ZSTD_findFrameCompressedSize(data, ctypes.c_size_t(len(data)))
        room = zstd.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
        buffer = ctypes.create_string_buffer(room)
        got = zstd.ZSTD_decompress(buffer, ctypes.c_size_t(room), data, ctypes.c_size_t(size))
        out += buffer.raw[:got]
        data = data[size:]
    return out


def zstd_frame(data):
    room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    buffer = ctypes.create_string_buffer(room)
    size = zstd.ZSTD_compress(buffer, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 3)
    return buffer.raw[:size]


def head(code, size, address):
    return struct.pack("<4siQii", code, size, address, 0, 1)


def vertices(count):
    """A rough surface, whose coordinates compress to somewhat more than a half, like those of real meshes."""
    out = bytearray()
    for i in range(count):
        out += struct.pack("<3f", i % 512 / 256, i // 512 / 256, (i * 2654435761 & 0xFFFF) / 4e6)
    return bytes(out)


def pieces(block_bytes):
    """The scene as (piece, repeatable): the repeatable one is always the same object."""
    with open(os.path.join(TEST_SCENES, "materials.blend"), "rb") as f:
        scene = zstd_frames(f.read())
    at = HEADER_BYTES
    while scene[at:at + 4] != b"DNA1":
        at += HEAD_BYTES + struct.unpack_from("<i", scene, at + 4)[0]
    yield scene[:at], False
    yield head(b"ME", 0, 8), False
    surface = vertices(4 * FRAME_BYTES // 12)
    if block_bytes < len(surface):
        parts = [surface[i:i + block_bytes] for i in range(0, len(surface), block_bytes)]
        surface = b"".join(head(b"DATA", len(part), 4096 * (i + 1)) + part for i, part in enumerate(parts))
        for _ in range(MIB // 4):
            yield surface, True
    else:
        for i in range(MIB // 4):
            yield head(b"DATA", len(surface), 1 << 32 | i << 24), False
            yield surface, True
    yield scene[at:], False


def write_plain(path, block_bytes):
    with open(path, "wb") as f:
        for piece, _ in pieces(block_bytes):
            f.write(piece)


def write_gzip(path, block_bytes):
    """One stream. With a full flush, the bytes of the repeated piece can be made once."""
    repeated, crc, size = None, 0, 0
    with open(path, "wb") as f:
        f.write(b"\x1f\x8b\x08\0\0\0\0\0\0\x03")
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
        for piece, repeats in pieces(block_bytes):
            crc, size = zlib.crc32(piece, crc), size + len(piece)
            if repeats and repeated:
                f.write(repeated)
                continue
            data = deflate.compress(piece) + deflate.flush(zlib.Z_FULL_FLUSH)
            repeated = data if repeats else repeated
            f.write(data)
        f.write(deflate.flush() + struct.pack("<II", crc, size & 0xFFFFFFFF))


def write_zstd(path, block_bytes):
    table, rest = b"", b""
    with open(path, "wb") as f:
        def frame(data):
            nonlocal table
            packed = zstd_frame(data)
            f.write(packed)
            table += struct.pack("<II", len(packed), len(data))
        for piece, _ in pieces(block_bytes):
            rest += piece
            while len(rest) >= FRAME_BYTES:
                frame(rest[:FRAME_BYTES])
                rest = rest[FRAME_BYTES:]
        frame(rest)
        f.write(struct.pack("<II", 0x184D2A5E, len(table) + 9) + table +
                struct.pack("<IBI", len(table) // 8, 0, 0x8F92EAB1))


def verdict(kind, wall, peak):
    """There is no time goal for gzip, which Blender has not written since 2.93."""
    return "reached" if peak < 2e8 and (wall < 2 or kind == "gzip") else "**missed**"


def main():
    print(f"## txmill list, scenes of {MIB} MiB (goal: 2 s but for gzip, 200 MB)\n\n"
          "| meshes | file | wall | CPU | peak | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="txmill-bench-") as folder:
        shutil.copytree(os.path.join(TEST_SCENES, "textures"), os.path.join(folder, "textures"))
        for label, block_bytes in (("arrays of 4 MiB", 4 << 20), ("blocks of 512 bytes", 512)):
            for kind, write in (("plain", write_plain), ("gzip", write_gzip), ("zstd", write_zstd)):
                path = os.path.join(folder, "scene.blend")
                write(path, block_bytes)
                samples = [run([os.path.join(BUILD, "txmill"), "list", "--json", path]) for _ in range(4)][1:]
                wall, cpu, peak = (statistics.median(column) for column in zip(*samples))
                print(f"| {label}, {kind} | {os.path.getsize(path) / 1e6:.0f} MB | {wall:.2f} s | {cpu:.2f} s | "
                      f"{peak / 1e6:.0f} MB | {verdict(kind, wall, peak)} |", flush=True)


main()
