# SPDX-License-Identifier: Apache-2.0
"""bombs.py PROGRAM MAX_MIB: small files of every format that claim to be huge. Prints a line for each that costs more memory
than that, takes more than a minute, crashes, or is converted; and how many there were."""
import os
import signal
import struct
import subprocess
import sys
import time
import zlib

SIDE = 46341


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(interlaced):
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 16, 6, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1 << 16))) + chunk(b"IEND", b"")


def iff():
    head = struct.pack(">IIHHIHHIII", SIDE, SIDE, 1, 1, 3, 0, 1, 1, 0, 0)
    tile = struct.pack(">HHHH", 0, 0, 63, 63) + b"\xff\0" * 128
    tiles = b"TBMPRGBA" + struct.pack(">I", len(tile)) + tile
    body = b"CIMGTBHD" + struct.pack(">I", len(head)) + head + b"FOR4" + struct.pack(">I", len(tiles)) + tiles
    return b"FOR4" + struct.pack(">I", len(body)) + body


def dds(four, dxgi):
    pixel = struct.pack("<IIIIIIII", 32, 4 if four else 0x41, struct.unpack("<I", four)[0] if four else 0, 32, 255, 65280, 16711680,
                        0xFF000000)
    head = struct.pack("<4sIIIIIII44x", b"DDS ", 124, 0x1007, SIDE, SIDE, 0, 0, 0) + pixel + struct.pack("<IIIII", 0x1000, 0, 0, 0, 0)
    return head + (struct.pack("<IIIII", dxgi, 3, 0, 1, 0) if four == b"DX10" else b"") + bytes(64)


def dpx(bits, packing):
    h = bytearray(2048)
    h[0:8] = b"SDPX" + struct.pack(">I", 2048)
    h[8:12] = b"V2.0"
    struct.pack_into(">HHII", h, 768, 0, 1, SIDE, SIDE)
    struct.pack_into(">I", h, 780, 0)
    h[800], h[801], h[802], h[803] = 51, 2, 2, bits
    struct.pack_into(">HHI", h, 804, packing, 0, 2048)
    return bytes(h) + bytes(100)


def cineon():
    h = bytearray(2048)
    struct.pack_into(">IIIIII", h, 0, 0x802A5FD7, 2048, 1024, 1024, 0, 4096)
    h[192], h[193] = 0, 3
    for i in range(3):
        h[196 + 28 * i + 1], h[196 + 28 * i + 2] = i + 1, 10
        struct.pack_into(">II", h, 196 + 28 * i + 4, SIDE, SIDE)
    return bytes(h) + bytes(64)


def tga(kind, bits):
    return struct.pack("<BBBHHBHHHHBB", 0, kind == 9, kind, 0, 256 * (kind == 9), 24, 0, 0, SIDE, SIDE, bits, 0) + bytes(768) + b"\xff\0\0\0\0" * 40


def psd(version, depth, compression):
    side = 30000 if version == 1 else SIDE
    sections = struct.pack(">II", 0, 0) + (struct.pack(">Q", 0) if version == 2 else struct.pack(">I", 0))
    return b"8BPS" + struct.pack(">H6xHIIHH", version, 4, side, side, depth, 3) + sections + struct.pack(">H", compression) + bytes(64)


def sgi(storage):
    return struct.pack(">HBBHHHHII4x80sI404x", 474, storage, 1, 3, 65535, 65535, 4, 0, 255, b"", 0) + bytes(2000)


def bmp(bits, compression):
    head = struct.pack("<IiiHHIIiiII", 40, SIDE, SIDE, 1, bits, compression, 0, 0, 0, 256, 0)
    return b"BM" + struct.pack("<IIIII", 0, 0, 54 + 1024, 0, 0)[:12] + head + bytes(1024) + b"\xff\1" * 100 + b"\0\1"


def ico():
    data = png(0)
    return struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, len(data), 22) + data


