/* SPDX-License-Identifier: Apache-2.0
 *
 * NULL where the headers allow it: as the error of every function that can fail, in functions that free
 * or end something, as a path, and where a comment gives it a meaning. cli_library.sh compares the list of NULL-safe
 * functions with it.
 */
#include "txmill/abi.h"
#include "txmill/archive.h"
#include "txmill/batch.h"
#include "txmill/garbage.h"
#include "txmill/inspect.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/rules.h"
#include "txmill/scene.h"
#include "txmill/unwrap.h"
#include "txmill/watch.h"
#include "txtile/describe.h"
#include "txtile/device.h"
#include "txtile/name.h"
#include "txtile/ptex.h"
#include "txtile/ptex_pages.h"
#include "txtile/trace.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

static char *path; /* a texture of 200 px */
static txm_error err;

static void write_texture(void)
{
    path = write_cached_as("null.tx", 200, 200, 4, TXM_TYPE_U8, MADE_NOISE, 0, TXM_CODEC_ZIP);
}

static void free_texture(void)
{
    free(path);
}
FIXTURE(write_texture, free_texture)

/* NULL, and a pointer to NULL or to a struct that is zeroed. */
#define END_NOTHING(type, end)                                                                                         \
    do {                                                                                                               \
        type *nothing = NULL;                                                                                          \
        end(NULL);                                                                                                     \
        end(&nothing);                                                                                                 \
    } while (0)
#define CLEAR_NOTHING(type, clear)                                                                                     \
    do {                                                                                                               \
        type nothing = {0};                                                                                            \
        clear(NULL);                                                                                                   \
        clear(&nothing);                                                                                               \
    } while (0)

TEST(ends_of_nothing)
{
    END_NOTHING(txm_tx, txm_tx_close);
    END_NOTHING(txm_ptex, txm_ptex_close);
    END_NOTHING(txm_ptex_pages, txm_ptex_pages_free);
    END_NOTHING(txm_ptex_filter, txm_ptex_filter_free);
    END_NOTHING(txm_cache, txm_cache_free);
    END_NOTHING(txm_cache_thread, txm_cache_thread_free);
    END_NOTHING(txm_ticket, txm_ticket_wait);
    END_NOTHING(txm_ticket, txm_ticket_cancel);
    txm_cache_viewer *viewer = NULL;
    txm_cache_viewer_free(NULL);
    txm_cache_viewer_close(NULL);
    txm_device_close(NULL);
    txm_cache_viewer_free(&viewer);
    ck_assert(txm_ticket_poll(NULL));
    END_NOTHING(txm_texture_set, txm_texture_set_free);
    END_NOTHING(txm_trace, txm_trace_free);
    END_NOTHING(txm_trace_cursor, txm_trace_cursor_free);
    CLEAR_NOTHING(txm_found, txm_found_clear);
    CLEAR_NOTHING(txm_tx_description, txm_tx_description_free);
    txm_error_clear(NULL);
    ck_assert_uint_eq(txm_ticket_total(NULL), 0);
    ck_assert_uint_eq(txm_ticket_remaining(NULL), 0);
    ck_assert(!txm_tx_catch_fault(NULL));
}

/* The same in libtxmill: objects through a pointer, and results that the caller holds, zeroed. */
TEST(ends_of_nothing_in_libtxmill)
{
    txm_scene_entry *entries = NULL;
    END_NOTHING(txm_inputs, txm_inputs_free);
    END_NOTHING(txm_batch, txm_batch_free);
    END_NOTHING(txm_color_config, txm_color_free);
    END_NOTHING(txm_context, txm_context_free);
    END_NOTHING(txm_used, txm_used_free);
    END_NOTHING(txm_census, txm_census_free);
    END_NOTHING(txm_out_file, txm_out_file_abort);
    END_NOTHING(txm_archive, txm_archive_abort);
    END_NOTHING(txm_rules, txm_rules_free);
    END_NOTHING(txm_scene, txm_scene_close);
    END_NOTHING(txm_mesh, txm_mesh_close);
    txm_scene_entries_free(NULL, 1);
    txm_scene_entries_free(&entries, 0);
    END_NOTHING(txm_watch, txm_watch_free);
    CLEAR_NOTHING(txm_result, txm_result_clear);
    CLEAR_NOTHING(txm_findings, txm_findings_clear);
    CLEAR_NOTHING(txm_difference, txm_difference_clear);
    CLEAR_NOTHING(txm_resolution, txm_resolution_clear);
    END_NOTHING(txm_relatives, txm_relatives_free);
    CLEAR_NOTHING(txm_level_picture, txm_level_picture_clear);
    CLEAR_NOTHING(txm_unwrapped, txm_unwrapped_clear);
}

