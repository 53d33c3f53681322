/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of batches one by one: the names in a folder, lists of inputs, inputs with the same tx file, a batch's
 * store. */
#include <locale.h>
#include <sys/stat.h>

#include "base/entries.h"
#include "base/user_cache.h"
#include "mill/convert/hooks.h"
#include "mill/convert/resolve.h"
#include "mill/farm/batch.h"
#include "mill/farm/inputs.h"
#include "mill/farm/store.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static txm_inputs *list_of(const char *path)
{
    txm_inputs *inputs = NULL;
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, NULL), TXM_OK);
    ck_assert_int_eq(txm_inputs_add_list(inputs, path, NULL), TXM_OK);
    return inputs;
}

static void expect_input(const txm_inputs *inputs, size_t i, const char *path, const char *origin, txm_status status)
{
    const txm_input *input = txm_inputs_at(inputs, i);
    ck_assert_ptr_nonnull(input);
    ck_assert_str_eq(input->path, path);
    ck_assert_str_eq(input->origin, origin);
    ck_assert_msg(input->status == status, "%s: %d %s", path, (int)input->status, input->message ? input->message : "");
}

/* An invalid line becomes an input that failed, with its line number; the others are used. */
TEST(wrong_lines_fail_alone)
{
    static const struct {
        const char *line, *says;
    } wrong[] = {{"{\"path\": 3}", "\"path\" must be a string"},
                 {"{\"path\": \"\"}", "\"path\" is missing"},
                 {"{\"alpha\": \"none\"}", "\"path\" is missing"},
                 {"{\"path\": \"a.png\", \"alpha\": \"some\"}", "use straight"},
                 {"{\"path\": \"a.png\", \"colourspace\": \"x\"}", "\"colourspace\" is unknown"},
                 {"{\"path_encoded\": \"%zz\"}", "not percent-encoded"},
                 {"{\"path\": \"a.png\"", "not a JSON object"},
                 {"{\"path\": \"a.png\"} more", "not a JSON object"}};
    enum { WRONG = sizeof wrong / sizeof *wrong };
    FILE *f = fopen("list", "w");
    for (int i = 0; i < WRONG; i++)
        fprintf(f, "%s\n", wrong[i].line);
    fprintf(f, "a.png\n");
    ck_assert_int_eq(fclose(f), 0);
    batch_png("a.png", 1);
    SCOPED(txm_inputs_free) txm_inputs *inputs = list_of("list");
    ck_assert_uint_eq(txm_inputs_count(inputs), WRONG + 1);
    for (int i = 0; i < WRONG; i++) {
        const txm_input *input = txm_inputs_at(inputs, (size_t)i);
        char line[32];
        snprintf(line, sizeof line, "list:%d: ", i + 1);
        ck_assert_int_eq(input->status, TXM_STATUS_USAGE);
        ck_assert_msg(strstr(input->message, line) && strstr(input->message, wrong[i].says), "%s", input->message);
    }
    expect_input(inputs, WRONG, "a.png", "list:9", TXM_OK);
}

TEST(what_is_no_list_fails)
{
    enum { LONG = (1 << 20) + 10 };
    static const char *const folders[] = {"gone", "folder"};
    batch_folder("folder");
    for (int i = 0; i < 2; i++) {
        SCOPED(txm_inputs_free) txm_inputs *inputs = list_of(folders[i]);
        ck_assert_uint_eq(txm_inputs_count(inputs), 1);
        ck_assert_int_ne(txm_inputs_at(inputs, 0)->status, TXM_OK);
        ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 0)->message, folders[i]));
    }
    char *text = malloc(LONG + 1);
    memset(text, 'x', LONG);
    text[LONG] = 0;
    batch_file("long", text);
    free(text);
    txm_inputs *inputs = list_of("long");
    ck_assert_uint_eq(txm_inputs_count(inputs), 1);
    ck_assert_int_eq(txm_inputs_at(inputs, 0)->status, TXM_STATUS_CORRUPT);
    txm_inputs_free(&inputs);
    /* A list that was cancelled reports that, instead of being incomplete. */
    static const volatile int cancel = 1;
    const txm_inputs_options options = {.struct_size = sizeof options, .cancel = &cancel};
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(txm_inputs_new(&options, &inputs, NULL), TXM_OK);
    ck_assert_int_eq(txm_inputs_add_list(inputs, "pipe", NULL), TXM_STATUS_CANCELLED);
    txm_inputs_free(&inputs);
}

