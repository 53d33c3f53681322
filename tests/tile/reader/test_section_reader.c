/* SPDX-License-Identifier: Apache-2.0
 * Sections that must not be used: stale, cut short, damaged, of a later version. Each is reported, and padded tiles
 * are still correct. */
#include <openexr.h>
#include <tiffio.h>

#include "base/checksum.h"
#include "tile/reader/border_order.h"
#include "tile/reader/section_format.h"
#include "tile/reader/section_reader.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_tx.h"

static made_image image;
static char path[512];
static uint8_t *file;
static size_t file_bytes, image_bytes;

static void unmake(void)
{
    free(file);
    file = NULL;
    free_image(&image);
}

/* Writes a TIFF or EXR with a section and keeps its bytes in memory, too. */
static void make(bool exr)
{
    unmake();
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

static void make_tiff(void)
{
    make(false);
}
FIXTURE(make_tiff, unmake)

/* Returns whether all padded tiles of the file are right. */
static bool tiles_are_right(txm_tx *tx)
{
    size_t px = made_pixel_bytes(&image);
    FREED uint8_t *out = malloc(36 * 36 * px);
    bool right = true;
    for (uint32_t i = 0; i < image.layout.levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++) {
            uint32_t x = t % l->tiles_x, y = t / l->tiles_x, w, h;
            if (txm_tx_read_tile(tx,
                                 REQUEST(out, px, 36 * px, .level = i, .tile_x = x, .tile_y = y, .padding_px = 2,
                                         .extension = (txm_extension)(t % 16), .width = &w, .height = &h),
                                 NULL) != TXM_OK) {
                right = false;
                continue;
            }
            FREED uint8_t *want = brute_window(&image, i, x * 32, y * 32, w, h, 2, (txm_extension)(t % 16));
            for (uint32_t row = 0; row < h + 4; row++)
                right &= memcmp(out + row * 36 * px, want + row * (w + 4) * px, (w + 4) * px) == 0;
        }
    }
    return right;
}

static txm_section_state state_of(const uint8_t *data, size_t bytes, bool *right)
{
    save_file(path, data, bytes);
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    if (txm_tx_open(path, &tx, NULL) != TXM_OK)
        return (txm_section_state)-1;
    const txm_tx_info *info = txm_tx_info_of(tx);
    txm_section_state state = info->section;
    ck_assert_uint_eq(info->file_bytes, bytes);
    ck_assert_uint_eq(info->image_bytes + info->section_bytes, bytes);
    ck_assert_int_eq(*info->section_reason != 0, state != TXM_SECTION_STATE_NONE && state != TXM_SECTION_STATE_VALID);
    *right = tiles_are_right(tx);
    return state;
}

static void expect(const uint8_t *data, size_t bytes, txm_section_state want)
{
    bool right = false;
    ck_assert_int_eq(state_of(data, bytes, &right), want);
    ck_assert(right);
}

