/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens Ptex files: reads the headers and the faces, and locates each block of each level.
 *
 * The sections of a file are contiguous, so an offset is a sum of sizes. Each sum is compared with the file's size
 * before anything is read there, and no more memory is allocated than the packed bytes can fill. Values that later code
 * uses as indices (neighbours, ranks, blocks) are checked here once.
 */
#include "tile/ptex/ptex_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "base/words.h"

enum { NEIGHBOUR_NONE = -1, DEFLATE_RATIO = 1032 /* most bytes that deflate can produce from one */ };

/* The fields of both headers, in the file's layout. */
typedef struct ptex_header {
    uint32_t ext_bytes, face_zip, constant_zip, level_info_bytes;
    uint64_t level_bytes;
    ptex_places places;
} ptex_header;

const char *txm_ptex_mesh_name(txm_ptex_mesh mesh)
{
    static const char *const words[] = {"triangles", "quads"};
    return TXM_WORD_OF(words, mesh);
}

const char *txm_ptex_border_name(txm_ptex_border border)
{
    static const char *const words[] = {"clamp", "black", "periodic"};
    return TXM_WORD_OF(words, border);
}

const char *txm_ptex_edge_mode_name(txm_ptex_edge_mode mode)
{
    static const char *const words[] = {"plain", "tangent vectors"};
    return TXM_WORD_OF(words, mode);
}

/* ---- what all parts need ----------------------------------------------------------------------------------------- */

txm_status txm_ptex_corrupt(const txm_ptex *p, const char *what, uint64_t where, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: damaged Ptex file: %s (byte %" PRIu64 "); the file may be truncated",
                    p->path, what, where);
}

bool txm_ptex_holds(const txm_ptex *p, uint64_t offset, uint64_t bytes)
{
    return offset <= p->bytes && bytes <= p->bytes - offset;
}

bool txm_ptex_may_hold(uint64_t zip_bytes, uint64_t bytes)
{
    return bytes / DEFLATE_RATIO <= zip_bytes;
}

/* Deflate can shrink zeros a thousand times, but lists of faces and texels that mean something shrink less than 64
 * times. What every file may have holds eight million faces, or a face of 8192 x 8192 texels. */
enum { FREE_MEGABYTES = 256, HONEST_RATIO = 64 };

txm_status txm_ptex_afford(const txm_ptex *p, uint64_t bytes, const char *what, txm_error *err)
{
    const char *word = getenv("TXMILL_PTEX_MEGABYTES");
    const long megabytes = word ? strtol(word, NULL, 10) : 0;
    const uint64_t mega = 1 << 20, usual = FREE_MEGABYTES * mega + HONEST_RATIO * p->bytes;
    const uint64_t most = megabytes > 0 && megabytes < 1 << 24 ? (uint64_t)megabytes * mega : usual;
    return bytes <= most ? TXM_OK
                         : txm_fail(err, TXM_STATUS_TOO_LARGE,
                                    "%s: %s would take %" PRIu64 " MiB of memory, more than a file of %" PRIu64
                                    " bytes may take (%" PRIu64 " MiB); TXMILL_PTEX_MEGABYTES=%" PRIu64 " allows it",
                                    p->path, what, bytes / mega + 1, p->bytes, most / mega, bytes / mega + 1);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

txm_status txm_ptex_bytes(const txm_ptex *p, uint64_t offset, size_t bytes, const uint8_t **out, uint8_t **own,
                          txm_error *err)
{
    *own = NULL;
    *out = p->data ? p->data + offset : NULL;
    if (p->data)
        return TXM_OK;
    struct stat now;
    const int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = fd < 0 || fstat(fd, &now) != 0 ? errno : 0;
    const bool changed = !rc && !is_same_file(&now, &p->file);
    if (!rc && !changed && !(*own = malloc(bytes ? bytes : 1)))
        rc = ENOMEM;
    else if (*own && (rc = txm_pread_all(fd, *own, bytes, offset))) {
        free(*own);
        *own = NULL;
    }
    if (fd >= 0)
        close(fd);
    *out = *own;
    if (changed)
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: is a different file than when it was opened; open it again",
                        p->path);
    return rc ? txm_fail_errno(err, rc, "%s: cannot be read again", p->path) : TXM_OK;
}