def jp2():
    sizes = struct.pack(">HIIIIIIIIH", 0, SIDE, SIDE, 0, 0, SIDE, SIDE, 0, 0, 3) + b"\7\1\1" * 3
    cod = b"\0" + struct.pack(">BHB", 0, 1, 0) + b"\5\4\4\0\1"
    qcd = b"\x40" + b"\x40" * 16
    parts = ((0x51, sizes), (0x52, cod), (0x5C, qcd))
    head = b"\xff\x4f" + b"".join(b"\xff" + bytes([m]) + struct.pack(">H", len(d) + 2) + d for m, d in parts)
    return head + b"\xff\x90" + struct.pack(">HHIBB", 10, 0, 0, 0, 1) + b"\xff\x93" + bytes(100) + b"\xff\xd9"


def webp():
    data = b"\x2f" + struct.pack("<I", 16383 | 16383 << 14) + bytes(60)
    body = b"WEBPVP8L" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def gif(side):
    return b"GIF89a" + struct.pack("<HHBBB", side, side, 0xF7, 0, 0) + bytes(768) + b"," + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x08\x04\x00\x01\x04\x05\x00;"


def jpeg():
    quant = b"\xff\xdb" + struct.pack(">HB", 67, 0) + b"\1" * 64
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, 65000, 65000, 3) + b"\1\x11\0\2\x11\0\3\x11\0"
    huff = b"\xff\xc4" + struct.pack(">HB", 20, 0) + b"\1" + bytes(15) + b"\0"
    scan = b"\xff\xda" + struct.pack(">HB", 12, 3) + b"\1\0\2\0\3\0\0\0\0"
    return b"\xff\xd8" + quant + frame + huff + scan + bytes(200) + b"\xff\xd9"


def tiff(compression, tiled, planar):
    tags = [(256, 4, 1, 60000), (257, 4, 1, 60000), (258, 3, 1, 8), (259, 3, 1, compression), (262, 3, 1, 1), (277, 3, 1, 1), (284, 3, 1, planar)]
    tags += [(322, 4, 1, 60000), (323, 4, 1, 60000), (324, 4, 1, 8), (325, 4, 1, 100)] if tiled else [(273, 4, 1, 8), (278, 4, 1, 60000), (279, 4, 1, 100)]
    out = b"II*\0" + struct.pack("<I", 108) + bytes(100) + struct.pack("<H", len(tags))
    for tag, kind, count, value in sorted(tags):
        out += struct.pack("<HHI", tag, kind, count) + (struct.pack("<HH", value, 0) if kind == 3 else struct.pack("<I", value))
    return out + bytes(4)


def exr(compression, tiled):
    def attribute(name, kind, data):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(data)) + data
    window = struct.pack("<iiii", 0, 0, SIDE - 1, SIDE - 1)
    channels = b"".join(c + b"\0" + struct.pack("<IIII", 2, 0, 1, 1) for c in (b"B", b"G", b"R")) + b"\0"
    head = b"\x76\x2f\x31\x01" + struct.pack("<I", 0x202 if tiled else 2) + attribute(b"channels", b"chlist", channels)
    head += attribute(b"compression", b"compression", bytes([compression])) + attribute(b"dataWindow", b"box2i", window)
    head += attribute(b"displayWindow", b"box2i", window) + attribute(b"lineOrder", b"lineOrder", b"\0")
    head += attribute(b"pixelAspectRatio", b"float", struct.pack("<f", 1)) + attribute(b"screenWindowCenter", b"v2f", bytes(8))
    head += attribute(b"screenWindowWidth", b"float", struct.pack("<f", 1))
    if tiled:
        head += attribute(b"tiles", b"tiledesc", struct.pack("<IIB", SIDE, SIDE, 0))
    return head + b"\0" + bytes(300)


def softimage():
    return struct.pack(">If80s4sHHfHH", 0x5380F634, 3.7, b"", b"PICT", 65535, 65535, 1.0, 3, 0) + b"\0\x08\2\xe0" + b"\xff" * 200


