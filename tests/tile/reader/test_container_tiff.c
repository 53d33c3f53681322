/* SPDX-License-Identifier: Apache-2.0
 * The TIFF half of the tx reader, part by part, with files that are composed byte by byte: directories, levels,
 * tiles. */
#include <zlib.h>
#include <zstd.h>

#include "tile/reader/tiff_reader.h"
#include "util_check.h"
#include "util_faults.h"

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { FILE_BYTES = 1 << 14, BYTE = 1, ASCII = 2, SHORT = 3, LONG = 4, RATIO = 5, FLOAT = 11, DOUBLE = 12, LONG8 = 16 };

/* A TIFF file in memory, open in a reader. */
typedef struct file {
    uint8_t bytes[FILE_BYTES];
    size_t size;
    bool big, swap;
    txm_tx tx;
    txm_tiff tiff;
    txm_error err;
} file;

static void put(file *f, uint64_t value, unsigned bytes)
{
    ck_assert_uint_le(f->size + bytes, FILE_BYTES);
    for (unsigned i = 0; i < bytes; i++)
        f->bytes[f->size + i] = (uint8_t)(value >> 8 * (f->swap ? bytes - 1 - i : i));
    f->size += bytes;
}

/* Overwrites bytes in place. */
static void put_at(file *f, size_t at, uint64_t value, unsigned bytes)
{
    size_t size = f->size;
    f->size = at;
    put(f, value, bytes);
    f->size = size;
}

static size_t put_data(file *f, const void *data, size_t bytes)
{
    size_t at = f->size;
    ck_assert_uint_le(at + bytes, FILE_BYTES);
    memcpy(f->bytes + at, data, bytes);
    f->size += bytes;
    return at;
}

/* Makes a file that has only a header. The reader will see `size` bytes of it. */
static file *new_file(bool big, bool swap)
{
    file *f = calloc(1, sizeof *f);
    f->big = big;
    f->swap = swap;
    put(f, swap ? 0x4D4D : 0x4949, 2);
    put(f, big ? 43 : 42, 2);
    if (big) {
        put(f, 8, 2);
        put(f, 0, 2);
    }
    put(f, 0, big ? 8 : 4);
    f->tx.path = (char *)"made.tx";
    pthread_mutex_init(&f->tx.lock, NULL);
    f->tiff.tx = &f->tx;
    f->tiff.err = &f->err;
    return f;
}

static void free_file(file *f)
{
    txm_scratch_free_all(&f->tx);
    txm_metadata_free(&f->tx.metadata);
    pthread_mutex_destroy(&f->tx.lock);
    free(f);
}

/* Shows the reader what has been written so far, and reads the header. */
static uint64_t look(file *f)
{
    uint64_t first = 0;
    f->tx.map.data = f->bytes;
    f->tx.map.bytes = f->size;
    txm_error_clear(&f->err);
    ck_assert(txm_tiff_header(&f->tiff, &first));
    return first;
}

/* Begins a directory at the pointer of the header or of the directory before it. Fields follow, then end_directory. */
static size_t begin_directory(file *f, size_t pointer, uint64_t fields)
{
    put_at(f, pointer, f->size, f->big ? 8 : 4);
    put(f, fields, f->big ? 8 : 2);
    return f->size;
}

static size_t first_pointer(const file *f)
{
    return f->big ? 8 : 4;
}

static void put_field(file *f, uint16_t tag, uint16_t type, uint64_t count, uint64_t value, unsigned value_bytes)
{
    unsigned word = f->big ? 8 : 4;
    put(f, tag, 2);
    put(f, type, 2);
    put(f, count, word);
    put(f, value, value_bytes);
    put(f, 0, word - value_bytes);
}

static void put_short(file *f, uint16_t tag, uint16_t value)
{
    put_field(f, tag, SHORT, 1, value, 2);
}

/* Adds a field whose values are elsewhere in the file. */
static void put_far(file *f, uint16_t tag, uint16_t type, uint64_t count, uint64_t offset)
{
    put_field(f, tag, type, count, offset, f->big ? 8 : 4);
}

/* Returns the place of the pointer to the next directory. */
static size_t end_directory(file *f)
{
    put(f, 0, f->big ? 8 : 4);
    return f->size - (f->big ? 8 : 4);
}

/* Opens a file with one directory of one field. */
static txm_tiff_directory only(file *f, uint16_t tag, uint16_t type, uint64_t count, uint64_t value, unsigned bytes)
{
    txm_tiff_directory dir;
    begin_directory(f, first_pointer(f), 1);
    put_field(f, tag, type, count, value, bytes);
    end_directory(f);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, look(f), &dir), TXM_OK);
    return dir;
}

