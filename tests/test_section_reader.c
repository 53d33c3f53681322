/* SPDX-License-Identifier: Apache-2.0
 * Sections that must not be used: stale, cut off, damaged, newer. Each is named, and padded tiles stay right. */
#include <check.h>
#include <openexr.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "container/section_format.h"
#include "core/checksum.h"
#include "util_check.h"
#include "util_tx.h"

static made_image image;
static char path[512];
static uint8_t *file;
static size_t file_bytes, image_bytes;

/* A TIFF (or EXR) with a section, also in memory. */
static void make(bool exr)
{
    image = make_image(100, 70, 4, exr ? TXM_TYPE_HALF : TXM_TYPE_U8, 32, (txm_compression){0}, MADE_SMOOTH);
    snprintf(path, sizeof path, "%s", temp_file("s.tx"));
    if (exr)
        write_foreign_exr(path, &image, EXR_COMPRESSION_NONE);
    else
        write_foreign_tiff(path, &image, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    free(load_file(path, &image_bytes));
    append_section(path, &image);
    file = load_file(path, &file_bytes);
}

static void unmake(void)
{
    free(file);
    free_image(&image);
}

static void make_tiff(void)
{
    make(false);
}

static void make_exr(void)
{
    make(true);
}

/* Whether all padded tiles of the file at `path` are right. */
static bool tiles_are_right(txm_tx *tx)
{
    size_t px = made_pixel_bytes(&image);
    uint8_t *out = malloc(36 * 36 * px);
    bool right = true;
    for (uint32_t i = 0; i < image.layout.levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++) {
            uint32_t x = t % l->tiles_x, y = t / l->tiles_x, w, h;
            if (txm_tx_read_tile(tx,
                                 &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                   .level = i,
                                                   .tile_x = x,
                                                   .tile_y = y,
                                                   .padding_px = 2,
                                                   .extension = (txm_extension)(t % 4),
                                                   .pixels = out,
                                                   .pixel_stride_bytes = px,
                                                   .row_stride_bytes = 36 * px,
                                                   .width = &w,
                                                   .height = &h},
                                 NULL) != TXM_OK) {
                right = false;
                continue;
            }
            uint8_t *want = brute_window(&image, i, x * 32, y * 32, w, h, 2, (txm_extension)(t % 4));
            for (uint32_t row = 0; row < h + 4; row++)
                right &= memcmp(out + row * 36 * px, want + row * (w + 4) * px, (w + 4) * px) == 0;
            free(want);
        }
    }
    free(out);
    return right;
}

static txm_section_state state_of(const uint8_t *data, size_t bytes, bool *right)
{
    save_file(path, data, bytes);
    txm_tx *tx;
    if (txm_tx_open(path, &tx, NULL) != TXM_OK)
        return (txm_section_state)-1;
    const txm_tx_info *info = txm_tx_info_of(tx);
    txm_section_state state = info->section;
    ck_assert_uint_eq(info->file_bytes, bytes);
    ck_assert_uint_eq(info->image_bytes + info->section_bytes, bytes);
    ck_assert_int_eq(*info->section_reason != 0, state != TXM_SECTION_STATE_NONE && state != TXM_SECTION_STATE_VALID);
    *right = tiles_are_right(tx);
    txm_tx_close(&tx);
    return state;
}

static void expect(const uint8_t *data, size_t bytes, txm_section_state want)
{
    bool right = false;
    ck_assert_int_eq(state_of(data, bytes, &right), want);
    ck_assert(right);
}

