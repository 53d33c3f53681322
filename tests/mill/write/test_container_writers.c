/* SPDX-License-Identifier: Apache-2.0
 * The functions of the two containers that writer.c calls, called directly: directories and headers, texts that come
 * late, refusals. */
#include <check.h>
#include <fcntl.h>
#include <openexr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tiffio.h>
#include <unistd.h>

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
            status = ops->end_level(self, level, err);
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

/* ---- TIFF -------------------------------------------------------------------------------------------------------- */

static TIFF *open_tiff(int fd)
{
    TIFFSetWarningHandler(NULL);
    TIFF *t = TIFFOpen(path_of(fd), "r");
    ck_assert_ptr_nonnull(t);
    return t;
}

START_TEST(a_directory_for_each_level)
{
    const txm_tx_metadata metadata = made_metadata();
    int fd = write_whole(TXM_TYPE_U8, &metadata);
    TIFF *t = open_tiff(fd);
    uint8_t tile[TILE * TILE];
    for (uint32_t level = 0; level < txm_level_count(W, H); level++) {
        uint32_t w = 0, h = 0;
        ck_assert(TIFFSetDirectory(t, (tdir_t)level));
        ck_assert(TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &w) && TIFFGetField(t, TIFFTAG_IMAGELENGTH, &h));
        ck_assert(w == txm_level_size(W, level) && h == txm_level_size(H, level));
        for (uint32_t x = 0; x < TIFFNumberOfTiles(t); x++) {
            ck_assert_int_eq(TIFFReadEncodedTile(t, x, tile, sizeof tile), sizeof tile);
            ck_assert_uint_eq(tile[TILE * TILE - 1], level * 2 + x);
        }
    }
    ck_assert_int_eq(TIFFNumberOfDirectories(t), (int)txm_level_count(W, H));
    TIFFClose(t);
    close(fd);
}
END_TEST

/* Checks the description as a reader finds it, and its bytes in the file. */
START_TEST(the_late_description_takes_the_room_that_was_kept)
{
    const txm_tx_metadata metadata = made_metadata();
    int fd = write_whole(TXM_TYPE_U8, &metadata);
    TIFF *t = open_tiff(fd);
    const char *text = NULL, *software = NULL, *copyright = NULL;
    ck_assert(TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text) && TIFFGetField(t, TIFFTAG_SOFTWARE, &software));
    ck_assert(TIFFGetField(t, TIFFTAG_COPYRIGHT, &copyright));
    ck_assert_msg(strstr(text, made_summary().sha1) && strstr(text, "oiio:AverageColor=0.509998") && *text == 'A', "%s",
                  text);
    ck_assert_ptr_null(strstr(text, "  "));    /* without the filler */
    ck_assert_ptr_null(strstr(text, "-----")); /* without the digest's place */
    ck_assert_str_eq(copyright, "(c) a painter");
    ck_assert_str_ne(software, "must not win");
    TIFFClose(t);
    /* The rest of the reserved space is zero. */
    size_t bytes = (size_t)lseek(fd, 0, SEEK_END), length = strlen(made_summary().sha1);
    char *all = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0), *at = memmem(all, bytes, made_summary().sha1, length);
    ck_assert_ptr_nonnull(at);
    at += strlen(at);
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(at[i], 0);
    munmap(all, bytes);
    close(fd);
}
END_TEST

START_TEST(big_tiff_where_the_worst_case_needs_it)
{
    static const struct {
        uint32_t size;
        uint16_t version;
    } cases[] = {{1000, 42}, {26000, 42}, {30000, 43}, {65536, 43}}; /* 4 bytes a pixel, and 4/3 for levels */
    const txm_tx_metadata metadata = made_metadata();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_tx_layout l = small(TXM_TYPE_U8);
        l.width = l.height = cases[i].size;
        l.levels = txm_level_count(l.width, l.height);
        l.channels = 4;
        txm_error err = {0};
        txm_output out;
        void *self;
        uint16_t version = 0;
        int fd = new_fd();
        ck_assert_int_eq(txm_output_open(&out, fd, 0, "made.tx", &err), TXM_OK);
        ck_assert_msg(txm_tx_tiff_writer.open(&l, &metadata, &out, &self, &err) == TXM_OK, "%s", err.message);
        ck_assert(txm_output_read(&out, 2, &version, 2));
        ck_assert_uint_eq(version, cases[i].version);
        txm_tx_tiff_writer.close(self);
        txm_output_free(&out);
        close(fd);
    }
    txm_tx_tiff_writer.close(NULL);
}
END_TEST

