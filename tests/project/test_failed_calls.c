/* SPDX-License-Identifier: Apache-2.0
 * The outputs of failed calls: status.h promises that freeing and clearing them is safe. */
#include "txmill/archive.h"
#include "txmill/batch.h"
#include "txmill/borders.h"
#include "txmill/garbage.h"
#include "txmill/inspect.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/scene.h"
#include "txmill/watch.h"
#include "txtile/cache.h"
#include "txtile/describe.h"
#include "txtile/trace.h"
#include "util_check.h"
#include "util_tx.h"

static const char *const nowhere = "no/such/file.tx";

/* Fills an output with a value that is neither NULL nor zero. */
static void *spoil(void *out, size_t bytes)
{
    return memset(out, 0xAA, bytes);
}

static bool is_zero(const void *out, size_t bytes)
{
    const unsigned char *b = out;
    while (bytes && !*b)
        b++, bytes--;
    return !bytes;
}

/* The call, with `out` full of garbage, must fail, with an error object or without, and leave it zero or NULL. */
#define LEAVES_ZERO(out, call)                                                                                         \
    do {                                                                                                               \
        txm_error failure, *err = &failure;                                                                            \
        spoil(&(out), sizeof(out));                                                                                    \
        ck_assert_msg((call) != TXM_OK, "%s", #call);                                                                  \
        ck_assert_msg(is_zero(&(out), sizeof(out)), "%s", #call);                                                      \
        spoil(&(out), sizeof(out));                                                                                    \
        err = NULL;                                                                                                    \
        ck_assert_msg((call) != TXM_OK, "%s", #call);                                                                  \
        ck_assert_msg(is_zero(&(out), sizeof(out)), "%s", #call);                                                      \
    } while (0)

TEST(objects_are_null)
{
    txm_tx *tx;
    txm_scene *blend;
    txm_trace *trace;
    txm_watch *watch;
    txm_out_file *file;
    txm_archive *archive;
    txm_context *context;
    txm_color_config *config;
    txm_inputs *inputs;
    txm_cache *cache;
    txm_context_options no_device;
    const txm_inputs_options unopened = {0};
    const txm_cache_options unopened_cache = {0};
    const txm_color_options color = {.struct_size = sizeof color, .ocio_path = "no/such/config.ocio"};
    txm_context_options_init(&no_device);
    no_device.device = "abacus";
    LEAVES_ZERO(tx, txm_tx_open(nowhere, &tx, err));
    LEAVES_ZERO(blend, txm_scene_open(nowhere, NULL, &blend, err));
    LEAVES_ZERO(trace, txm_trace_open(nowhere, &trace, err));
    LEAVES_ZERO(watch, txm_watch_new(&nowhere, 1, NULL, &watch, err));
    LEAVES_ZERO(file, txm_out_file_begin(nowhere, false, &file, err));
    LEAVES_ZERO(archive, txm_archive_begin(nowhere, &archive, err));
    LEAVES_ZERO(context, txm_context_new(&no_device, &context, err));
    LEAVES_ZERO(config, txm_color_load(&color, &config, err));
    LEAVES_ZERO(inputs, txm_inputs_new(&unopened, &inputs, err));
    LEAVES_ZERO(cache, txm_cache_new(&unopened_cache, &cache, err));
}

TEST(results_are_zero)
{
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_result converted;
    txm_resolution resolution;
    txm_found found;
    txm_verdict verdict;
    txm_difference difference;
    txm_extracted extracted;
    txm_trim_result trimmed;
    txm_borders_result borders;
    ck_assert_int_eq(txm_context_new(NULL, &context, NULL), TXM_OK);
    LEAVES_ZERO(converted, txm_convert(context, nowhere, NULL, NULL, &converted, err));
    LEAVES_ZERO(resolution, txm_resolve_image(context, nowhere, NULL, NULL, &resolution, err));
    LEAVES_ZERO(found, txm_look_up(txm_context_color(context), nowhere, NULL, &found, err));
    LEAVES_ZERO(verdict, txm_judge(context, nowhere, NULL, &verdict, err));
    LEAVES_ZERO(difference, txm_diff(context, nowhere, nowhere, true, &difference, err));
    LEAVES_ZERO(extracted, txm_extract(nowhere, "out.png", NULL, &extracted, err));
    LEAVES_ZERO(trimmed, txm_store_trim(nowhere, NULL, &trimmed, err));
    LEAVES_ZERO(borders, txm_borders_add(context, nowhere, &borders, err));
    LEAVES_ZERO(borders, txm_borders_strip(context, nowhere, &borders, err));
    LEAVES_ZERO(borders, txm_borders_check(context, nowhere, &borders, err));
}

TEST(color_spaces_are_null)
{
    SCOPED(txm_color_free) txm_color_config *config = NULL;
    const txm_color_space *space;
    const char *name;
    txm_color_entry entry;
    ck_assert_int_eq(txm_color_load(NULL, &config, NULL), TXM_OK);
    LEAVES_ZERO(space, txm_color_find(config, "no such space", &space, err));
    LEAVES_ZERO(entry, txm_color_entry_at(config, txm_color_count(config), &entry, err));
    LEAVES_ZERO(name, txm_image_defaults(config, nowhere, &name, NULL, err));
}

/* An allocator that has memory for the cache and its tables, until it is made to fail. */
static void *allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    return *(const bool *)user && !posix_memalign(&memory, alignment, bytes) ? memory : NULL;
}

static void release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

TEST(caches_hand_out_nothing)
{
    bool has_memory = true;
    SCOPED(txm_cache_free) txm_cache *cache = NULL;
    txm_cache_thread *thread;
    txm_view_texture shape;
    txm_cache_texture_stats stats;
    txm_cache_options options;
    uint32_t texture = 0;
    txm_cache_options_init(&options);
    options.allocator = (txm_cache_allocator){allocate, release, &has_memory};
    ck_assert_int_eq(txm_cache_new(&options, &cache, NULL), TXM_OK);
    const char *path = temp_file("no.tx");
    save_file(path, "no tx file", 10);
    ck_assert_int_eq(txm_cache_add(cache, path, TXM_EXTENSION_CLIP, &texture, NULL), TXM_OK);
    LEAVES_ZERO(shape, txm_cache_open(cache, texture, &shape, err));
    LEAVES_ZERO(shape, txm_cache_open(cache, texture + 1, &shape, err));
    LEAVES_ZERO(stats, txm_cache_texture_stats_of(cache, texture + 1, &stats, err));
    has_memory = false;
    LEAVES_ZERO(thread, txm_cache_thread_new(cache, &thread, err));
    has_memory = true;
}

/* A NULL path is reported as the caller's mistake, and not as the system's "(null): Bad address". */
#define SAYS_NULL(call)                                                                                                \
    do {                                                                                                               \
        txm_error failure = {0}, *err = &failure;                                                                      \
        ck_assert_msg((call) == TXM_STATUS_USAGE, "%s: %s", #call, failure.message);                                   \
        ck_assert_msg(strstr(failure.message, "is NULL") && !strstr(failure.message, "(null)"), "%s: %s", #call,       \
                      failure.message);                                                                                \
    } while (0)

TEST(paths_are_not_null)
{
    txm_tx *tx;
    txm_scene *blend;
    SCOPED(txm_context_free) txm_context *context = NULL;
    SCOPED(txm_inputs_free) txm_inputs *inputs = NULL;
    txm_result result;
    txm_resolution resolution;
    txm_verdict verdict;
    SCOPED(txm_findings_clear) txm_findings findings = {0};
    txm_borders_result borders;
    txm_inputs_options options;
    txm_inputs_options_init(&options);
    ck_assert_int_eq(txm_context_new(NULL, &context, NULL), TXM_OK);
    ck_assert_int_eq(txm_inputs_new(&options, &inputs, NULL), TXM_OK);
    SAYS_NULL(txm_tx_open(NULL, &tx, err));
    SAYS_NULL(txm_scene_open(NULL, NULL, &blend, err));
    SAYS_NULL(txm_convert(context, NULL, NULL, NULL, &result, err));
    SAYS_NULL(txm_resolve_image(context, NULL, NULL, NULL, &resolution, err));
    SAYS_NULL(txm_judge(context, NULL, NULL, &verdict, err));
    SAYS_NULL(txm_verify(context, NULL, NULL, &findings, err));
    SAYS_NULL(txm_borders_check(context, NULL, &borders, err));
    SAYS_NULL(txm_image_defaults(txm_context_color(context), NULL, NULL, NULL, err));
    SAYS_NULL(txm_inputs_add(inputs, NULL, err));
}
