/* SPDX-License-Identifier: Apache-2.0
 * Texture caches and tx files for their tests. */
#include "util_cache.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util_sample.h"
#include "util_tx.h"

/* Inflating noise took more than half of the time of most tests that read such files. zstd keeps it as it is, but only
 * integers can have it. */
char *write_cached(const char *name, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                   made_content content, unsigned seed)
{
    const bool integer = type == TXM_TYPE_U8 || type == TXM_TYPE_U16;
    return write_cached_as(name, width, height, channels, type, content, seed,
                           content == MADE_NOISE && integer ? TXM_CODEC_ZSTD : TXM_CODEC_ZIP);
}

static void write_pixels(const char *path, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                         made_content content, unsigned seed, txm_codec codec)
{
    made_image m = make_image(width, height, channels, type, 64, (txm_compression){.codec = codec}, content);
    if (channels == 3) {
        write_foreign_tiff(path, &m, (foreign_tiff){.compression = 8, .predictor = 1});
    } else {
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        txm_tx_summary summary = made_summary();
        txm_error err = {0};
        snprintf(summary.sha1, sizeof summary.sha1, "%040X",
                 width * 7919 + height * 13 + channels * 3 + (unsigned)type + seed * 100003);
        ck_assert_msg(write_image(fd, &m, NULL, &summary, NULL, &err) == TXM_OK, "%s", err.message);
        close(fd);
    }
    free_image(&m);
}

/* Tests ask for the same few files for every policy and budget, and compressing took most of their time, so a file is
 * made once and copied. */
char *write_cached_as(const char *name, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                      made_content content, unsigned seed, txm_codec codec)
{
    char made[128];
    snprintf(made, sizeof made, "made-%u-%u-%u-%d-%d-%u-%d", width, height, channels, (int)type, (int)content, seed,
             (int)codec);
    char *path = strdup(temp_file(name)), *original = strdup(temp_file(made)), *draft = strdup(temp_file("draft"));
    if (access(original, R_OK)) {
        write_pixels(draft, width, height, channels, type, content, seed, codec);
        ck_assert_int_eq(rename(draft, original), 0);
    }
    size_t bytes;
    uint8_t *data = load_file(original, &bytes);
    save_file(path, data, bytes);
    free(data);
    free(draft);
    free(original);
    return path;
}

txm_sampler sampler(txm_level_mode mode)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.mode = (uint8_t)mode;
    return how;
}

float unit(uint64_t *state)
{
    return (float)(sample_random(state) >> 8) / 16777216.0f;
}

txm_cache_options budget_options(uint64_t max_bytes, uint32_t policy)
{
    txm_cache_options o;
    txm_cache_options_init(&o);
    o.max_bytes = max_bytes;
    o.policy = policy;
    o.threads = 2;
    return o;
}

txm_lookup at_level(float u, float v, float level, uint32_t size)
{
    float step = exp2f(level) / (float)size;
    return (txm_lookup){u, v, step, 0, 0, step};
}

bool magenta(const float c[4])
{
    return c[0] == 1.0f && c[1] == 0.0f && c[2] == 1.0f && c[3] == 1.0f;
}

txm_cache *new_cache(const txm_cache_options *o)
{
    txm_cache *c = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_cache_new(o, &c, &err) == TXM_OK, "%s", err.message);
    return c;
}

txm_cache_thread *new_thread(txm_cache *c)
{
    txm_cache_thread *t = NULL;
    ck_assert_int_eq(txm_cache_thread_new(c, &t, NULL), TXM_OK);
    return t;
}

uint32_t add_texture(txm_cache *c, const char *path, txm_extension extension)
{
    uint32_t id = TXM_NO_TEXTURE;
    txm_error err = {0};
    ck_assert_msg(txm_cache_add(c, path, extension, &id, &err) == TXM_OK, "%s", err.message);
    return id;
}

txm_cache_stats stats_of(txm_cache *c)
{
    txm_cache_stats s;
    txm_cache_stats_of(c, &s);
    return s;
}

void *walk_four(void *arg)
{
    walker *w = arg;
    txm_cache_thread *t = new_thread(w->cache);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    for (int i = 0; i < w->count; i++) {
        float out[4];
        txm_lookup at = at_level(unit(&w->seed), unit(&w->seed), 4 * unit(&w->seed), 1024);
        txm_cache_sample(t, w->ids[sample_random(&w->seed) % 4], &how, &at, NULL, out);
    }
    txm_cache_thread_free(&t);
    return NULL;
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    counted *n = user;
    void *memory;
    if ((n->limit && n->now + bytes > n->limit) || (n->refuse_in && --n->refuse_in <= 0 && (n->refuse_in = 1)))
        return NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1))
        return NULL;
    n->now += bytes;
    n->most = n->now > n->most ? n->now : n->most;
    return memory;
}

static void release(void *user, void *memory, size_t bytes)
{
    ((counted *)user)->now -= bytes;
    free(memory);
}

txm_cache_allocator count_in(counted *count)
{
    return (txm_cache_allocator){allocate, release, count};
}