START_TEST(codecs_and_channels_are_in_the_directory)
{
    static const struct {
        txm_codec codec;
        uint16_t compression, predictor;
    } cases[] = {{TXM_CODEC_NONE, COMPRESSION_NONE, PREDICTOR_NONE},
                 {TXM_CODEC_ZIP, COMPRESSION_ADOBE_DEFLATE, PREDICTOR_HORIZONTAL},
                 {TXM_CODEC_ZSTD, COMPRESSION_ZSTD, PREDICTOR_HORIZONTAL}};
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_tx_layout l = small(TXM_TYPE_U16);
        txm_error err = {0};
        uint16_t compression = 0, predictor = PREDICTOR_NONE, bits = 0, photometric = 0, extra_count = 0, *extra = NULL;
        int fd = new_fd();
        l.channels = 4;
        l.tile_px = 16;
        l.width = l.height = 16;
        l.levels = 1;
        l.compression.codec = cases[i].codec;
        ck_assert_msg(write_to(fd, &l, &metadata, &summary, &err) == TXM_OK, "%s", err.message);
        TIFF *t = open_tiff(fd);
        TIFFGetField(t, TIFFTAG_COMPRESSION, &compression);
        TIFFGetField(t, TIFFTAG_PREDICTOR, &predictor);
        TIFFGetField(t, TIFFTAG_BITSPERSAMPLE, &bits);
        TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &photometric);
        TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &extra_count, &extra);
        ck_assert(compression == cases[i].compression && predictor == cases[i].predictor && bits == 16);
        ck_assert(photometric == PHOTOMETRIC_RGB && extra_count == 1 && *extra == EXTRASAMPLE_UNSPECIFIED);
        TIFFClose(t);
        close(fd);
    }
}
END_TEST

START_TEST(resolutions_follow_the_aspect)
{
    static const struct {
        txm_density said;
        float x, y; /* 0: not written */
        uint16_t unit;
    } cases[] = {
        {{0}, 0, 0, 0},
        {{.x = 72, .y = 72, .aspect = 1, .unit = "in"}, 72, 72, RESUNIT_INCH},
        {{.x = 72, .y = 72, .aspect = 1, .unit = "inch"}, 72, 72, RESUNIT_INCH},
        {{.x = 30, .y = 60, .aspect = 2, .unit = "cm"}, 30, 60, RESUNIT_CENTIMETER},
        {{.x = 30, .y = 30, .aspect = 2, .unit = "none"}, 30, 60, RESUNIT_NONE}, /* they contradict each other */
        {{.x = 0.5f, .y = 0.5f, .aspect = 2, .unit = "in"}, 1, 2, RESUNIT_NONE}, /* below 1: the aspect alone */
        {{.aspect = 1.5f}, 1, 1.5f, 0},
        {{.x = 72, .y = 72, .aspect = 1, .unit = "furlong"}, 72, 72, 0},
        {{.x = 72, .y = 72, .aspect = 1e-30f}, 0, 0, 0}, /* not a ratio of 32-bit numbers */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_tx_metadata metadata = made_metadata();
        metadata.density = cases[i].said;
        int fd = write_whole(TXM_TYPE_U8, &metadata);
        TIFF *t = open_tiff(fd);
        float x = 0, y = 0;
        uint16_t unit = 0;
        TIFFGetField(t, TIFFTAG_XRESOLUTION, &x);
        TIFFGetField(t, TIFFTAG_YRESOLUTION, &y);
        TIFFGetField(t, TIFFTAG_RESOLUTIONUNIT, &unit);
        ck_assert_msg(x == cases[i].x && y == cases[i].y && unit == cases[i].unit, "case %zu: %g %g %u", i, (double)x,
                      (double)y, unit);
        TIFFClose(t);
        close(fd);
    }
}
END_TEST

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

