# SPDX-License-Identifier: Apache-2.0
"""Writes the Ptex files of testdata/ptex, and expected.txt with what a reader must find in them, which is computed here
from the texels and not by txmill: write_ptex.py FOLDER. tests/tile/ptex/test_ptex.c compares. All sizes are log2.

The mesh of grid-*.ptx is one picture that was cut into faces, each turned at random. Away from the picture's edges, a
lookup over edges and corners must give what the picture gives."""
import math
import os
import random
import struct
import sys
import zlib

U8, U16, HALF, FLOAT = range(4)
CODES, ONE = "BHef", (255.0, 65535.0, 1.0, 1.0)
CONSTANT, NEIGHBOURHOOD, SUBFACE = 1, 4, 8
folder = sys.argv[1]
expected = open(os.path.join(folder, "expected.txt"), "w", encoding="utf-8")


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def to_half(x):
    """The half next to x, ties away from zero."""
    best = struct.unpack("<e", struct.pack("<e", x))[0]
    if x == 0:
        return 0.0
    step = 2.0 ** (max(math.frexp(abs(x))[1] - 1, -14) - 10)
    best = math.copysign(math.floor(abs(x) / step + 0.5) * step, x)
    return best


class Face:
    """texels[v][u] is a tuple of channels, as stored numbers; None: constant of `colour`."""

    def __init__(self, u, v, texels=None, colour=None, neighbours=(-1,) * 4, edges=(0,) * 4, flags=0):
        self.u, self.v, self.texels, self.colour = u, v, texels, colour
        self.neighbours, self.edges = list(neighbours), list(edges)
        self.flags = flags | (0 if texels else CONSTANT)

    def info(self):
        edges = sum(e << 2 * i for i, e in enumerate(self.edges))
        return struct.pack("<bbBB4i", self.u, self.v, edges, self.flags, *self.neighbours)