/* ---- directories ------------------------------------------------------------------------------------------------- */

TESTS(headers_of_either_kind_and_order, 4)
{
    file *f = new_file(_i & 1, _i & 2);
    uint64_t first;
    put_at(f, first_pointer(f), 0x1234, f->big ? 8 : 4);
    ck_assert_uint_eq(look(f), 0x1234);
    ck_assert(f->tiff.big == f->big && f->tx.swap == f->swap);
    put_at(f, 2, 44, 2);
    ck_assert(!txm_tiff_header(&f->tiff, &first));
    if (f->big) {
        put_at(f, 2, 43, 2);
        f->tx.map.bytes = 15;
        ck_assert(!txm_tiff_header(&f->tiff, &first));
        f->tx.map.bytes = f->size;
        put_at(f, 4, 4, 2); /* offsets of 4 bytes */
        ck_assert(!txm_tiff_header(&f->tiff, &first));
    }
    f->bytes[1] = 'X';
    ck_assert(!txm_tiff_header(&f->tiff, &first));
    free_file(f);
}

TESTS(directories_lie_inside_of_the_file, 4)
{
    file *f = new_file(_i & 1, _i & 2);
    txm_tiff_directory dir;
    size_t head = f->big ? 8 : 2, start = begin_directory(f, first_pointer(f), 2) - head;
    put_short(f, TXM_TAG_WIDTH, 7);
    put_short(f, TXM_TAG_HEIGHT, 8);
    put_at(f, end_directory(f), 99, f->big ? 8 : 4);
    look(f);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, start, &dir), TXM_OK);
    ck_assert(dir.count == 2 && dir.next == 99 && dir.fields == f->bytes + start + head);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, f->size - head + 1, &dir), TXM_STATUS_CORRUPT);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, UINT64_MAX, &dir), TXM_STATUS_CORRUPT);
    f->tx.map.bytes--; /* the last byte of the pointer to the next one */
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, start, &dir), TXM_STATUS_CORRUPT);
    f->tx.map.bytes++;
    put_at(f, start, 0, (unsigned)head);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, start, &dir), TXM_STATUS_CORRUPT);
    put_at(f, start, f->big ? UINT64_MAX / 20 + 1 : 65535, (unsigned)head);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, start, &dir), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(f->err.message, "made.tx: damaged TIFF:") != NULL, "%s", f->err.message);
    free_file(f);
}

TESTS(fields_hold_short_values_and_point_to_long_ones, 4)
{
    file *f = new_file(_i & 1, _i & 2);
    txm_tiff_field field;
    txm_tiff_directory dir;
    size_t far = f->size;
    for (unsigned i = 0; i < 9; i++)
        put(f, 100 + i, 2);
    begin_directory(f, first_pointer(f), 4);
    put_field(f, 1, SHORT, 1, 77, 2);
    put_far(f, 2, SHORT, 9, far);
    put_field(f, 3, 99, 1, 0, 4);                                   /* no such type */
    put_far(f, 4, LONG, f->big ? UINT64_MAX / 2 : UINT32_MAX, far); /* more than any file holds */
    end_directory(f);
    ck_assert_int_eq(txm_tiff_open_directory(&f->tiff, look(f), &dir), TXM_OK);
    ck_assert(txm_tiff_field_at(&f->tiff, &dir, 0, &field) && field.tag == 1 && field.count == 1 && field.width == 2);
    ck_assert_uint_eq(txm_tiff_value(&f->tiff, &field, 0), 77);
    ck_assert(txm_tiff_field_at(&f->tiff, &dir, 1, &field) && field.data == f->bytes + far);
    ck_assert_uint_eq(txm_tiff_value(&f->tiff, &field, 8), 108);
    ck_assert(!txm_tiff_field_at(&f->tiff, &dir, 2, &field) && field.tag == 3 && field.type == 99);
    ck_assert(!txm_tiff_field_at(&f->tiff, &dir, 3, &field) && field.tag == 4);
    free_file(f);
}

TEST(tags_without_values_are_damage)
{
    file *f = new_file(false, false);
    txm_tiff_directory dir = only(f, TXM_TAG_WIDTH, LONG, 0, 0, 4);
    txm_tiff_field field;
    bool found = true;
    ck_assert_int_eq(txm_tiff_find(&f->tiff, &dir, TXM_TAG_HEIGHT, &field, &found), TXM_OK);
    ck_assert(!found);
    ck_assert_int_eq(txm_tiff_find(&f->tiff, &dir, TXM_TAG_WIDTH, &field, &found), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(f->err.message, "tag 256") != NULL, "%s", f->err.message);
    ck_assert(!found);
    f->tiff.err = NULL; /* the caller may ask for no message */
    ck_assert_int_eq(txm_tiff_find(&f->tiff, &dir, TXM_TAG_WIDTH, &field, &found), TXM_STATUS_CORRUPT);
    free_file(f);
}

