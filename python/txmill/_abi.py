# SPDX-License-Identifier: Apache-2.0
"""Structs, functions and constants of libtxtile. Made by scripts/bindings.py from its headers; do not edit."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Tuple


class txm_error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int32),
        ("sys_errno", ctypes.c_int32),
        ("message", ctypes.c_char * 2040),
        ("subject_bytes", ctypes.c_uint16),
        ("advice_at", ctypes.c_uint16),
        ("place_bytes", ctypes.c_uint16),
        ("reserved", ctypes.c_uint16),
    ]


class txm_tx_info(ctypes.Structure):
    _fields_ = [
        ("container", ctypes.c_int32),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("levels", ctypes.c_uint32),
        ("tile_w", ctypes.c_uint32),
        ("tile_h", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
        ("type", ctypes.c_int32),
        ("compression", ctypes.c_char * 16),
        ("file_bytes", ctypes.c_uint64),
        ("image_bytes", ctypes.c_uint64),
        ("section", ctypes.c_int32),
        ("section_bytes", ctypes.c_uint64),
        ("section_reason", ctypes.c_char * 160),
        ("encoding", ctypes.c_int32),
    ]


class txm_tx_level(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("tiles_x", ctypes.c_uint32),
        ("tiles_y", ctypes.c_uint32),
        ("encoded_bytes", ctypes.c_uint64),
    ]


class txm_tx_request(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64),
        ("level", ctypes.c_uint32),
        ("tile_x", ctypes.c_uint32),
        ("tile_y", ctypes.c_uint32),
        ("padding_px", ctypes.c_uint32),
        ("extension", ctypes.c_int32),
        ("pixels", ctypes.c_void_p),
        ("pixel_stride_bytes", ctypes.c_uint64),
        ("row_stride_bytes", ctypes.c_uint64),
        ("width", ctypes.c_void_p),
        ("height", ctypes.c_void_p),
    ]


class txm_sampler(ctypes.Structure):
    _fields_ = [
        ("rule", ctypes.c_uint8),
        ("mode", ctypes.c_uint8),
        ("filter", ctypes.c_uint8),
        ("on_miss", ctypes.c_uint8),
        ("anisotropy", ctypes.c_uint8),
        ("after", ctypes.c_uint8),
        ("chance", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8),
        ("mip_bias", ctypes.c_float),
    ]


class txm_view(ctypes.Structure):
    _fields_ = [
        ("textures", ctypes.c_void_p),
        ("tiles", ctypes.c_void_p),
        ("slabs", ctypes.c_void_p),
        ("udims", ctypes.c_void_p),
        ("texture_count", ctypes.c_uint32),
        ("epoch", ctypes.c_uint32),
        ("launch", ctypes.c_uint16),
        ("round", ctypes.c_uint16),
        ("rejection", ctypes.c_uint32),
        ("leaves", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
    ]


class txm_lookups(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.c_uint64),
        ("u", ctypes.c_void_p),
        ("v", ctypes.c_void_p),
        ("dudx", ctypes.c_void_p),
        ("dvdx", ctypes.c_void_p),
        ("dudy", ctypes.c_void_p),
        ("dvdy", ctypes.c_void_p),
        ("random", ctypes.c_void_p),
        ("mask", ctypes.c_void_p),
        ("out", ctypes.c_void_p * 4),
        ("result", ctypes.c_void_p),
    ]


class txm_lookup_state(ctypes.Structure):
    _fields_ = [
        ("random", ctypes.c_uint32),
        ("capacity", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("requests", ctypes.c_void_p),
        ("asked", ctypes.c_uint32),
        ("rejected", ctypes.c_uint32),
        ("full", ctypes.c_uint32),
    ]


#: Whether programs allocate a struct, so that it is "fixed"; else it may grow at its end.
STRUCTS: Dict[str, Tuple[Any, str]] = {
    "txm_error": (txm_error, "fixed"),
    "txm_tx_info": (txm_tx_info, "returned"),
    "txm_tx_level": (txm_tx_level, "returned"),
    "txm_tx_request": (txm_tx_request, "sized"),
    "txm_sampler": (txm_sampler, "fixed"),
    "txm_view": (txm_view, "fixed"),
    "txm_lookups": (txm_lookups, "fixed"),
    "txm_lookup_state": (txm_lookup_state, "fixed"),
}
#: The result and the parameters of each function.
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "txm_version": (ctypes.c_char_p, []),
    "txm_extension_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "txm_samples_to_float": (None, [
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_uint64,
    ]),
    "txm_tx_open": (ctypes.c_int32, [
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(txm_error),
    ]),
    "txm_tx_close": (None, [ctypes.POINTER(ctypes.c_void_p)]),
    "txm_tx_info_of": (ctypes.POINTER(txm_tx_info), [ctypes.c_void_p]),
    "txm_tx_level_of": (ctypes.POINTER(txm_tx_level), [ctypes.c_void_p, ctypes.c_uint32]),
    "txm_tx_metadata_at": (ctypes.c_bool, [
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.POINTER(ctypes.c_char_p),
    ]),
    "txm_tx_read_tile": (ctypes.c_int32, [
        ctypes.c_void_p,
        ctypes.POINTER(txm_tx_request),
        ctypes.POINTER(txm_error),
    ]),
    "txm_sampler_init": (None, [ctypes.POINTER(txm_sampler)]),
    "txm_sampler_check": (ctypes.c_int32, [ctypes.POINTER(txm_sampler), ctypes.POINTER(txm_error)]),
    "txm_level_rule_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "txm_level_mode_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "txm_filter_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "txm_sample_n": (ctypes.c_int32, [
        ctypes.POINTER(txm_view),
        ctypes.c_uint32,
        ctypes.POINTER(txm_sampler),
        ctypes.POINTER(txm_lookups),
        ctypes.POINTER(txm_lookup_state),
    ]),
    "txm_texture_set_new": (ctypes.c_int32, [
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(txm_error),
    ]),
    "txm_texture_set_free": (None, [ctypes.POINTER(ctypes.c_void_p)]),
    "txm_texture_set_add": (ctypes.c_int32, [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_uint32),
        ctypes.POINTER(txm_error),
    ]),
    "txm_texture_set_load": (ctypes.c_int32, [
        ctypes.c_void_p,
        ctypes.POINTER(txm_lookup_state),
        ctypes.POINTER(txm_error),
    ]),
    "txm_texture_set_view": (ctypes.POINTER(txm_view), [ctypes.c_void_p]),
}

TXM_LOOKUP_HIT = 0
TXM_LOOKUP_MISS = 1
TXM_AFTER_UNASSOCIATE = 1
TXM_AFTER_SRGB = 2
TXM_TYPE_HALF = 2