START_TEST(valid)
{
    expect(file, file_bytes, TXM_SECTION_STATE_VALID);
    txm_tx *tx = open_tx(path);
    ck_assert_uint_eq(txm_tx_info_of(tx)->image_bytes, image_bytes);
    for (uint32_t t = 0; t < 12; t++)
        ck_assert_int_eq(txm_tx_check_border(tx, 0, t % 4, t / 4, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_check_border(tx, 0, 4, 0, NULL), TXM_STATUS_USAGE);
    txm_tx_close(&tx);
}
END_TEST

START_TEST(cut_anywhere)
{
    bool right;
    for (size_t keep = image_bytes; keep < file_bytes; keep += keep < image_bytes + 40 ? 1 : 13) {
        txm_section_state state = state_of(file, keep, &right);
        /* A cut right after the image, or within its fill, leaves a sound file without a section. */
        ck_assert_int_eq(state, keep - image_bytes > 16 ? TXM_SECTION_STATE_DAMAGED : TXM_SECTION_STATE_NONE);
        ck_assert(right);
    }
    expect(file, file_bytes - 1, TXM_SECTION_STATE_DAMAGED);
}
END_TEST

/* Every byte of index and footer, and many of the payloads. A flipped payload is found when its border is read: the
 * section as a whole stays valid and that tile is gathered. */
START_TEST(flipped_anywhere)
{
    txm_section_footer footer = {0};
    bool right;
    ck_assert(txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer));
    ck_assert_uint_eq(footer.image_bytes, image_bytes);
    for (size_t i = image_bytes; i < file_bytes; i += i < footer.index_offset ? 29 : 1) {
        for (int bit = 0; bit < 8; bit += i < footer.index_offset ? 3 : 2) {
            file[i] ^= 1 << bit;
            txm_section_state state = state_of(file, file_bytes, &right);
            ck_assert_msg(right, "byte %zu, bit %d", i, bit);
            if (i < footer.index_offset)
                ck_assert_int_eq(state, TXM_SECTION_STATE_VALID);
            else
                ck_assert_msg(state == TXM_SECTION_STATE_DAMAGED ||
                                  (state == TXM_SECTION_STATE_NEWER && i >= file_bytes - 20),
                              "byte %zu, bit %d: state %d", i, bit, (int)state);
            file[i] ^= 1 << bit;
        }
    }
}
END_TEST

START_TEST(damaged_borders_are_named)
{
    txm_section_footer footer = {0};
    unsigned damaged = 0;
    txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer);
    file[(image_bytes + footer.index_offset) / 2] ^= 4;
    save_file(path, file, file_bytes);
    txm_tx *tx = open_tx(path);
    for (uint32_t i = 0; i < image.layout.levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++) {
            txm_error err = {0};
            if (txm_tx_check_border(tx, i, t % l->tiles_x, t / l->tiles_x, &err) == TXM_OK)
                continue;
            ck_assert_int_eq(err.status, TXM_STATUS_CORRUPT);
            ck_assert_ptr_nonnull(strstr(err.message, "border is damaged"));
            damaged++;
        }
    }
    ck_assert_uint_eq(damaged, 1);
    txm_tx_close(&tx);
}
END_TEST

/* Puts a changed footer in place, with a right checksum. */
static void set_footer(const txm_section_footer *footer)
{
    uint8_t *at = file + file_bytes - TXM_SECTION_FOOTER_BYTES;
    txm_section_footer f = *footer;
    txm_section_footer_pack(&f, at);
    f.check = txm_xxh64(file + f.index_offset, f.index_bytes + (size_t)TXM_SECTION_CHECK_AT, 0);
    txm_section_footer_pack(&f, at);
}

START_TEST(newer_version)
{
    txm_section_footer footer = {0};
    txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer);
    footer.version = 2;
    set_footer(&footer);
    expect(file, file_bytes, TXM_SECTION_STATE_NEWER);
}
END_TEST

START_TEST(lies_in_the_footer)
{
    txm_section_footer sound;
    txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &sound);
    for (int i = 0; i < 9; i++) {
        txm_section_footer f = sound;
        *(i == 0 ? &f.identity : i == 1 ? &f.image_bytes : &f.check) += i < 2;
        f.tiles += i == 2;
        f.tile_px = (uint16_t)(f.tile_px + (i == 3));
        f.border_px = (uint8_t)(f.border_px + (i == 4));
        f.channels = (uint8_t)(f.channels - (i == 5));
        f.type ^= i == 6;
        f.index_raw = i == 7 ? UINT32_MAX : f.index_raw;
        f.tiles = i == 8 ? UINT32_MAX : f.tiles;
        set_footer(&f);
        bool right;
        txm_section_state state = state_of(file, file_bytes, &right);
        ck_assert_msg(state == TXM_SECTION_STATE_STALE, "case %d: state %d", i, (int)state);
        ck_assert(right);
    }
}
END_TEST

