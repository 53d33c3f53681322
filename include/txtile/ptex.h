/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading Ptex files: a texture for each face of a mesh, at a resolution of its own, without texture coordinates.
 *
 * Reads what Disney's library writes: quads and triangles, all four types, any number of channels, constant and tiled
 * faces, stored reductions, meta data small and large, and edits, which are applied when the file is opened. A face is
 * an image of 2^u x 2^v texels whose row 0 is at v = 0, the bottom; texels are interleaved, in the file's type.
 *
 * Headers, offsets, sizes and counts are checked before use, so that a hostile file costs an error. Opening allocates
 * at most 10 KiB for each byte of the file, of which zlib can make 1 KiB; a face costs the caller's room, and as much
 * as twice the next larger stored size while a size is made that the file does not hold.
 *
 * A file should not be cut short in place while it is open; see reader.h, whose txm_tx_catch_fault is for these files
 * as well.
 *
 * NULL: as status.h says. txm_ptex_face_of, txm_ptex_constant_of and txm_ptex_meta_of answer NULL for what is not
 * there.
 *
 * Thread safety: one txm_ptex may be read from any number of threads at once; a txm_ptex_filter belongs to one thread
 * at a time.
 */
#ifndef TXTILE_PTEX_H
#define TXTILE_PTEX_H

#include "txtile/export.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A Ptex file that is open. */
typedef struct txm_ptex txm_ptex;

/* What the faces are. */
typedef enum txm_ptex_mesh { TXM_PTEX_TRIANGLES = 0, TXM_PTEX_QUADS } txm_ptex_mesh;
/* What lies beyond the mesh's borders. */
typedef enum txm_ptex_border { TXM_PTEX_CLAMP = 0, TXM_PTEX_BLACK, TXM_PTEX_PERIODIC } txm_ptex_border;
/* Whether channels 0 and 1 turn with the face where a filter crosses an edge. */
typedef enum txm_ptex_edge_mode { TXM_PTEX_EDGE_PLAIN = 0, TXM_PTEX_EDGE_TANGENT } txm_ptex_edge_mode;

/* "triangles", "quads"; "clamp", "black", "periodic"; "plain", "tangent vectors". Never NULL. */
TXM_API const char *txm_ptex_mesh_name(txm_ptex_mesh mesh);
TXM_API const char *txm_ptex_border_name(txm_ptex_border border);
TXM_API const char *txm_ptex_edge_mode_name(txm_ptex_edge_mode mode);

/* How large faces can be: files with larger ones are refused. */
enum {
    TXM_PTEX_MAX_LOG2 = 16, /* of a face's size in u and in v */
    TXM_PTEX_MAX_LEVELS = TXM_PTEX_MAX_LOG2 + 1
};

/* What the whole file says. */
typedef struct txm_ptex_info {
    txm_ptex_mesh mesh;
    txm_type type;
    uint32_t channels;
    int32_t alpha_channel; /* -1: none */
    txm_ptex_border u_border, v_border;
    txm_ptex_edge_mode edge_mode;
    uint32_t faces;
    uint32_t levels;     /* stored sizes of a face that is large enough; 1: no reductions */
    uint32_t metas;      /* entries of meta data */
    uint32_t face_edits; /* records of edits that were applied */
    uint32_t meta_edits;
    uint32_t minor_version;
    uint32_t pixel_bytes; /* of a texel: channels of the type */
    uint64_t file_bytes;
} txm_ptex_info;

/* Flags of a face. */
enum {
    TXM_PTEX_CONSTANT = 1,               /* one colour */
    TXM_PTEX_EDITED = 2,                 /* replaced by an edit: its stored reductions are not used */
    TXM_PTEX_CONSTANT_NEIGHBOURHOOD = 4, /* the faces around it have the same colour */
    TXM_PTEX_SUBFACE = 8                 /* a part of a polygon that is not a quad */
};

/* One face. Edges go counter-clockwise: bottom, right, top, left. Triangles have three. */
typedef struct txm_ptex_face {
    uint8_t u_log2, v_log2;
    uint8_t edges; /* two bits an edge, the lowest first: which edge of the neighbour it is */
    uint8_t flags;
    int32_t neighbours[4]; /* -1: none */
} txm_ptex_face;

/* Which edge of its neighbour an edge, 0 to 3, lies at. */
static inline unsigned txm_ptex_edge(const txm_ptex_face *face, unsigned edge)
{
    return face->edges >> 2 * edge & 3;
}

/* Colours are given multiplied by alpha. Levels that the file stores are always multiplied, what else it holds is not:
 * without this flag the two kinds are given as they are, as Disney's library does it. */
enum { TXM_PTEX_PREMULTIPLY = 1 };

/* Opens a file and applies its edits. CORRUPT, UNSUPPORTED, NEWER (another major version), TOO_LARGE (a face has more
 * than 2^16 texels on a side or more than 1 GiB), NOT_FOUND, NOT_A_FILE, DENIED, IO, NO_MEMORY. */
TXM_API txm_status txm_ptex_open(const char *path, unsigned flags, txm_ptex **out, txm_error *err);
/* The same from memory, which must stay as it is until the file is closed. `name` stands for the path in messages. */
TXM_API txm_status txm_ptex_open_memory(const void *data, size_t bytes, const char *name, unsigned flags,
                                        txm_ptex **out, txm_error *err);
