/* SPDX-License-Identifier: Apache-2.0
 *
 * Source images: opened once, read top-down in rows, as the type that Blender would read.
 *
 * A source is served by one of several readers (a direct one for the common PNG, JPEG, TIFF, EXR and HDR layouts, the
 * OpenImageIO module for everything else). Which one served it never shows in the pixels: the direct readers are
 * tested to deliver what OpenImageIO delivers with oiio:UnassociatedAlpha=1, to the bit.
 *
 * The room src/mill/source turns a file of any image format into rows of samples and a description. A folder per format
 * holds a direct reader: png/ tiff/ exr/ jpeg/ hdr/ pnm/ webp/, each knowing only this header and what all share;
 * meta/ reads the metadata that formats have in common; oiio/ hands everything else to a worker process, so that a
 * crash in a decoder costs one image. Direct readers exist for speed and for memory: what they deliver is what
 * OpenImageIO would, to the bit, and tests hold them to that. A format is added by a folder and a line in source.c.
 */
#ifndef TXM_SOURCE_SOURCE_H
#define TXM_SOURCE_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tile/base/density.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

/* What a file says about its alpha, for alpha type `auto`, by Cycles' rules: TGA counts as unassociated unless its
 * alpha type is 4, DDS and PSD always do, everything else if OpenImageIO sets oiio:UnassociatedAlpha (every PNG, with
 * alpha or without; TIFF files that say so). */
typedef enum txm_file_alpha { TXM_FILE_ALPHA_SILENT, TXM_FILE_ALPHA_UNASSOCIATED } txm_file_alpha;

/* A piece of descriptive metadata that survives conversion (copyright, artist, description-like fields). */
typedef struct txm_attribute {
    char *name, *value;
} txm_attribute;

typedef struct txm_source_info {
    uint32_t width, height; /* data window of the first subimage or part, px */
    uint32_t file_channels; /* channels in the file */
    uint32_t channels;      /* channels delivered a pixel: min(file_channels, 4), the first ones */
    txm_type type;          /* type delivered: half -> half; float, double -> float; uint16 -> u16; all else -> u8 */
    bool narrowed;          /* delivered as u8 although the file has integers of another kind */
    txm_file_alpha file_alpha;
    char format[24]; /* OpenImageIO's name of the format, as in format_table.h */
    char reader[24]; /* which reader serves it: one of the direct ones, or "oiio" */
    char colorspace_hint[128]; /* what `auto` goes by: the colour space that OpenImageIO 3.1, with which Blender 5.2 is
                                  built, names for the file ("srgb_rec709_scene"); "" if none */
    char interop_id[128];      /* what `default` goes by: colour metadata that Blender's loader believes, of EXR and of
                                  PNG's cICP; "" if none */
    bool exif_says_srgb;
    bool tiff_premultiplied_default; /* 4-channel 16-bit TIFF: Blender's scene default alpha is premultiplied */
    bool tiled;                      /* the file is in tiles */
    char software[128];              /* the Software field, "" if none: how a tx file shows itself */
    txm_density density;             /* without nonsense */
    txm_attribute *attributes;
    size_t attribute_count;
    int64_t file_bytes;
    struct timespec mtime; /* of the file when it was opened */
    uint64_t device, inode;
} txm_source_info;

typedef struct txm_source txm_source;

typedef struct txm_source_options {
    bool force_oiio;           /* never use a direct reader (also: environment TXMILL_READER=oiio) */
    uint64_t max_memory_bytes; /* refuse before allocating more than this for one image; 0: no bound */
} txm_source_options;

/* Opens an image and reads its header. `options` may be NULL. On failure *out is NULL and the message holds the
 * decoder's own message. Statuses: NOT_FOUND, NOT_A_FILE, DENIED, IO, CORRUPT, UNSUPPORTED (volumes with depth > 1,
 * deep data, unknown formats), TOO_LARGE, NO_MEMORY. */
txm_status txm_source_open(const char *path, const txm_source_options *options, txm_source **out, txm_error *err);

/* Valid until close. */
const txm_source_info *txm_source_info_of(const txm_source *source);

/* Delivers rows y .. y+rows-1, `channels` interleaved samples of `type` a pixel, row r at dst + r * stride_bytes.
 * Rows must be asked for in order, from 0, without gaps; any number of rows at a time. Not thread-safe. */
txm_status txm_source_read(txm_source *source, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes,
                           txm_error *err);

/* What is wrong with the file though all its rows could be read: known once they are. NULL: nothing. Valid until the
 * next call for this source. */
const char *txm_source_warning(const txm_source *source);

/* Delivers narrowed integers as half instead, straight from what the file has, as Blender reads what it converts: call
 * it before the first row. Only for sources whose info says `narrowed`; the info's type is half then. */
txm_status txm_source_as_half(txm_source *source, txm_error *err);

/* Back to row 0. */
txm_status txm_source_rewind(txm_source *source, txm_error *err);

/* Whether the file is still what was opened (size, mtime, inode): CHANGED if not. */
txm_status txm_source_check_unchanged(const txm_source *source, txm_error *err);

/* NULL-safe; sets *source to NULL. */
void txm_source_close(txm_source **source);

/* ---- for readers -------------------------------------------------------------------------------------------- */

/* A reader fills `info` in open, and owns `self`. Callers of its open fill in mtime, file_bytes, device and inode, and
 * for a direct reader its name and that of the format. */
typedef struct txm_reader_ops {
    const char *name;
    /* UNSUPPORTED leaves the file to OpenImageIO. */
    txm_status (*open)(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                       txm_error *err);
    txm_status (*read)(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err);
    txm_status (*rewind)(void *self, txm_error *err);
    void (*close)(void *self);
    txm_status (*as_half)(void *self, txm_error *err); /* NULL where `narrowed` is never set */
    const char *(*warning)(const void *self);          /* NULL: never one */
} txm_reader_ops;

#endif