/* ---- inputs with the same tx file -------------------------------------------------------------------------------- */

static char warnings[1024];

static void on_warn(void *user, const char *message)
{
    (void)user;
    snprintf(warnings + strlen(warnings), sizeof warnings - strlen(warnings), "%s;", message);
}

enum { SAMES = 4 };

/* Makes a batch of inputs a.png, b.png ... that were examined: all have the same image and the same settings. */
static void plan(txm_batch *b, txm_inputs **inputs, txm_item items[SAMES])
{
    static const char *const paths[SAMES] = {"a.png", "b.png", "c.png", "d.png"};
    static const char *const targets[SAMES] = {"tx/a.tx", "tx/b.tx", "tx/c.tx", "tx/d.tx"};
    memset(b, 0, sizeof *b);
    *warnings = 0;
    ck_assert_int_eq(txm_inputs_new(NULL, inputs, NULL), TXM_OK);
    for (int i = 0; i < SAMES; i++) {
        const txm_input entry = {.path = paths[i]};
        ck_assert_int_eq(txm_inputs_add_entry(*inputs, &entry, NULL), TXM_OK);
        items[i] = (txm_item){.examined = true,
                              .tx_path = targets[i],
                              .requested = "sRGB",
                              .settings_key = "key",
                              .outcome = TXM_OUTCOME_WOULD_CREATE,
                              .device = 1,
                              .inode = 7,
                              .cost = {.seconds = 2},
                              .same_as = TXM_NO_INDEX};
    }
    b->inputs = *inputs;
    b->items = items;
    b->count = SAMES;
    b->events.warn = on_warn;
    b->options.dry_run = true;
    pthread_mutex_init(&b->names_lock, NULL);
    pthread_mutex_init(&b->events_lock, NULL);
}

static void end(txm_batch *b, txm_inputs **inputs)
{
    txm_names_free(&b->names);
    pthread_mutex_destroy(&b->names_lock);
    pthread_mutex_destroy(&b->events_lock);
    txm_inputs_free(inputs);
}

TEST(other_pixels_in_one_place_are_refused)
{
    txm_batch b;
    txm_inputs *inputs;
    txm_item items[SAMES];
    plan(&b, &inputs, items);
    items[1].tx_path = items[2].tx_path = items[0].tx_path;
    items[1].inode = 8;
    items[2].settings_key = "other";
    items[3].requested = "Raw"; /* another tx file of the same image: a warning, not a failure */
    ck_assert_int_eq(txm_find_same_work(&b, NULL), TXM_OK);
    ck_assert_int_eq(items[0].status, TXM_OK);
    for (int i = 1; i < 3; i++) {
        ck_assert_int_eq(items[i].status, TXM_STATUS_USAGE);
        ck_assert_ptr_nonnull(strstr(items[i].failure.message, "would overwrite that of another input, a.png"));
    }
    ck_assert_int_eq(items[3].status, TXM_OK);
    ck_assert_ptr_nonnull(strstr(warnings, "d.png: requested with two colour spaces, \"sRGB\" and \"Raw\""));
    end(&b, &inputs);
    /* Images that are used as they are have no output. They may be named twice, but no other input may overwrite
     * them. */
    plan(&b, &inputs, items);
    items[0].outcome = items[1].outcome = TXM_OUTCOME_IS_TX;
    items[0].tx_path = items[1].tx_path = items[2].tx_path = "a.png";
    items[2].inode = 9;
    ck_assert_int_eq(txm_find_same_work(&b, NULL), TXM_OK);
    ck_assert_int_eq(items[0].status, TXM_OK);
    ck_assert_int_eq(items[1].status, TXM_OK);
    ck_assert_int_eq(items[2].status, TXM_STATUS_USAGE);
    end(&b, &inputs);
}

