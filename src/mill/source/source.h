/* SPDX-License-Identifier: Apache-2.0
 *
 * Source images: opened once, read top-down in rows, as the type that Blender would read.
 *
 * One of several readers reads a source: a direct one for the common layouts of PNG, JPEG, TIFF, EXR, PNM and WebP, the
 * OpenImageIO module for everything else. Pixels do not depend on the reader: tests check that the direct readers
 * deliver what OpenImageIO delivers with oiio:UnassociatedAlpha=1, to the bit.
 *
 * This folder turns a file of any image format into rows of samples and a description. Each direct reader has a folder
 * (png/ tiff/ exr/ jpeg/ pnm/ webp/) and depends only on this header and the files beside it; meta/ reads the metadata
 * that several formats have; oiio/ passes everything else to a worker process, so that a crash in a decoder fails one
 * image only. Direct readers save time and memory. To add a format, add a row to format_table.h and, for a direct
 * reader, a folder.
 */
#ifndef TXM_SOURCE_SOURCE_H
#define TXM_SOURCE_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tile/terms/density.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

/* What a file states about its alpha, for alpha type `auto`, by Cycles' rules: TGA counts as unassociated unless its
 * alpha type is 4, DDS and PSD always do, all others if OpenImageIO sets oiio:UnassociatedAlpha (every PNG, with alpha
 * or without; TIFF files that say so). */
typedef enum txm_file_alpha { TXM_FILE_ALPHA_SILENT, TXM_FILE_ALPHA_UNASSOCIATED } txm_file_alpha;

/* Descriptive metadata that are kept in a conversion (copyright, artist, description and the like). */
typedef struct txm_attribute {
    char *name, *value;
} txm_attribute;

typedef struct txm_source_info {
    uint32_t width, height; /* data window of the first subimage or part, px */
    uint32_t file_channels; /* channels in the file */
    uint32_t channels;      /* channels delivered per pixel: min(file_channels, 4), the first ones */
    txm_type
        type; /* type of delivered samples: half -> half; float, double -> float; uint16 -> u16; all others -> u8 */
    bool narrowed; /* delivered as u8 although the file has integers of another type */
    txm_file_alpha file_alpha;
    char format[24];           /* OpenImageIO's name of the format, as in format_table.h */
    char reader[24];           /* name of its reader: one of the direct ones, or "oiio" */
    char colorspace_hint[128]; /* for `auto`: the colour space that OpenImageIO 3.1, with which Blender 5.2 is built,
                                  names for the file ("srgb_rec709_scene"); "" if none */
    char interop_id[128]; /* for `default`: colour metadata that Blender's loader trusts, of EXR and of PNG's cICP; ""
                             if none */
    bool exif_says_srgb;
    uint16_t tiff_compression;       /* the number of the codec; 0: not a TIFF */
    bool tiff_premultiplied_default; /* 4-channel 16-bit TIFF: Blender's scene default alpha is premultiplied */
    bool tiled;                      /* the file is tiled */
    uint64_t memory_bytes; /* what the reader holds, if that is more than some rows: a whole image, a strip; else 0 */
    uint32_t unit_rows;    /* rows that the reader decodes at once, if it prefers requests of that many */
    char software[128];    /* the Software field, "" if none: identifies tx files */
    txm_density density;   /* valid values only */
    txm_attribute *attributes;
    size_t attribute_count;
    int64_t file_bytes;
    struct timespec mtime; /* time of the file when it was opened */
    uint64_t device, inode;
} txm_source_info;

typedef struct txm_source txm_source;

typedef struct txm_source_options {
    bool force_oiio;            /* never use a direct reader (also: environment TXMILL_READER=oiio) */
    uint64_t max_memory_bytes;  /* refuse images that would need more memory; 0: bounds of bound.h */
    uint64_t free_memory_bytes; /* for readers in another process, what they may take without a bound; 0: unknown */
} txm_source_options;

/* Opens an image and reads its header. `options` may be NULL. On failure *out is NULL and the message includes the
 * decoder's own. NOT_FOUND, NOT_A_FILE, DENIED, IO, CORRUPT, UNSUPPORTED (volumes with depth > 1, deep data, unknown
 * formats), TOO_LARGE, NO_MEMORY. */
txm_status txm_source_open(const char *path, const txm_source_options *options, txm_source **out, txm_error *err);

const txm_source_info *txm_source_info_of(const txm_source *source);

/* Delivers rows y .. y+rows-1, `channels` interleaved samples of `type` per pixel, row r at dst + r * stride_bytes.
 * Rows must be requested in order, from 0, without gaps; any number of rows at a time. Not thread-safe. */
txm_status txm_source_read(txm_source *source, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes,
                           txm_error *err);

/* Returns a problem of the file that did not prevent reading its rows; known after the last row. NULL: none. Valid
 * until the next call for this source. */
const char *txm_source_warning(const txm_source *source);

/* Delivers narrowed integers as half instead, converted directly from the file's samples, as Blender reads images that
 * it converts. Call it before the first row. Only for sources whose info says `narrowed`; the info's type then becomes
 * half. */
txm_status txm_source_as_half(txm_source *source, txm_error *err);

txm_status txm_source_rewind(txm_source *source, txm_error *err);

/* CHANGED if the file is not the one that was opened (size, mtime, inode). */
txm_status txm_source_check_unchanged(const txm_source *source, txm_error *err);

void txm_source_close(txm_source **source);

/* For readers: TOO_LARGE if a side is longer than TXM_MAX_SIZE_PX. */
txm_status txm_source_check_size(const char *path, int64_t width, int64_t height, txm_error *err);
/* For readers: whether `what` of an image may take `need` bytes, by the caller's bound or that of bound.h. TOO_LARGE,
 * NO_MEMORY. */
txm_status txm_source_afford(const char *path, const char *what, double need, uint64_t file_bytes,
                             const txm_source_options *options, txm_error *err);

/* ---- for readers -------------------------------------------------------------------------------------------- */

/* A reader fills in `info` in open, and owns `self`; `path` remains valid until close. The caller of open fills in
 * mtime, file_bytes, device and inode, and for a direct reader its name and that of the format. */
typedef struct txm_reader_ops {
    const char *name;
    /* UNSUPPORTED leaves the file to OpenImageIO. */
    txm_status (*open)(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                       txm_error *err);
    txm_status (*read)(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err);
    txm_status (*rewind)(void *self, txm_error *err); /* NULL if there is nothing to do */
    void (*close)(void *self);
    txm_status (*as_half)(void *self, txm_error *err); /* NULL if `narrowed` is never set */
    const char *(*warning)(const void *self);          /* NULL: there are no warnings */
} txm_reader_ops;

#endif
