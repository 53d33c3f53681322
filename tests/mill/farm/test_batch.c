/* SPDX-License-Identifier: Apache-2.0
 * Batches through the library: planning, inputs with the same tx file, order, limits, stopping. */
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "mill/farm/batch.h"
#include "mill/farm/store.h"
#include "txmill/batch.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_png.h"

/* Records the events. */
typedef struct record {
    size_t done, begun, failed, created, same, would;
    char order[512], warnings[2048], errors[2048];
    txm_batch_totals totals;
    volatile int *cancel_at_begin;
    int tell_begin;   /* if not 0, a pipe that gets a byte for each conversion that begins */
    txm_result first; /* the first file's result, without its strings */
    char via[16];
} record;

static void on_planned(void *user, const txm_batch_totals *totals)
{
    ((record *)user)->totals = *totals;
}

static void note(char *text, size_t bytes, const char *what)
{
    size_t n = strlen(text);
    snprintf(text + n, bytes - n, "%s%s", n ? " " : "", what);
}

static void on_done(void *user, const txm_batch_file *file)
{
    record *r = user;
    r->done++;
    if (file->err->status) {
        r->failed++;
        note(r->errors, sizeof r->errors, file->err->message);
        return;
    }
    if (r->done == 1)
        r->first = *file->result;
    snprintf(r->via, sizeof r->via, "%s", file->result->via);
    r->created += file->result->outcome == TXM_OUTCOME_CREATED;
    r->would += file->result->outcome == TXM_OUTCOME_WOULD_CREATE;
    r->same += file->result->outcome == TXM_OUTCOME_SAME && file->same_as != NULL;
    note(r->order, sizeof r->order, file->input->path);
}

static void on_begin(void *user, const txm_batch_file *file)
{
    record *r = user;
    ck_assert(file->cost.seconds > 0);
    r->begun++;
    if (r->tell_begin)
        ck_assert_int_eq(write(r->tell_begin, "b", 1), 1);
    if (r->cancel_at_begin)
        *r->cancel_at_begin = 1;
}

static void on_warning(void *user, const char *message)
{
    note(((record *)user)->warnings, sizeof((record *)user)->warnings, message);
}

/* Plans and runs a batch over `paths` and returns the status that ended it. */
static txm_status run(const char *const *paths, txm_batch_options options, unsigned threads, record *r)
{
    static volatile int cancel;
    cancel = 0;
    const txm_context_options context_options = {
        .struct_size = sizeof(txm_context_options), .threads = threads, .cancel = &cancel};
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_batch *batch = NULL;
    txm_error err = {0};
    SCOPED(txm_inputs_free) txm_inputs *inputs = NULL;
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, &err), TXM_OK);
    for (; *paths; paths++)
        ck_assert_int_eq(txm_inputs_add(inputs, *paths, &err), TXM_OK);
    if (r->cancel_at_begin)
        r->cancel_at_begin = &cancel;
    const txm_batch_events events = {.struct_size = sizeof events,
                                     .user = r,
                                     .planned = on_planned,
                                     .done = on_done,
                                     .begin = on_begin,
                                     .warn = on_warning};
    options.struct_size = sizeof options;
    options.events = &events;
    ck_assert_int_eq(txm_context_new(&context_options, &context, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_new(context, inputs, &options, &batch, &err), TXM_OK);
    txm_status status = txm_batch_plan(batch, &err);
    if (status == TXM_OK)
        status = txm_batch_run(batch, &err);
    txm_batch_free(&batch);
    ck_assert_ptr_null(batch);
    txm_batch_free(&batch);
    return status;
}

#define RUN(r, options, threads, ...) run((const char *const[]){__VA_ARGS__, NULL}, options, threads, r)

static void make_images(void)
{
    batch_enter();
    batch_png_of("small.png", 30, 30, PNG_RGB, 8, NULL);
    batch_png_of("large.png", 300, 200, PNG_RGB, 8, NULL);
    batch_png_of("middle.png", 100, 90, PNG_RGB, 8, NULL);
}
FIXTURE(make_images, batch_leave)

