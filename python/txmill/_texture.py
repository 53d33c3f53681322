# SPDX-License-Identifier: Apache-2.0
"""Reads levels of tx files as buffers, and looks up colours in them, in this process through libtxtile."""
from __future__ import annotations

import array
import ctypes
import importlib
import os
import random
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _abi
from ._program import TxmillError
from ._tiles import _BYTES, StrPath, TxFile, word_index

# Types of samples in buffers. ctypes has no half, so halves are stored as floats, which is exact.
_SAMPLES: Tuple[Any, ...] = (ctypes.c_uint8, ctypes.c_uint16, ctypes.c_float, ctypes.c_float)
_FORMATS = {ctypes.c_uint8: "B", ctypes.c_uint16: "H", ctypes.c_float: "f"}
# Lookups per call of the library, and missing tiles that they may note before these are loaded.
_BATCH = 65536
_REQUESTS = 4096

#: One number, or numbers: a buffer (numpy arrays are), or a sequence.
Numbers = Union[float, Sequence[float], Any]


class Pixels:
    """Samples in memory: a buffer with the shape (height, width, channels) of unsigned integers or floats, row by row from
    the top. `numpy.asarray` and `memoryview` share its memory, which may be written to and remains valid when the file is
    closed.

    `Texture.sample` also returns one, with the shape of the coordinates and a last dimension of 4.
    """

    shape: Tuple[int, ...]
    #: the type in the file: "uint8", "uint16", "half" (floats in the buffer) or "float"
    type: str
    _sample: Any

    @property
    def height(self) -> int:
        return self.shape[0]

    @property
    def width(self) -> int:
        return self.shape[1]

    @property
    def channels(self) -> int:
        return self.shape[-1]

    @property
    def view(self) -> memoryview:
        """The samples as a memoryview that can be indexed without numpy: `view[y, x, channel]`, `view.tolist()`."""
        this: Any = self
        plain: Any = memoryview(this)
        return memoryview(plain.cast("B").cast(_FORMATS[self._sample], self.shape))

    def __repr__(self) -> str:
        return f"<txmill.Pixels {' x '.join(map(str, self.shape))} {self.type}>"


def _pixels(sample: Any, shape: Sequence[int], kind: str) -> Any:
    """Zeroed samples. A ctypes array is used because it is a buffer with a shape in every version of Python."""
    memory: Any = sample
    for size in reversed(shape):
        memory = memory * size
    made = type("Pixels", (Pixels, memory), {"__module__": "txmill"})()
    made.shape, made.type, made._sample = tuple(shape), kind, sample
    return made


def _floats(name: str, numbers: Numbers) -> Tuple[Optional[Tuple[int, ...]], Any]:
    """(None for a single number, else the shape; ctypes floats, row by row)."""
    if isinstance(numbers, (int, float)):
        return None, (ctypes.c_float * 1)(numbers)
    if hasattr(numbers, "__array_interface__"):  # of any type, and with any strides
        numpy: Any = importlib.import_module("numpy")
        numbers = numpy.ascontiguousarray(numbers, dtype="f4")
        if not numbers.shape:
            return None, (ctypes.c_float * 1)(float(numbers))
    try:
        given: Any = memoryview(numbers)
    except TypeError:
        try:
            given = memoryview(array.array("f", numbers))
        except TypeError as wrong:
            raise TypeError(f"{name}: a number, a buffer of numbers or a sequence of them: {wrong}") from None
    shape = tuple(given.shape)
    count = 1
    for size in shape:
        count *= size
    if given.format in ("f", "<f", "=f", "@f") and given.c_contiguous:
        # Copied, so that other threads cannot change the numbers during lookups.
        return shape, (ctypes.c_float * count).from_buffer_copy(given.cast("B")) if count else (ctypes.c_float * 0)()
    flat: List[Any] = given.tolist()
    for _ in shape[1:]:
        flat = [number for row in flat for number in row]
    return shape, (ctypes.c_float * count)(*flat)


def _states(draw: random.Random, count: int) -> bytes:
    """Random states for the library's generator, which must not be 0."""
    drawn = array.array("I", draw.getrandbits(32 * count).to_bytes(4 * count, "little"))
    while 0 in drawn:
        drawn[drawn.index(0)] = 1
    return drawn.tobytes()


def _repeated(number: float, count: int) -> Any:
    return (ctypes.c_float * count).from_buffer(array.array("f", [number]) * count) if count else (ctypes.c_float * 0)()


