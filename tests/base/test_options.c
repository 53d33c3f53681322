/* SPDX-License-Identifier: Apache-2.0
 * Settings and options of programs that are older or newer than the library. */
#include "base/options.h"
#include "txmill/batch.h"
#include "txmill/garbage.h"
#include "txmill/inspect.h"
#include "txmill/level.h"
#include "txmill/scene.h"
#include "txmill/watch.h"
#include "txtile/cache.h"
#include "util_check.h"

/* A type as this library knows it, and as the next one will. */
typedef struct now {
    size_t struct_size;
    int a, b;
} now;
typedef struct next {
    now known;
    int c;
} next;

TEST(older_keeps_defaults)
{
    now own = {.a = 1, .b = 2};
    struct {
        size_t struct_size;
        int a;
    } older = {offsetof(now, b), 7};
    ck_assert_int_eq(txm_options_take(&own, sizeof own, &older, "now", NULL), TXM_OK);
    ck_assert_int_eq(own.a, 7);
    ck_assert_int_eq(own.b, 2);
    ck_assert_uint_eq(own.struct_size, sizeof own);
}

TEST(newer_may_ask_for_nothing_unknown)
{
    now own = {0};
    txm_error err;
    next newer;
    memset(&newer, 0, sizeof newer); /* an init function does the same: it clears the padding, too */
    newer.known = (now){sizeof newer, 3, 4};
    ck_assert_int_eq(txm_options_take(&own, sizeof own, &newer, "now", &err), TXM_OK);
    ck_assert_int_eq(own.b, 4);
    newer.c = 1;
    own.a = 9;
    txm_error_clear(&err);
    ck_assert_int_eq(txm_options_take(&own, sizeof own, &newer, "now", &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(own.a, 9);
    ck_assert_ptr_nonnull(strstr(err.message, "now"));
}

TEST(null_is_defaults)
{
    now own = {.a = 5};
    ck_assert_int_eq(txm_options_take(&own, sizeof own, NULL, "now", NULL), TXM_OK);
    ck_assert_int_eq(own.a, 5);
}

/* The program was compiled when the struct had only its first members. */
TEST(settings_of_any_size)
{
    unsigned char room[2 * sizeof(txm_settings)];
    memset(room, 0xAA, sizeof room);
    txm_settings_init_sized((txm_settings *)room, offsetof(txm_settings, tile_px));
    for (size_t i = offsetof(txm_settings, tile_px); i < sizeof room; i++)
        ck_assert_uint_eq(room[i], 0xAA);
    txm_settings_init_sized((txm_settings *)room, sizeof room);
    for (size_t i = sizeof(txm_settings); i < sizeof room; i++)
        ck_assert_uint_eq(room[i], 0);
    ck_assert(((txm_settings *)room)->borders);
}

/* Every function refuses a struct whose init function was not called, before it looks at anything else. */
TEST(unopened_is_usage)
{
    txm_error err;
    SCOPED(txm_context_free) txm_context *context = NULL;
    SCOPED(txm_inputs_free) txm_inputs *inputs = NULL;
    SCOPED(txm_batch_free) txm_batch *batch = NULL;
    txm_result result;
    txm_resolution resolution;
    txm_findings findings = {0};
    txm_verdict verdict;
    const txm_context_options no_context = {0};
    const txm_settings no_settings = {0};
    const txm_convert_options no_convert = {0};
    const txm_inputs_options no_inputs = {0};
    const txm_batch_options no_batch = {0};
    const txm_verify_options no_verify = {0};
    const txm_resolve_options no_resolve = {0};
    ck_assert_int_eq(txm_context_new(&no_context, &context, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "txm_context_options_init"));
    ck_assert_int_eq(txm_context_new(NULL, &context, &err), TXM_OK);
    ck_assert_int_eq(txm_convert(context, "x.png", &no_settings, NULL, &result, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_convert(context, "x.png", NULL, &no_convert, &result, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_convert(context, "x.png", NULL, NULL, &result, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_inputs_new(&no_inputs, &inputs, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_new(context, inputs, &no_batch, &batch, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_null(batch);
    ck_assert_int_eq(txm_batch_new(context, inputs, NULL, &batch, &err), TXM_OK);
    ck_assert_int_eq(txm_verify(context, "x.tx", &no_verify, &findings, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_judge(context, "x.tx", &no_verify, &verdict, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_resolve_image(context, "x.png", NULL, &no_resolve, &resolution, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_resolve_image(context, "x.png", &no_settings, NULL, &resolution, &err), TXM_STATUS_USAGE);
}

TEST(unopened_is_usage_everywhere)
{
    txm_error err;
    txm_color_config *colors = NULL;
    txm_scene *blend = NULL;
    txm_cache *cache = NULL;
    txm_watch *watch = NULL;
    txm_garbage_result garbage = {0};
    txm_trim_result trimmed = {0};
    const char *image = "x.tx";
    const txm_color_options no_color = {0};
    const txm_scene_options no_blend = {0};
    const txm_cache_options no_cache = {0};
    const txm_watch_options no_watch = {0};
    const txm_garbage_options no_garbage = {0};
    const txm_trim_options no_trim = {0};
    const txm_extract_options no_extract = {0};
    ck_assert_int_eq(txm_color_load(&no_color, &colors, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_scene_open("x.blend", &no_blend, &blend, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_new(&no_cache, &cache, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "txm_cache_options_init"));
    ck_assert_int_eq(txm_watch_new(&image, 1, &no_watch, &watch, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_garbage_collect(".", &no_garbage, &garbage, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_store_trim(".", &no_trim, &trimmed, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_extract("x.tx", "x.png", &no_extract, NULL, &err), TXM_STATUS_USAGE);
}

/* Defaults other than 0 fill a program's struct up to the size that it gives, and no further. */
TEST(inits_of_any_size)
{
    unsigned char room[2 * sizeof(txm_cache_options)];
    txm_cache_options *cache = (void *)room;
    memset(room, 0xAA, sizeof room);
    txm_cache_options_init_sized(cache, offsetof(txm_cache_options, max_open));
    ck_assert_uint_eq(cache->struct_size, offsetof(txm_cache_options, max_open));
    ck_assert_uint_eq(cache->max_requests, 8192);
    for (size_t i = offsetof(txm_cache_options, max_open); i < sizeof room; i++)
        ck_assert_uint_eq(room[i], 0xAA);
    txm_cache_options_init_sized(cache, sizeof room);
    for (size_t i = sizeof *cache; i < sizeof room; i++)
        ck_assert_uint_eq(room[i], 0);
}

/* The program was compiled when the options had only their first members. */
TEST(older_cache_options)
{
    unsigned char room[sizeof(txm_cache_options)];
    txm_cache_options *older = (void *)room;
    SCOPED(txm_cache_free) txm_cache *cache = NULL;
    txm_error err;
    memset(room, 0xAA, sizeof room);
    txm_cache_options_init_sized(older, offsetof(txm_cache_options, max_open));
    ck_assert_msg(txm_cache_new(older, &cache, &err) == TXM_OK, "%s", err.message);
}