/* Reads the number of the only field of a file. */
static txm_status number_of(bool big, uint16_t type, uint64_t count, uint64_t value, unsigned bytes, uint32_t *out)
{
    file *f = new_file(big, false);
    txm_tiff_directory dir = only(f, TXM_TAG_BITS, type, count, value, bytes);
    txm_status status = txm_tiff_number(&f->tiff, &dir, TXM_TAG_BITS, 5, out);
    free_file(f);
    return status;
}

TEST(numbers_are_integers_alike_in_all_channels)
{
    uint32_t n;
    file *f = new_file(false, false);
    txm_tiff_directory dir = only(f, TXM_TAG_WIDTH, SHORT, 1, 3, 2);
    ck_assert(txm_tiff_number(&f->tiff, &dir, TXM_TAG_BITS, 5, &n) == TXM_OK && n == 5);
    free_file(f);
    ck_assert(number_of(false, BYTE, 1, 8, 1, &n) == TXM_OK && n == 8);
    ck_assert(number_of(false, LONG, 1, UINT32_MAX, 4, &n) == TXM_OK && n == UINT32_MAX);
    ck_assert(number_of(true, LONG8, 1, 16, 8, &n) == TXM_OK && n == 16);
    ck_assert(number_of(true, SHORT, 4, 0x0010001000100010, 8, &n) == TXM_OK && n == 16);
    ck_assert_int_eq(number_of(true, SHORT, 4, 0x0008001000100010, 8, &n), TXM_STATUS_UNSUPPORTED);
    ck_assert_int_eq(number_of(true, LONG8, 1, UINT64_C(1) << 32, 8, &n), TXM_STATUS_CORRUPT);
    ck_assert_int_eq(number_of(false, FLOAT, 1, 0, 4, &n), TXM_STATUS_CORRUPT);
    ck_assert_uint_eq(n, 5);
}

/* Returns the metadata `name` after a field was kept, or "" if there is none. */
static const char *kept(file *f, const txm_tiff_directory *dir, const char *name)
{
    txm_tiff_field field;
    ck_assert(txm_tiff_field_at(&f->tiff, dir, 0, &field) && txm_tiff_keep(&f->tiff, &field));
    const char *value = txm_tx_metadata_of(&f->tx, name);
    return value ? value : "";
}