txm_status txm_ptex_inflate(const txm_ptex *p, uint64_t offset, uint64_t zip_bytes, void *out, size_t bytes,
                            const char *what, txm_error *err)
{
    if (!txm_ptex_holds(p, offset, zip_bytes))
        return txm_ptex_corrupt(p, what, offset, err);
    const uint8_t *zipped;
    uint8_t *own;
    txm_status status = txm_ptex_bytes(p, offset, zip_bytes, &zipped, &own, err);
    if (status != TXM_OK)
        return status;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result result =
        d ? libdeflate_zlib_decompress(d, zipped, zip_bytes, out, bytes, NULL) : LIBDEFLATE_BAD_DATA;
    libdeflate_free_decompressor(d);
    free(own);
    if (!d)
        return txm_no_memory(err, p->path);
    return result == LIBDEFLATE_SUCCESS ? TXM_OK : txm_ptex_corrupt(p, what, offset, err);
}

txm_status txm_ptex_unpack(const txm_ptex *p, uint64_t offset, uint64_t zip_bytes, uint64_t bytes, uint8_t **out,
                           const char *what, txm_error *err)
{
    *out = NULL;
    if (!txm_ptex_holds(p, offset, zip_bytes) || !txm_ptex_may_hold(zip_bytes, bytes))
        return txm_ptex_corrupt(p, what, offset, err);
    if (txm_ptex_afford(p, bytes, "a part of it", err) != TXM_OK)
        return TXM_STATUS_TOO_LARGE;
    uint8_t *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        return txm_no_memory(err, p->path);
    txm_status status = txm_ptex_inflate(p, offset, zip_bytes, memory, bytes, what, err);
    if (status != TXM_OK)
        free(memory);
    else
        *out = memory;
    return status;
}

txm_status txm_ptex_settle(const txm_ptex *p, txm_status status, txm_error *err)
{
    return p->map.data && txm_map_lost(&p->map) ? txm_map_fail(&p->map, p->path, err) : status;
}

txm_status txm_ptex_check_map(const txm_ptex *p, txm_error *err)
{
    bool whole = !p->map.data || (!txm_map_lost(&p->map) && txm_map_is_whole(&p->map));
    return whole ? TXM_OK : txm_map_fail(&p->map, p->path, err);
}

/* ---- the headers ------------------------------------------------------------------------------------------------- */

/* Refuses files that Disney's library would misread: unknown meshes and types, or an alpha channel that does not
 * exist. */
static txm_status check_ptex_header(const txm_ptex *p, txm_error *err)
{
    const uint8_t *h = p->data;
    if (p->bytes < 4 || memcmp(h, "Ptex", 4) != 0)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: not a Ptex file", p->path);
    if (p->bytes < PTEX_HEADER_BYTES)
        return txm_ptex_corrupt(p, "the header is cut off", 0, err);
    if (txm_load_le32(h + 4) != 1)
        return txm_fail(err, TXM_STATUS_NEWER, "%s: Ptex version %" PRIu32 "; txmill reads version 1", p->path,
                        txm_load_le32(h + 4));
    if (txm_load_le32(h + 8) > TXM_PTEX_QUADS)
        return txm_ptex_corrupt(p, "an unknown kind of mesh", 8, err);
    if (txm_load_le32(h + 12) > TXM_TYPE_FLOAT)
        return txm_ptex_corrupt(p, "an unknown type of data", 12, err);
    uint32_t channels = txm_load_le16(h + 20), alpha = txm_load_le32(h + 16);
    if (!channels)
        return txm_ptex_corrupt(p, "it has no channels", 20, err);
    if (alpha != UINT32_MAX && alpha >= channels)
        return txm_ptex_corrupt(p, "its alpha channel does not exist", 16, err);
    uint32_t levels = txm_load_le16(h + 22);
    if (!levels || levels > TXM_PTEX_MAX_LEVELS || txm_load_le32(h + 40) != levels * PTEX_LEVEL_BYTES)
        return txm_ptex_corrupt(p, "an impossible number of levels", 22, err);
    if (!txm_load_le32(h + 24))
        return txm_ptex_corrupt(p, "it has no faces", 24, err);
    if (!txm_ptex_holds(p, PTEX_HEADER_BYTES, txm_load_le32(h + 28)))
        return txm_ptex_corrupt(p, "the extended header is cut off", PTEX_HEADER_BYTES, err);
    return TXM_OK;
}

