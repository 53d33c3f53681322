/* SPDX-License-Identifier: Apache-2.0
 *
 * The library inside another program: every option is checked, an error object needs no initialisation, and nothing of
 * the process is changed: locale, signals, umask, working folder, standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "txmill/batch.h"
#include "txmill/convert.h"
#include "txmill/garbage.h"
#include "txmill/inspect.h"
#include "txmill/level.h"
#include "txmill/picture.h"
#include "txmill/scene.h"
#include "txmill/watch.h"
#include "txtile/reader.h"
#include "util_check.h"
#include "util_tx.h"

static char image[600];
static txm_context *context;

static void begin(void)
{
    const char *data = getenv("TXM_TESTDATA");
    char source[600];
    size_t bytes;
    snprintf(source, sizeof source, "%s/golden/rgb8.png", data ? data : "testdata");
    snprintf(image, sizeof image, "%s", temp_file("rgb8.png"));
    uint8_t *content = load_file(source, &bytes);
    save_file(image, content, bytes);
    free(content);
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 2, .device = "cpu"};
    ck_assert(!txm_context_new(&options, &context, NULL));
}

static void end(void)
{
    txm_context_free(&context);
}
FIXTURE(begin, end)

static txm_status convert(const txm_settings *settings, txm_result *result, txm_error *err)
{
    const txm_convert_options force = {.struct_size = sizeof(txm_convert_options), .force = true};
    return txm_convert(context, image, settings, &force, result, err);
}

static bool is_zero(const void *object, size_t bytes)
{
    const uint8_t *p = object;
    while (bytes && !*p)
        p++, bytes--;
    return bytes == 0;
}

/* Fills an error object with garbage, as from malloc. */
static void fill(txm_error *err)
{
    memset(err, 0x5A, sizeof *err);
    err->message[sizeof err->message - 1] = 0;
}