/* ---- the store --------------------------------------------------------------------------------------------------- */

TEST(stores_give_back_what_they_keep)
{
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_batch b = {.events = {.warn = on_warn}};
    txm_settings settings;
    txm_error err = {0};
    SCOPED(txm_result_clear) txm_result result = {0};
    char *object = NULL;
    const txm_context_options threads = {.struct_size = sizeof threads, .threads = 1};
    const txm_convert_options where = {.struct_size = sizeof where, .output = "made.tx"};
    ck_assert_int_eq(txm_context_new(&threads, &context, NULL), TXM_OK);
    txm_settings_init(&settings);
    batch_png("a.png", 1);
    ck_assert_msg(!txm_convert(context, "a.png", &settings, &where, &result, &err), "%s", err.message);
    SCOPED(txm_source_close) txm_source *source = NULL;
    ck_assert_int_eq(txm_source_open("a.png", NULL, &source, NULL), TXM_OK);
    txm_resolved resolved;
    ck_assert_int_eq(txm_resolve(context, &settings, "a.png", txm_source_info_of(source), false, &resolved, NULL),
                     TXM_OK);
    const txm_making making = {"a.png", "made.tx", source, txm_source_info_of(source), &settings, &resolved, NULL};
    b.context = context;
    b.options.store = "store";
    pthread_mutex_init(&b.events_lock, NULL);
    *warnings = 0;
    /* The store is empty: there is no warning, and the place for the file is known. */
    ck_assert(!txm_batch_fetch(&b, &making, &result, &object));
    ck_assert_str_eq(warnings, "");
    ck_assert(object && !strncmp(object, "store/", 6));
    txm_batch_keep(&b, &making, object);
    ck_assert_int_eq(access(object, F_OK), 0);
    ck_assert_int_eq(unlink("made.tx"), 0);
    txm_result fetched = {.channels = 3};
    snprintf(fetched.settings_key, sizeof fetched.settings_key, "%s", result.settings_key);
    char *again = NULL;
    ck_assert(txm_batch_fetch(&b, &making, &fetched, &again));
    ck_assert_str_eq(again, object);
    ck_assert_int_eq(access("made.tx", F_OK), 0);
    ck_assert(fetched.width == result.width && fetched.levels == result.levels && fetched.tx_bytes == result.tx_bytes);
    ck_assert(*fetched.via);
    free(again);
    /* An object that is not a tx file causes a warning and is removed, and the image is converted. */
    batch_file("junk", "no tx file");
    ck_assert_int_eq(rename("junk", object), 0);
    again = NULL;
    ck_assert(!txm_batch_fetch(&b, &making, &fetched, &again));
    ck_assert_ptr_nonnull(strstr(warnings, "converted instead"));
    ck_assert_int_ne(access(object, F_OK), 0);
    free(again);
    /* If the store cannot keep the file, that is not a failure. */
    *warnings = 0;
    batch_file("full", "");
    txm_batch_keep(&b, &making, "full/ab/c.tx");
    ck_assert_ptr_nonnull(strstr(warnings, "not kept in the store"));
    txm_batch_keep(&b, &making, NULL);
    /* An image that has changed since it was opened has another key. */
    *warnings = 0;
    batch_png("b.png", 2);
    ck_assert_int_eq(rename("b.png", "a.png"), 0);
    again = NULL;
    ck_assert(!txm_batch_fetch(&b, &making, &fetched, &again));
    ck_assert_ptr_null(again);
    ck_assert(*warnings);
    free(object);
    pthread_mutex_destroy(&b.events_lock);
}

