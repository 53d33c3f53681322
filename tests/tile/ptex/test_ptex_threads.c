/* SPDX-License-Identifier: Apache-2.0
 * Ptex files as sources of tiles, read by many threads: pages through a cache that is smaller than they are, so that
 * tiles are evicted and loaded again, and rectangles of pages at the same time. Every lookup gives what one thread
 * finds in the whole pages. Through the cache, subfaces and the whole faces beside them look as in the file itself.
 * make check-cache-threads runs it under ThreadSanitizer. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "txtile/cache.h"
#include "txtile/ptex_pages.h"
#include "util_cache.h"
#include "util_check.h"

enum { THREADS = 4, PAGE_PX = 64, MOST_PAGES = 32, LEVELS = 8, LOOKUPS = 4000 };

/* The pages of a file, as whole levels in memory and as textures of a cache. */
typedef struct paged {
    txm_ptex *ptex;
    txm_ptex_pages *pages;
    const txm_ptex_pages_info *info;
    txm_cache *cache;
    uint32_t width[MOST_PAGES], height[MOST_PAGES], textures[MOST_PAGES];
    uint8_t *levels[MOST_PAGES][LEVELS];
    struct page {
        struct paged *of;
        uint32_t number;
    } page[MOST_PAGES];
    atomic_uint wrong;
} paged;

static size_t pixel_bytes(const paged *p)
{
    return p->info->channels * txm_type_bytes(p->info->type);
}

static txm_status describe_page(void *user, txm_tile_shape *shape, txm_error *err)
{
    const struct page *page = user;
    const paged *p = page->of;
    (void)err;
    shape->width = p->width[page->number];
    shape->height = p->height[page->number];
    shape->levels = txm_level_count(shape->width, shape->height);
    shape->tile_px = 16;
    shape->channels = p->info->channels;
    shape->type = (uint32_t)p->info->type;
    shape->encoding = TXM_ENCODING_DATA;
    return TXM_OK;
}

static txm_status read_page(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                            void *pixels, size_t row_stride_bytes, txm_error *err)
{
    const struct page *page = user;
    return txm_ptex_page_read(page->of->pages, page->number, level, x, y, width, height, pixels, row_stride_bytes, err);
}

static void open_paged(paged *p, const char *name)
{
    const txm_ptex_pages_options o = {sizeof o, PAGE_PX, 4, 0};
    const char *data = getenv("TXM_TESTDATA");
    char path[512];
    txm_error err;
    *p = (paged){.ptex = NULL};
    snprintf(path, sizeof path, "%s/ptex/%s", data ? data : "testdata", name);
    ck_assert_int_eq(txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &p->ptex, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_pages_new(p->ptex, &o, &p->pages, &err), TXM_OK);
    p->info = txm_ptex_pages_info_of(p->pages);
    ck_assert_uint_le(p->info->pages, MOST_PAGES);
    txm_cache_options options = budget_options(24 << 10, TXM_CACHE_POLICY_LRU);
    p->cache = new_cache(&options);
    for (uint32_t i = 0; i < p->info->pages; i++) {
        txm_ptex_page_size(p->pages, i, &p->width[i], &p->height[i]);
        p->page[i] = (struct page){p, i};
        const txm_tile_source source = {sizeof source, &p->page[i], describe_page, read_page, NULL};
        ck_assert_int_eq(txm_cache_add_source(p->cache, "page", &source, TXM_EXTENSION_EXTEND, &p->textures[i], &err),
                         TXM_OK);
        for (uint32_t level = 0; level < LEVELS && level < txm_level_count(p->width[i], p->height[i]); level++) {
            const uint32_t w = txm_level_size(p->width[i], level), h = txm_level_size(p->height[i], level);
            p->levels[i][level] = malloc(w * h * pixel_bytes(p));
            ck_assert_int_eq(
                txm_ptex_page_read(p->pages, i, level, 0, 0, w, h, p->levels[i][level], w * pixel_bytes(p), &err),
                TXM_OK);
        }
    }
}

static void close_paged(paged *p)
{
    txm_cache_free(&p->cache);
    for (uint32_t i = 0; i < MOST_PAGES; i++)
        for (uint32_t level = 0; level < LEVELS; level++)
            free(p->levels[i][level]);
    txm_ptex_pages_free(&p->pages);
    txm_ptex_close(&p->ptex);
}