TEST(test_order_and_totals)
{
    record r = {0};
    const txm_batch_options dry = {.dry_run = true, .largest_first = true};
    ck_assert_int_eq(RUN(&r, dry, 2, "small.png", "large.png", "missing.png", "middle.png"), TXM_OK);
    ck_assert_str_eq(r.order, "large.png middle.png small.png");
    ck_assert_uint_eq(r.totals.inputs, 4);
    ck_assert_uint_eq(r.totals.to_create, 3);
    ck_assert_uint_eq(r.would, 3);
    ck_assert_uint_eq(r.failed, 1);
    ck_assert_uint_eq(r.begun, 0);
    ck_assert(r.totals.cost.megapixels > 0.0698 && r.totals.cost.megapixels < 0.0700);
    ck_assert(r.totals.cost.memory_bytes > 300 * 200 * 4);
    ck_assert_int_ne(access("blender_tx", F_OK), 0);
    record given = {0};
    ck_assert_int_eq(RUN(&given, (txm_batch_options){.dry_run = true}, 2, "small.png", "large.png"), TXM_OK);
    ck_assert_str_eq(given.order, "small.png large.png");
}

TEST(test_runs_within_memory)
{
    /* Not even one file fits into this limit, so files run one after the other, and the converter decides about
     * each. */
    record r = {0};
    const txm_batch_options bounded = {.max_memory_bytes = 1};
    ck_assert_int_eq(RUN(&r, bounded, 4, "small.png", "large.png", "middle.png"), TXM_OK);
    ck_assert_uint_eq(r.created, 3);
    ck_assert_str_eq(r.order, "large.png middle.png small.png");
    record again = {0};
    ck_assert_int_eq(RUN(&again, bounded, 4, "small.png", "large.png", "middle.png"), TXM_OK);
    ck_assert_uint_eq(again.created, 0);
    ck_assert_uint_eq(again.done, 3);
}

TEST(test_same_work)
{
    char absolute[256], cwd[128];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    snprintf(absolute, sizeof absolute, "%s/small.png", cwd);
    ck_assert_int_eq(symlink(".", "here"), 0);
    ck_assert_int_eq(symlink("small.png", "alias.png"), 0);
    record r = {0};
    ck_assert_int_eq(RUN(&r, (txm_batch_options){0}, 2, "small.png", absolute, "here/small.png", "alias.png"), TXM_OK);
    ck_assert_uint_eq(r.created, 2); /* the tx file of a link has the link's name */
    ck_assert_uint_eq(r.same, 2);
    ck_assert_int_eq(access("blender_tx/alias.png.0-926BDA8569F1F2504902F06ABA51E46D.tx", F_OK), 0);
    ck_assert_str_eq(r.warnings, "");
}

TEST(test_clash)
{
    record r = {0};
    ck_assert_int_eq(RUN(&r, (txm_batch_options){.output = "x.tx"}, 2, "small.png", "large.png"), TXM_OK);
    ck_assert_uint_eq(r.created, 1);
    ck_assert_uint_eq(r.failed, 1);
    ck_assert_ptr_nonnull(strstr(r.errors, "small.png"));
}

TEST(test_fail_fast)
{
    record r = {0};
    const txm_batch_options options = {.fail_fast = true};
    ck_assert_int_eq(RUN(&r, options, 1, "missing.png", "small.png", "large.png"), TXM_OK);
    ck_assert_uint_eq(r.done, 1);
    ck_assert_uint_eq(r.begun, 0);
}

TEST(test_cancel)
{
    volatile int asked;
    record r = {.cancel_at_begin = &asked};
    ck_assert_int_eq(RUN(&r, (txm_batch_options){0}, 1, "small.png", "large.png", "middle.png"), TXM_STATUS_CANCELLED);
    ck_assert_uint_eq(r.begun, 1);
    ck_assert_uint_eq(r.created, 0);
}