TXM_API void txm_ptex_close(txm_ptex **ptex); /* NULL-safe; sets *ptex to NULL */

/* Valid until the file is closed. */
TXM_API const txm_ptex_info *txm_ptex_info_of(const txm_ptex *ptex);
TXM_API const txm_ptex_face *txm_ptex_face_of(const txm_ptex *ptex, uint32_t face);
/* The colour of a constant face, of another one its average: pixel_bytes in the file's type. */
TXM_API const void *txm_ptex_constant_of(const txm_ptex *ptex, uint32_t face);

/* A face at 2^u_log2 x 2^v_log2 texels: as stored, or halved from a larger stored size. 1 x 1 is the constant colour.
 * `pixels` has room for txm_ptex_face_bytes. USAGE where the face is smaller than that, and where a triangle's two
 * reductions differ; CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_ptex_read(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2, void *pixels,
                                 txm_error *err);
/* pixel_bytes << (u_log2 + v_log2). */
TXM_API size_t txm_ptex_face_bytes(const txm_ptex *ptex, uint32_t u_log2, uint32_t v_log2);
/* Whether the file stores the face at that size. */
TXM_API bool txm_ptex_is_stored(const txm_ptex *ptex, uint32_t face, uint32_t u_log2, uint32_t v_log2);

/* How a face at full size is cut into tiles: log2 of a tile's size. The face's own where it is stored as one. */
TXM_API txm_status txm_ptex_tiling(const txm_ptex *ptex, uint32_t face, uint32_t *u_log2, uint32_t *v_log2,
                                   txm_error *err);
/* One tile of a face at full size, counted row by row from the bottom; `pixels` has room for a tile. USAGE where there
 * is none; as txm_ptex_read. */
TXM_API txm_status txm_ptex_read_tile(const txm_ptex *ptex, uint32_t face, uint32_t tile, void *pixels, txm_error *err);

/* The texel at column x, row y of a face at full size, as floats, `channels` of them from `first` on. Integers are 0 to
 * 1. USAGE beyond the face or the channels. */
TXM_API txm_status txm_ptex_pixel(const txm_ptex *ptex, uint32_t face, uint32_t x, uint32_t y, uint32_t first,
                                  uint32_t channels, float *out, txm_error *err);

/* ---- meta data --------------------------------------------------------------------------------------------------- */

/* What an entry of the meta data holds: one text, or numbers. */
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

/* An entry of the meta data. */
typedef struct txm_ptex_meta {
    const char *key; /* any bytes but NUL */
    txm_ptex_meta_type type;
    uint32_t bytes; /* of the data; a string's include a NUL where it was written with one */
    uint32_t count; /* elements; of a string its bytes */
} txm_ptex_meta;

/* Entry `index`, in the order of the file; a key that was written again has its last value at its first place. */
TXM_API const txm_ptex_meta *txm_ptex_meta_of(const txm_ptex *ptex, uint32_t index);
/* Its data, little-endian, into room for its bytes. USAGE where there is none; CORRUPT, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_ptex_meta_read(const txm_ptex *ptex, uint32_t index, void *data, txm_error *err);

/* ---- lookups ---------------------------------------------------------------------------------------------------- */

/* Lookups of one thread: keeps faces that it read. The file must stay open as long. */
typedef struct txm_ptex_filter txm_ptex_filter;

/* How a lookup weighs texels. */
typedef enum txm_ptex_filter_kind {
    TXM_PTEX_POINT = 0, /* the texel that u, v lies in, at full size */
    TXM_PTEX_BILINEAR /* two texels each way at the size that the widths ask for, over the face's borders; on triangles
                         a Gaussian over the footprint, which no_edge_blend and the file's borders do not change */
} txm_ptex_filter_kind;

/* A lookup. The footprint is a parallelogram of two vectors in the face's u and v; widths are their lengths. */
typedef struct txm_ptex_request {
    size_t struct_size; /* sizeof(txm_ptex_request) */
    txm_ptex_filter_kind kind;
    uint32_t face;
    float u, v;
    float u_width1, v_width1, u_width2, v_width2;
    float width;        /* times the footprint; txm_ptex_request_init: 1 */
    float blur;         /* added to it */
    bool no_edge_blend; /* the face's edge texels go on beyond it, whatever its neighbours are */
    uint32_t first_channel, channels;
    float *result; /* `channels` floats; what the file does not have is 0 */
} txm_ptex_request;

/* Everything 0 but struct_size and width. */
TXM_API void txm_ptex_request_init(txm_ptex_request *request);

/* A filter that keeps at most `bytes` of faces, and always the one that it reads. NO_MEMORY. */
TXM_API txm_status txm_ptex_filter_new(const txm_ptex *ptex, size_t bytes, txm_ptex_filter **out, txm_error *err);
TXM_API void txm_ptex_filter_free(txm_ptex_filter **filter); /* NULL-safe; sets *filter to NULL */
/* USAGE for a face that is not there; as txm_ptex_read. */
TXM_API txm_status txm_ptex_look_up(txm_ptex_filter *filter, const txm_ptex_request *request, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
