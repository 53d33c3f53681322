/* SPDX-License-Identifier: Apache-2.0
 * The functions of the two containers that writer.c calls, called directly: flags of EXR's header, refusals, and memory
 * that ends anywhere. */
#include <fcntl.h>
#include <openexr.h>
#include <sys/mman.h>

#include "mill/write/writer_impl.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_writer.h"

/* ---- a file ------------------------------------------------------------------------------------------------------ */

enum { W = 40, H = 20, TILE = 32 };

/* One channel and two uncompressed tiles in level 0: each tile's pixels are its number. */
static txm_tx_layout small(txm_type type)
{
    return (txm_tx_layout){.width = W,
                           .height = H,
                           .levels = txm_level_count(W, H),
                           .channels = 1,
                           .type = type,
                           .tile_px = TILE,
                           .compression = {TXM_CODEC_NONE, 0}};
}

static const txm_container_writer *ops_of(txm_type type)
{
    return txm_type_is_float(type) ? &txm_tx_exr_writer : &txm_tx_tiff_writer;
}

/* EXR stores only the part of a tile that is inside the image. */
static size_t tile_bytes(const txm_tx_layout *l, const txm_tile_place *p)
{
    uint32_t w = txm_level_size(l->width, p->level) - p->x * l->tile_px,
             h = txm_level_size(l->height, p->level) - p->y * l->tile_px;
    bool whole = !txm_type_is_float(l->type);
    w = whole || w > l->tile_px ? l->tile_px : w;
    h = whole || h > l->tile_px ? l->tile_px : h;
    return (size_t)w * h * txm_type_bytes(l->type) * l->channels;
}

static txm_status write_levels(const txm_container_writer *ops, void *self, const txm_tx_layout *l, txm_error *err)
{
    static uint8_t tile[TILE * TILE * 4];
    txm_status status = TXM_OK;
    for (uint32_t level = 0; status == TXM_OK && level < l->levels; level++) {
        txm_tile_place p = {.level = level, .tiles_x = (txm_level_size(l->width, level) + TILE - 1) / TILE};
        for (; status == TXM_OK && p.x < p.tiles_x; p.x++) {
            memset(tile, (int)(level * 2 + p.x), sizeof tile);
            status = ops->add(self, &p, tile, tile_bytes(l, &p), err);
        }
        if (status == TXM_OK)
            status = ops->end_level ? ops->end_level(self, level, err) : TXM_OK;
    }
    return status;
}

/* Writes a small file to a descriptor, completely or up to the first failure. */
static txm_status write_to(int fd, const txm_tx_layout *l, const txm_tx_metadata *metadata,
                           const txm_tx_summary *summary, txm_error *err)
{
    const txm_container_writer *ops = ops_of(l->type);
    txm_output out;
    void *self = NULL;
    txm_status status = txm_output_open(&out, fd, 0, "made.tx", err);
    if (status != TXM_OK)
        return status;
    status = ops->open(l, metadata, &out, &self, err);
    if (status == TXM_OK)
        status = write_levels(ops, self, l, err);
    if (status == TXM_OK)
        status = ops->finish(self, summary, err);
    txm_output_flush(&out);
    txm_error cause = {0};
    if (txm_output_status(&out, &cause) != TXM_OK) /* writer.c does the same */
        status = cause.status;
    ops->close(self);
    txm_output_free(&out);
    return status;
}