static void expect_usage(txm_status status)
{
    ck_assert_int_eq(status, TXM_STATUS_USAGE);
    ck_assert_int_eq(err.status, TXM_STATUS_USAGE);
    ck_assert_msg(strstr(err.message, "NULL") || strstr(err.message, "empty"), "%s", err.message);
}

/* Each gives a message, and no pointer is left. */
TEST(paths)
{
    uint32_t texture;
    txm_tx *tx = (txm_tx *)&texture;
    txm_trace *trace = (txm_trace *)&texture;
    SCOPED(txm_texture_set_free) txm_texture_set *set = NULL;
    txm_found found;
    char *name = path;
    SCOPED(txm_cache_free) txm_cache *cache = new_cache(NULL);
    ck_assert_int_eq(txm_texture_set_new(&set, NULL), TXM_OK);
    expect_usage(txm_tx_open(NULL, &tx, &err));
    ck_assert_ptr_null(tx);
    expect_usage(txm_cache_add(cache, NULL, TXM_EXTENSION_REPEAT, &texture, &err));
    expect_usage(txm_texture_set_add(set, NULL, TXM_EXTENSION_REPEAT, &texture, &err));
    expect_usage(txm_trace_open(NULL, &trace, &err));
    ck_assert_ptr_null(trace);
    expect_usage(txm_cache_trace_start(cache, NULL, TXM_TRACE_TILES, &err));
    expect_usage(txm_tx_path_of(NULL, NULL, &name, &err));
    ck_assert_ptr_null(name);
    expect_usage(txm_tx_find(NULL, NULL, &found, &err));
    ck_assert(!txm_tx_serves_itself(NULL));
}

/* The same in libtxmill. */
TEST(paths_of_libtxmill)
{
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_settings settings;
    txm_result result;
    txm_findings findings = {0};
    txm_difference difference;
    txm_verdict verdict;
    txm_found found;
    txm_settings_init(&settings);
    ck_assert_int_eq(txm_context_new(NULL, &context, NULL), TXM_OK);
    expect_usage(txm_convert(context, NULL, NULL, NULL, &result, &err));
    expect_usage(txm_verify(context, NULL, NULL, &findings, &err));
    expect_usage(txm_judge(context, NULL, NULL, &verdict, &err));
    expect_usage(txm_diff(context, NULL, path, false, &difference, &err));
    expect_usage(txm_diff(context, path, NULL, false, &difference, &err));
    expect_usage(txm_look_up(txm_context_color(context), NULL, &settings, &found, &err));
}