TESTS(valid, 2)
{
    make(_i);
    expect(file, file_bytes, TXM_SECTION_STATE_VALID);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    ck_assert_uint_eq(txm_tx_info_of(tx)->image_bytes, image_bytes);
    for (uint32_t t = 0; t < 12; t++)
        ck_assert_int_eq(txm_tx_check_border(tx, 0, t % 4, t / 4, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_check_border(tx, 0, 4, 0, NULL), TXM_STATUS_USAGE);
}

TESTS(cut_anywhere, 2)
{
    make(_i);
    bool right;
    for (size_t keep = image_bytes; keep < file_bytes; keep += keep < image_bytes + 40 ? 1 : 13 * case_part()) {
        txm_section_state state = state_of(file, keep, &right);
        /* A cut right after the image, or within the fill bytes, leaves a valid file without a section. */
        ck_assert_int_eq(state, keep - image_bytes > 16 ? TXM_SECTION_STATE_DAMAGED : TXM_SECTION_STATE_NONE);
        ck_assert(right);
    }
    expect(file, file_bytes - 1, TXM_SECTION_STATE_DAMAGED);
}

/* Every byte of index and footer is changed, and many of the payloads; one bit of each, unless thorough. A changed
 * payload is noticed when its border is read: the section stays valid, and that border is gathered. */
TESTS(flipped_anywhere, 2)
{
    make(_i);
    txm_section_footer footer = {0};
    bool right;
    ck_assert(txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer));
    ck_assert_uint_eq(footer.image_bytes, image_bytes);
    for (size_t i = image_bytes; i < file_bytes; i += i < footer.index_offset ? 29 : 1) {
        const int step = !thorough() ? 8 : i < footer.index_offset ? 3 : 2;
        for (int bit = (int)(i % (size_t)step); bit < 8; bit += step) {
            file[i] = (uint8_t)(file[i] ^ 1u << bit);
            txm_section_state state = state_of(file, file_bytes, &right);
            ck_assert_msg(right, "byte %zu, bit %d", i, bit);
            if (i < footer.index_offset)
                ck_assert_int_eq(state, TXM_SECTION_STATE_VALID);
            else
                ck_assert_msg(state == TXM_SECTION_STATE_DAMAGED ||
                                  (state == TXM_SECTION_STATE_NEWER && i >= file_bytes - 20),
                              "byte %zu, bit %d: state %d", i, bit, (int)state);
            file[i] = (uint8_t)(file[i] ^ 1u << bit);
        }
    }
}

TEST(damaged_borders_are_named)
{
    txm_section_footer footer = {0};
    unsigned damaged = 0;
    txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer);
    file[(image_bytes + footer.index_offset) / 2] ^= 4;
    save_file(path, file, file_bytes);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
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
}

/* Writes a changed footer with a correct checksum. */
static void set_footer(const txm_section_footer *footer)
{
    uint8_t *at = file + file_bytes - TXM_SECTION_FOOTER_BYTES;
    txm_section_footer f = *footer;
    txm_section_footer_pack(&f, at);
    f.check = txm_xxh64(file + f.index_offset, f.index_bytes + (size_t)TXM_SECTION_CHECK_AT, 0);
    txm_section_footer_pack(&f, at);
}

TESTS(newer_version, 2)
{
    make(_i);
    txm_section_footer footer = {0};
    txm_section_footer_parse(file + file_bytes - TXM_SECTION_FOOTER_BYTES, &footer);
    footer.version = 2;
    set_footer(&footer);
    expect(file, file_bytes, TXM_SECTION_STATE_NEWER);
}

TEST(lies_in_the_footer)
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