START_TEST(the_second_header_takes_the_place_of_the_first)
{
    const txm_tx_metadata metadata = made_metadata();
    int fd = write_whole(TXM_TYPE_HALF, &metadata);
    exr_context_t exr = open_exr(fd);
    int32_t levels_x = 0, levels_y = 0;
    ck_assert_str_eq(text_of(exr, "oiio:SHA-1"), made_summary().sha1);
    ck_assert_str_eq(text_of(exr, "oiio:AverageColor"), "0.509998");
    ck_assert_str_eq(text_of(exr, "oiio:ConstantColor"), "");
    ck_assert_str_eq(text_of(exr, "owner"), "(c) a painter");
    ck_assert_str_eq(text_of(exr, "comments"), "A wall");
    ck_assert_str_eq(text_of(exr, "colorInteropID"), "lin_rec709_scene");
    ck_assert_str_ne(text_of(exr, "Software"), "must not win");
    ck_assert_int_eq(exr_get_tile_levels(exr, 0, &levels_x, &levels_y), EXR_ERR_SUCCESS);
    ck_assert_int_eq(levels_x, (int)txm_level_count(W, H));
    for (int level = 0; level < levels_x; level++)
        for (int x = 0; x < (level ? 1 : 2); x++) {
            uint8_t tile[TILE * TILE * 2];
            exr_chunk_info_t chunk;
            ck_assert_int_eq(exr_read_tile_chunk_info(exr, 0, x, 0, level, level, &chunk), EXR_ERR_SUCCESS);
            ck_assert_int_eq(exr_read_chunk(exr, 0, &chunk, tile), EXR_ERR_SUCCESS);
            ck_assert_int_eq(tile[chunk.packed_size - 1], level * 2 + x);
        }
    exr_finish(&exr);
    close(fd);
}
END_TEST

START_TEST(constant_colours_are_named)
{
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_layout l = small(TXM_TYPE_FLOAT);
    txm_tx_summary summary = made_summary();
    txm_error err = {0};
    int fd = new_fd();
    summary.constant = true;
    summary.constant_color[0] = -1.17549435e-38f; /* as long as possible */
    ck_assert_msg(write_to(fd, &l, &metadata, &summary, &err) == TXM_OK, "%s", err.message);
    exr_context_t exr = open_exr(fd);
    ck_assert_str_eq(text_of(exr, "oiio:ConstantColor"), "-1.17549e-38");
    exr_finish(&exr);
    close(fd);
}
END_TEST

START_TEST(only_long_names_set_the_flag)
{
    static const char *const names[] = {"as long as thirty-one bytes are", "this name has thirty-two bytes!!"};
    for (int i = 0; i < 2; i++) {
        const txm_tx_attribute attribute = {names[i], "x"};
        txm_tx_metadata metadata = made_metadata();
        metadata.attributes = &attribute;
        metadata.attribute_count = 1;
        int fd = write_whole(TXM_TYPE_HALF, &metadata);
        uint32_t version = 0;
        ck_assert_int_eq(pread(fd, &version, 4, 4), 4);
        ck_assert_int_eq((version & 0x400) != 0, i);
        exr_context_t exr = open_exr(fd);
        ck_assert_str_eq(text_of(exr, names[i]), "x");
        exr_finish(&exr);
        close(fd);
    }
}
END_TEST