class Texture(TxFile):
    """An open tx file: its levels, `texture[0]` the largest, its tiles and its colours. Any number of threads may use
    it."""

    def __init__(self, path: StrPath) -> None:
        self._sets: Dict[int, Tuple[ctypes.c_void_p, int]] = {}
        self._sampling = threading.Lock()
        super().__init__(path)

    # ---- levels ----

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, level: int) -> Pixels:
        """Reads a level; -1 is the smallest."""
        index = level + len(self.levels) if level < 0 else level
        if not 0 <= index < len(self.levels):
            raise IndexError(f"{self.path}: there is no level {level}")
        shape = (self.levels[index].height, self.levels[index].width, self.channels)
        kind = self._type
        made = _pixels(_SAMPLES[kind], shape, self.type)
        if kind == _abi.TXM_TYPE_HALF:
            halves = (ctypes.c_uint16 * (shape[0] * shape[1] * shape[2]))()
            self._read_level(index, ctypes.addressof(halves))
            self._library.txm_samples_to_float(kind, halves, ctypes.addressof(made), len(halves))
        else:
            self._read_level(index, ctypes.addressof(made))
        level_pixels: Pixels = made
        return level_pixels

    def __iter__(self) -> Iterator[Pixels]:
        for level in range(len(self.levels)):
            yield self[level]

    def _read_level(self, level: int, address: int) -> None:
        """Reads each tile directly into its place."""
        shape = self.levels[level]
        pixel = self.channels * _BYTES[self._type]
        row = shape.width * pixel
        for y in range(shape.tiles_y):
            for x in range(shape.tiles_x):
                place = address + y * self.tile_height * row + x * self.tile_width * pixel
                self._read_tile(level, x, y, 0, 0, place, pixel, row)

    # ---- colours ----

    def sample(
        self,
        u: Numbers,
        v: Numbers,
        *,
        dudx: Numbers = 0.0,
        dvdx: Numbers = 0.0,
        dudy: Numbers = 0.0,
        dvdy: Numbers = 0.0,
        extension: str = "repeat",
        filter: str = "linear",
        mode: str = "trilinear",
        rule: str = "cycles",
        anisotropy: int = 16,
        mip_bias: float = 0.0,
        seed: Optional[int] = None,
        srgb: bool = False,
        unassociate: bool = False,
    ) -> Any:
        """Looks up colours as a renderer does, and returns RGBA as floats.

        (u, v) = (0, 0) is the bottom left corner of the image, (1, 1) the top right one. The derivatives say how u and v
        change from one pixel of the picture to the next, and determine the level. Each argument is a number or an array;
        all arrays have the same shape. The result is a tuple of four floats if all are numbers, else `Pixels` with that
        shape and a last dimension of 4.

        `extension`, `filter`, `mode` and `rule` have the values of `txmill sample`. `mode="stochastic"` and the stochastic
        filters use random numbers if `seed` is given, the same ones for the same seed. `srgb` decodes the colours, as
        Cycles does for 8-bit sRGB images; `unassociate` divides them by alpha.

        The tiles that are needed are loaded, and kept until the file is closed. A damaged tile raises TxmillError.
        """
        after = (_abi.TXM_AFTER_UNASSOCIATE * unassociate) | (_abi.TXM_AFTER_SRGB * srgb)
        how = self._sampler(rule, mode, filter, anisotropy, mip_bias, after)
        beyond = word_index("extension", extension, self._library.txm_extension_name)
        if seed is not None and seed < 0:
            raise ValueError(f"seed {seed}: 0 or more")
        named = {"u": u, "v": v, "dudx": dudx, "dvdx": dvdx, "dudy": dudy, "dvdy": dvdy}
        given = {name: _floats(name, numbers) for name, numbers in named.items()}
        shapes = {shape for shape, _ in given.values() if shape is not None}
        if len(shapes) > 1:
            listed = ", ".join(f"{name} {shape}" for name, (shape, _) in given.items() if shape is not None)
            raise ValueError(f"coordinates and derivatives have different shapes: {listed}")
        shape = shapes.pop() if shapes else None
        count = 1
        for size in shape or ():
            count *= size
        floats = [numbers if own is not None or count == 1 else _repeated(numbers[0], count)
                  for own, numbers in given.values()]
        planes = [(ctypes.c_float * count)() for _ in range(4)]
        draw = None if seed is None else random.Random(seed)
        with self._sampling, self._in_use():
            for first in range(0, count, _BATCH):
                self._look_up(beyond, how, floats, planes, first, min(_BATCH, count - first), draw)
        if shape is None:
            return tuple(plane[0] for plane in planes)
        colours = _pixels(ctypes.c_float, (*shape, 4), "float")
        if count:
            flat = memoryview(colours).cast("B").cast("f")
            for channel, plane in enumerate(planes):
                flat[channel::4] = memoryview(plane).cast("B").cast("f")
        return colours

    def _sampler(self, rule: str, mode: str, filter: str, anisotropy: int, mip_bias: float,
                 after: int) -> _abi.txm_sampler:
        how = _abi.txm_sampler()
        library = self._library
        library.txm_sampler_init(ctypes.byref(how))
        how.rule = word_index("rule", rule, library.txm_level_rule_name)
        how.mode = word_index("mode", mode, library.txm_level_mode_name)
        how.filter = word_index("filter", filter, library.txm_filter_name)
        if not 1 <= anisotropy <= 16:
            raise ValueError(f"anisotropy {anisotropy}: 1 to 16")
        how.anisotropy, how.mip_bias, how.after = anisotropy, mip_bias, after
        try:
            self._check(library.txm_sampler_check, ctypes.byref(how))
        except TxmillError as wrong:
            raise ValueError(str(wrong)) from None
        return how

    def _set_of(self, extension: int) -> Tuple[ctypes.c_void_p, int]:
        """The texture set for an extension; there is one for each, because borders of tiles depend on it."""
        if extension not in self._sets:
            textures, texture = ctypes.c_void_p(), ctypes.c_uint32()
            self._check(self._library.txm_texture_set_new, ctypes.byref(textures))
            try:
                self._check(self._library.txm_texture_set_add, textures, os.fsencode(self.path), extension,
                            ctypes.byref(texture))
            except TxmillError:
                self._library.txm_texture_set_free(ctypes.byref(textures))
                raise
            self._sets[extension] = (textures, texture.value)
        return self._sets[extension]

    def _look_up(self, extension: int, how: _abi.txm_sampler, floats: List[Any], planes: List[Any], first: int, count: int,
                 draw: Optional[random.Random]) -> None:
        textures, texture = self._set_of(extension)
        drawn = _states(draw, count) if draw else None
        states = (ctypes.c_uint32 * count)()
        requests = (ctypes.c_uint32 * _REQUESTS)()
        state = _abi.txm_lookup_state(capacity=_REQUESTS, requests=ctypes.addressof(requests))
        at = first * ctypes.sizeof(ctypes.c_float)
        batch = _abi.txm_lookups(count, *[ctypes.addressof(numbers) + at for numbers in floats])
        for channel, plane in enumerate(planes):
            batch.out[channel] = ctypes.addressof(plane) + at
        while True:
            if drawn:  # lookups that are repeated after a miss begin with the same state
                ctypes.memmove(states, drawn, len(drawn))
                batch.random = ctypes.addressof(states)
            view = self._library.txm_texture_set_view(textures)
            result = self._library.txm_sample_n(view, texture, ctypes.byref(how), ctypes.byref(batch), ctypes.byref(state))
            if result == _abi.TXM_LOOKUP_HIT:
                return
            if result != _abi.TXM_LOOKUP_MISS or state.count == 0:
                raise TxmillError(f"{self.path}: a tile that the lookup needs cannot be read")
            self._check(self._library.txm_texture_set_load, textures, ctypes.byref(state))

    def _free_unused(self) -> None:
        if self._closed and self._users == 0:
            for textures, _ in self._sets.values():
                self._library.txm_texture_set_free(ctypes.byref(textures))
            self._sets.clear()
        super()._free_unused()

    def __enter__(self) -> "Texture":
        return self


def open(path: StrPath) -> Texture:
    """Opens a tx file:

        with txmill.open("wood.png.0-....tx") as texture:
            small = texture[3]                          # a level: a buffer, with width, height, channels and type
            array = numpy.asarray(small)                # without a copy
            rows = small.view.tolist()                  # and without numpy
            tile = texture.tile(0, 0, 0, padding=2)     # with two pixels all round
            colour = texture.sample(0.5, 0.25)          # RGBA

    TxmillError is raised if the file cannot be opened or is damaged. Levels and colours remain valid when the file is
    closed. The library is $TXTILE if set, else the one of this installation, else the system's.
    """
    return Texture(path)