/* Files from before 2010 lack fields of the extended header, which are set to 0. Later versions may have more, which
 * are skipped. */
static txm_status read_ptex_header(txm_ptex *p, ptex_header *out, txm_error *err)
{
    txm_status status = check_ptex_header(p, err);
    if (status != TXM_OK)
        return status;
    const uint8_t *h = p->data;
    uint8_t ext[PTEX_EXT_BYTES] = {0};
    out->ext_bytes = txm_load_le32(h + 28);
    memcpy(ext, h + PTEX_HEADER_BYTES, out->ext_bytes < sizeof ext ? out->ext_bytes : sizeof ext);
    unsigned u_border = txm_load_le16(ext), v_border = txm_load_le16(ext + 4), edge_mode = txm_load_le16(ext + 6);
    if (u_border > TXM_PTEX_PERIODIC || v_border > TXM_PTEX_PERIODIC || edge_mode > TXM_PTEX_EDGE_TANGENT)
        return txm_ptex_corrupt(p, "an unknown kind of border", PTEX_HEADER_BYTES, err);
    p->info = (txm_ptex_info){.mesh = (txm_ptex_mesh)txm_load_le32(h + 8),
                              .type = (txm_type)txm_load_le32(h + 12),
                              .channels = txm_load_le16(h + 20),
                              .alpha_channel = (int32_t)txm_load_le32(h + 16),
                              .u_border = (txm_ptex_border)u_border,
                              .v_border = (txm_ptex_border)v_border,
                              .edge_mode = (txm_ptex_edge_mode)edge_mode,
                              .faces = txm_load_le32(h + 24),
                              .levels = txm_load_le16(h + 22),
                              .minor_version = txm_load_le32(h + 44),
                              .file_bytes = p->bytes};
    p->info.pixel_bytes = p->info.channels * (uint32_t)txm_type_bytes(p->info.type);
    out->face_zip = txm_load_le32(h + 32);
    out->constant_zip = txm_load_le32(h + 36);
    out->level_info_bytes = txm_load_le32(h + 40);
    out->level_bytes = txm_load_le64(h + 48);
    out->places = (ptex_places){.meta_zip_bytes = txm_load_le32(h + 56),
                                .meta_bytes = txm_load_le32(h + 60),
                                .large_zip_bytes = txm_load_le32(ext + 8),
                                .large_bytes = txm_load_le32(ext + 12),
                                .large_data_bytes = txm_load_le64(ext + 16),
                                .edit_bytes = txm_load_le64(ext + 24),
                                .edits = txm_load_le64(ext + 32)};
    return TXM_OK;
}

/* ---- the faces --------------------------------------------------------------------------------------------------- */