/* A lookup at the centre of a pixel, where a filter uses no other pixel. */
static bool look_is_right(paged *p, txm_cache_thread *t, uint32_t page, uint32_t level, uint32_t x, uint32_t y)
{
    const uint32_t w = txm_level_size(p->width[page], level), h = txm_level_size(p->height[page], level);
    txm_sampler how;
    txm_lookup at = {0};
    float got[4], want[4];
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.filter = TXM_FILTER_CLOSEST;
    at.u = ((float)x + 0.5f) / (float)w;
    at.v = 1 - ((float)y + 0.5f) / (float)h;
    at.dudx = 1.01f / (float)w;
    at.dvdy = 1.01f / (float)h;
    const txm_lookup_result look = txm_cache_sample(t, p->textures[page], &how, &at, NULL, got);
    txm_samples_to_float(p->info->type, p->levels[page][level] + ((size_t)y * w + x) * pixel_bytes(p), want,
                         p->info->channels);
    return look == TXM_LOOKUP_HIT && memcmp(got, want, p->info->channels * sizeof *got) == 0;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void *look_around(void *arg)
{
    paged *p = arg;
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(p->cache);
    static atomic_uint seeds;
    uint32_t state = 1 + atomic_fetch_add(&seeds, 1);
    FREED uint8_t *part = malloc((size_t)PAGE_PX * PAGE_PX * 4 * sizeof(float));
    for (int i = 0; i < LOOKUPS; i++) {
        const uint32_t page = next_random(&state) % p->info->pages, level = next_random(&state) % 3;
        const uint32_t w = txm_level_size(p->width[page], level), h = txm_level_size(p->height[page], level);
        const uint32_t x = next_random(&state) % w, y = next_random(&state) % h;
        if (!look_is_right(p, t, page, level, x, y))
            atomic_fetch_add(&p->wrong, 1);
        if (i % 16)
            continue;
        const size_t bytes = pixel_bytes(p);
        const uint32_t part_w = w - x < 8 ? w - x : 8;
        if (txm_ptex_page_read(p->pages, page, level, x, y, part_w, 1, part, part_w * bytes, NULL) != TXM_OK ||
            memcmp(part, p->levels[page][level] + ((size_t)y * w + x) * bytes, part_w * bytes) != 0)
            atomic_fetch_add(&p->wrong, 1);
    }
    return NULL;
}

TEST(threads_see_the_same_pages)
{
    static const char *const names[] = {"sizes-u8.ptx", "sizes-half.ptx", "grid-subfaces.ptx", "hexagon.ptx",
                                        "tiled.ptx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        paged p;
        pthread_t threads[THREADS];
        if (strcmp(names[i], "tiled.ptx") == 0 && getenv("TXM_CACHE_LOOKUPS"))
            continue; /* one face of 512 x 512 texels in its own page: slow under a sanitizer */
        open_paged(&p, names[i]);
        for (int k = 0; k < THREADS; k++)
            ck_assert_int_eq(pthread_create(&threads[k], NULL, look_around, &p), 0);
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
        ck_assert_msg(p.wrong == 0, "%s: %u lookups are wrong", names[i], p.wrong);
        ck_assert_uint_gt(stats_of(p.cache).tiles_evicted, 0);
        close_paged(&p);
    }
}

/* A bilinear lookup at full size, which may reach over one edge. */
static bool looks_as_in_the_file(paged *p, txm_cache_thread *t, txm_ptex_filter *filter, uint32_t face, float u,
                                 float v)
{
    float got[4], want[4] = {0};
    double at[2];
    txm_error err;
    txm_ptex_request r;
    txm_ptex_request_init(&r);
    r.kind = TXM_PTEX_BILINEAR;
    r.face = face;
    r.u = u;
    r.v = v;
    r.channels = p->info->channels < 3 ? p->info->channels : 3;
    r.result = want;
    ck_assert_int_eq(txm_ptex_look_up(filter, &r, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_place_uv(p->pages, face, (double)u, (double)v, at, &err), TXM_OK);
    const uint32_t column = (uint32_t)at[0], row = (uint32_t)at[1];
    const txm_lookup look = {.u = (float)(at[0] - column), .v = (float)(at[1] - row)};
    txm_sampler how;
    txm_sampler_init(&how);
    how.filter = TXM_FILTER_LINEAR;
    if (txm_cache_sample(t, p->textures[row * 10 + column], &how, &look, NULL, got) != TXM_LOOKUP_HIT)
        return false;
    for (uint32_t c = 0; c < r.channels && c < txm_ptex_info_of(p->ptex)->channels; c++)
        if (fabsf(got[c] - want[c]) > 0.6f / 255)
            return false;
    return true;
}

TESTS(subfaces_through_the_cache, 3)
{
    static const char *const names[] = {"grid-subfaces.ptx", "disney/sub_u8_mixed.ptx", "disney/aniso_u8.ptx"};
    paged p;
    txm_ptex_filter *filter;
    txm_error err;
    size_t looks = 0;
    open_paged(&p, names[_i]);
    txm_cache_thread *t = new_thread(p.cache);
    ck_assert_int_eq(txm_ptex_filter_new(p.ptex, 1 << 20, &filter, &err), TXM_OK);
    for (uint32_t face = 0; face < txm_ptex_info_of(p.ptex)->faces; face++) {
        const txm_ptex_face *f = txm_ptex_face_of(p.ptex, face);
        if (f->u_log2 < 2 || f->v_log2 < 2 || f->flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD)
            continue;
        for (int i = 0; i < 40; i++, looks++) {
            const float along = 0.13f + 0.74f * (float)(i / 4) / 9, across = i & 1 ? 0.999f : 0.001f;
            const float u = i & 2 ? along : across, v = i & 2 ? across : along;
            if (!looks_as_in_the_file(&p, t, filter, face, u, v))
                ck_abort_msg("%s: face %u at %g, %g", names[_i], face, (double)u, (double)v);
        }
    }
    ck_assert_uint_gt(looks, 100);
    txm_ptex_filter_free(&filter);
    txm_cache_thread_free(&t);
    close_paged(&p);
}
