/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading Ptex files, which hold a texture for each face of a mesh, each at its own resolution and without texture
 * coordinates.
 *
 * The reader supports everything that Disney's library writes: quads and triangles, all four types, any number of
 * channels, constant and tiled faces, stored reductions, small and large metadata, and edits, which are applied when
 * the file is opened. A face is an image of 2^u x 2^v texels whose row 0 is at v = 0, the bottom. Texels are
 * interleaved, in the file's type. In files of triangles, faces that are not square are rectangles of texels: lookups
 * use their average colour.
 *
 * Headers, offsets, sizes and counts are checked before use, so a malicious file causes an error and nothing worse.
 * Opening allocates at most 10 KiB for each byte of the file, of which zlib accounts for 1 KiB. Reading a face uses the
 * caller's buffer, and up to twice the next larger stored size while it computes a size that is not stored.
 *
 * A file should not be truncated in place while it is open; see reader.h, whose txm_tx_catch_fault also covers these
 * files.
 *
 * NULL: as described in status.h. txm_ptex_face_of, txm_ptex_constant_of and txm_ptex_meta_of return NULL for an index
 * out of range.
 *
 * Thread safety: any number of threads may read one txm_ptex at once; a txm_ptex_filter may be used by one thread at a
 * time.
 */
#ifndef TXTILE_PTEX_H
#define TXTILE_PTEX_H

#include "txtile/export.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open Ptex file. */
typedef struct txm_ptex txm_ptex;

/* The shape of the faces. */
typedef enum txm_ptex_mesh { TXM_PTEX_TRIANGLES = 0, TXM_PTEX_QUADS } txm_ptex_mesh;
/* The border mode decides how the texture continues beyond the mesh's borders. */
typedef enum txm_ptex_border { TXM_PTEX_CLAMP = 0, TXM_PTEX_BLACK, TXM_PTEX_PERIODIC } txm_ptex_border;
/* Whether channels 0 and 1 are rotated with the face when a filter crosses an edge. */
typedef enum txm_ptex_edge_mode { TXM_PTEX_EDGE_PLAIN = 0, TXM_PTEX_EDGE_TANGENT } txm_ptex_edge_mode;

/* "triangles", "quads"; "clamp", "black", "periodic"; "plain", "tangent vectors". Never NULL. */
TXM_API const char *txm_ptex_mesh_name(txm_ptex_mesh mesh);
TXM_API const char *txm_ptex_border_name(txm_ptex_border border);
TXM_API const char *txm_ptex_edge_mode_name(txm_ptex_edge_mode mode);

/* Limits of a face's size: files with larger faces are refused. */
enum {
    TXM_PTEX_MAX_LOG2 = 16, /* limit of a face's size in u and in v */
    TXM_PTEX_MAX_LEVELS = TXM_PTEX_MAX_LOG2 + 1
};

/* Properties of the whole file. */
typedef struct txm_ptex_info {
    txm_ptex_mesh mesh;
    txm_type type;
    uint32_t channels;
    int32_t alpha_channel; /* -1: none */
    txm_ptex_border u_border, v_border;
    txm_ptex_edge_mode edge_mode;
    uint32_t faces;
    uint32_t levels;     /* stored sizes of a face that is large enough for all; 1: no reductions */
    uint32_t metas;      /* number of metadata entries */
    uint32_t face_edits; /* number of face edits that were applied */
    uint32_t meta_edits;
    uint32_t minor_version;
    uint32_t pixel_bytes; /* bytes of a texel, all channels */
    uint64_t file_bytes;
    bool is_unmapped; /* the file is opened again for each read, because half of the maps that the kernel allows a
                         process (vm.max_map_count) belong to open files: slower, and a file that was replaced meanwhile
                         fails with CHANGED */
} txm_ptex_info;

/* Flags of a face. */
enum {
    TXM_PTEX_CONSTANT = 1,               /* the whole face has one colour */
    TXM_PTEX_EDITED = 2,                 /* replaced by an edit: its stored reductions are not used */
    TXM_PTEX_CONSTANT_NEIGHBOURHOOD = 4, /* the faces around it have the same colour */
    TXM_PTEX_SUBFACE = 8                 /* part of a polygon that is not a quad */
};