/* A triangle's fourth neighbour is ignored. */
txm_status txm_ptex_check_face(const txm_ptex *p, uint32_t face, uint64_t where, txm_error *err)
{
    const txm_ptex_face *f = &p->faces[face];
    bool quads = p->info.mesh == TXM_PTEX_QUADS;
    char what[96];
    const char *wrong = NULL;
    if (f->u_log2 > 127 || f->v_log2 > 127)
        wrong = "an impossible size";
    for (int e = 0; e < (quads ? 4 : 3) && !wrong; e++)
        if (f->neighbours[e] < NEIGHBOUR_NONE || f->neighbours[e] >= (int64_t)p->info.faces)
            wrong = "a neighbour that does not exist";
    if (wrong) {
        snprintf(what, sizeof what, "face %" PRIu32 " has %s", face, wrong);
        return txm_ptex_corrupt(p, what, where, err);
    }
    bool large = f->u_log2 > TXM_PTEX_MAX_LOG2 || f->v_log2 > TXM_PTEX_MAX_LOG2;
    if (large || (!(f->flags & TXM_PTEX_CONSTANT) &&
                  (uint64_t)p->info.pixel_bytes << (f->u_log2 + f->v_log2) > PTEX_MAX_FACE_BYTES))
        return txm_fail(err, TXM_STATUS_TOO_LARGE,
                        "%s: face %" PRIu32 " has 2^%u x 2^%u texels; the limit is 2^%d on a "
                        "side and 1 GiB",
                        p->path, face, f->u_log2, f->v_log2, TXM_PTEX_MAX_LOG2);
    return TXM_OK;
}

/* Ranks faces in the levels after the first: larger ones come first, and equal ones in order of their numbers. There
 * are few sizes, so this is a counting sort. */
static txm_status rank_ptex_faces(txm_ptex *p, txm_error *err)
{
    uint32_t first[TXM_PTEX_MAX_LOG2 + 2] = {0};
    p->rank = txm_calloc(p->info.faces, sizeof *p->rank);
    if (!p->rank)
        return txm_no_memory(err, p->path);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < p->info.faces; i++) {
            const txm_ptex_face *f = &p->faces[i];
            uint32_t least = f->u_log2 < f->v_log2 ? f->u_log2 : f->v_log2;
            uint32_t place = TXM_PTEX_MAX_LOG2 - (f->flags & TXM_PTEX_CONSTANT ? 0 : least);
            if (pass)
                p->rank[i] = first[place]++;
            else
                first[place + 1]++;
        }
        for (int i = 0; i <= TXM_PTEX_MAX_LOG2 && !pass; i++)
            first[i + 1] += first[i];
    }
    return TXM_OK;
}

/* The flag for edited faces is set by the reader, so the file's bit is cleared. */
static txm_status read_ptex_faces(txm_ptex *p, uint64_t offset, uint32_t zip_bytes, txm_error *err)
{
    static_assert(sizeof(txm_ptex_face) == PTEX_FACE_BYTES, "faces are used as they lie in the file");
    uint8_t *bytes;
    txm_status status = txm_ptex_unpack(p, offset, zip_bytes, (uint64_t)p->info.faces * PTEX_FACE_BYTES, &bytes,
                                        "its list of faces cannot be read", err);
    p->faces = (txm_ptex_face *)(void *)bytes;
    for (uint32_t i = 0; i < p->info.faces && status == TXM_OK; i++) {
        p->faces[i].flags &= (uint8_t)~TXM_PTEX_EDITED;
        status = txm_ptex_check_face(p, i, offset, err);
    }
    return status == TXM_OK ? rank_ptex_faces(p, err) : status;
}

/* ---- the levels -------------------------------------------------------------------------------------------------- */

/* Blocks follow the level's header in the order of the list, and all must lie in the level. */
static txm_status place_ptex_blocks(txm_ptex *p, ptex_level *level, uint64_t offset, uint64_t end, txm_error *err)
{
    level->offsets = txm_calloc(level->faces, sizeof *level->offsets);
    if (!level->offsets)
        return txm_no_memory(err, p->path);
    for (uint32_t i = 0; i < level->faces; i++) {
        uint32_t bytes = txm_ptex_block_bytes(level->words[i]);
        if (bytes > end - offset)
            return txm_ptex_corrupt(p, "a face lies outside of its level", offset, err);
        level->offsets[i] = offset;
        offset += bytes;
    }
    return TXM_OK;
}