def rla():
    h = bytearray(740)
    struct.pack_into(">hhhhhhhhhhhhhh", h, 0, 0, 32766, 0, 32766, 0, 32766, 0, 32766, 0, 0, 3, 1, 0, -2)
    return bytes(h) + bytes(400)


def fits():
    cards = ("SIMPLE  =                    T", "BITPIX  =                  -32", "NAXIS   =                    2",
             f"NAXIS1  = {SIDE:20d}", f"NAXIS2  = {SIDE:20d}", "END")
    return "".join(c.ljust(80) for c in cards).ljust(2880).encode() + bytes(2880)


BOMBS = {
    "png": png(0), "interlaced.png": png(1), "iff": iff(), "dds": dds(None, 0), "bc1.dds": dds(b"DXT1", 0), "bc7.dds": dds(b"DX10", 98),
    "bc6.dds": dds(b"DX10", 95), "dpx": dpx(10, 1), "wide.dpx": dpx(16, 0), "one.dpx": dpx(1, 0), "cin": cineon(), "tga": tga(2, 32),
    "runs.tga": tga(10, 32), "palette.tga": tga(9, 8), "psd": psd(1, 8, 1), "plain.psd": psd(1, 16, 0), "psb": psd(2, 32, 0),
    "hdr": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 60000\n" + b"\2\2\xea\x60" + b"\xff\1" * 99, "sgi": sgi(1), "plain.sgi": sgi(0),
    "bmp": bmp(24, 0), "runs.bmp": bmp(8, 1), "one.bmp": bmp(1, 0), "ico": ico(), "jp2": jp2(), "webp": webp(), "gif": gif(65535), "less.gif": gif(20000),
    "jpg": jpeg(),
    "lzw.tif": tiff(5, False, 1), "tiled.tif": tiff(5, True, 1), "zstd.tif": tiff(50000, False, 1), "zstd-tiled.tif": tiff(50000, True, 1),
    "separate.tif": tiff(8, False, 2), "jpeg.tif": tiff(7, True, 1), "lzma.tif": tiff(34925, True, 1), "exr": exr(3, False),
    "piz.exr": exr(4, True), "dwa.exr": exr(8, True), "b44.exr": exr(6, True), "pic": softimage(), "rla": rla(), "fits": fits(),
    "zfile": b"\x2f\x08\x67\xab" + zlib.compress(struct.pack("<IHH", 0, SIDE, SIDE) + bytes(200)), "ppm": b"P6 60000 60000 255\n" + bytes(99),
    "plain.pgm": b"P2 60000 60000 255\n" + b"0 " * 99, "pbm": b"P4 60000 60000\n" + bytes(99), "pfm": b"PF\n60000 60000\n-1\n" + bytes(99),
}


def session_mib(session):
    """The highest sum so far of the processes of a session, among them those that decode, which end by SIGKILL."""
    most = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[3]) != session:
                    continue
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                most += sum(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) >> 10
        except (OSError, IndexError):
            pass
    return most


def main():
    program, most = sys.argv[1], int(sys.argv[2])
    for name, data in BOMBS.items():
        path = name if "." in name else "bomb." + name
        with open(path, "wb") as file:
            file.write(data)
        with open("message", "w+", encoding="utf-8", errors="replace") as err:
            used, end = 0, time.monotonic() + 60
            with subprocess.Popen([program, "make", "-q", "-c", "Non-Color", path], stderr=err, start_new_session=True) as run:
                while run.poll() is None:
                    used = max(used, session_mib(run.pid))
                    if time.monotonic() > end:
                        os.killpg(run.pid, signal.SIGKILL)
                    time.sleep(0.004)
            err.seek(0)
            message = err.readline()
        if "-v" in sys.argv:
            print(path, len(data), used, run.returncode, message[:200], end="", flush=True)
        elif used > most or run.returncode != 3 or "crash" in message:
            print(f"{path}: {len(data)} bytes cost {used} MiB, exit code {run.returncode}: {message}", end="", flush=True)
    print("bombs", len(BOMBS))


if __name__ == "__main__":
    main()
