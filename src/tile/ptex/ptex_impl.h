/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the parts of the Ptex reader.
 *
 * The room src/tile/ptex reads Ptex files, from a path or from memory, and provides faces at any size, metadata, and
 * lookups across the borders of faces. ptex_open.c checks all data that locate other data (faces' sizes and neighbours,
 * and that blocks lie in the file), so the other files can rely on them. ptex_edits.c and ptex_meta.c read the two
 * lists of records, ptex_block.c decodes one block, ptex_face.c finds or makes a size, ptex_reduce.c halves, and
 * ptex_filter.c looks up; ptex_taps.c has the filters, and ptex_kernel.c and ptex_triangle.c extend a lookup to the
 * faces around it. ptex_pack.c, ptex_frame.c and ptex_pages.c arrange faces in pages, with frames of the texels beyond
 * their edges.
 */
#ifndef TXM_PTEX_IMPL_H
#define TXM_PTEX_IMPL_H
#include <sys/stat.h>

#include "base/endian.h"
#include "tile/terms/file_map.h"
#include "txtile/ptex.h"

enum {
    PTEX_HEADER_BYTES = 64,
    PTEX_EXT_BYTES = 40, /* known part of the extended header */
    PTEX_FACE_BYTES = 20,
    PTEX_LEVEL_BYTES = 16,
    PTEX_BARRIER_BYTES = 8,
    PTEX_MAX_FACE_BYTES = 1 << 30
};

/* The encoding of a block's texels. */
enum { PTEX_ENCODING_CONSTANT = 0, PTEX_ENCODING_ZIP, PTEX_ENCODING_DIFF_ZIP, PTEX_ENCODING_TILED };

/* Size and encoding share 32 bits, both in files and here. */
static inline uint32_t txm_ptex_block_bytes(uint32_t word)
{
    return word & 0x3FFFFFFF;
}

static inline uint32_t txm_ptex_block_encoding(uint32_t word)
{
    return word >> 30;
}

/* The blocks of a level, indexed by face in level 0 and by rank in the others. */
typedef struct ptex_level {
    uint32_t faces;
    uint32_t *words;
    uint64_t *offsets; /* offsets in the file */
} ptex_level;

/* An entry of the metadata, and the location of its data: unpacked, or as a zlib stream in the file. */
typedef struct ptex_meta {
    txm_ptex_meta meta;
    const uint8_t *data; /* NULL: still zipped */
    uint64_t offset;
    uint32_t zip_bytes;
} ptex_meta;

struct txm_ptex {
    char *path;
    txm_map map;         /* map of an open file */
    const uint8_t *data; /* NULL: it has no map, and is opened for each read */
    struct stat file;    /* of a file without a map */
    uint64_t bytes;
    unsigned flags;
    txm_ptex_info info;
    txm_ptex_face *faces;
    uint8_t *constants;
    uint32_t *rank; /* index of each face in the levels after the first */
    ptex_level levels[TXM_PTEX_MAX_LEVELS];
    ptex_meta *metas;
    size_t metas_capacity;
    uint8_t **unpacked; /* blocks of metadata, which entries point into */
    size_t unpacked_count, unpacked_capacity;
};

/* Offsets and sizes of the metadata and the edits. */
typedef struct ptex_places {
    uint64_t meta, large_header, large_data, edits;
    uint32_t meta_zip_bytes, meta_bytes, large_zip_bytes, large_bytes;
    uint64_t large_data_bytes, edit_bytes;
} ptex_places;

/* Whether a face has the halves of a triangle. Some writers made files of triangles with faces that are not square;
 * their texels are those of a rectangle, and lookups use their average colour. */
static inline bool txm_ptex_is_triangle(const txm_ptex *p, uint32_t face)
{
    return p->info.mesh == TXM_PTEX_TRIANGLES && p->faces[face].u_log2 == p->faces[face].v_log2;
}

/* Whether lookups find one colour in the whole face. */
static inline bool txm_ptex_is_plain(const txm_ptex *p, uint32_t face)
{
    return p->faces[face].flags & TXM_PTEX_CONSTANT ||
           (p->info.mesh == TXM_PTEX_TRIANGLES && !txm_ptex_is_triangle(p, face));
}