static txm_status read_ptex_level(txm_ptex *p, uint32_t index, const uint8_t *info, uint64_t *at, uint64_t end,
                                  txm_error *err)
{
    ptex_level *level = &p->levels[index];
    uint64_t bytes = txm_load_le64(info);
    uint32_t zip_bytes = txm_load_le32(info + 8), faces = txm_load_le32(info + 12);
    uint8_t *words;
    if (bytes > end - *at || zip_bytes > bytes)
        return txm_ptex_corrupt(p, "a level lies outside of the file", *at, err);
    if (faces > p->info.faces || (!index && faces != p->info.faces))
        return txm_ptex_corrupt(p, "a level has an impossible number of faces", *at, err);
    txm_status status = txm_ptex_unpack(p, *at, zip_bytes, (uint64_t)faces * sizeof *level->words, &words,
                                        "the list of a level cannot be read", err);
    level->words = (uint32_t *)(void *)words;
    level->faces = status == TXM_OK ? faces : 0;
    if (status == TXM_OK)
        status = place_ptex_blocks(p, level, *at + zip_bytes, *at + bytes, err);
    *at += bytes;
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The sections after the metadata are present only if there is metadata. The large metadata comes after a separator
 * that is not always written, and nothing is read there unless the sections have a size. */
static txm_status read_ptex_sections(txm_ptex *p, txm_error *err)
{
    ptex_header h = {0};
    txm_status status = read_ptex_header(p, &h, err);
    if (status != TXM_OK)
        return status;
    uint64_t faces = PTEX_HEADER_BYTES + (uint64_t)h.ext_bytes, constants = faces + h.face_zip;
    uint64_t infos = constants + h.constant_zip, levels = infos + h.level_info_bytes;
    if (!txm_ptex_holds(p, infos, h.level_info_bytes))
        return txm_ptex_corrupt(p, "the list of levels is cut off", infos, err);
    uint64_t lists = p->info.faces * (uint64_t)(sizeof *p->faces + sizeof *p->rank + p->info.pixel_bytes);
    for (uint32_t i = 0; i < p->info.levels; i++)
        lists += txm_load_le32(p->data + infos + i * PTEX_LEVEL_BYTES + 12) *
                 (uint64_t)(sizeof *p->levels[i].words + sizeof *p->levels[i].offsets);
    status = txm_ptex_afford(p, lists, "the lists of its faces", err); /* all of them, before the first is unpacked */
    if (status == TXM_OK)
        status = read_ptex_faces(p, faces, h.face_zip, err);
    if (status == TXM_OK)
        status = txm_ptex_unpack(p, constants, h.constant_zip, (uint64_t)p->info.faces * p->info.pixel_bytes,
                                 &p->constants, "its constant colours cannot be read", err);
    if (status == TXM_OK && !txm_ptex_holds(p, levels, h.level_bytes))
        status = txm_ptex_corrupt(p, "the levels are cut off", levels, err);
    uint64_t at = levels;
    for (uint32_t i = 0; i < p->info.levels && status == TXM_OK; i++)
        status = read_ptex_level(p, i, p->data + infos + i * PTEX_LEVEL_BYTES, &at, levels + h.level_bytes, err);
    h.places.meta = levels + h.level_bytes;
    h.places.large_header = h.places.meta + h.places.meta_zip_bytes + PTEX_BARRIER_BYTES;
    h.places.large_data = h.places.large_header + h.places.large_zip_bytes;
    if (status == TXM_OK)
        status = txm_ptex_read_metas(p, &h.places, err);
    if (status == TXM_OK)
        status = txm_ptex_read_edits(p, &h.places, err);
    if (status == TXM_OK)
        status = txm_ptex_settle_metas(p, err);
    if (status == TXM_OK && p->flags & TXM_PTEX_PREMULTIPLY)
        txm_ptex_multiply_alpha(p, p->constants, p->info.faces);
    return status;
}

/* Takes ownership of `p`. */
static txm_status open_ptex(txm_ptex *p, txm_ptex **out, txm_error *err)
{
    txm_status status = txm_ptex_settle(p, read_ptex_sections(p, err), err);
    p->info.is_unmapped = p->map.data && (p->map.copy || txm_maps_are_scarce());
    if (p->info.is_unmapped) {
        txm_map_close(&p->map);
        p->data = NULL;
    }
    txm_map_drop_pages(&p->map);
    if (status != TXM_OK)
        txm_ptex_close(&p);
    *out = p;
    return status;
}

static txm_ptex *new_ptex(const char *path, unsigned flags)
{
    txm_ptex *p = txm_calloc(1, sizeof *p);
    if (p) {
        p->path = txm_strdup(path);
        p->flags = flags;
    }
    if (p && !p->path) {
        free(p);
        p = NULL;
    }
    return p;
}

static txm_status map_ptex(txm_ptex *p, int fd, txm_error *err)
{
    const struct stat *st = &p->file;
    if (fstat(fd, &p->file) != 0)
        return txm_fail_errno(err, errno, "%s: cannot examine the file", p->path);
    if (!S_ISREG(st->st_mode))
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", p->path);
    if (!st->st_size)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file is empty", p->path);
    int rc = txm_map_open(&p->map, fd, (size_t)st->st_size);
    if (rc)
        return txm_fail_errno(err, rc, "%s: cannot map %lld bytes", p->path, (long long)st->st_size);
    p->data = p->map.data;
    p->bytes = p->map.bytes;
    return TXM_OK;
}

txm_status txm_ptex_open(const char *path, unsigned flags, txm_ptex **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no Ptex file given: its path is NULL");
    txm_ptex *p = new_ptex(path, flags);
    if (!p)
        return txm_no_memory(err, path);
    /* O_NONBLOCK prevents open() from waiting for the writer of a pipe; it does not affect regular files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    txm_status status = fd < 0 ? txm_fail_errno(err, errno, "%s: cannot open", path) : map_ptex(p, fd, err);
    if (fd >= 0)
        close(fd);
    if (status == TXM_OK)
        status = open_ptex(p, out, err);
    else
        txm_ptex_close(&p);
    return status != TXM_OK && err && txm_explain_pointer(path, err) ? err->status : status;
}

txm_status txm_ptex_open_memory(const void *data, size_t bytes, const char *name, unsigned flags, txm_ptex **out,
                                txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    if (!name)
        return txm_fail(err, TXM_STATUS_USAGE, "no name given for a Ptex file in memory: it is NULL");
    txm_ptex *p = new_ptex(name, flags);
    if (!p)
        return txm_no_memory(err, name);
    p->data = data;
    p->bytes = bytes;
    return open_ptex(p, out, err);
}

void txm_ptex_close(txm_ptex **ptex)
{
    txm_ptex *p = ptex ? *ptex : NULL;
    if (!p)
        return;
    txm_map_close(&p->map);
    for (int i = 0; i < TXM_PTEX_MAX_LEVELS; i++) {
        free(p->levels[i].words);
        free(p->levels[i].offsets);
    }
    for (size_t i = 0; i < p->unpacked_count; i++)
        free(p->unpacked[i]);
    free(p->unpacked);
    free(p->metas);
    free(p->rank);
    free(p->constants);
    free(p->faces);
    free(p->path);
    free(p);
    *ptex = NULL;
}

const txm_ptex_info *txm_ptex_info_of(const txm_ptex *ptex)
{
    return &ptex->info;
}

const txm_ptex_face *txm_ptex_face_of(const txm_ptex *ptex, uint32_t face)
{
    return face < ptex->info.faces ? &ptex->faces[face] : NULL;
}

const void *txm_ptex_constant_of(const txm_ptex *ptex, uint32_t face)
{
    return face < ptex->info.faces ? ptex->constants + (size_t)face * ptex->info.pixel_bytes : NULL;
}
