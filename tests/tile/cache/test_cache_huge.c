/* SPDX-License-Identifier: Apache-2.0
 *
 * More textures than any memory holds: sparse tx files of 65536 x 65536 px, under as many names as make 1.5 TB, looked
 * up at random and in a walk within a budget. TXM_HUGE_LOOKUPS and TXM_HUGE_MB set the number of lookups of each and
 * the budget: 150000 fill 2048.
 */
#include <fcntl.h>
#include <math.h>

#include "base/endian.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum { SIZE = 65536, TILE = 64, LEVELS = 17, TILE_BYTES = TILE * TILE * 4, NAMES = 62, MARKED = 512 };

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

/* ---- a sparse tx file ---- */

/* The file is a BigTIFF with a directory for each level and uncompressed tiles: only tables, and tiles with a colour,
 * take space on disk. */
typedef struct sparse {
    int fd;
    uint64_t end;
    uint64_t pixels; /* of level 0 */
} sparse;

static void put(const sparse *f, const void *data, size_t bytes, uint64_t offset)
{
    ck_assert_int_eq(pwrite(f->fd, data, bytes, (off_t)offset), (long)bytes);
}

static void put_entry(uint8_t **at, uint16_t tag, uint16_t type, uint64_t count, uint64_t value)
{
    txm_store_le16(*at, tag);
    txm_store_le16(*at + 2, type);
    txm_store_le64(*at + 4, count);
    txm_store_le64(*at + 12, value);
    *at += 20;
}

static uint64_t add_tables(sparse *f, uint32_t tiles, uint64_t pixels, uint64_t *counts)
{
    enum { SHORT_BYTES = 4 };
    FREED uint8_t *offsets = malloc((size_t)tiles * 8), *sizes = malloc((size_t)tiles * SHORT_BYTES);
    uint64_t at = f->end;
    for (uint32_t i = 0; i < tiles; i++) {
        txm_store_le64(offsets + (size_t)i * 8, pixels + (uint64_t)i * TILE_BYTES);
        txm_store_le32(sizes + (size_t)i * SHORT_BYTES, TILE_BYTES);
    }
    put(f, offsets, (size_t)tiles * 8, at);
    put(f, sizes, (size_t)tiles * SHORT_BYTES, at + (uint64_t)tiles * 8);
    *counts = at + (uint64_t)tiles * 8;
    f->end = (*counts + (uint64_t)tiles * SHORT_BYTES + 7) & ~7ull;
    return at;
}

static void add_level(sparse *f, uint32_t level, uint64_t *link, uint64_t *pixels)
{
    enum { ENTRIES = 14, SHORT = 3, LONG = 4, LONG8 = 16 };
    uint32_t size = txm_level_size(SIZE, level), across = (size + TILE - 1) / TILE, tiles = across * across;
    uint64_t counts, offsets = add_tables(f, tiles, *pixels, &counts);
    uint8_t directory[8 + ENTRIES * 20 + 8], *at = directory + 8, link_bytes[8];
    const uint64_t eights = 0x0008000800080008u, ones = 0x0001000100010001u;
    if (level == 0)
        f->pixels = *pixels;
    *pixels += (uint64_t)tiles * TILE_BYTES;
    txm_store_le64(directory, ENTRIES);
    put_entry(&at, 254, LONG, 1, level != 0);
    put_entry(&at, 256, LONG, 1, size);
    put_entry(&at, 257, LONG, 1, size);
    put_entry(&at, 258, SHORT, 4, eights);
    put_entry(&at, 259, SHORT, 1, 1);
    put_entry(&at, 262, SHORT, 1, 2);
    put_entry(&at, 277, SHORT, 1, 4);
    put_entry(&at, 284, SHORT, 1, 1);
    put_entry(&at, 322, SHORT, 1, TILE);
    put_entry(&at, 323, SHORT, 1, TILE);
    put_entry(&at, 324, LONG8, tiles, tiles == 1 ? *pixels - TILE_BYTES : offsets);
    put_entry(&at, 325, LONG, tiles, tiles == 1 ? TILE_BYTES : counts);
    put_entry(&at, 338, SHORT, 1, 1);
    put_entry(&at, 339, SHORT, 4, ones);
    txm_store_le64(at, 0);
    put(f, directory, sizeof directory, f->end);
    txm_store_le64(link_bytes, f->end);
    put(f, link_bytes, sizeof link_bytes, *link);
    *link = f->end + 8 + ENTRIES * 20;
    f->end += sizeof directory;
    f->end = (f->end + 7) & ~7ull;
}

/* Returns the n-th tile that has a colour; all others are holes. */
static uint32_t marked_tile(uint32_t n)
{
    return (n * 2654435761u) % ((SIZE / TILE) * (SIZE / TILE));
}