/* Returns CORRUPT with the message "PATH: damaged Ptex file: WHAT (byte WHERE)". */
txm_status txm_ptex_corrupt(const txm_ptex *p, const char *what, uint64_t where, txm_error *err);
bool txm_ptex_holds(const txm_ptex *p, uint64_t offset, uint64_t bytes);
/* Whether a zlib stream of that size can hold that many bytes; checked before memory is allocated. */
bool txm_ptex_may_hold(uint64_t zip_bytes, uint64_t bytes);
/* TOO_LARGE if an honest file of this size would not need so much memory. `what` is for the message. */
txm_status txm_ptex_afford(const txm_ptex *p, uint64_t bytes, const char *what, txm_error *err);
/* Gets bytes that are inside the file: in place, or in *own, which the caller frees. CHANGED: it is another file. */
txm_status txm_ptex_bytes(const txm_ptex *p, uint64_t offset, size_t bytes, const uint8_t **out, uint8_t **own,
                          txm_error *err);
/* Inflates a stream in the file to exactly `bytes` bytes. */
txm_status txm_ptex_inflate(const txm_ptex *p, uint64_t offset, uint64_t zip_bytes, void *out, size_t bytes,
                            const char *what, txm_error *err);
/* Does the same into new memory. */
txm_status txm_ptex_unpack(const txm_ptex *p, uint64_t offset, uint64_t zip_bytes, uint64_t bytes, uint8_t **out,
                           const char *what, txm_error *err);
/* Checks the size and the neighbours of a face. */
txm_status txm_ptex_check_face(const txm_ptex *p, uint32_t face, uint64_t where, txm_error *err);
/* Returns CHANGED or IO if pages of the file were lost while it was read, and `status` otherwise. */
txm_status txm_ptex_settle(const txm_ptex *p, txm_status status, txm_error *err);
/* Checks, before reading, that the file is still as long as it was. */
txm_status txm_ptex_check_map(const txm_ptex *p, txm_error *err);

/* Reads the records of edits, which replace faces or add metadata to the list. */
txm_status txm_ptex_read_edits(txm_ptex *p, const ptex_places *at, txm_error *err);

/* Read the two blocks of metadata; add the entries of another block; keep only the last entry of each key. */
txm_status txm_ptex_read_metas(txm_ptex *p, const ptex_places *at, txm_error *err);
txm_status txm_ptex_add_metas(txm_ptex *p, uint64_t offset, uint32_t zip_bytes, uint32_t bytes, txm_error *err);
txm_status txm_ptex_settle_metas(txm_ptex *p, txm_error *err);

/* A block of 2^u_log2 x 2^v_log2 texels to decode; `constant` is the texel if nothing is stored. */
typedef struct ptex_block {
    uint64_t offset;
    uint32_t word;
    uint32_t u_log2, v_log2;
    const uint8_t *constant;
} ptex_block;
txm_status txm_ptex_read_block(const txm_ptex *p, const ptex_block *block, uint8_t *pixels, txm_error *err);
/* The size of a block's tiles, and one of them as a block. */
txm_status txm_ptex_block_tiling(const txm_ptex *p, const ptex_block *block, uint32_t *u_log2, uint32_t *v_log2,
                                 txm_error *err);
txm_status txm_ptex_read_block_tile(const txm_ptex *p, const ptex_block *block, uint32_t tile, uint8_t *pixels,
                                    txm_error *err);
/* Repeats a texel. */
void txm_ptex_fill(uint8_t *pixels, const uint8_t *texel, size_t texel_bytes, size_t count);