/* One face. Edges are counter-clockwise: bottom, right, top, left. Triangles have three. */
typedef struct txm_ptex_face {
    uint8_t u_log2, v_log2;
    uint8_t edges; /* two bits for each edge, the first lowest: the neighbour's edge that it touches */
    uint8_t flags;
    int32_t neighbours[4]; /* the face over each edge; -1: none */
} txm_ptex_face;

/* The number of the neighbour's edge that the given edge, 0 to 3, touches. */
static inline unsigned txm_ptex_edge(const txm_ptex_face *face, unsigned edge)
{
    return face->edges >> 2 * edge & 3;
}

/* A flag to multiply all colours by alpha. The levels of reductions are always stored multiplied and the other texels
 * are not; without this flag both are returned as stored, as Disney's library does. */
enum { TXM_PTEX_PREMULTIPLY = 1 };

/* Opens a file and applies its edits. CORRUPT, UNSUPPORTED, NEWER (another major version), TOO_LARGE (a face has more
 * than 2^16 texels on a side or more than 1 GiB; or a part, or the lists of faces, would take more memory than an
 * honest file of this size needs, which $TXMILL_PTEX_MEGABYTES allows), NOT_FOUND, NOT_A_FILE, DENIED, IO, NO_MEMORY.
 */
TXM_API txm_status txm_ptex_open(const char *path, unsigned flags, txm_ptex **out, txm_error *err);
/* Opens a file in memory, which must not change until it is closed. `name` replaces the path in messages. */
TXM_API txm_status txm_ptex_open_memory(const void *data, size_t bytes, const char *name, unsigned flags,
                                        txm_ptex **out, txm_error *err);
TXM_API void txm_ptex_close(txm_ptex **ptex); /* NULL-safe; sets *ptex to NULL */

/* The results of these functions are valid until the file is closed. */
TXM_API const txm_ptex_info *txm_ptex_info_of(const txm_ptex *ptex);
TXM_API const txm_ptex_face *txm_ptex_face_of(const txm_ptex *ptex, uint32_t face);
/* The colour of a constant face, or the average of any other: pixel_bytes in the file's type. */
TXM_API const void *txm_ptex_constant_of(const txm_ptex *ptex, uint32_t face);

/* Reads a face at 2^u_log2 x 2^v_log2 texels, as stored or halved from a larger stored size. 1 x 1 is the constant
 * colour. `pixels` has room for txm_ptex_face_bytes. USAGE if the face is smaller than the requested size, or if a
 * triangle is not reduced equally in u and v; CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_ptex_read(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2, void *pixels,
                                 txm_error *err);
/* pixel_bytes << (u_log2 + v_log2). */
TXM_API size_t txm_ptex_face_bytes(const txm_ptex *ptex, uint32_t u_log2, uint32_t v_log2);
/* Whether the file stores the face at that size. */
TXM_API bool txm_ptex_is_stored(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2);

/* The division of a full-size face into tiles: log2 of a tile's size, which is the face's own size if it is not tiled.
 */
TXM_API txm_status txm_ptex_tiling(const txm_ptex *ptex, uint32_t face, uint32_t *u_log2, uint32_t *v_log2,
                                   txm_error *err);
/* Reads one tile of a face at full size; tiles are counted row by row from the bottom. `pixels` has room for a tile.
 * USAGE if the tile does not exist; other errors as txm_ptex_read. */
TXM_API txm_status txm_ptex_read_tile(const txm_ptex *ptex, uint32_t face, uint32_t tile, void *pixels, txm_error *err);

/* Reads the texel at column x, row y of a face at full size, as `channels` floats from channel `first` on. Integers are
 * scaled to 0 to 1. USAGE if the texel or a channel does not exist; other errors as txm_ptex_read. */
TXM_API txm_status txm_ptex_pixel(const txm_ptex *ptex, uint32_t face, uint32_t x, uint32_t y, uint32_t first,
                                  uint32_t channels, float *out, txm_error *err);

/* ---- metadata --------------------------------------------------------------------------------------------------- */

/* The type of a metadata entry: one string, or an array of numbers. */
typedef enum txm_ptex_meta_type {
    TXM_PTEX_STRING = 0,
    TXM_PTEX_INT8,
    TXM_PTEX_INT16,
    TXM_PTEX_INT32,
    TXM_PTEX_FLOAT,
    TXM_PTEX_DOUBLE
} txm_ptex_meta_type;

