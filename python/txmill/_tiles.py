# SPDX-License-Identifier: Apache-2.0
"""Reads tiles of tx files in this process, through libtxtile."""
from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

from . import _abi
from ._program import TxmillError, library_folder, trusted

StrPath = Union[str, "os.PathLike[str]"]

_TYPES = ("uint8", "uint16", "half", "float")
_FORMATS = ("B", "H", "e", "f")  # of memoryview and of numpy
_BYTES = (1, 2, 2, 4)
_SONAME = "libtxtile.so.0"


class LibraryMissing(TxmillError):
    """libtxtile cannot be loaded, or is not the one that this package is for."""


class Level(NamedTuple):
    """A level: its size and its grid of tiles."""

    width: int
    height: int
    tiles_x: int
    tiles_y: int


class Tile(NamedTuple):
    """A tile. `pixels` has the shape (height + 2 padding, width + 2 padding, channels). It is a numpy array if numpy is
    installed, else a memoryview, in which halves are floats."""

    level: int
    x: int
    y: int
    width: int
    height: int
    pixels: Any


_lock = threading.Lock()
_library: Optional[ctypes.CDLL] = None


def _candidates() -> Iterator[str]:
    named = os.environ.get("TXTILE", "")
    if named:
        yield named
        return
    # A wheel has the library in the package; `make install` has it in LIBDIR.
    inside = Path(__file__).resolve().parent / "lib" / _SONAME
    if inside.is_file():
        yield str(inside)
        return
    folder = library_folder()
    if folder is not None and trusted(folder / _SONAME):
        yield str(folder / _SONAME)
    yield _SONAME


def _declare(library: ctypes.CDLL) -> Optional[str]:
    """Declares the library's functions. Returns why it cannot be used: memory of this process would be overwritten if its
    structs were larger than those of the package."""
    try:
        library.txm_sizeof.argtypes, library.txm_sizeof.restype = [ctypes.c_char_p], ctypes.c_size_t
        for name, (result, parameters) in _abi.FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = parameters, result
    except AttributeError as problem:
        return f"it lacks a function of this package ({problem})"
    for name, (struct, kind) in _abi.STRUCTS.items():
        here, there = ctypes.sizeof(struct), library.txm_sizeof(name.encode())
        if there != here if kind == "fixed" else there < here and kind == "returned":
            return f"{name} has {there} bytes there, and {here} in this package"
    return None


def _load() -> ctypes.CDLL:
    global _library
    with _lock:
        if _library is not None:
            return _library
        problems: List[str] = []
        for name in _candidates():
            try:
                library = ctypes.CDLL(name)
            except OSError as problem:
                problems.append(str(problem))
                continue
            unfit = _declare(library)
            if unfit is None:
                _library = library
                return library
            problems.append(f"{name} is of another version: {unfit}; install package and library of the same version, or set "
                            "TXTILE to the path of this version's library")
        raise LibraryMissing("libtxtile cannot be loaded: " + "; ".join(problems))


def word_index(name: str, word: str, names: Any) -> int:
    """The number of a word in one of the library's lists, which `names` gives by number."""
    words: List[str] = []
    while True:
        known = names(len(words))
        if known in (None, b"unknown"):  # the end of the list
            raise ValueError(f"{name} {word!r}: use one of {', '.join(words)}")
        words.append(known.decode())
        if words[-1] == word:
            return len(words) - 1