TEST(test_settings_are_checked)
{
    const struct {
        txm_alpha alpha;
        txm_codec codec;
        int level;
        uint32_t tile_px;
        const char *says;
    } wrong[] = {
        {(txm_alpha)99, TXM_CODEC_ZIP, 0, 64, "alpha type"},
        {(txm_alpha)-1, TXM_CODEC_ZIP, 0, 64, "alpha type"},
        {TXM_ALPHA_AUTO, (txm_codec)7, 0, 64, "unknown compression 7"},
        {TXM_ALPHA_AUTO, (txm_codec)-1, 0, 64, "unknown compression -1"},
        {TXM_ALPHA_AUTO, TXM_CODEC_ZIP, 13, 64, "level"},
        {TXM_ALPHA_AUTO, TXM_CODEC_ZSTD, 20, 64, "level"},
        {TXM_ALPHA_AUTO, TXM_CODEC_NONE, 1, 64, "level"},
        {TXM_ALPHA_AUTO, TXM_CODEC_ZIP, -1, 64, "level"},
        {TXM_ALPHA_AUTO, TXM_CODEC_ZIP, 0, 0, "tile size"},
        {TXM_ALPHA_AUTO, TXM_CODEC_ZIP, 0, 48, "tile size"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        txm_settings settings;
        txm_settings_init(&settings);
        txm_result result;
        txm_error err;
        settings.alpha = wrong[i].alpha;
        settings.compression = (txm_compression){wrong[i].codec, wrong[i].level};
        settings.tile_px = wrong[i].tile_px;
        fill(&err);
        memset(&result, 0x5A, sizeof result);
        ck_assert_int_eq(convert(&settings, &result, &err), TXM_STATUS_USAGE);
        ck_assert_int_eq(err.status, TXM_STATUS_USAGE);
        ck_assert_msg(strstr(err.message, wrong[i].says) != NULL, "%s: %s", wrong[i].says, err.message);
        ck_assert(is_zero(&result, sizeof result));
    }
}

/* Settings of every call that takes some, and inputs with invalid values. */
TEST(test_entries_are_checked)
{
    txm_settings settings;
    txm_found found;
    txm_resolution resolution;
    txm_inputs *inputs = NULL;
    txm_batch *batch = NULL;
    txm_batch_options how;
    txm_watch *watch = NULL;
    txm_watch_options watching;
    txm_garbage_options garbage;
    txm_garbage_result found_garbage = {0};
    txm_trim_options trim;
    txm_trim_result trimmed;
    txm_error err;
    const txm_color_config *colors = txm_context_color(context);
    const txm_input bad = {.path = image, .alpha = (txm_alpha)99}, good = {.path = image};
    txm_settings_init(&settings);
    settings.alpha = (txm_alpha)99;
    txm_batch_options_init(&how);
    how.settings = &settings;
    ck_assert_int_eq(txm_look_up(colors, image, &settings, &found, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_resolve_image(context, image, &settings, NULL, &resolution, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_new(context, inputs, &how, &batch, &err), TXM_STATUS_USAGE);
    how.settings = NULL;
    how.shards = 2;
    how.shard = 3;
    ck_assert_int_eq(txm_batch_new(context, inputs, &how, &batch, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_add_entry(inputs, &bad, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_add_entry(inputs, &good, &err), TXM_OK);
    ck_assert_int_eq(txm_inputs_say(inputs, 0, &bad, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_say(inputs, 1, &good, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_inputs_fail(inputs, 1, &err, NULL), TXM_STATUS_USAGE);
    txm_inputs_free(&inputs);

    txm_watch_options_init(&watching);
    watching.settle_s = (double)NAN;
    ck_assert_int_eq(txm_watch_new(NULL, 0, &watching, &watch, &err), TXM_STATUS_USAGE);
    txm_garbage_options_init(&garbage);
    garbage.older_than_s = (double)NAN;
    ck_assert_int_eq(txm_garbage_collect(".", &garbage, &found_garbage, &err), TXM_STATUS_USAGE);
    txm_trim_options_init(&trim);
    ck_assert(trim.older_than_s < 0 && trim.max_bytes == UINT64_MAX); /* nothing is removed unless requested */
    trim.older_than_s = (double)NAN;
    ck_assert_int_eq(txm_store_trim(".", &trim, &trimmed, &err), TXM_STATUS_USAGE);

    const uint8_t pixels[16] = {0};
    const txm_picture pictures[] = {{pixels, 4, 0, 1, 4, TXM_TYPE_U8, NULL},
                                    {pixels, 4, 1, 1, 4, (txm_type)9, NULL},
                                    {pixels, 4, 2, 1, 4, TXM_TYPE_U8, NULL},
                                    {NULL, 4, 1, 1, 4, TXM_TYPE_U8, NULL}};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        ck_assert_int_eq(txm_picture_write(temp_file("bad.png"), &pictures[i], &err), TXM_STATUS_USAGE);
}

/* Words for enumerators of a newer program, or invalid ones. */
TEST(test_unknown_enumerators_have_words)
{
    for (int i = -1; i < 10000; i += 5000) {
        const char *const words[] = {txm_scene_source_name((txm_scene_source)i),
                                     txm_scene_state_name((txm_scene_state)i),
                                     txm_scene_library_state_name((txm_scene_library_state)i),
                                     txm_garbage_name((txm_garbage)i),
                                     txm_kept_name((txm_kept)i),
                                     txm_severity_name((txm_severity)i),
                                     txm_use_name((txm_use)i),
                                     txm_tx_state_name((txm_tx_state)i),
                                     txm_type_name((txm_type)i),
                                     txm_extension_name((txm_extension)i),
                                     txm_container_name((txm_container)i),
                                     txm_section_state_name((txm_section_state)i),
                                     txm_codec_name((txm_codec)i)};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            ck_assert_str_eq(words[k], "unknown");
    }
}

TEST(test_devices_are_checked)
{
    static const char *const wrong[] = {
        "", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:99999999999", "cud"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const txm_context_options options = {
            .struct_size = sizeof(txm_context_options), .threads = 1, .device = wrong[i]};
        txm_context *none = NULL;
        txm_error err;
        fill(&err);
        ck_assert_msg(txm_context_new(&options, &none, &err) == TXM_STATUS_USAGE, "'%s' was taken", wrong[i]);
        ck_assert_ptr_null(none);
        ck_assert_ptr_nonnull(strstr(err.message, wrong[i]));
    }
}

/* A second failure does not repeat the message of the first, and errno is passed on. */
TEST(test_errors_are_fresh)
{
    txm_settings settings;
    txm_settings_init(&settings);
    txm_result result;
    txm_error err;
    txm_tx *tx = NULL;
    fill(&err);
    ck_assert_int_eq(txm_tx_open("/nowhere/first.tx", &tx, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    ck_assert_int_eq(txm_tx_open("/nowhere/second.tx", &tx, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "second.tx"));
    settings.cache_dir = image; /* a file where a folder belongs */
    ck_assert_int_ne(convert(&settings, &result, &err), TXM_OK);
    ck_assert_ptr_null(strstr(err.message, "second.tx"));
    ck_assert_msg(err.sys_errno == ENOTDIR, "%d: %s", err.sys_errno, err.message);
    ck_assert(is_zero(&result, sizeof result));
    txm_settings_init(&settings);
    fill(&err);
    ck_assert_int_eq(convert(&settings, &result, &err), TXM_OK);
    ck_assert_int_eq(err.status, TXM_OK);
    ck_assert_str_eq(err.message, "");

    txm_findings findings = {0};
    ck_assert_int_eq(txm_tx_open("/nowhere/third.tx", &tx, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_verify(context, result.tx_path, NULL, &findings, &err), TXM_OK);
    ck_assert_int_eq(err.status, TXM_OK);
    txm_findings_clear(&findings);
    txm_result_clear(&result);
}

/* Work inside work, on more threads than there are CPUs and on one. */
typedef struct counted {
    txm_context *context;
    atomic_int outer, inner;
} counted;

static void count_inner(void *user, size_t index)
{
    counted *c = user;
    atomic_fetch_add(&c->inner, (int)index);
}

static void count_outer(void *user, size_t index)
{
    counted *c = user;
    atomic_fetch_add(&c->outer, (int)index);
    txm_context_run(c->context, 10, count_inner, c);
}

TESTS(test_work_is_shared, 2)
{
    const txm_context_options options = {
        .struct_size = sizeof(txm_context_options), .threads = _i ? 4 : 1, .device = "cpu"};
    counted c = {0};
    ck_assert(!txm_context_new(&options, &c.context, NULL));
    ck_assert_uint_eq(txm_context_threads(c.context), _i ? 4 : 1);
    txm_context_run(c.context, 0, count_outer, &c);
    ck_assert_int_eq(c.outer, 0);
    txm_context_run(c.context, 100, count_outer, &c);
    ck_assert_int_eq(c.outer, 99 * 100 / 2);
    ck_assert_int_eq(c.inner, 100 * 45);
    txm_context_free(&c.context);
}

/* Extracts a level as a picture with one call; messages about the request name the file. */
TEST(test_extract)
{
    txm_settings settings;
    txm_settings_init(&settings);
    txm_result result;
    txm_extracted written;
    txm_extract_options how;
    txm_error err;
    char picture[600];
    struct stat st;
    ck_assert(!convert(&settings, &result, &err));
    snprintf(picture, sizeof picture, "%s", temp_file("level.png"));
    txm_extract_options_init(&how);
    how.level = 2;
    fill(&err);
    ck_assert_msg(!txm_extract(result.tx_path, picture, &how, &written, &err), "%s", err.message);
    ck_assert_uint_eq(written.width, result.width / 4);
    ck_assert_uint_eq(written.height, result.height / 4);
    ck_assert_int_eq(written.type, TXM_TYPE_U8);
    ck_assert_int_eq(stat(picture, &st), 0);
    ck_assert_int_eq(unlink(picture), 0);
    how.level = 99;
    ck_assert_int_eq(txm_extract(result.tx_path, picture, &how, NULL, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, result.tx_path));
    ck_assert_int_eq(txm_extract(result.tx_path, picture, NULL, NULL, &err), TXM_OK);
    ck_assert_str_eq(err.message, "");
    ck_assert_int_eq(txm_extract("/nowhere/x.tx", picture, NULL, NULL, &err), TXM_STATUS_NOT_FOUND);
    txm_result_clear(&result);
}

TEST(test_requests_are_checked)
{
    txm_settings settings;
    txm_settings_init(&settings);
    txm_result result;
    txm_tx *tx;
    txm_error err;
    struct {
        txm_tx_request known;
        int unknown;
    } newer = {.unknown = 1};
    ck_assert(!convert(&settings, &result, &err));
    ck_assert_int_eq(txm_tx_open(result.tx_path, &tx, &err), TXM_OK);
    FREED uint8_t *pixels = malloc((size_t)TXM_MAX_TILE_PX * TXM_MAX_TILE_PX * 4);
    txm_tx_request request = {.pixels = pixels};
    ck_assert_int_eq(txm_tx_read_tile(tx, &request, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "txm_tx_request_init"));
    txm_tx_request_init(&request);
    request.pixels = pixels;
    ck_assert_int_eq(txm_tx_read_tile(tx, &request, &err), TXM_OK);
    newer.known = request;
    newer.known.struct_size = sizeof newer;
    ck_assert_int_eq(txm_tx_read_tile(tx, &newer.known, &err), TXM_STATUS_USAGE);
    newer.unknown = 0;
    ck_assert_int_eq(txm_tx_read_tile(tx, &newer.known, &err), TXM_OK);
    txm_tx_close(&tx);
    txm_result_clear(&result);
}

TEST(test_cancel)
{
    static volatile int stop;
    const txm_context_options options = {
        .struct_size = sizeof(txm_context_options), .threads = 1, .device = "cpu", .cancel = &stop};
    txm_settings settings;
    txm_settings_init(&settings);
    txm_result result;
    txm_error err;
    SCOPED(txm_context_free) txm_context *own = NULL;
    const txm_convert_options force = {.struct_size = sizeof(txm_convert_options), .force = true};
    ck_assert(!txm_context_new(&options, &own, &err));
    txm_cancel_request(&stop);
    ck_assert_int_eq(txm_convert(own, image, &settings, &force, &result, &err), TXM_STATUS_CANCELLED);
    ck_assert(is_zero(&result, sizeof result));
}

typedef struct surroundings {
    struct sigaction actions[NSIG];
    sigset_t blocked;
    char folder[1024], locale[256];
    mode_t mask;
} surroundings;

static void look_around(surroundings *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &s->actions[i]);
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
    ck_assert_ptr_nonnull(getcwd(s->folder, sizeof s->folder));
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    s->mask = umask(0);
    umask(s->mask);
}

/* Converts, verifies, compares, resolves and reads valid and damaged files, with standard output and error caught. */
TEST(test_process_is_left_alone)
{
    static surroundings before, after;
    char caught[600];
    txm_settings settings;
    txm_settings_init(&settings);
    txm_result result;
    txm_error err;
    txm_tx *tx = NULL;
    struct stat said;
    snprintf(caught, sizeof caught, "%s", temp_file("caught"));
    fflush(NULL);
    int out = dup(1), errors = dup(2), file = open(caught, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert(out >= 0 && errors >= 0 && file >= 0 && dup2(file, 1) == 1 && dup2(file, 2) == 2);
    look_around(&before);
    settings.colorspace = "ACEScg"; /* uses OpenColorIO */
    txm_status status = convert(&settings, &result, &err);
    if (!status) {
        txm_findings findings = {0};
        txm_difference difference = {0};
        txm_resolution resolution = {0};
        FREED uint8_t *content = NULL;
        size_t bytes;
        status = txm_verify(context, result.tx_path, NULL, &findings, &err);
        txm_findings_clear(&findings);
        if (!status)
            status = txm_diff(context, result.tx_path, result.tx_path, false, &difference, &err);
        txm_difference_clear(&difference);
        if (!status)
            status = txm_resolve_image(context, image, &settings, NULL, &resolution, &err);
        txm_resolution_clear(&resolution);
        /* Libraries tend to print messages about damaged files. */
        content = load_file(result.tx_path, &bytes);
        for (size_t cut = 1; cut < 8; cut++) {
            save_file(result.tx_path, content, bytes * cut / 8);
            if (!txm_tx_open(result.tx_path, &tx, &err))
                txm_tx_close(&tx);
            save_file(image, content, bytes * cut / 8);
            txm_result bad;
            convert(&settings, &bad, &err);
            txm_result_clear(&bad);
        }
        txm_result_clear(&result);
    }
    look_around(&after);
    fflush(NULL);
    fstat(file, &said);
    dup2(out, 1);
    dup2(errors, 2);
    close(out);
    close(errors);
    close(file);
    ck_assert_msg(!status, "%s", err.message);
    ck_assert_int_eq(said.st_size, 0);
    for (int i = 1; i < NSIG; i++)
        ck_assert_msg(before.actions[i].sa_handler == after.actions[i].sa_handler &&
                          before.actions[i].sa_flags == after.actions[i].sa_flags,
                      "what signal %d does was changed", i);
    for (int i = 1; i < NSIG; i++)
        ck_assert_int_eq(sigismember(&before.blocked, i), sigismember(&after.blocked, i));
    ck_assert_str_eq(before.folder, after.folder);
    ck_assert_str_eq(before.locale, after.locale);
    ck_assert_int_eq(before.mask, after.mask);
}