TEST(fields_become_text)
{
    static const struct {
        uint16_t tag, type;
        uint64_t count;
        const char *data;
        size_t bytes;
        const char *name, *text;
    } cases[] = {
        {305, ASCII, 9, "a program", 9, "Software", "a program"},
        {305, ASCII, 9, "a\0program", 9, "Software", "a"}, /* a NUL ends the text */
        {270, ASCII, 11, "a=1 b=\"2 3\"", 11, "b", "2 3"},
        {282, RATIO, 1, "\1\0\0\0\4\0\0\0", 8, "XResolution", "0.25"},
        {282, RATIO, 1, "\1\0\0\0\0\0\0\0", 8, "XResolution", "0"}, /* division by zero */
        {33304, FLOAT, 2, "\0\0\xC0\x3F\0\0\0\xC0", 8, "PixarFOVCot", "1.5,-2"},
        {33304, DOUBLE, 2, "\0\0\0\0\0\0\xF8\x3F\0\0\0\0\0\0\0\xC0", 16, "PixarFOVCot", "1.5,-2"},
        {296, SHORT, 5, "\1\0\2\0\3\0\4\0\5\0", 10, "ResolutionUnit", "1,2,3,4,5"},
        {296, 7, 5, "12345", 5, "ResolutionUnit", ",,,,"}, /* bytes without a meaning for users */
        {338, BYTE, 20, "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1", 20, "ExtraSamples",
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"},
        {40000, ASCII, 9, "a program", 9, "Software", ""}, /* a tag that has no name */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file *f = new_file(false, false);
        size_t at = put_data(f, cases[i].data, cases[i].bytes);
        txm_tiff_directory dir = only(f, cases[i].tag, cases[i].type, cases[i].count, at, 4);
        ck_assert_msg(!strcmp(kept(f, &dir, cases[i].name), cases[i].text), "case %zu: %s", i,
                      kept(f, &dir, cases[i].name));
        free_file(f);
    }
}

/* ---- where the image ends ---------------------------------------------------------------------------------------- */

/* Adds a directory with one tile at `at` and returns the place of its pointer to the next one. */
static size_t directory_with_tile(file *f, size_t pointer, uint64_t at, uint64_t bytes, uint16_t extra, uint64_t value)
{
    begin_directory(f, pointer, 3);
    put_far(f, TXM_TAG_TILE_OFFSETS, f->big ? LONG8 : LONG, 1, at);
    put_far(f, TXM_TAG_TILE_COUNTS, f->big ? LONG8 : LONG, 1, bytes);
    put_far(f, extra, f->big ? LONG8 : LONG, 1, value);
    return end_directory(f);
}

TESTS(the_image_ends_with_the_furthest_thing, 4)
{
    file *f = new_file(_i & 1, _i & 2);
    uint64_t tile = f->size;
    for (int i = 0; i < 10; i++)
        put(f, 0, 1);
    size_t next = directory_with_tile(f, first_pointer(f), tile, 10, 1000, 0), end = f->size;
    put_data(f, "what is after it", 16);
    look(f);
    ck_assert_uint_eq(txm_tiff_image_end(&f->tx), end);
    ck_assert(!txm_tiff_has_lost_values(&f->tx));
    /* The first directory is followed by a second one, which points to an Exif directory with a tile after it. */
    uint64_t exif = f->size;
    put(f, 1, f->big ? 8 : 2);
    put_short(f, 1, 1);
    put(f, 0, f->big ? 8 : 4);
    uint64_t far = f->size + 400;
    size_t third = directory_with_tile(f, next, far, 20, TXM_TAG_EXIF, exif);
    look(f);
    ck_assert_uint_eq(txm_tiff_image_end(&f->tx), f->size); /* the tile lies outside of the file */
    while (f->size < far + 50)
        put(f, 0, 1);
    look(f);
    ck_assert_uint_eq(txm_tiff_image_end(&f->tx), far + 20);
    /* A circular chain of directories ends, too. */
    put_at(f, third, txm_load_uint(f->bytes + first_pointer(f), f->big ? 8 : 4, f->swap), f->big ? 8 : 4);
    ck_assert_uint_eq(txm_tiff_image_end(&f->tx), far + 20);
    free_file(f);
}

TEST(values_beyond_the_end_are_lost)
{
    file *f = new_file(false, false);
    only(f, 305, ASCII, 20, 4, 4);
    ck_assert(!txm_tiff_has_lost_values(&f->tx));
    put_at(f, 8 + 2 + 8, f->size - 19, 4); /* the last tile */
    ck_assert(txm_tiff_has_lost_values(&f->tx));
    put_at(f, 8 + 2 + 2, 99, 2); /* the length of an unknown type cannot be determined */
    ck_assert(!txm_tiff_has_lost_values(&f->tx));
    free_file(f);
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* These are written by level_of, which leaves out tags whose value is 0. */
typedef struct shape {
    uint32_t width, height, tile;
    uint16_t bits, format, samples, compression, predictor, planar, photometric, fill_order, depth;
    uint32_t tiles; /* in the tables */
    uint64_t tile_at, tile_bytes;
} shape;

static const shape grey8 = {.width = 8,
                            .height = 6,
                            .tile = 8,
                            .bits = 8,
                            .samples = 1,
                            .compression = 1,
                            .photometric = 1,
                            .tiles = 1,
                            .tile_at = 8,
                            .tile_bytes = 64};

static size_t put_level(file *f, size_t pointer, const shape *s)
{
    const struct {
        uint16_t tag;
        uint32_t value;
    } numbers[] = {
        {TXM_TAG_WIDTH, s->width},
        {TXM_TAG_HEIGHT, s->height},
        {TXM_TAG_BITS, s->bits},
        {TXM_TAG_COMPRESSION, s->compression},
        {TXM_TAG_PHOTOMETRIC, s->photometric},
        {TXM_TAG_FILL_ORDER, s->fill_order},
        {TXM_TAG_SAMPLES, s->samples},
        {TXM_TAG_PLANAR, s->planar},
        {TXM_TAG_PREDICTOR, s->predictor},
        {TXM_TAG_TILE_WIDTH, s->tile},
        {TXM_TAG_TILE_HEIGHT, s->tile},
        {TXM_TAG_SAMPLE_FORMAT, s->format},
        {TXM_TAG_IMAGE_DEPTH, s->depth},
    };
    uint64_t fields = s->tiles ? 2 : 0;
    uint64_t offsets = f->size;
    for (uint32_t i = 0; s->tiles > 1 && i < 2 * s->tiles; i++)
        put(f, i < s->tiles ? s->tile_at : s->tile_bytes, 4);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fields += numbers[i].value != 0;
    begin_directory(f, pointer, fields);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value)
            put_field(f, numbers[i].tag, LONG, 1, numbers[i].value, 4);
    if (s->tiles == 1) {
        put_field(f, TXM_TAG_TILE_OFFSETS, LONG, 1, s->tile_at, 4);
        put_field(f, TXM_TAG_TILE_COUNTS, LONG, 1, s->tile_bytes, 4);
    } else if (s->tiles) {
        put_far(f, TXM_TAG_TILE_OFFSETS, LONG, s->tiles, offsets);
        put_far(f, TXM_TAG_TILE_COUNTS, LONG, s->tiles, offsets + 4 * s->tiles);
    }
    return end_directory(f);
}

/* Opens the file after clearing what an earlier call left. */
static txm_status open_levels(file *f, bool *is)
{
    f->tx.map.data = f->bytes;
    f->tx.map.bytes = f->size;
    memset(&f->tx.info, 0, sizeof f->tx.info);
    memset(f->tx.levels, 0, sizeof f->tx.levels);
    txm_metadata_free(&f->tx.metadata);
    txm_error_clear(&f->err);
    f->tx.ops = &txm_tx_tiff_reader;
    return txm_tx_tiff_reader.open(&f->tx, is, &f->err);
}

/* Makes a file of one level. */
static txm_status open_shape(const shape *s, bool outline, char message[TXM_MESSAGE_BYTES])
{
    bool is;
    file *f = new_file(false, false);
    f->tx.outline = outline;
    for (int i = 0; i < 100; i++)
        put(f, 0, 1);
    put_level(f, first_pointer(f), s);
    txm_status status = open_levels(f, &is);
    ck_assert(is);
    memcpy(message, f->err.message, TXM_MESSAGE_BYTES);
    free_file(f);
    return status;
}

TESTS(a_chain_of_halves_is_levels, 4)
{
    bool is;
    file *f = new_file(_i & 1, _i & 2);
    shape s = grey8;
    s.width = s.height = 20, s.tiles = 9, s.tile_bytes = 60, s.tile_at = 20;
    for (int i = 0; i < 100; i++)
        put(f, 0, 1);
    size_t next = put_level(f, first_pointer(f), &s);
    s.width = s.height = 10, s.tiles = 4, s.tile_bytes = 30;
    next = put_level(f, next, &s);
    s.width = 9; /* half of 0 px: a separate picture */
    put_level(f, next, &s);
    ck_assert_msg(open_levels(f, &is) == TXM_OK, "%s", f->err.message);
    ck_assert(is && f->tx.info.levels == 2 && f->tx.info.tile_w == 8 && f->tx.info.channels == 1);
    ck_assert_str_eq(f->tx.info.compression, "none");
    ck_assert_uint_eq(f->tx.levels[0].shape.encoded_bytes, 9 * 60);
    ck_assert_uint_eq(f->tx.levels[1].shape.encoded_bytes, 4 * 30);
    ck_assert_uint_eq(f->tx.levels[1].first_tile, 9);
    free_file(f);
}

/* There are no more levels than sizes down to a single pixel. */
TEST(a_chain_that_leads_back_ends)
{
    bool is;
    file *f = new_file(false, false);
    shape s = grey8;
    s.width = s.height = 1;
    for (int i = 0; i < 100; i++)
        put(f, 0, 1);
    put_at(f, put_level(f, first_pointer(f), &s), 108, 4);
    ck_assert_int_eq(open_levels(f, &is), TXM_OK);
    ck_assert_uint_eq(f->tx.info.levels, 1);
    free_file(f);
}

TEST(what_is_no_tx_file_is_refused_with_the_reason)
{
    static const struct {
        size_t member;
        unsigned bytes;
        uint32_t value;
        txm_status status, outline;
        const char *why;
    } cases[] = {
#define ODD(member, value, status, outline, why)                                                                       \
    {offsetof(shape, member), sizeof((shape *)0)->member, value, status, outline, why}
        ODD(tile, 0, TXM_STATUS_UNSUPPORTED, TXM_STATUS_UNSUPPORTED, "without tiles"),
        ODD(depth, 2, TXM_STATUS_UNSUPPORTED, TXM_STATUS_UNSUPPORTED, "a volume"),
        ODD(bits, 9, TXM_STATUS_UNSUPPORTED, TXM_OK, "samples of 9 bits"),
        ODD(format, 2, TXM_STATUS_UNSUPPORTED, TXM_OK, "format 2"),
        ODD(samples, 5, TXM_STATUS_UNSUPPORTED, TXM_OK, "5 channels"),
        ODD(photometric, 5, TXM_STATUS_UNSUPPORTED, TXM_OK, "photometric interpretation 5"),
        ODD(fill_order, 2, TXM_STATUS_UNSUPPORTED, TXM_OK, "reverse order"),
        ODD(compression, 34925, TXM_STATUS_UNSUPPORTED, TXM_OK, "compression 34925"),
        ODD(compression, 7, TXM_STATUS_UNSUPPORTED, TXM_OK, "compression 7"),
        ODD(tiles, 0, TXM_STATUS_CORRUPT, TXM_OK, "tile table"),
        ODD(width, 9, TXM_STATUS_CORRUPT, TXM_OK, "tile table"), /* two tiles, but a table of one */
        ODD(width, 0, TXM_STATUS_CORRUPT, TXM_STATUS_CORRUPT, "0x6 pixels"),
        ODD(width, TXM_MAX_SIZE_PX + 1, TXM_STATUS_TOO_LARGE, TXM_STATUS_TOO_LARGE, "at most"),
        ODD(tile, TXM_MAX_TILE_PX + 1, TXM_STATUS_TOO_LARGE, TXM_STATUS_TOO_LARGE, "at most"),
        ODD(tile_at, 9999, TXM_STATUS_CORRUPT, TXM_OK, "level 0, tile 0,0: its 64 bytes at byte 9999"),
#undef ODD
    };
    char message[TXM_MESSAGE_BYTES];
    ck_assert_int_eq(open_shape(&grey8, false, message), TXM_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shape s = grey8;
        memcpy((char *)&s + cases[i].member, &cases[i].value, cases[i].bytes); /* little-endian */
        ck_assert_msg(open_shape(&s, true, message) == cases[i].outline, "case %zu, outline: %s", i, message);
        ck_assert_msg(open_shape(&s, false, message) == cases[i].status, "case %zu: %s", i, message);
        ck_assert_msg(strstr(message, cases[i].why) && strstr(message, "made.tx"), "case %zu: %s", i, message);
    }
}

TEST(planes_and_predictors_are_checked_where_they_matter)
{
    char message[TXM_MESSAGE_BYTES];
    shape s = grey8;
    s.planar = 2;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_OK); /* one channel */
    s.samples = 3;
    s.photometric = 2;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_STATUS_UNSUPPORTED);
    s = grey8;
    s.predictor = 9;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_OK); /* no such codec or predictor */
    s.compression = TXM_TIFF_ZIP;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_STATUS_UNSUPPORTED);
    s.predictor = 3;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_STATUS_UNSUPPORTED); /* of integers */
    s.bits = 32;
    s.format = 3;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_OK);
    s.bits = 12;
    s.format = 1;
    s.predictor = 2;
    ck_assert_int_eq(open_shape(&s, false, message), TXM_STATUS_UNSUPPORTED); /* libtiff has none for such samples */
}