static int new_fd(void)
{
    int fd = memfd_create("made.tx", 0);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* Returns the path of an open descriptor. */
static const char *path_of(int fd)
{
    static char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static int write_whole(txm_type type, const txm_tx_metadata *metadata)
{
    const txm_tx_layout l = small(type);
    const txm_tx_summary summary = made_summary();
    txm_error err = {0};
    int fd = new_fd();
    ck_assert_msg(write_to(fd, &l, metadata, &summary, &err) == TXM_OK, "%s", err.message);
    return fd;
}

/* ---- EXR --------------------------------------------------------------------------------------------------------- */

static exr_context_t open_exr(int fd)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr;
    ck_assert_int_eq(exr_start_read(&exr, path_of(fd), &init), EXR_ERR_SUCCESS);
    return exr;
}

/* Returns the attribute, or "" if it is missing. */
static const char *text_of(exr_context_t exr, const char *name)
{
    const exr_attribute_t *a = NULL;
    return exr_get_attribute_by_name(exr, 0, name, &a) == EXR_ERR_SUCCESS && a->type == EXR_ATTR_STRING ? a->string->str
                                                                                                        : "";
}

TEST(only_long_names_set_the_flag)
{
    static const char *const names[] = {"as long as thirty-one bytes are", "this name has thirty-two bytes!!"};
    for (int i = 0; i < 2; i++) {
        const txm_tx_attribute attribute = {names[i], "x"};
        txm_tx_metadata metadata = made_metadata();
        metadata.attributes = &attribute;
        metadata.attribute_count = 1;
        SCOPED(close_descriptor) int fd = write_whole(TXM_TYPE_HALF, &metadata);
        uint32_t version = 0;
        ck_assert_int_eq(pread(fd, &version, 4, 4), 4);
        ck_assert_int_eq((version & 0x400) != 0, i);
        exr_context_t exr = open_exr(fd);
        ck_assert_str_eq(text_of(exr, names[i]), "x");
        exr_finish(&exr);
    }
}

TEST(environments_say_so)
{
    txm_tx_metadata metadata = made_metadata();
    metadata.equiangular = true;
    metadata.interop_id = metadata.requested_colorspace = metadata.config = "";
    metadata.releases = metadata.releases_if_opaque = "";
    SCOPED(close_descriptor) int fd = write_whole(TXM_TYPE_HALF, &metadata);
    exr_context_t exr = open_exr(fd);
    const exr_attribute_t *a = NULL;
    ck_assert_int_eq(exr_get_attribute_by_name(exr, 0, "envmap", &a), EXR_ERR_SUCCESS);
    ck_assert_int_eq(a->uc, EXR_ENVMAP_LATLONG);
    ck_assert_str_eq(text_of(exr, "textureformat"), "LatLong Environment");
    ck_assert_str_eq(text_of(exr, "wrapmodes"), "periodic,clamp");
    ck_assert_int_ne(exr_get_attribute_by_name(exr, 0, "colorInteropID", &a), EXR_ERR_SUCCESS);
    ck_assert_int_ne(exr_get_attribute_by_name(exr, 0, "txmill:ColorSpace", &a), EXR_ERR_SUCCESS);
    exr_finish(&exr);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static const txm_type both[] = {TXM_TYPE_U8, TXM_TYPE_HALF};

TESTS(tiles_that_no_level_has_are_refused, 2)
{
    const txm_container_writer *ops = ops_of(both[_i]);
    const txm_tx_layout l = small(both[_i]);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tile_place nowhere = {.x = 7, .y = 9, .tiles_x = 2};
    static const uint8_t tile[TILE * TILE * 2];
    txm_error err = {0};
    txm_output out;
    void *self = NULL;
    SCOPED(close_descriptor) int fd = new_fd();
    ck_assert_int_eq(txm_output_open(&out, fd, 0, "made.tx", &err), TXM_OK);
    ck_assert_int_eq(ops->open(&l, &metadata, &out, &self, &err), TXM_OK);
    ck_assert_int_eq(ops->add(self, &nowhere, tile, tile_bytes(&l, &(txm_tile_place){0}), &err), TXM_STATUS_INTERNAL);
    ck_assert_msg(strstr(err.message, "made.tx: ") && strstr(err.message, "cannot write a tile"), "%s", err.message);
    ops->close(self);
    txm_output_free(&out);
}

static bool same_content(int a, int b)
{
    size_t bytes = (size_t)lseek(a, 0, SEEK_END);
    if (lseek(b, 0, SEEK_END) != (off_t)bytes)
        return false;
    void *x = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, a, 0), *y = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, b, 0);
    bool same = !memcmp(x, y, bytes);
    munmap(x, bytes);
    munmap(y, bytes);
    return same;
}

/* libtiff survives the lack of some of its memory: then the file is complete. Otherwise its handle is abandoned, which
 * leaks. */
TESTS(memory_may_end_anywhere, 2)
{
    const txm_tx_layout l = small(both[_i]);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    SCOPED(close_descriptor) int whole = write_whole(both[_i], &metadata);
    bool refused = true;
    long n = 1;
    for (; refused && n < 5000; n++) {
        txm_error err = {0};
        SCOPED(close_descriptor) int fd = new_fd();
        refuse_memory(n);
        txm_status status = write_to(fd, &l, &metadata, &summary, &err);
        refused = memory_was_refused();
        if (status == TXM_OK)
            ck_assert_msg(same_content(fd, whole), "allocation %ld", n);
        else
            ck_assert_msg(refused && status == TXM_STATUS_NO_MEMORY, "allocation %ld: %d, %s", n, status, err.message);
        ck_assert_msg(faults.live == 0 || !txm_type_is_float(both[_i]), "allocation %ld: %ld left", n, faults.live);
    }
    ck_assert(!refused && (n > 10 || !REFUSES_MEMORY));
}