/* "string", "int8", "int16", "int32", "float", "double". Never NULL. */
TXM_API const char *txm_ptex_meta_type_name(txm_ptex_meta_type type);

/* An entry of the metadata. */
typedef struct txm_ptex_meta {
    const char *key; /* any bytes but NUL */
    txm_ptex_meta_type type;
    uint32_t bytes; /* size of the data; a string's includes a NUL if it was written with one */
    uint32_t count; /* number of elements; for a string, its bytes */
} txm_ptex_meta;

/* Entry `index`, in the order of the file. A key that was written more than once has its last value, at its first
 * position. */
TXM_API const txm_ptex_meta *txm_ptex_meta_of(const txm_ptex *ptex, uint32_t index);
/* Copies an entry's data, little-endian, to `data`, which has room for its bytes. USAGE if the entry does not exist;
 * CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_ptex_meta_read(const txm_ptex *ptex, uint32_t index, void *data, txm_error *err);

/* ---- lookups ---------------------------------------------------------------------------------------------------- */

/* The state of one thread's lookups: the faces that they have read. The file must stay open until the filter is
 * freed. */
typedef struct txm_ptex_filter txm_ptex_filter;

/* The filter decides how a lookup weights texels. POINT reads the texel at u, v, at full size. The others choose for
 * each axis the size whose texels fit the footprint, and continue across the face's borders into its neighbours. On
 * triangles all of these are a Gaussian over the footprint, which ignores no_edge_blend, lerp and borders. */
typedef enum txm_ptex_filter_kind {
    TXM_PTEX_POINT = 0,
    TXM_PTEX_BILINEAR,    /* two texels each way */
    TXM_PTEX_BOX,         /* up to three texels each way, by how much of each the footprint covers */
    TXM_PTEX_GAUSSIAN,    /* this and the following: a curve four footprints wide, over at most ten texels each way */
    TXM_PTEX_BICUBIC,     /* a cubic of the request's sharpness */
    TXM_PTEX_BSPLINE,     /* the cubic of sharpness 0, which blurs most */
    TXM_PTEX_CATMULL_ROM, /* the cubic of sharpness 1, which interpolates texels and overshoots at edges */
    TXM_PTEX_MITCHELL     /* the cubic of sharpness 2/3 */
} txm_ptex_filter_kind;

/* "point", "bilinear", "box", "Gaussian", "bicubic", "B-spline", "Catmull-Rom", "Mitchell". Never NULL. */
TXM_API const char *txm_ptex_filter_kind_name(txm_ptex_filter_kind kind);

/* A lookup. The footprint is a parallelogram spanned by two vectors in the face's u and v; the widths are their
 * components. */
typedef struct txm_ptex_request {
    size_t struct_size; /* sizeof(txm_ptex_request) */
    txm_ptex_filter_kind kind;
    uint32_t face;
    float u, v;
    float u_width1, v_width1, u_width2, v_width2;
    float width;        /* scales the footprint; txm_ptex_request_init sets 1 */
    float blur;         /* added to the footprint */
    bool no_edge_blend; /* extends the face's edge texels beyond it and ignores its neighbours */
    uint32_t first_channel, channels;
    float *result;   /* `channels` floats; 0 for channels that the file does not have */
    float sharpness; /* of BICUBIC, 0 to 1 */
    bool lerp;       /* curves blend from size to size as the footprint grows, and so change without steps */
} txm_ptex_request;

/* Sets all members to 0, except struct_size and width. */
TXM_API void txm_ptex_request_init(txm_ptex_request *request);

/* Creates a filter that keeps at most `bytes` of faces, and always the one that it is reading; of faces of 256 KiB or
 * more that are stored in tiles and larger than a sixteenth of `bytes`, only the tiles that lookups need. NO_MEMORY. */
TXM_API txm_status txm_ptex_filter_new(const txm_ptex *ptex, size_t bytes, txm_ptex_filter **out, txm_error *err);
TXM_API void txm_ptex_filter_free(txm_ptex_filter **filter); /* NULL-safe; sets *filter to NULL */
/* Does a lookup. If the file has tangent vectors, the first two channels requested are rotated with the faces. Places
 * and footprints may be any floats, even infinite or NaN. USAGE for a face or a filter that does not exist; other
 * errors as txm_ptex_read. */
TXM_API txm_status txm_ptex_look_up(txm_ptex_filter *filter, const txm_ptex_request *request, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