/* Calls every function that can fail without an error object, both failing and succeeding. */
TEST(errors)
{
    static const uint32_t NUMBERS[] = {1001}, TEXTURES[] = {0};
    const txm_cache_udim udim = {.numbers = NUMBERS, .textures = TEXTURES, .count = 1, .base = TXM_NO_TEXTURE};
    txm_tx_description d;
    txm_tx *tx;
    uint32_t texture, set_texture;
    txm_cache *cache;
    txm_cache_thread *thread;
    txm_ticket *ticket;
    txm_view view;
    txm_texture_set *set;
    txm_cache_texture_stats stats;
    txm_tx_request request;
    char *name;
    txm_found found;
    ck_assert_int_eq(txm_tx_open("absent.tx", &tx, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_tx_open(path, &tx, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_check(tx, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_describe(tx, &d, NULL), TXM_OK);
    txm_tx_description_free(&d);
    txm_tx_request_init(&request);
    request.level = 99;
    ck_assert_int_eq(txm_tx_read_tile(tx, &request, NULL), TXM_STATUS_USAGE);
    ck_assert_int_ne(txm_tx_check_border(tx, 99, 0, 0, NULL), TXM_OK);
    txm_tx_close(&tx);
    ck_assert_int_eq(txm_sampler_check(&(txm_sampler){.rule = 99}, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_texture_set_new(&set, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add(set, "absent.tx", TXM_EXTENSION_REPEAT, &texture, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_texture_set_add(set, path, TXM_EXTENSION_REPEAT, &texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_add_udim(set, NUMBERS, TEXTURES, 0, &set_texture, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_texture_set_load(set, &(txm_lookup_state){0}, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_load_all(set, texture, NULL), TXM_OK);
    txm_texture_set_free(&set);
    ck_assert_int_eq(txm_cache_new(&(txm_cache_options){.struct_size = 1}, &cache, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_new(NULL, &cache, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_add(cache, "absent.tx", TXM_EXTENSION_REPEAT, &texture, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_cache_add(cache, path, TXM_EXTENSION_REPEAT, &texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_open(cache, texture, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_open(cache, 77, NULL, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_register(cache, texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_register(cache, 77, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_add_udim(cache, &udim, &set_texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_replace(cache, texture, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_replace(cache, texture, "absent.tx", NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_cache_preload(cache, texture, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_preload(cache, 77, NULL, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_unload(cache, texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_unload(cache, 77, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_set_max_bytes(cache, 1 << 20, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_texture_stats_of(cache, 77, &stats, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_texture_stats_of(cache, texture, &stats, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_thread_new(cache, &thread, NULL), TXM_OK);
    txm_cache_thread_free(&thread);
    ck_assert_int_eq(txm_cache_thread_current(cache, &thread, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_prepare(cache, &view, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_process(cache, NULL, 0, &ticket, NULL), TXM_OK);
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_trace_start(cache, temp_file("null.trace"), 0, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_trace_start(cache, temp_file("null.trace"), TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_stop(cache, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_start(cache, temp_file("part.trace"), TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_stop_partial(cache, NULL, NULL), TXM_OK);
    txm_cache_free(&cache);
    ck_assert_int_eq(txm_tx_path_of("a.png", NULL, &name, NULL), TXM_OK);
    free(name);
    ck_assert_int_eq(txm_tx_path_of("", NULL, &name, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_tx_find("absent.png", NULL, &found, NULL), TXM_STATUS_NOT_FOUND);
}

TEST(traces)
{
    SCOPED(txm_trace_free) txm_trace *trace = NULL;
    txm_trace_cursor *cursor;
    txm_trace_event event;
    txm_replay_counts counts;
    txm_cache *cache = new_cache(NULL);
    uint32_t texture = add_texture(cache, path, TXM_EXTENSION_REPEAT);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = at_level(0.5f, 0.5f, 0, 200);
    txm_cache_thread *thread = new_thread(cache);
    float color[4];
    ck_assert_int_eq(txm_cache_trace_start(cache, temp_file("read.trace"), TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_sample(thread, texture, &how, &at, NULL, color), TXM_LOOKUP_HIT);
    ck_assert_int_eq(txm_cache_trace_stop(cache, NULL), TXM_OK);
    txm_cache_thread_free(&thread);
    txm_cache_free(&cache);
    ck_assert_int_eq(txm_trace_open("absent.trace", &trace, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_trace_open(temp_file("read.trace"), &trace, NULL), TXM_OK);
    ck_assert_ptr_nonnull(txm_trace_info_of(trace));
    ck_assert_ptr_null(txm_trace_texture_at(trace, 99));
    ck_assert_int_eq(txm_trace_cursor_new(trace, &cursor, NULL), TXM_OK);
    do
        ck_assert_int_eq(txm_trace_next(cursor, &event, NULL), TXM_OK);
    while (event.kind != TXM_TRACE_EVENT_END);
    txm_trace_cursor_free(&cursor);
    ck_assert_int_eq(txm_replay(trace, NULL, &counts, NULL), TXM_OK);
    ck_assert_uint_gt(counts.tiles, 0);
}

/* The meanings of NULL in comments. */
TEST(meanings)
{
    txm_alpha alpha = TXM_ALPHA_AUTO;
    txm_tx *tx;
    const char *name, *value;
    ck_assert(!txm_alpha_parse(NULL, &alpha));
    ck_assert_int_eq(alpha, TXM_ALPHA_AUTO);
    txm_samples_to_float(TXM_TYPE_HALF, NULL, NULL, 0);
    txm_samples_from_float(TXM_TYPE_U16, NULL, NULL, 0);
    ck_assert_int_eq(txm_tx_open(path, &tx, NULL), TXM_OK);
    ck_assert_ptr_null(txm_tx_level_of(tx, txm_tx_info_of(tx)->levels));
    ck_assert_ptr_null(txm_tx_metadata_of(tx, "no such entry"));
    ck_assert(!txm_tx_metadata_at(tx, 9999, &name, &value));
    ck_assert(txm_tx_is_pyramid(tx, NULL, 0));
    ck_assert(txm_tx_cycles_accepts(tx, NULL, 0));
    txm_tx_close(&tx);
    ck_assert_ptr_null(txm_cache_policy_name(TXM_CACHE_POLICY_NONE + 1));
    ck_assert_ptr_null(txm_level_rule_name((txm_level_rule)99));
    ck_assert_ptr_null(txm_level_mode_name((txm_level_mode)99));
    ck_assert_ptr_null(txm_filter_name((txm_filter)99));
    ck_assert_ptr_nonnull(txm_status_name((txm_status)99));
    ck_assert_ptr_nonnull(txm_status_text((txm_status)99));
    ck_assert_ptr_nonnull(txm_extension_name((txm_extension)99));
    ck_assert_ptr_nonnull(txm_type_name((txm_type)99));
    ck_assert_ptr_nonnull(txm_alpha_name((txm_alpha)99));
    ck_assert_ptr_nonnull(txm_alpha_stored_name((txm_alpha)99));
    ck_assert_ptr_nonnull(txm_codec_name((txm_codec)99));
    ck_assert_ptr_nonnull(txm_use_name((txm_use)99));
    ck_assert_ptr_nonnull(txm_tx_state_name((txm_tx_state)99));
    ck_assert_ptr_nonnull(txm_version());
}

/* tests/python/test_abi.py compares all of them with the headers. */
TEST(sizes_of_structs)
{
    ck_assert_uint_eq(txm_sizeof("txm_lookup_state"), sizeof(txm_lookup_state));
    ck_assert_uint_eq(txm_mill_sizeof("txm_lookup_state"), sizeof(txm_lookup_state));
    ck_assert_uint_eq(txm_mill_sizeof("txm_findings"), sizeof(txm_findings));
    ck_assert_uint_eq(txm_sizeof("txm_findings"), 0);
    ck_assert_uint_eq(txm_mill_sizeof(""), 0);
}

/* A lane without a list, and a batch without its optional arrays. */
TEST(lanes_and_batches)
{
    float u[2] = {0.1f, 0.9f}, r[2], g[2], b[2], a[2], color[4];
    SCOPED(txm_cache_free) txm_cache *cache = new_cache(NULL);
    txm_view view;
    const txm_sampler how = sampler(TXM_LEVEL_MODE_STOCHASTIC);
    const txm_lookup at = at_level(0.5f, 0.5f, 0.5f, 200);
    uint32_t texture = add_texture(cache, path, TXM_EXTENSION_REPEAT);
    const txm_lookups batch = {
        .count = 2, .u = u, .v = u, .dudx = u, .dvdx = u, .dudy = u, .dvdy = u, .out = {r, g, b, a}};
    SCOPED(txm_cache_thread_free) txm_cache_thread *thread = new_thread(cache);
    ck_assert_int_eq(txm_cache_register(cache, texture, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_prepare(cache, &view, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_sample(&view, texture, &how, &at, &(txm_lookup_state){0}, color), TXM_LOOKUP_MISS);
    ck_assert_int_eq(txm_sample_n(&view, texture, &how, &batch, &(txm_lookup_state){0}), TXM_LOOKUP_MISS);
    ck_assert(txm_level_of(200, 200, &how, &at, NULL) >= 0);
    ck_assert_int_eq(txm_cache_sample_n(thread, texture, &how, &batch), TXM_LOOKUP_HIT);
    ck_assert_int_eq(txm_cache_sample(thread, texture, &how, &at, NULL, color), TXM_LOOKUP_HIT);
}