class TxFile:
    """An open tx file, from which any number of threads may read at once."""

    def __init__(self, path: StrPath, padding: int = 0, extension: str = "repeat") -> None:
        self.path = os.fspath(path)
        self.padding = padding
        self.extension = extension
        self._library = _load()
        self._extension = word_index("extension", extension, self._library.txm_extension_name)
        self._handle = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._users = 0
        self._closed = False
        self._check(self._library.txm_tx_open, os.fsencode(self.path), ctypes.byref(self._handle))
        info = self._library.txm_tx_info_of(self._handle).contents
        self.width: int = info.width
        self.height: int = info.height
        self.tile_width: int = info.tile_w
        self.tile_height: int = info.tile_h
        self.channels: int = info.channels
        self.type = _TYPES[info.type]
        self.compression: str = info.compression.decode()
        self.levels: Tuple[Level, ...] = tuple(self._level(i) for i in range(info.levels))
        self._type: int = info.type

    def _check(self, function: Any, *arguments: Any) -> None:
        error = _abi.txm_error()
        if function(*arguments, ctypes.byref(error)):
            raise TxmillError(error.message.decode(errors="replace"))

    def _level(self, index: int) -> Level:
        level = self._library.txm_tx_level_of(self._handle, index).contents
        return Level(level.width, level.height, level.tiles_x, level.tiles_y)

    @contextmanager
    def _in_use(self) -> Iterator[ctypes.c_void_p]:
        """The open file. If another thread closes it meanwhile, its last user frees it."""
        with self._lock:
            if self._closed:
                raise ValueError(f"{self.path}: closed")
            self._users += 1
        try:
            yield self._handle
        finally:
            with self._lock:
                self._users -= 1
                self._free_unused()

    def _free_unused(self) -> None:
        if self._closed and self._users == 0 and self._handle:
            self._library.txm_tx_close(ctypes.byref(self._handle))

    @property
    def metadata(self) -> Dict[str, str]:
        """The metadata of the file, by name."""
        found: Dict[str, str] = {}
        name, value = ctypes.c_char_p(), ctypes.c_char_p()
        with self._in_use() as handle:
            while self._library.txm_tx_metadata_at(handle, len(found), ctypes.byref(name), ctypes.byref(value)):
                text = (name.value or b"").decode(errors="replace")
                while text in found:  # if a name occurs twice, it keeps its first value
                    text += "'"
                found[text] = (value.value or b"").decode(errors="replace")
        return found

    def tile(self, level: int, x: int, y: int, padding: Optional[int] = None, extension: Optional[str] = None) -> Tile:
        """Reads one tile with `padding` pixels all round (0 to 8), from neighbouring tiles or by `extension`."""
        around = self.padding if padding is None else padding
        if not 0 <= around <= 8:
            raise ValueError(f"padding {around}: 0 to 8 pixels")
        for number in (level, x, y):
            if not 0 <= number < 1 << 32:
                raise ValueError(f"{self.path}: there is no tile {x}, {y} of level {level}")
        if level >= len(self.levels):
            raise ValueError(f"{self.path}: there is no level {level}")
        shape = self.levels[level]
        width = min(self.tile_width, shape.width - x * self.tile_width) + 2 * around
        height = min(self.tile_height, shape.height - y * self.tile_height) + 2 * around
        if x >= shape.tiles_x or y >= shape.tiles_y:
            raise ValueError(f"{self.path}: there is no tile {x}, {y} of level {level}")
        pixel = self.channels * _BYTES[self._type]
        memory = bytearray(width * height * pixel)
        target = (ctypes.c_char * len(memory)).from_buffer(memory)
        beyond = self._extension
        if extension is not None:
            beyond = word_index("extension", extension, self._library.txm_extension_name)
        self._read_tile(level, x, y, around, beyond, ctypes.addressof(target), pixel, width * pixel)
        del target
        return Tile(level, x, y, width - 2 * around, height - 2 * around, self._shaped(memory, width, height))

    def _read_tile(
        self, level: int, x: int, y: int, around: int, extension: int, address: int, pixel: int, row: int
    ) -> None:
        request = _abi.txm_tx_request(
            struct_size=ctypes.sizeof(_abi.txm_tx_request),
            level=level,
            tile_x=x,
            tile_y=y,
            padding_px=around,
            extension=extension,
            pixels=address,
            pixel_stride_bytes=pixel,
            row_stride_bytes=row,
        )
        with self._in_use() as handle:
            self._check(self._library.txm_tx_read_tile, handle, ctypes.byref(request))

    def _shaped(self, memory: bytearray, width: int, height: int) -> Any:
        try:
            numpy: Any = importlib.import_module("numpy")
        except ImportError:
            shape = (height, width, self.channels)
            plain: Any = memoryview(memory)
            if self.type == "half":  # memoryview has no halves; floats hold them exactly
                count = height * width * self.channels
                wide = (ctypes.c_float * count)()
                half = (ctypes.c_char * len(memory)).from_buffer(memory)
                self._library.txm_samples_to_float(self._type, half, wide, count)
                plain = memoryview(wide).cast("B")
                return plain.cast("f", shape=shape)
            return plain.cast(_FORMATS[self._type], shape=shape)
        return numpy.frombuffer(memory, dtype=_FORMATS[self._type]).reshape(height, width, self.channels)

    def close(self) -> None:
        """Closes the file. Reads that are running in other threads complete; later ones raise ValueError."""
        with self._lock:
            self._closed = True
            self._free_unused()

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not sys.is_finalizing() and hasattr(self, "_closed"):
            self.close()


class Tiles(TxFile):
    """An open tx file. Iterating yields every tile of every level; any number of threads may read at once."""

    def __iter__(self) -> Iterator[Tile]:
        for level, shape in enumerate(self.levels):
            for y in range(shape.tiles_y):
                for x in range(shape.tiles_x):
                    yield self.tile(level, x, y)

    def __enter__(self) -> "Tiles":
        return self


def tiles(path: StrPath, padding: int = 0, extension: str = "repeat") -> Tiles:
    """Opens a tx file to read its tiles:

        with txmill.tiles("wood.png.0-....tx", padding=2) as texture:
            for tile in texture:
                print(tile.level, tile.x, tile.y, tile.pixels.shape)

    The `padding` pixels all round are those of neighbouring tiles and, beyond the edges of the image, those of the `extension`:
    "repeat", "extend", "clip" or "mirror". The library is $TXTILE if set, else the one of this installation, else the system's.
    """
    return Tiles(path, padding, extension)