/* Another tool edits the image part in place, or appends to the file. */
START_TEST(edited_image)
{
    TIFF *tif = TIFFOpen(path, "r+");
    TIFFSetField(tif, TIFFTAG_SOFTWARE, "b test"); /* as long as before: written in place */
    ck_assert_int_eq(TIFFRewriteDirectory(tif), 1);
    TIFFClose(tif);
    size_t bytes;
    uint8_t *edited = load_file(path, &bytes);
    bool right;
    txm_section_state state = state_of(edited, bytes, &right);
    /* libtiff puts the new directory after the section, so the footer is no longer last. */
    ck_assert(state == TXM_SECTION_STATE_STALE || state == TXM_SECTION_STATE_NONE);
    ck_assert(right);
    free(edited);
    uint8_t *software = memmem(file, image_bytes, "a test", 6);
    ck_assert_ptr_nonnull(software);
    *software = 'x';
    expect(file, file_bytes, TXM_SECTION_STATE_STALE);
}
END_TEST

START_TEST(edited_exr)
{
    uint8_t *software = memmem(file, image_bytes, "a test", 6);
    ck_assert_ptr_nonnull(software);
    *software = 'x';
    expect(file, file_bytes, TXM_SECTION_STATE_STALE);
}
END_TEST

/* A section moved after another image of the same shape. */
START_TEST(section_of_another_file)
{
    made_image other = make_image(100, 70, 4, TXM_TYPE_U8, 32, (txm_compression){0}, MADE_NOISE);
    size_t other_bytes;
    write_foreign_tiff(path, &other, (foreign_tiff){COMPRESSION_NONE, 0, false, false});
    uint8_t *foreign = load_file(path, &other_bytes);
    size_t section = file_bytes - image_bytes;
    foreign = realloc(foreign, other_bytes + section);
    memcpy(foreign + other_bytes, file + image_bytes, section);
    save_file(path, foreign, other_bytes + section);
    txm_tx *tx = open_tx(path);
    ck_assert(txm_tx_info_of(tx)->section == TXM_SECTION_STATE_DAMAGED ||
              txm_tx_info_of(tx)->section == TXM_SECTION_STATE_STALE);
    txm_tx_close(&tx);
    free(foreign);
    free_image(&other);
}
END_TEST

/* Bytes that follow without being a section: named when there are more than a writer's fill. */
START_TEST(foreign_tails)
{
    uint8_t *tail = calloc(1, image_bytes + 1000);
    memcpy(tail, file, image_bytes);
    expect(tail, image_bytes, TXM_SECTION_STATE_NONE);
    expect(tail, image_bytes + 3, TXM_SECTION_STATE_NONE);
    expect(tail, image_bytes + 1000, TXM_SECTION_STATE_DAMAGED);
    memcpy(tail + image_bytes + 992, TXM_SECTION_MAGIC, 8);
    expect(tail, image_bytes + 1000, TXM_SECTION_STATE_DAMAGED);
    free(tail);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("section_reader");
    TCase *tiff = add_case(suite, "tiff"), *exr = add_case(suite, "exr");
    temp_file(""); /* the folder belongs to this process, not to a test's */
    tcase_add_checked_fixture(tiff, make_tiff, unmake);
    tcase_add_checked_fixture(exr, make_exr, unmake);
    add_tests(tiff, valid, cut_anywhere, flipped_anywhere, damaged_borders_are_named, newer_version, lies_in_the_footer,
              edited_image, section_of_another_file, foreign_tails);
    add_tests(exr, valid, cut_anywhere, flipped_anywhere, newer_version, edited_exr);
    return run_suite(suite);
}