class File:
    def __init__(self, name, kind, channels, faces, mesh=1, alpha=-1, u_border=0, v_border=0, edge_mode=0, metas=(),
                 reductions=True, ext_bytes=40):
        self.__dict__.update(locals())
        del self.self
        self.edits = []

    # ---- numbers ----

    def pack(self, values):
        return struct.pack(f"<{len(values)}{CODES[self.kind]}", *values)

    def mean(self, values):
        if self.kind <= U16:
            return sum(values) >> {2: 1, 4: 2}[len(values)]
        total = 0.0
        for value in values:
            total = f32(total + value)
        total = f32(total / len(values))
        return to_half(total) if self.kind == HALF else total

    def halve(self, t, along_u):
        if along_u:
            return [[tuple(map(self.mean, zip(a, b))) for a, b in zip(r[::2], r[1::2])] for r in t]
        return [[tuple(map(self.mean, zip(a, b))) for a, b in zip(r, s)] for r, s in zip(t[::2], t[1::2])]

    def quarter(self, t):
        """The next level as writers make it."""
        n = len(t)
        if self.mesh == 0:
            return [[tuple(map(self.mean, zip(t[2 * y][2 * x], t[2 * y][2 * x + 1], t[2 * y + 1][2 * x],
                                              t[n - 1 - 2 * x][n - 1 - 2 * y])))
                     for x in range(n // 2)] for y in range(n // 2)]
        return [[tuple(map(self.mean, zip(a, b, c, d))) for a, b, c, d in zip(r[::2], r[1::2], s[::2], s[1::2])]
                for r, s in zip(t[::2], t[1::2])]

    def average(self, face):
        if not face.texels:
            return face.colour
        texels = [x for row in face.texels for x in row]
        means = [sum(x[c] for x in texels) / len(texels) for c in range(self.channels)]
        return tuple(int(m) if self.kind <= U16 else to_half(m) if self.kind == HALF else f32(m) for m in means)

    # ---- blocks ----

    def planes(self, texels):
        flat = [x for row in texels for x in row]
        values = [x[c] for c in range(self.channels) for x in flat]
        if self.kind <= U16:
            size = 256 if self.kind == U8 else 65536
            values = [(b - a) % size for a, b in zip([0] + values, values)]
        return zlib.compress(self.pack(values)), 2 if self.kind <= U16 else 1

    def block(self, u, v, texels):
        """Bytes and encoding."""
        size = (self.channels * struct.calcsize(CODES[self.kind])) << (u + v)
        if size < 2 * 65536 or self.mesh == 0:
            return self.planes(texels)
        n = int(math.log2(size // 65536))
        tu = min((u + v - n + 1) // 2, u)
        tv = min(u + v - n - tu, v)
        words, tiles = b"", b""
        for y in range(0, 1 << v, 1 << tv):
            for x in range(0, 1 << u, 1 << tu):
                tile = [row[x:x + (1 << tu)] for row in texels[y:y + (1 << tv)]]
                data, encoding = self.planes(tile)
                if all(t == tile[0][0] for row in tile for t in row):
                    data, encoding = self.pack(tile[0][0]), 0
                words += struct.pack("<I", len(data) | encoding << 30)
                tiles += data
        words = zlib.compress(words)
        self.tile = (tu, tv)
        return struct.pack("<bbI", tu, tv, len(words)) + words + tiles, 3

    # ---- the file ----

    def levels(self):
        """Of each level a dictionary from face to texels."""
        out = [{i: f.texels for i, f in enumerate(self.faces)}]
        count = max([min(f.u, f.v) for f in self.faces if f.texels] or [0]) - 1
        while self.reductions and len(out) < count:
            k = len(out)
            larger = {i: t for i, t in out[-1].items() if t and min(self.faces[i].u, self.faces[i].v) - k >= 2}
            out.append({i: self.quarter(t) for i, t in larger.items()})
        return out

    def level_bytes(self, k, level):
        order = range(len(self.faces))
        if k:
            order = sorted(order, key=lambda i: -min(self.faces[i].u, self.faces[i].v) if self.faces[i].texels else 0)
            order = order[:len(level)]
            assert sorted(order) == sorted(level)
        words, blocks = b"", b""
        for i in order:
            data, encoding = b"", 0
            if level[i]:
                data, encoding = self.block(self.faces[i].u - k, self.faces[i].v - k, level[i])
            words += struct.pack("<I", len(data) | encoding << 30)
            blocks += data
        words = zlib.compress(words)
        return struct.pack("<QII", len(words) + len(blocks), len(words), len(order)), words + blocks

    def meta_bytes(self):
        small = large_head = large = b""
        for key, kind, data in self.metas:
            head = struct.pack("<B", len(key) + 1) + key + b"\0" + struct.pack("<BI", kind, len(data))
            if len(data) <= 1024:
                small += head + data
            else:
                packed = zlib.compress(data)
                large_head += head + struct.pack("<I", len(packed))
                large += packed
        pack = lambda b: zlib.compress(b) if b else b""
        return pack(small), len(small), pack(large_head), len(large_head), large

    def edit_bytes(self):
        out = b""
        for what in self.edits:
            if isinstance(what, tuple):
                i, face = what
                data, encoding = self.block(face.u, face.v, face.texels) if face.texels else (b"", 0)
                body = struct.pack("<I", i) + face.info() + struct.pack("<I", len(data) | encoding << 30)
                body += self.pack(self.average(face)) + data
                out += struct.pack("<BI", 0, len(body)) + body
            else:
                data = b"".join(struct.pack("<B", len(k) + 1) + k + b"\0" + struct.pack("<BI", t, len(d)) + d
                                for k, t, d in what)
                packed = zlib.compress(data)
                out += struct.pack("<BIII", 1, len(packed) + 8, len(packed), len(data)) + packed
        return out + struct.pack("<BI", 9, 3) + b"???" if out else b""

    def write(self):
        infos = zlib.compress(b"".join(f.info() for f in self.faces))
        constants = zlib.compress(b"".join(self.pack(self.average(f)) for f in self.faces))
        self.stored = self.levels()
        levels = [self.level_bytes(k, level) for k, level in enumerate(self.stored)]
        level_infos, level_data = b"".join(a for a, _ in levels), b"".join(b for _, b in levels)
        small, small_bytes, large_head, large_head_bytes, large = self.meta_bytes()
        metas = small + bytes(8) + large_head + large if small or large else b""
        edits = self.edit_bytes()
        at = 64 + self.ext_bytes + len(infos) + len(constants) + len(level_infos) + len(level_data) + len(metas)
        ext = struct.pack("<HHHHIIQQQ", self.u_border, 0, self.v_border, self.edge_mode, len(large_head),
                          large_head_bytes, len(large), len(edits), at)
        head = b"Ptex" + struct.pack("<IIIiHHIIIIIIQII", 1, self.mesh, self.kind, self.alpha, self.channels, len(levels),
                                     len(self.faces), self.ext_bytes, len(infos), len(constants), len(level_infos), 4,
                                     len(level_data), len(small), small_bytes)
        with open(os.path.join(folder, self.name), "wb") as out:
            out.write(head + (ext + bytes(64))[:self.ext_bytes] + infos + constants + level_infos + level_data + metas + edits)
        self.expect()

    # ---- what a reader must find ----

    def at_size(self, i, u, v):
        """Texels of a face at a size, by the format's rule: a stored level, else halved from the next size."""
        face = self.faces[i]
        if not face.texels or u + v == 0:
            return [[self.average(face)] * (1 << u) for _ in range(1 << v)]
        ru, rv = face.u - u, face.v - v
        if ru == rv and (ru == 0 or (i not in self.edited and ru < len(self.stored) and i in self.stored[ru])):
            return self.stored[ru][i] if ru else face.texels
        if self.mesh == 0 and face.u == face.v:
            return self.quarter(self.at_size(i, u + 1, v + 1))
        if ru > rv or (ru == rv and u % 2):
            return self.halve(self.at_size(i, u + 1, v), True)
        return self.halve(self.at_size(i, u, v + 1), False)

    def expect(self):
        self.edited = set()
        metas = {k: (t, d) for k, t, d in self.metas if len(d) <= 1024}
        metas.update({k: (t, d) for k, t, d in self.metas if len(d) > 1024})
        meta_edits = 0
        for what in self.edits:
            if isinstance(what, tuple):
                self.faces[what[0]] = what[1]
                self.edited.add(what[0])
            else:
                meta_edits += 1
                metas.update({k: (t, d) for k, t, d in what})
        face_edits = sum(isinstance(e, tuple) for e in self.edits)
        say("file", self.name, self.mesh, self.kind, self.channels, self.alpha, self.u_border, self.v_border,
            self.edge_mode, len(self.faces), len(self.stored), len(metas), face_edits, meta_edits)
        for i, f in enumerate(self.faces):
            say("face", i, f.u, f.v, sum(e << 2 * n for n, e in enumerate(f.edges)),
                f.flags | (2 if i in self.edited else 0), *f.neighbours, self.pack(self.average(f)).hex())
            for u in range(f.u + 1):
                for v in range(f.v + 1):
                    if (self.mesh or u == v or f.u != f.v) and (i < 12 or u + v > 5):
                        flat = [c for row in self.at_size(i, u, v) for x in row for c in x]
                        say("read", i, u, v, zlib.crc32(self.pack(flat)))
            if i < 8:
                x, y = i * 7 % (1 << f.u), i * 5 % (1 << f.v)
                texel = f.texels[y][x] if f.texels else f.colour
                say("pixel", i, x, y, *(f32(c * f32(1 / ONE[self.kind])).hex() for c in texel))
        if hasattr(self, "tile"):
            say("tiling", 0, *self.tile)
        for i, (key, (kind, data)) in enumerate(metas.items()):
            say("meta", i, key.hex(), kind, len(data), zlib.crc32(data))

    def look(self, kind, face, u, v, width, colour, no_blend=0, blur=0):
        say("look", int(kind), face, f32(u).hex(), f32(v).hex(), f32(width).hex(), f32(blur).hex(), no_blend,
            *(float(c).hex() for c in colour))


def say(*words):
    print(*words, file=expected)


# ---- texels -----------------------------------------------------------------------------------------------------------

def noise(kind, channels, u, v, seed):
    rng = random.Random(seed)
    number = {U8: lambda: rng.randrange(256), U16: lambda: rng.randrange(65536),
              HALF: lambda: to_half(rng.uniform(-2, 2)), FLOAT: lambda: f32(rng.uniform(-9, 9))}[kind]
    return [[tuple(number() for _ in range(channels)) for _ in range(1 << u)] for _ in range(1 << v)]


# ---- a picture cut into faces ------------------------------------------------------------------------------------------

def turned(texels, r):
    """Texels of a face whose edge 0 is edge r of the square that it fills."""
    n = len(texels)
    inner = {0: lambda a, b: (a, b), 1: lambda a, b: (n - 1 - b, a), 2: lambda a, b: (n - 1 - a, n - 1 - b),
             3: lambda a, b: (b, n - 1 - a)}[r]

    def at(x, y):
        a, b = inner(x, y)
        return texels[b][a]
    return [[at(x, y) for x in range(n)] for y in range(n)]


def place_in_face(a, b, r):
    """Where the place (a, b) of the square is in a face turned by r."""
    return {0: (a, b), 1: (b, 1 - a), 2: (1 - a, 1 - b), 3: (1 - b, a)}[r]


def in_frame(texel, r):
    """Channels 0 and 1 as a vector in the frame of a face that is turned by r."""
    x, y = texel[:2]
    return ((x, y), (y, -x), (-x, -y), (-y, x))[r % 4] + tuple(texel[2:])


def grid(name, kind, channels, border, seed, log2=3, side=3, split=(), tangents=0):
    """Cells in `split` are polygons of four sides: four subfaces each, one at a corner."""
    rng = random.Random(seed)
    n, all_texels = 1 << log2, side << log2
    picture = noise(kind, channels, 6, 6, seed)
    cells = range(side * side)
    turns = [rng.randrange(4) for _ in cells]
    first, faces = [], []
    for i in cells:
        first.append(sum(4 if k in split else 1 for k in range(i)))

    def at_edge(i, e):
        """What an edge of cell i shows to its neighbour: a face and its edge, for the half at the edge's start and the
        other one. A subface has its (0, 0) at a corner of the cell, its edge 0 at the cell's edge of that number."""
        if i not in split:
            return (first[i], e), (first[i], e)
        return (first[i] + e, 0), (first[i] + (e + 1) % 4, 3)
    for i in cells:
        x, y = i % side, i // side
        square = turned([row[x * n:(x + 1) * n] for row in picture[y * n:(y + 1) * n]], turns[i])
        if tangents:
            square = [[in_frame(t, turns[i]) for t in row] for row in square]
        beyond = []  # of each edge of the cell: what lies over its first and its second half
        for e in range(4):
            side_of_square = (e + turns[i]) % 4
            dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[side_of_square]
            other = (y + dy) * side + x + dx
            if 0 <= x + dx < side and 0 <= y + dy < side:
                start, end = at_edge(other, (side_of_square + 2 - turns[other]) % 4)
                beyond.append((end, start))
            else:
                beyond.append(((-1, 0), (-1, 0)))
        if i in split:
            for k in range(4):
                texels = [row[:n // 2] for row in turned(square, k)[:n // 2]]
                around = [beyond[k][0], (first[i] + (k + 1) % 4, 2), (first[i] + (k - 1) % 4, 1), beyond[k - 1][1]]
                if tangents:
                    texels = [[in_frame(t, k) for t in row] for row in texels]
                faces.append(Face(log2 - 1, log2 - 1, texels, flags=SUBFACE, neighbours=[a[0] for a in around],
                                  edges=[a[1] for a in around]))
        else:
            faces.append(Face(log2, log2, square, neighbours=[b[0][0] for b in beyond], edges=[b[0][1] for b in beyond]))
    f = File(name, kind, channels, faces, u_border=border, v_border=border, edge_mode=tangents)
    f.write()

    def look(px, py, kind_of_look):
        i = min(int(py / n), side - 1) * side + min(int(px / n), side - 1)
        u, v = place_in_face(px / n - i % side, py / n - i // side, turns[i])
        frame, face = turns[i], first[i]
        if i in split:
            k, (u, v) = next((k, p) for k in range(4) for p in [place_in_face(u, v, k)] if max(p) <= 0.5)
            u, v, frame, face = 2 * u, 2 * v, frame + k, face + k
        if kind_of_look == 0:
            colour = picture[int(py)][int(px)]
        else:
            x, y = px - 0.5, py - 0.5
            colour = [0.0] * channels
            for k in range(4):
                tx, ty = math.floor(x) + (k & 1), math.floor(y) + (k >> 1)
                w = (1 - abs(x - tx)) * (1 - abs(y - ty))
                if border == 0:
                    tx, ty = min(max(tx, 0), all_texels - 1), min(max(ty, 0), all_texels - 1)
                if 0 <= tx < all_texels and 0 <= ty < all_texels:
                    colour = [c + w * t for c, t in zip(colour, picture[ty][tx])]
        if tangents:
            colour = in_frame(colour, frame)
        f.look(kind_of_look, face, u, v, 0, [c / ONE[kind] for c in colour])
    for _ in range(60):
        look(rng.randrange(1, all_texels * 16) / 16 + 1 / 64, rng.randrange(1, all_texels * 16) / 16 + 1 / 64,
             rng.randrange(4) > 0)
    step = n // 2 if split else n
    for x in range(0, all_texels + 1, step):
        for y in range(0, all_texels + 1, step):  # the vertices, from all sides
            for dx, dy in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
                px, py = x + dx / 8, y + dy / 8
                if 0 < px < all_texels and 0 < py < all_texels:
                    look(px, py, 1)


# ---- meshes of one colour: whatever a filter does with their corners, it must find that colour -------------------------

def one_colour(kind, channels, log2, number):
    return [[(number,) * channels for _ in range(1 << log2)] for _ in range(1 << log2)]


def colour_everywhere(f, number, seed):
    f.write()
    rng = random.Random(seed)
    corners = [(a + s * 0.02, b + t * 0.02) for a, s in ((0, 1), (1, -1)) for b, t in ((0, 1), (1, -1))]
    for i in range(len(f.faces)):
        for u, v in corners + [(rng.random(), rng.random()) for _ in range(2)] + [(0.5, 0.01), (0.01, 0.5), (0.5, 0.99)]:
            for width in (0, 0.25, 0.9):
                f.look(1, i, u, v, width, [number / ONE[f.kind]] * f.channels)


def star(valence):
    """Quads round a vertex, which is each one's (0, 0)."""
    faces = []
    for i in range(valence):
        faces.append(Face(3 - i % 2, 2 + i % 3, [[(150, 150)] * (1 << 3 - i % 2) for _ in range(1 << 2 + i % 3)],
                          neighbours=[(i - 1) % valence, -1, -1, (i + 1) % valence], edges=[3, 0, 0, 0]))
    return faces


def fan(name, count):
    """Faces of one colour each round a vertex at the mesh's border: a lookup there gives means of whole faces. As Disney's
    library sees it, the corner of face k belongs to the faces between its neighbour k - 1 and face 0 at the border."""
    f = File(name, U8, 2, [Face(0, 0, colour=(40 * i, 255 - i * i), neighbours=[i - 1, -1, -1, i + 1 if i + 1 < count else -1],
                                edges=[3, 0, 0, 0]) for i in range(count)])
    f.write()
    for i in range(1, count - 1):
        shared = [f.faces[k].colour for k in [i - 1, i, i + 1, *range(1, i - 1)]]
        f.look(1, i, 0, 0, 0, [sum(c) / len(shared) / 255 for c in zip(*shared)])


def polygon(sides):
    """A polygon of subfaces with a quad at each side."""
    faces = []
    for k in range(sides):
        faces.append(Face(2, 2, one_colour(U8, 2, 2, 99), flags=SUBFACE,
                          neighbours=[sides + k, (k + 1) % sides, (k - 1) % sides, sides + (k - 1) % sides],
                          edges=[0, 2, 1, 0]))
    for k in range(sides):
        faces.append(Face(3, 3, one_colour(U8, 2, 3, 99), neighbours=[(k + 1) % sides, -1, -1, -1], edges=[3, 0, 0, 0]))
    return faces


# ---- triangles round a vertex, in a plane ------------------------------------------------------------------------------

def hexagon(name, log2, seed):
    """Six triangles whose (0, 0) is the middle. A blur is a circle there, so that each texel's weight can be worked out
    from where it lies."""
    rng = random.Random(seed)
    faces = [Face(log2, log2, noise(U8, 2, log2, log2, seed + i), neighbours=[(i - 1) % 6, -1, (i + 1) % 6, -1],
                  edges=[2, 0, 0, 0]) for i in range(6)]
    f = File(name, U8, 2, faces, mesh=0)
    f.write()

    def place(i, u, v):
        a, b = math.radians(60 * i), math.radians(60 * (i + 1))
        return u * math.cos(a) + v * math.cos(b), u * math.sin(a) + v * math.sin(b)
    for _ in range(120):
        i, u, blur = rng.randrange(6), rng.random() * 0.4, f32(rng.choice((0.14, 0.2, 0.27)))
        v = rng.random() * (0.4 - u)
        u, v = f32(u), f32(v)
        level = min(-math.floor(math.log2(blur)), log2)
        n, middle, radius = 1 << level, place(i, u, v), 3.5 * blur / 2
        total, colour, close = 0.0, [0.0, 0.0], False
        for k in range(6):
            texels = f.at_size(k, level, level)
            for y in range(n):
                for x in range(n):
                    tu, tv = (x + 1 / 3) / n, (y + 1 / 3) / n
                    if x + y >= n:
                        tu, tv = 1 - tv, 1 - tu
                    px, py = place(k, tu, tv)
                    q = ((px - middle[0]) ** 2 + (py - middle[1]) ** 2) / radius ** 2
                    close = close or abs(q - 1) < 1e-4
                    if q < 1:
                        w = math.exp(-0.5 * 3.5 ** 2 * q)
                        total += w
                        colour = [c + w * t for c, t in zip(colour, texels[y][x])]
        if not close:
            f.look(1, i, u, v, 0, [c / total / 255 for c in colour], blur=blur)
            f.look(0, i, u, v, 0, point_on_triangle(faces[i], u, v), blur=blur)


def rectangles(name, seed):
    """Triangles that are not square have one colour in lookups."""
    sizes = [(2, 4), (5, 1), (3, 3), (0, 3)]
    faces = [Face(u, v, noise(U8, 2, u, v, seed + i)) for i, (u, v) in enumerate(sizes)]
    f = File(name, U8, 2, faces, mesh=0, reductions=False)
    f.write()
    for i in (0, 1, 3):
        colour = [c / 255 for c in f.average(faces[i])]
        f.look(0, i, 0.3, 0.6, 0, colour)
        f.look(1, i, 0.25, 0.5, 0.01, colour)


def point_on_triangle(face, u, v):
    n = 1 << face.u
    x, y = int(u * n), int(v * n)
    if u * n - x + v * n - y > 1:
        x, y = n - 1 - y, n - 1 - x
    return [c / 255 for c in face.texels[y][x]]


# ---- the files --------------------------------------------------------------------------------------------------------

def main():
    for kind, word in enumerate(("u8", "u16", "half", "float")):
        grid(f"grid-{word}.ptx", kind, kind + 1, kind % 2, 100 + kind)
    grid("grid-subfaces.ptx", U8, 2, 0, 200, split=(4, 5, 6))
    grid("grid-tangents.ptx", FLOAT, 3, 0, 201, tangents=1)
    sizes = [(0, 5), (5, 0), (1, 1), (4, 2), (2, 4), (3, 3), (5, 5)]
    for kind, word in enumerate(("u8", "u16", "half", "float")):
        faces = [Face(u, v, noise(kind, 3, u, v, 9 * i + kind)) for i, (u, v) in enumerate(sizes)]
        faces += [Face(2, 3, colour=(1, 2, 3)), Face(0, 0, colour=(7, 8, 9), flags=NEIGHBOURHOOD)]
        File(f"sizes-{word}.ptx", kind, 3, faces, reductions=kind != U16).write()
    tiled = [[((u // 3 ^ v // 5) % 251 if u < 256 else 77,) for u in range(512)] for v in range(512)]
    File("tiled.ptx", U8, 1, [Face(9, 9, tiled), Face(1, 0, [[(1,), (2,)]])]).write()
    tri = [Face(n, n, noise(kind, 2, n, n, n)) for n, kind in ((4, U8), (3, U8), (1, U8))]
    for i, f in enumerate(tri):
        f.neighbours = [(i + 1) % 3, -1, (i + 2) % 3, -1]
        f.edges = [2, 0, 0, 0]
    File("triangles.ptx", U8, 2, tri + [Face(0, 0, colour=(4, 5))], mesh=0).write()
    hexagon("hexagon.ptx", 4, 60)
    rectangles("triangles-not-square.ptx", 80)
    metas = [(b"Author", 0, b"somebody\0"), (b"bytes", 1, struct.pack("<3b", -1, 0, 1)),
             (b"shorts", 2, struct.pack("<2h", -2, 300)), (b"PtexFaceVertCounts", 3, struct.pack("<i", 4)),
             (b"floats", 4, struct.pack("<2f", 0.5, -1)), (b"doubles", 5, struct.pack("<d", math.pi)),
             (b"large", 3, struct.pack("<2000i", *range(2000))), (b"Author", 0, b"somebody else\0"),
             (b"empty", 0, b"\0"), (b"long text", 0, b"word " * 500 + b"\0")]
    File("meta.ptx", U8, 1, [Face(0, 0, colour=(3,))], metas=metas).write()
    edited = File("edits.ptx", U16, 2, [Face(4, 4, noise(U16, 2, 4, 4, i)) for i in range(4)], metas=metas[:2])
    edited.edits = [(1, Face(3, 4, noise(U16, 2, 3, 4, 77), neighbours=(0, -1, -1, 2), edges=(1, 0, 0, 3))),
                    (2, Face(4, 4, colour=(5, 6))), [(b"Author", 0, b"editor\0"), (b"new", 3, struct.pack("<i", 5))],
                    (1, Face(4, 4, noise(U16, 2, 4, 4, 78)))]
    edited.write()
    edited = File("edits-no-meta.ptx", FLOAT, 1, [Face(2, 2, noise(FLOAT, 1, 2, 2, i)) for i in range(2)])
    edited.edits = [(0, Face(1, 1, noise(FLOAT, 1, 1, 1, 5)))]
    edited.write()
    File("old.ptx", U8, 4, [Face(3, 3, noise(U8, 4, 3, 3, 1))], ext_bytes=0, alpha=3).write()
    File("later.ptx", HALF, 2, [Face(3, 3, noise(HALF, 2, 3, 3, 1))], ext_bytes=56, u_border=2, edge_mode=1).write()
    for valence in (3, 4, 5, 8):
        colour_everywhere(File(f"star{valence}.ptx", U8, 2, star(valence)), 150, valence)
    colour_everywhere(File("polygon.ptx", U8, 2, polygon(5)), 99, 5)
    fan("fan.ptx", 6)


main()