/* Another process makes the file: this one comes back later and finds it fresh. */
TEST(test_waits_for_claims)
{
    SCOPED(txm_claims_free) txm_claims *others = txm_claims_new(NULL);
    txm_claim *claim = NULL;
    batch_folder("blender_tx");
    const char *tx = "blender_tx/small.png.0-926BDA8569F1F2504902F06ABA51E46D.tx";
    ck_assert_int_eq(txm_claims_take(others, tx, &claim, NULL), TXM_OK);
    int begun[2];
    ck_assert_int_eq(pipe(begun), 0);
    pid_t other = fork();
    if (other == 0) {
        record r = {.tell_begin = begun[1]};
        ck_assert_int_eq(RUN(&r, (txm_batch_options){0}, 1, "small.png", "large.png"), TXM_OK);
        _exit(r.created == 1 && r.done == 2 && r.begun > 2 ? 0 : 1);
    }
    /* The large file, the small one, and the large one again. */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(read(begun[0], &(char){0}, 1), 1);
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        /* Works without claims, as a program that does not know them would. */
        record r = {0};
        _exit(RUN(&r, (txm_batch_options){.no_claims = true}, 1, "small.png") != TXM_OK || r.created != 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    txm_claims_drop(others, &claim);
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_int_eq(status, 0);
}

TEST(test_store)
{
    struct stat a, b;
    const char *first = "blender_tx/small.png.0-926BDA8569F1F2504902F06ABA51E46D.tx";
    record r = {0}, again = {0};
    const txm_batch_options options = {.store = "store", .force = true};
    ck_assert_int_eq(RUN(&r, options, 1, "small.png"), TXM_OK);
    ck_assert_str_eq(r.via, "converted");
    ck_assert_int_eq(RUN(&again, options, 1, "small.png"), TXM_OK);
    ck_assert_str_ne(again.via, "converted");
    ck_assert_uint_eq(again.first.tx_bytes, r.first.tx_bytes);
    ck_assert_uint_eq(again.first.levels, r.first.levels);
    ck_assert_uint_eq(again.first.channels, r.first.channels);
    ck_assert_uint_eq(again.first.section_bytes, r.first.section_bytes);
    ck_assert_int_eq(again.first.mono, r.first.mono);
    ck_assert_int_eq(stat("small.png", &a), 0);
    ck_assert_int_eq(stat(first, &b), 0);
    ck_assert_int_eq(a.st_mtime, b.st_mtime);
}

/* Each input is converted with the context that `contexts` gives it, and contexts derived from that keep the config. */
TEST(test_contexts)
{
    char config[512];
    SCOPED(txm_context_free) txm_context *base = NULL, *other = NULL, *linear = NULL;
    SCOPED(txm_batch_free) txm_batch *batch = NULL;
    SCOPED(txm_inputs_free) txm_inputs *inputs = NULL;
    txm_error err = {0};
    snprintf(config, sizeof config, "%s/color/small.ocio", getenv("TXM_TESTDATA"));
    ck_assert_int_eq(txm_context_new(NULL, &base, &err), TXM_OK);
    ck_assert_int_eq(txm_context_derive_config(base, "none.ocio", NULL, &other, &err), TXM_STATUS_CONFIG);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(txm_context_derive_config(base, config, "ACEScg", &other, &err), TXM_STATUS_COLORSPACE);
    ck_assert_int_eq(txm_context_derive_config(base, config, NULL, &other, &err), TXM_OK);
    ck_assert_int_eq(txm_context_derive(other, "ACES2065-1", &linear, &err), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(txm_context_color(other)), config);
    ck_assert_str_eq(txm_color_config_name(txm_context_color(linear)), config);
    txm_context *const contexts[] = {NULL, other, other};
    const txm_input space = {.path = "middle.png", .working_space = "ACES2065-1"};
    const txm_batch_options options = {.struct_size = sizeof options, .dry_run = true, .contexts = contexts};
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, &err), TXM_OK);
    ck_assert_int_eq(txm_inputs_add(inputs, "small.png", &err), TXM_OK);
    ck_assert_int_eq(txm_inputs_add(inputs, "large.png", &err), TXM_OK);
    ck_assert_int_eq(txm_inputs_add_entry(inputs, &space, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_new(base, inputs, &options, &batch, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_plan(batch, &err), TXM_OK);
    ck_assert_ptr_eq(batch->items[0].context, base);
    ck_assert_ptr_eq(batch->items[1].context, other);
    ck_assert_str_eq(txm_color_config_name(txm_context_color(batch->items[2].context)), config);
    ck_assert_str_eq(txm_color_role(txm_context_color(batch->items[2].context), "scene_linear"), "ACES2065-1");
}