/* Halves an image of w x h texels along u or along v. */
void txm_ptex_halve(const txm_ptex *p, const uint8_t *in, uint32_t w, uint32_t h, bool along_u, uint8_t *out);
/* The next smaller level of a triangle of n x n texels. */
void txm_ptex_halve_triangle(const txm_ptex *p, const uint8_t *in, uint32_t n, uint8_t *out);
/* Multiplies colours by alpha, in place. */
void txm_ptex_multiply_alpha(const txm_ptex *p, uint8_t *pixels, size_t count);
/* One sample as a float, as lookups return it. */
float txm_ptex_sample(txm_type type, const uint8_t *sample);
/* One sample as a float with the value as stored, and what it is for a sample of 1. Filters add these up. */
static inline float txm_ptex_number(txm_type type, const uint8_t *sample)
{
    return type == TXM_TYPE_U8    ? (float)*sample
           : type == TXM_TYPE_U16 ? (float)txm_load_le16(sample)
                                  : txm_ptex_sample(type, sample);
}
static inline float txm_ptex_one(txm_type type)
{
    return type == TXM_TYPE_U8 ? 255.0f : type == TXM_TYPE_U16 ? 65535.0f : 1.0f;
}

/* A face at some size, from those that the filter keeps; valid until the next call. A constant face and 1 x 1 have one
 * texel. */
typedef struct ptex_texels {
    const uint8_t *data;
    bool constant;
} ptex_texels;
txm_status txm_ptex_texels(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, ptex_texels *out,
                           txm_error *err);
/* Whether a face of so many bytes is kept whole, because it is small or many of its size may be kept. Otherwise its
 * tiles are. */
enum { TXM_PTEX_LARGE_BYTES = 1 << 18 };
bool txm_ptex_keeps_whole(const txm_ptex_filter *filter, size_t bytes);
/* The division of a full-size face into tiles, as txm_ptex_tiling. */
txm_status txm_ptex_tiling_of(txm_ptex_filter *filter, uint32_t face, uint32_t *u_log2, uint32_t *v_log2,
                              txm_error *err);
/* Gets one tile, of 2^u_log2 x 2^v_log2 texels, of a face at full size. */
txm_status txm_ptex_tile_texels(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, uint32_t tile,
                                const uint8_t **out, txm_error *err);
const txm_ptex *txm_ptex_filter_file(const txm_ptex_filter *filter);

/* One axis of a kernel: the weights of `count` texels from `start` on, out of 2^log2. */
enum { TXM_PTEX_MAX_TAPS = 10 };
typedef struct ptex_axis {
    int log2, start, count;
    float weights[TXM_PTEX_MAX_TAPS];
} ptex_axis;
/* Weights texels of a face of 2^log2 around `at`, as the filter of the request says; `width` is that of the footprint.
 * The first and the last weight are not 0. */
void txm_ptex_make_taps(const txm_ptex_request *request, float at, float width, int log2, ptex_axis *out);
bool txm_ptex_filter_exists(txm_ptex_filter_kind kind);

/* The faces around a vertex, counter-clockwise from the neighbour over an edge, up to the face itself or a border. */
enum { TXM_PTEX_MAX_VALENCE = 10 };
typedef struct ptex_corner {
    int met; /* faces in the lists, with the edge at which the walk goes on */
    uint32_t faces[TXM_PTEX_MAX_VALENCE];
    unsigned edges[TXM_PTEX_MAX_VALENCE];
    /* Faces that are neither the first one nor its two neighbours, from faces[1] on; below 1: none. As in Disney's
     * library, a walk that meets a border counts as if the face before it were a neighbour, and one that is longer than
     * the lists counts none. */
    int count;
} ptex_corner;
void txm_ptex_walk(const txm_ptex *p, uint32_t face, unsigned edge, ptex_corner *out);

/* Lookups across borders, on quads and on triangles. *empty: no texel was inside the kernel. */
txm_status txm_ptex_convolve(txm_ptex_filter *filter, const txm_ptex_request *request, txm_error *err);
/* Gets one texel beyond the borders of a quad at 2^u_log2 x 2^v_log2, as a bilinear lookup finds it, with all channels
 * as floats. *none: there is no face, as around a vertex of three. */
txm_status txm_ptex_texel_beyond(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2, int x, int y,
                                 float *result, bool *none, txm_error *err);
txm_status txm_ptex_gaussian(txm_ptex_filter *filter, const txm_ptex_request *request, bool *empty, txm_error *err);
#endif