/* ---- images that cannot be read ---------------------------------------------------------------------------------- */

static bool recalls(const char *image, txm_error *err)
{
    struct stat st;
    txm_error_clear(err);
    ck_assert_int_eq(stat(image, &st), 0);
    return txm_damaged_recall(image, &st, err) != TXM_OK;
}

static void remember(const char *image, txm_status status)
{
    struct stat st;
    txm_error err = {0};
    ck_assert_int_eq(stat(image, &st), 0);
    txm_fail(&err, status, "%s: row 3: cut short; copy it again", image);
    txm_damaged_remember(image, (uint64_t)st.st_size, st.st_mtime, &err);
}

TEST(damage_is_remembered_until_the_image_changes)
{
    char cache[4096];
    txm_error err = {0};
    ck_assert_ptr_nonnull(getcwd(cache, sizeof cache));
    setenv("XDG_CACHE_HOME", cache, 1);
    char *folder = txm_user_cache("damaged");
    ck_assert_int_eq(strncmp(folder, cache, strlen(cache)), 0);
    free(folder);
    batch_file("a.png", "x");
    batch_file("b.png", "x");
    ck_assert(!recalls("a.png", &err));
    txm_damaged_forget("a.png");
    remember("a.png", TXM_STATUS_IO); /* a disk's failure says nothing about the image */
    ck_assert(!recalls("a.png", &err));
    txm_fail(&err, TXM_STATUS_CORRUPT, "%s: cut", "a.png");
    txm_damaged_remember("a.png", 77, 0, &err); /* it was another file that was read */
    ck_assert(!recalls("a.png", &err));
    remember("a.png", TXM_STATUS_CORRUPT);
    ck_assert(recalls("./a.png", &err));
    ck_assert_int_eq(err.status, TXM_STATUS_CORRUPT);
    ck_assert_str_eq(err.message, "./a.png: row 3: cut short; copy it again");
    ck_assert(!recalls("b.png", &err));
    txm_damaged_forget("a.png");
    ck_assert(!recalls("a.png", &err));
    remember("a.png", TXM_STATUS_UNSUPPORTED);
    ck_assert(recalls("a.png", &err));
    ck_assert_int_eq(err.status, TXM_STATUS_UNSUPPORTED);
    batch_file("a.png", "xy");
    ck_assert(!recalls("a.png", &err));
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    ck_assert_ptr_null(txm_user_cache("damaged"));
    remember("a.png", TXM_STATUS_CORRUPT);
    ck_assert(!recalls("a.png", &err));
}

/* The name of the object contains everything that influences the tx file, and nothing else. */
TEST(objects_are_named_by_what_shapes_them)
{
    txm_settings settings;
    txm_settings_init(&settings);
    txm_resolved resolved = {.requested = "sRGB", .alpha = TXM_ALPHA_STRAIGHT};
    txm_making making = {.source = "/a/wood.png", .target = "/t", .settings = &settings, .resolved = &resolved};
    char *base = txm_store_path("/store", &making, "key", "content"), *other;
    ck_assert_int_eq(strncmp(base, "/store/", 7), 0);
    ck_assert_uint_eq(strlen(base), strlen("/store/ab/.tx") + 62);
    making.source = "/b/oak.png"; /* the image's folder does not matter */
    ck_assert_str_eq(base, other = txm_store_path("/store", &making, "key", "content"));
    free(other);
    settings.tile_px = 128;
    ck_assert_str_ne(base, other = txm_store_path("/store", &making, "key", "content"));
    free(other);
    txm_settings_init(&settings);
    settings.redact = true; /* the file then contains the source's name */
    char *oak = txm_store_path("/store", &making, "key", "content");
    making.source = "/a/wood.png";
    ck_assert_str_ne(oak, other = txm_store_path("/store", &making, "key", "content"));
    free(other);
    free(oak);
    free(base);
}

static void enter(void)
{
    batch_enter();
}
FIXTURE(enter, batch_leave)