static char *write_sparse(void)
{
    char *path = strdup(temp_file("sparse.tx"));
    static const uint8_t header[16] = {'I', 'I', 43, 0, 8};
    enum { TABLES = 32 << 20 }; /* room for directories and tables in front of the pixels */
    sparse f = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), .end = sizeof header};
    uint64_t link = 8, pixels = TABLES;
    put(&f, header, sizeof header, 0);
    for (uint32_t level = 0; level < LEVELS; level++)
        add_level(&f, level, &link, &pixels);
    ck_assert_uint_lt(f.end, TABLES);
    ck_assert_int_eq(ftruncate(f.fd, (off_t)pixels), 0);
    for (uint32_t n = 0; n < MARKED; n++) {
        uint8_t tile[TILE_BYTES];
        for (int i = 0; i < TILE_BYTES; i += 4)
            txm_store_le32(tile + i, n * 40503u | 0xFF000000u);
        put(&f, tile, sizeof tile, f.pixels + (uint64_t)marked_tile(n) * TILE_BYTES);
    }
    close(f.fd);
    return path;
}

/* ---- lookups ---- */

/* Returns a lookup in the middle of a tile of level 0 that has a colour. */
static void check_marked(txm_cache_thread *t, uint32_t id, const txm_sampler *how, uint32_t n)
{
    uint32_t tile = marked_tile(n), across = SIZE / TILE;
    float out[4], step = 1.0f / SIZE;
    txm_lookup at = {((float)(tile % across) + 0.5f) / (float)across,
                     1.0f - ((float)(tile / across) + 0.5f) / (float)across,
                     step,
                     0,
                     0,
                     step};
    ck_assert_int_eq(txm_cache_sample(t, id, how, &at, NULL, out), TXM_LOOKUP_HIT);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq((int)lrintf(out[i] * 255.0f), (int)(n * 40503u >> 8 * i & 0xFF));
}

TEST(terabytes_through_a_budget)
{
    unsigned long lookups = number("TXM_HUGE_LOOKUPS", 1500), mb = number("TXM_HUGE_MB", 12);
    FREED char *path = write_sparse();
    counted memory = {0};
    txm_cache_options o;
    txm_cache_options_init(&o);
    o.max_bytes = (uint64_t)mb << 20;
    o.policy = TXM_CACHE_POLICY_LRU;
    o.coalesce = 0;     /* holes all have the same colour */
    o.max_open = NAMES; /* opening a file checks all of its 1.4 million entries */
    o.allocator = count_in(&memory);
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    uint32_t ids[NAMES];
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "huge%d.tx", i);
        const char *link_path = temp_file(name);
        ck_assert_int_eq(symlink(path, link_path), 0);
        ids[i] = add_texture(c, link_path, TXM_EXTENSION_REPEAT);
        ck_assert_int_eq(txm_cache_open(c, ids[i], NULL, NULL), TXM_OK);
    }
    ck_assert_uint_gt(stats_of(c).virtual_bytes, 1500000000000u);
    txm_sampler how;
    txm_sampler_init(&how);
    uint64_t seed = 17;
    /* Lookups are at random places and levels: the table must grow with the tiles in memory only. */
    for (unsigned long n = 0; n < lookups; n++) {
        uint32_t i = sample_random(&seed) % NAMES;
        float out[4], step = exp2f(11 * unit(&seed)) / SIZE;
        txm_lookup at = {unit(&seed), unit(&seed), step, 0, 0, step};
        ck_assert_int_eq(txm_cache_sample(t, ids[i], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        if (n % 64 == 0)
            check_marked(t, ids[n / 64 % NAMES], &how, (uint32_t)(n / 64) % MARKED);
    }
    /* Walks over one of them. */
    for (unsigned long n = 0; n < lookups; n++) {
        float out[4], step = 1.0f / SIZE, angle = (float)n * 0.002f, radius = 0.4f * (float)n / (float)lookups;
        txm_lookup at = {0.5f + radius * cosf(angle), 0.5f + radius * sinf(angle), step, 0, 0, step};
        ck_assert_int_eq(txm_cache_sample(t, ids[0], &how, &at, NULL, out), TXM_LOOKUP_HIT);
    }
    txm_cache_stats s = stats_of(c);
    printf("note %s: %.2f TB in %llu MB: %llu tiles loaded, %llu again, peak %.1f MB, %.1f s loading\n",
           txm_cache_policy_name((txm_cache_policy)o.policy), (double)s.virtual_bytes / 1e12, (unsigned long long)mb,
           (unsigned long long)s.tiles_loaded, (unsigned long long)s.tiles_reloaded, (double)memory.most / 1048576,
           s.load_seconds);
    ck_assert_uint_le(memory.most, o.max_bytes + (512u << 10));
    ck_assert_uint_eq(s.tiles_failed, 0);
    ck_assert_uint_gt(s.tiles_evicted, 0);
    /* A smaller budget is kept at once, and lookups go on in it. */
    ck_assert_int_eq(txm_cache_set_max_bytes(c, o.max_bytes / 3, NULL), TXM_OK);
    ck_assert_uint_le(memory.now, o.max_bytes / 3 + (512u << 10));
    for (uint32_t n = 0; n < MARKED; n++)
        check_marked(t, ids[n % NAMES], &how, n);
    ck_assert_uint_le(memory.now, o.max_bytes / 3 + (512u << 10));
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    ck_assert_uint_eq(memory.now, 0);
    unlink(path);
}

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "600", 1);
    return run_tests();
}