TEST(another_format_is_no_failure)
{
    bool is = true;
    file *f = new_file(false, false);
    memcpy(f->bytes, "\x89PNG", 4);
    ck_assert_int_eq(open_levels(f, &is), TXM_OK);
    ck_assert(!is);
    free_file(f);
}

static txm_status open_again(void *user)
{
    bool is;
    txm_status status = open_levels(user, &is);
    txm_metadata_free(&((file *)user)->tx.metadata);
    return status;
}

TEST(metadata_may_find_no_memory)
{
    file *f = new_file(false, false);
    for (int i = 0; i < 100; i++)
        put(f, 0, 1);
    put_level(f, first_pointer(f), &grey8);
    refuse_each(open_again, f);
    free_file(f);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Makes a file of one tile of 4 x 4 samples of `bits` bits; `data` is its compressed form. */
static file *one_tile(bool swap, uint16_t bits, uint16_t format, uint16_t compression, uint16_t predictor,
                      const void *data, size_t bytes)
{
    bool is;
    shape s = {.width = 4,
               .height = 4,
               .tile = 4,
               .bits = bits,
               .format = format,
               .samples = 1,
               .photometric = 1,
               .compression = compression,
               .predictor = predictor,
               .tiles = 1,
               .tile_at = 8,
               .tile_bytes = bytes};
    file *f = new_file(false, swap);
    put_data(f, data, bytes);
    put_level(f, first_pointer(f), &s);
    ck_assert_msg(open_levels(f, &is) == TXM_OK, "%s", f->err.message);
    return f;
}

/* Finds and decodes the tile. Returns the pixels in scratch memory, or NULL. */
static const uint8_t *decode(file *f, txm_scratch *scratch, txm_status expected)
{
    const txm_tile_id tile = {.w = 4, .h = 4};
    txm_span span;
    txm_pixels pixels = {0};
    ck_assert_int_eq(f->tx.ops->find(&f->tx, &tile, &span, &f->err), TXM_OK);
    txm_status status = f->tx.ops->decode(&f->tx, &tile, &span, scratch, &pixels, &f->err);
    ck_assert_msg(status == expected, "%d: %s", status, f->err.message);
    return pixels.data;
}

static void decodes(file *f, const void *expected, size_t bytes)
{
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    ck_assert_mem_eq(decode(f, scratch, TXM_OK), expected, bytes);
    txm_scratch_give(&f->tx, scratch);
    free_file(f);
}

static void is_damaged(file *f)
{
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    decode(f, scratch, TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(f->err.message, "damaged") != NULL, "%s", f->err.message);
    txm_scratch_give(&f->tx, scratch);
    free_file(f);
}

static const uint8_t ramp[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

TEST(every_codec_gives_the_same_pixels)
{
    static const uint8_t differences[16] = {1, 1, 1, 1, 5, 1, 1, 1, 9, 1, 1, 1, 13, 1, 1, 1};
    /* 15 and the bytes uncompressed; a clear code, nine-bit codes for the bytes, and an end code. */
    uint8_t packbits[17] = {15}, lzw[32] = {0}, zipped[64], zstd[64];
    uLongf zipped_bytes = sizeof zipped;
    memcpy(packbits + 1, ramp, 16);
    for (unsigned i = 0; i < 18; i++) {
        unsigned code = i == 0 ? 256 : i == 17 ? 257 : ramp[i - 1];
        for (unsigned b = 0; b < 9; b++)
            lzw[(9 * i + b) / 8] |= (uint8_t)((code >> (8 - b) & 1) << (7 - (9 * i + b) % 8));
    }
    ck_assert_int_eq(compress(zipped, &zipped_bytes, differences, 16), Z_OK);
    size_t zstd_bytes = ZSTD_compress(zstd, sizeof zstd, differences, 16, 1);
    decodes(one_tile(false, 8, 1, TXM_TIFF_NONE, 2, ramp, 16), ramp, 16);
    decodes(one_tile(false, 8, 1, TXM_TIFF_PACKBITS, 2, packbits, 17), ramp, 16);
    decodes(one_tile(false, 8, 1, TXM_TIFF_LZW, 1, lzw, 21), ramp, 16);
    decodes(one_tile(false, 8, 1, TXM_TIFF_ZIP, 2, zipped, zipped_bytes), ramp, 16);
    decodes(one_tile(false, 8, 1, TXM_TIFF_ZIP_OLD, 2, zipped, zipped_bytes), ramp, 16);
    decodes(one_tile(false, 8, 1, TXM_TIFF_ZSTD, 2, zstd, zstd_bytes), ramp, 16);
    /* The compressed data decodes to too few bytes, or is invalid. */
    is_damaged(one_tile(false, 8, 1, TXM_TIFF_NONE, 1, ramp, 15));
    is_damaged(one_tile(false, 8, 1, TXM_TIFF_PACKBITS, 1, packbits, 16));
    is_damaged(one_tile(false, 8, 1, TXM_TIFF_LZW, 1, lzw, 9));
    is_damaged(one_tile(false, 8, 1, TXM_TIFF_ZIP, 1, zipped, zipped_bytes - 6));
    is_damaged(one_tile(false, 8, 1, TXM_TIFF_ZSTD, 1, zstd, zstd_bytes - 1));
    is_damaged(one_tile(false, 16, 1, TXM_TIFF_ZSTD, 1, zstd, zstd_bytes)); /* half of what is needed */
}

TEST(the_other_byte_order_is_swapped_before_differences_are_summed)
{
    uint16_t native[16], stored[16];
    uint8_t zipped[64];
    uLongf bytes = sizeof zipped;
    for (uint16_t i = 0; i < 16; i++) {
        native[i] = (uint16_t)(i * 300 + 7);
        stored[i] = __builtin_bswap16(i % 4 ? 300 : native[i]);
    }
    ck_assert_int_eq(compress(zipped, &bytes, (const Bytef *)stored, sizeof stored), Z_OK);
    decodes(one_tile(true, 16, 1, TXM_TIFF_ZIP, 2, zipped, bytes), native, sizeof native);
}

/* Packed samples, highest bit first, and what Blender's OpenImageIO makes of them. */
TESTS(samples_of_odd_bits_are_widened, 7)
{
    static const struct {
        uint16_t bits;
        uint32_t first, expected[4]; /* the samples are 0, `first`, twice that, and the largest */
    } cases[] = {
        {1, 1, {0, 255, 0, 255}},         {2, 1, {0, 85, 170, 255}},           {4, 7, {0, 119, 238, 255}},
        {6, 20, {0, 80, 161, 255}},       {10, 340, {0, 21780, 43561, 65535}}, {12, 1360, {0, 21764, 43529, 65535}},
        {14, 340, {0, 1360, 2720, 65535}}};
    const unsigned bits = cases[_i].bits, bytes = bits < 8 ? 1 : 2, row = (4 * bits + 7) / 8;
    const uint32_t most = (1u << bits) - 1, samples[4] = {0, cases[_i].first, 2 * cases[_i].first & most, most};
    uint8_t stored[4 * 7] = {0}, expected[16 * 2], zipped[64];
    uLongf size = sizeof zipped;
    for (unsigned i = 0; i < 16; i++) {
        memcpy(expected + i * bytes, &(uint16_t){(uint16_t)cases[_i].expected[i % 4]}, bytes);
        for (unsigned b = 0, at = i % 4 * bits; b < bits; b++, at++)
            stored[i / 4 * row + at / 8] |= (uint8_t)((samples[i % 4] >> (bits - 1 - b) & 1) << (7 - at % 8));
    }
    ck_assert_int_eq(compress(zipped, &size, stored, 4 * row), Z_OK);
    decodes(one_tile(_i % 2, (uint16_t)bits, 1, TXM_TIFF_ZIP, 1, zipped, size), expected, sizeof(uint8_t) * 16 * bytes);
    decodes(one_tile(false, (uint16_t)bits, 1, TXM_TIFF_NONE, 2, stored, 4 * row), expected, 16 * bytes);
    is_damaged(one_tile(false, (uint16_t)bits, 1, TXM_TIFF_NONE, 1, stored, 4 * row - 1));
}

TESTS(floats_are_summed_byte_by_byte_in_either_order, 2)
{
    /* Rows are constant. Each plane of bytes, the highest ones first, holds one value; differences are 0 after the
     * first byte of a plane. 1.5f is 3F C0 00 00. */
    uint8_t stored[64] = {0}, zipped[64];
    float expected[16];
    uLongf bytes = sizeof zipped;
    for (int row = 0; row < 4; row++) {
        stored[16 * row] = 0x3F;
        stored[16 * row + 4] = 0xC0 - 0x3F;
        stored[16 * row + 8] = (uint8_t)(0 - 0xC0);
    }
    for (int i = 0; i < 16; i++)
        expected[i] = 1.5f;
    ck_assert_int_eq(compress(zipped, &bytes, stored, sizeof stored), Z_OK);
    decodes(one_tile(_i, 32, 3, TXM_TIFF_ZIP, 3, zipped, bytes), expected, sizeof expected);
}

TEST(a_tile_of_a_file_that_became_shorter_is_not_read)
{
    const txm_tile_id tile = {.w = 4, .h = 4};
    txm_span span;
    file *f = one_tile(false, 8, 1, TXM_TIFF_NONE, 1, ramp, 16);
    f->tx.map.bytes = 8 + 16;
    ck_assert_int_eq(f->tx.ops->find(&f->tx, &tile, &span, &f->err), TXM_OK);
    ck_assert(span.data == f->bytes + 8 && span.bytes == 16);
    f->tx.map.bytes--;
    ck_assert_int_eq(f->tx.ops->find(&f->tx, &tile, &span, &f->err), TXM_STATUS_CORRUPT);
    free_file(f);
}

static txm_status decode_anew(void *user)
{
    file *f = user;
    const txm_tile_id tile = {.w = 4, .h = 4};
    txm_span span;
    txm_pixels pixels;
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    txm_status status = TXM_STATUS_NO_MEMORY;
    if (scratch && (status = f->tx.ops->find(&f->tx, &tile, &span, NULL)) == TXM_OK)
        status = f->tx.ops->decode(&f->tx, &tile, &span, scratch, &pixels, NULL);
    if (scratch)
        txm_scratch_give(&f->tx, scratch);
    txm_scratch_free_all(&f->tx);
    return status;
}

TEST(tiles_may_find_no_memory)
{
    static const Bytef data[64] = "0123456789abcdef0123456789abcdef0123456789abcdef";
    uint8_t zipped[64], zstd[64];
    uLongf bytes = sizeof zipped;
    ck_assert_int_eq(compress(zipped, &bytes, data, 64), Z_OK);
    file *f = one_tile(false, 32, 3, TXM_TIFF_ZIP, 3, zipped, bytes);
    refuse_each(decode_anew, f);
    free_file(f);
    f = one_tile(false, 8, 1, TXM_TIFF_ZSTD, 1, zstd, ZSTD_compress(zstd, sizeof zstd, ramp, 16, 1));
    refuse_each(decode_anew, f);
    free_file(f);
}

TEST(codecs_have_names)
{
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_NONE), "none");
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_LZW), "lzw");
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_ZIP), "zip");
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_ZIP_OLD), "zip");
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_PACKBITS), "packbits");
    ck_assert_str_eq(txm_tiff_codec_name(TXM_TIFF_ZSTD), "zstd");
    ck_assert_ptr_null(txm_tiff_codec_name(7));
}