START_TEST(densities_are_an_inch)
{
    static const struct {
        txm_density said;
        float aspect, x; /* 0: not written */
        const char *unit;
    } cases[] = {
        {{0}, 1, 0, ""},
        {{.x = 72, .y = 36, .unit = "in"}, 2, 72, "in"},
        {{.x = 2.54f, .y = 2.54f, .aspect = 1, .unit = "cm"}, 1, 1, "cm"},
        {{.x = 10, .aspect = 3}, 3, 10, ""},
        {{.aspect = 1e-7f}, 1, 0, ""}, /* more than OpenEXR accepts */
        {{.aspect = 1e7f}, 1, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_tx_metadata metadata = made_metadata();
        metadata.density = cases[i].said;
        int fd = write_whole(TXM_TYPE_HALF, &metadata);
        exr_context_t exr = open_exr(fd);
        float aspect = 0, x = 0;
        const exr_attribute_t *a = NULL;
        exr_get_pixel_aspect_ratio(exr, 0, &aspect);
        if (exr_get_attribute_by_name(exr, 0, "xDensity", &a) == EXR_ERR_SUCCESS)
            x = a->f;
        ck_assert_msg(aspect == cases[i].aspect && x == cases[i].x, "case %zu: %g %g", i, (double)aspect, (double)x);
        ck_assert_str_eq(text_of(exr, "ResolutionUnit"), cases[i].unit);
        exr_finish(&exr);
        close(fd);
    }
    txm_tx_exr_writer.close(NULL);
}
END_TEST

START_TEST(environments_say_so)
{
    txm_tx_metadata metadata = made_metadata();
    metadata.equiangular = true;
    metadata.interop_id = metadata.requested_colorspace = metadata.config = "";
    metadata.releases = metadata.releases_if_opaque = "";
    int fd = write_whole(TXM_TYPE_HALF, &metadata);
    exr_context_t exr = open_exr(fd);
    const exr_attribute_t *a = NULL;
    ck_assert_int_eq(exr_get_attribute_by_name(exr, 0, "envmap", &a), EXR_ERR_SUCCESS);
    ck_assert_int_eq(a->uc, EXR_ENVMAP_LATLONG);
    ck_assert_str_eq(text_of(exr, "textureformat"), "LatLong Environment");
    ck_assert_str_eq(text_of(exr, "wrapmodes"), "periodic,clamp");
    ck_assert_int_ne(exr_get_attribute_by_name(exr, 0, "colorInteropID", &a), EXR_ERR_SUCCESS);
    ck_assert_int_ne(exr_get_attribute_by_name(exr, 0, "txmill:ColorSpace", &a), EXR_ERR_SUCCESS);
    exr_finish(&exr);
    close(fd);
}
END_TEST

/* ---- both -------------------------------------------------------------------------------------------------------- */

static const txm_type both[] = {TXM_TYPE_U8, TXM_TYPE_HALF};

START_TEST(tiles_that_no_level_has_are_refused)
{
    const txm_container_writer *ops = ops_of(both[_i]);
    const txm_tx_layout l = small(both[_i]);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tile_place nowhere = {.x = 7, .y = 9, .tiles_x = 2};
    static const uint8_t tile[TILE * TILE * 2];
    txm_error err = {0};
    txm_output out;
    void *self = NULL;
    int fd = new_fd();
    ck_assert_int_eq(txm_output_open(&out, fd, 0, "made.tx", &err), TXM_OK);
    ck_assert_int_eq(ops->open(&l, &metadata, &out, &self, &err), TXM_OK);
    ck_assert_int_eq(ops->add(self, &nowhere, tile, tile_bytes(&l, &(txm_tile_place){0}), &err), TXM_STATUS_INTERNAL);
    ck_assert_msg(strstr(err.message, "made.tx: ") && strstr(err.message, "cannot write a tile"), "%s", err.message);
    ops->close(self);
    txm_output_free(&out);
    close(fd);
}
END_TEST

START_TEST(a_full_disk_is_the_cause)
{
    const txm_tx_layout l = small(both[_i]);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    txm_error err = {0};
    int fd = open("/dev/full", O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write_to(fd, &l, &metadata, &summary, &err), TXM_STATUS_DISK_FULL);
    close(fd);
}
END_TEST

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
START_TEST(memory_may_end_anywhere)
{
    const txm_tx_layout l = small(both[_i]);
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    int whole = write_whole(both[_i], &metadata);
    bool refused = true;
    long n = 1;
    for (; refused && n < 5000; n++) {
        txm_error err = {0};
        int fd = new_fd();
        refuse_memory(n);
        txm_status status = write_to(fd, &l, &metadata, &summary, &err);
        refused = memory_was_refused();
        if (status == TXM_OK)
            ck_assert_msg(same_content(fd, whole), "allocation %ld", n);
        else
            ck_assert_msg(refused && status == TXM_STATUS_NO_MEMORY, "allocation %ld: %d, %s", n, status, err.message);
        ck_assert_msg(faults.live == 0 || !txm_type_is_float(both[_i]), "allocation %ld: %ld left", n, faults.live);
        close(fd);
    }
    ck_assert(!refused && (n > 10 || !REFUSES_MEMORY));
    close(whole);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("containers of tx files as they are written");
    TCase *either = add_case(suite, "both");
    add_tests(add_case(suite, "TIFF"), a_directory_for_each_level, the_late_description_takes_the_room_that_was_kept,
              big_tiff_where_the_worst_case_needs_it, codecs_and_channels_are_in_the_directory,
              resolutions_follow_the_aspect);
    add_tests(add_case(suite, "EXR"), the_second_header_takes_the_place_of_the_first, constant_colours_are_named,
              only_long_names_set_the_flag, densities_are_an_inch, environments_say_so);
    tcase_add_loop_test(either, tiles_that_no_level_has_are_refused, 0, 2);
    tcase_add_loop_test(either, a_full_disk_is_the_cause, 0, 2);
    tcase_add_loop_test(either, memory_may_end_anywhere, 0, 2);
    return run_suite(suite);
}