/* Another program edits the image part in place, or appends to the file. */
TEST(edited_image)
{
    TIFF *tif = TIFFOpen(path, "r+");
    TIFFSetField(tif, TIFFTAG_SOFTWARE, "b test"); /* the length is the same, so it is written in place */
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

TEST(edited_exr)
{
    make(true);
    uint8_t *software = memmem(file, image_bytes, "a test", 6);
    ck_assert_ptr_nonnull(software);
    *software = 'x';
    expect(file, file_bytes, TXM_SECTION_STATE_STALE);
}

/* The section is moved to another image of the same shape. */
TEST(section_of_another_file)
{
    SCOPED(free_image) made_image other = make_image(100, 70, 4, TXM_TYPE_U8, 32, (txm_compression){0}, MADE_NOISE);
    size_t other_bytes;
    write_foreign_tiff(path, &other, (foreign_tiff){COMPRESSION_NONE, 0, false, false});
    FREED uint8_t *foreign = load_file(path, &other_bytes);
    size_t section = file_bytes - image_bytes;
    foreign = realloc(foreign, other_bytes + section);
    memcpy(foreign + other_bytes, file + image_bytes, section);
    save_file(path, foreign, other_bytes + section);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    ck_assert(txm_tx_info_of(tx)->section == TXM_SECTION_STATE_DAMAGED ||
              txm_tx_info_of(tx)->section == TXM_SECTION_STATE_STALE);
}

/* Bytes follow that are not a section. They are reported if there are more than a writer's fill bytes. */
TEST(foreign_tails)
{
    FREED uint8_t *tail = calloc(1, image_bytes + 1000);
    memcpy(tail, file, image_bytes);
    expect(tail, image_bytes, TXM_SECTION_STATE_NONE);
    expect(tail, image_bytes + 3, TXM_SECTION_STATE_NONE);
    expect(tail, image_bytes + 1000, TXM_SECTION_STATE_DAMAGED);
    memcpy(tail + image_bytes + 992, TXM_SECTION_MAGIC, 8);
    expect(tail, image_bytes + 1000, TXM_SECTION_STATE_DAMAGED);
}

/* ---- parts of the reader, called directly ------------------------------------------------------------------------ */

/* Reads a padded tile from its border alone, into a window wider than it. Returns whether the section had the
 * border. */
static bool from_section(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension, uint8_t *out,
                         size_t pixel_stride, size_t row_stride)
{
    const txm_window window = {out, pixel_stride, row_stride, tx->pixel_bytes};
    txm_scratch *scratch = txm_scratch_take(tx);
    txm_error err = {0};
    bool done;
    txm_status status = txm_section_read_padded(tx, tile, padding, extension, &window, scratch, &done, &err);
    ck_assert_msg(status == TXM_OK, "%s", err.message);
    txm_scratch_give(tx, scratch);
    return done;
}

/* Compares all tiles, paddings and extensions of the file with the definition. */
static void every_window_is_right(txm_tx *tx, const made_image *made)
{
    enum { GAP = 3, EDGE = 32 + 2 * TXM_BORDER_PX };
    size_t px = made_pixel_bytes(made), step = px + GAP, row = EDGE * step;
    FREED uint8_t *out = malloc(EDGE * row);
    for (uint32_t i = 0; i < made->layout.levels; i++)
        for (uint32_t t = 0; t < tx->levels[i].shape.tiles_x * tx->levels[i].shape.tiles_y; t++)
            for (uint32_t n = 0; n < 32; n++) {
                txm_tile_id tile;
                uint32_t padding = 1 + n % 2;
                txm_extension extension = (txm_extension)(n / 2);
                ck_assert_int_eq(
                    txm_tile_at(tx, i, t % tx->levels[i].shape.tiles_x, t / tx->levels[i].shape.tiles_x, &tile, NULL),
                    TXM_OK);
                ck_assert(!txm_section_lacks(tx, &tile));
                ck_assert(from_section(tx, &tile, padding, extension, out, step, row));
                FREED uint8_t *want =
                    brute_window(made, i, tile.x * 32, tile.y * 32, tile.w, tile.h, padding, extension);
                uint32_t w = tile.w + 2 * padding, h = tile.h + 2 * padding;
                for (uint32_t p = 0; p < w * h; p++)
                    if (memcmp(out + p / w * row + p % w * step, want + p * px, px) != 0)
                        ck_abort_msg("level %u, tile %u, padding %u, extension %u: pixel %u of %u", i, t, padding,
                                     (unsigned)extension, p, w * h);
            }
}

/* One and four channels of every type exercise the vector code and the scalar code for remainders. */
TESTS(borders_of_every_type, TXM_TYPE_FLOAT + 1)
{
    for (uint32_t channels = 1; channels <= 4; channels += 3) {
        txm_type type = (txm_type)_i;
        SCOPED(free_image) made_image made = make_image(75, 41, channels, type, 32, (txm_compression){0}, MADE_NOISE);
        const char *name = temp_file("type.tx");
        if (txm_type_is_float(type))
            write_foreign_exr(name, &made, EXR_COMPRESSION_ZIP);
        else
            write_foreign_tiff(name, &made, (foreign_tiff){.compression = COMPRESSION_LZW});
        append_section(name, &made);
        SCOPED(txm_tx_close) txm_tx *tx = open_tx(name);
        every_window_is_right(tx, &made);
    }
}

/* Opens the file over a copy of its bytes that a test may change, with room for payloads at the end. */
typedef struct altered {
    txm_tx *tx;
    const uint8_t *real;
    uint8_t *bytes;
    size_t size;
    bool reads;
} altered;

enum { ROOM = 256 };

static altered alter(void)
{
    altered a = {.tx = open_tx(path)};
    a.real = a.tx->map.data;
    a.size = a.tx->map.bytes;
    a.reads = a.tx->map.reads;
    a.bytes = calloc(1, a.size + ROOM);
    memcpy(a.bytes, a.real, a.size);
    a.tx->map.data = a.bytes;
    a.tx->map.bytes = a.size + ROOM;
    a.tx->map.reads = false;
    for (uint32_t i = 0; i < a.tx->info.levels; i++) { /* the tables stay at their place in the map */
        a.tx->levels[i].offsets += a.bytes - a.real;
        a.tx->levels[i].counts += a.bytes - a.real;
    }
    return a;
}

static void restore(altered *a)
{
    a->tx->map.data = a->real;
    a->tx->map.bytes = a->size;
    a->tx->map.reads = a->reads;
    txm_tx_close(&a->tx);
    free(a->bytes);
}

/* Puts the second border at any offset: the first one ends where it begins, modulo 2^64. */
static void put_second(altered *a, uint64_t offset, uint32_t bytes)
{
    txm_section *s = a->tx->section;
    txm_store_le32(s->sizes + 4, bytes);
    s->group_offset[0] = offset - txm_load_le32(s->sizes);
}

/* Returns whether the border of the second tile, of 32 x 32 px, can be read with this payload. */
static bool reads(altered *a, const void *payload, uint32_t bytes)
{
    uint8_t out[36 * 36 * 4];
    const txm_tile_id second = {.x = 1, .w = 32, .h = 32};
    memcpy(a->bytes + a->size, payload, bytes);
    put_second(a, a->size, bytes);
    return from_section(a->tx, &second, 2, TXM_EXTENSION_REPEAT, out, 4, 36 * 4);
}

TEST(payloads_of_every_form)
{
    static const uint8_t one_pixel[] = {0, 0, 9, 8, 7, 6}, to_first[] = {0, 0, 0, 0, 0, 0, 0},
                         to_itself[] = {0, 0, 0, 1, 0, 0, 0}, to_later[] = {0, 0, 0, 5, 0, 0, 0}, missing[] = {0},
                         odd[] = {1}, short_pixel[] = {0, 0, 9, 8, 7}, no_frame[] = {15, 0, 1, 2, 3, 4},
                         no_such_plane[] = {16, 0, 1, 2};
    const txm_tile_id second = {.x = 1, .w = 32, .h = 32};
    altered a = alter();
    size_t border_bytes = txm_border_pixels(32, 32) * 4;
    uint8_t *constant = malloc(border_bytes);
    for (size_t i = 0; i < border_bytes; i++)
        constant[i] = one_pixel[2 + i % 4];
    /* Pixels whose checksum is wrong are refused. */
    ck_assert(!reads(&a, one_pixel, sizeof one_pixel));
    txm_store_le32(a.tx->section->checks + 4, (uint32_t)txm_xxh64(constant, border_bytes, 0));
    ck_assert(reads(&a, one_pixel, sizeof one_pixel));
    /* The payload refers to that of another tile, which is one pixel as well. */
    memcpy(a.bytes + a.size - sizeof one_pixel, one_pixel, sizeof one_pixel);
    txm_store_le32(a.tx->section->sizes, sizeof one_pixel);
    ck_assert(reads(&a, to_first, sizeof to_first));
    ck_assert(!reads(&a, to_itself, sizeof to_itself));
    ck_assert(!reads(&a, to_later, sizeof to_later));
    txm_store_le32(a.tx->section->sizes, (uint32_t)a.size + 4); /* from 2^64 - 4 on */
    ck_assert(!reads(&a, to_first, sizeof to_first));
    ck_assert(!reads(&a, short_pixel, sizeof short_pixel));
    ck_assert(!reads(&a, no_frame, sizeof no_frame));
    ck_assert(!reads(&a, no_such_plane, sizeof no_such_plane));
    /* A border that was left out is not a damaged one. */
    ck_assert(!reads(&a, missing, sizeof missing) && txm_section_lacks(a.tx, &second));
    ck_assert(!reads(&a, odd, sizeof odd) && !txm_section_lacks(a.tx, &second));
    put_second(&a, a.size + ROOM, 1);
    ck_assert(!txm_section_lacks(a.tx, &second));
    free(constant);
    restore(&a);
}

TEST(stored_borders_are_compared)
{
    txm_tx *tx = open_tx(path);
    const uint8_t *level = image.levels[0];
    size_t row = 100 * 4, side = 2 * TXM_BORDER_PX * 4, wide = 36 * 4;
    uint8_t *window = brute_window(&image, 0, 32, 32, 32, 32, TXM_BORDER_PX, TXM_EXTENSION_REPEAT), border[36 * 36 * 4];
    uint8_t *p = border;
    memcpy(p, window, 2 * wide);
    p += 2 * wide;
    for (size_t y = 2; y < 34; y++, p += side) {
        memcpy(p, window + y * wide, side / 2);
        memcpy(p + side / 2, window + y * wide + 34 * 4, side / 2);
    }
    memcpy(p, window + 34 * wide, 2 * wide);
    ck_assert(txm_tx_border_is(tx, 0, 1, 1, level + 32 * row + 32 * 4, row, border));
    p[0] ^= 1;
    ck_assert(!txm_tx_border_is(tx, 0, 1, 1, level + 32 * row + 32 * 4, row, border));
    p[0] ^= 1;
    ck_assert(!txm_tx_border_is(tx, 0, 1, 1, level, row, border)); /* the pixels of another tile */
    ck_assert(!txm_tx_border_is(tx, 0, 9, 9, level, row, border));
    txm_tx_close(&tx);
    save_file(path, file, image_bytes); /* without a section */
    tx = open_tx(path);
    ck_assert(!txm_tx_border_is(tx, 0, 1, 1, level + 32 * row + 32 * 4, row, border));
    txm_tx_close(&tx);
    free(window);
}

static txm_status find_again(void *user)
{
    txm_tx *tx = user;
    free(tx->section);
    tx->section = NULL;
    txm_status status = txm_section_find(tx, NULL);
    free(tx->section);
    tx->section = NULL;
    return status;
}

TEST(the_index_may_find_no_memory)
{
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    refuse_each(find_again, tx);
    ck_assert_int_eq(tx->info.section, TXM_SECTION_STATE_VALID);
}

static txm_status pad_again(void *user)
{
    static uint8_t out[36 * 36 * 4];
    const txm_window window = {out, 4, 36 * 4, 4};
    const txm_tile_id first = {.w = 32, .h = 32};
    txm_tx *tx = user;
    txm_scratch *scratch = txm_scratch_take(tx);
    bool done;
    if (!scratch)
        return TXM_STATUS_NO_MEMORY;
    txm_status status = txm_section_read_padded(tx, &first, 2, TXM_EXTENSION_CLIP, &window, scratch, &done, NULL);
    txm_scratch_give(tx, scratch);
    txm_scratch_free_all(tx);
    return status;
}

TEST(borders_may_find_no_memory)
{
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    refuse_each(pad_again, tx);
}
