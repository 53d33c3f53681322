/* SPDX-License-Identifier: Apache-2.0
 * Parts of the program that are otherwise reached only through its commands: words, differences of files, completion;
 * and parts of batches and codecs that need no image. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fail.h"
#include "mill/convert/hooks.h"
#include "mill/convert/resolve.h"
#include "mill/farm/inputs.h"
#include "mill/farm/store.h"
#include "mill/farm/watch_tree.h"
#include "tile/decode/decode_table.h"
#include "tile/ops/tables.h"
#include "tools/commands.h"
#include "tools/help/generate.h"
#include "tools/inspect/diff_report.h"
#include "tools/inspect/verify_report.h"
#include "tools/make/make_text.h"
#include "tools/options/library_words.h"
#include "tools/output/words.h"
#include "txtile/sampler.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"
#include "util_writer.h"

/* ---- words ------------------------------------------------------------------------------------------------------- */

START_TEST(outcomes_have_stable_words)
{
    ck_assert_str_eq(txm_make_state(TXM_OUTCOME_CREATED), "created");
    ck_assert_str_eq(txm_make_state(TXM_OUTCOME_IS_TX), "skipped");
    ck_assert_str_eq(txm_make_state(TXM_OUTCOME_SAME), "skipped");
    ck_assert_str_eq(txm_make_state(TXM_OUTCOME_WOULD_CREATE), "would-create");
    txm_result result = {.outcome = TXM_OUTCOME_IS_TX};
    ck_assert_str_eq(txm_make_reason(&result), "is a tx file itself");
    result = (txm_result){.outcome = TXM_OUTCOME_CREATED, .reason = "no tx file yet"};
    ck_assert_str_eq(txm_make_reason(&result), "no tx file yet");
}
END_TEST

START_TEST(notes_are_no_failure)
{
    txm_findings f = {0};
    f.severities[TXM_SEVERITY_NOTE] = 3;
    ck_assert(!txm_verify_failed(&f));
    f.severities[TXM_SEVERITY_WARNING] = 1;
    ck_assert(txm_verify_failed(&f));
}
END_TEST

START_TEST(near_commands_are_found)
{
    ck_assert_ptr_nonnull(txm_command_find("make"));
    ck_assert_ptr_null(txm_command_find("mak")); /* no abbreviations */
    ck_assert_ptr_eq(txm_command_near("maek"), txm_command_find("make"));
    ck_assert_ptr_null(txm_command_near("quite-something-else"));
}
END_TEST

/* The names of filters come from the library's list. */
START_TEST(filters_are_listed)
{
    const char *name;
    for (int i = 0; (name = txm_filter_name((txm_filter)i)); i++)
        ck_assert_ptr_nonnull(strstr(txm_filter_values, name));
    ck_assert_uint_lt(strlen(txm_filter_more), TXM_WORDS_TEXT - 1);
}
END_TEST

/* ---- differences ------------------------------------------------------------------------------------------------- */

static void note_entry(void *user, const char *name, const char *a, const char *b)
{
    char *text = user;
    snprintf(text + strlen(text), 512 - strlen(text), "%s:%s|%s;", name, a ? a : "-", b ? b : "-");
}

START_TEST(files_differ_in_tiles_and_metadata)
{
    char text[512] = "";
    const txm_compression zip = {TXM_CODEC_ZIP, 1};
    made_image a = make_image(100, 80, 4, TXM_TYPE_U8, 64, zip, MADE_SMOOTH);
    made_image b = make_image(100, 80, 4, TXM_TYPE_U8, 32, zip, MADE_SMOOTH);
    const char *first = temp_file("a.tx"), *second = temp_file("b.tx");
    write_foreign_tiff(first, &a, (foreign_tiff){.compression = 8, .predictor = 1});
    write_foreign_tiff(second, &b, (foreign_tiff){.compression = 8, .predictor = 1});
    txm_diff_report r = {.paths = {first, second}, .tx = {open_tx(first), open_tx(second)}};
    ck_assert_uint_ge(txm_diff_each_entry(&r, note_entry, text), 1);
    ck_assert_ptr_nonnull(strstr(text, "tiles:64x64|32x32;"));
    ck_assert_ptr_null(strstr(text, "pixels:"));
    txm_tx *other = r.tx[1];
    r.tx[1] = r.tx[0];
    ck_assert_uint_eq(txm_diff_each_entry(&r, NULL, NULL), 0);
    r.tx[1] = NULL; /* a plain image has nothing to compare */
    ck_assert_uint_eq(txm_diff_each_entry(&r, NULL, NULL), 0);
    txm_tx_close(&r.tx[0]);
    txm_tx_close(&other);
    free_image(&a);
    free_image(&b);
}
END_TEST

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* Every command is in every shell's script. */
START_TEST(completion_knows_every_command)
{
    void (*const generate[])(FILE *) = {txm_generate_bash, txm_generate_zsh, txm_generate_fish};
    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        generate[i](f);
        fclose(f);
        for (const txm_command *const *c = txm_commands; *c; c++)
            ck_assert_msg(strstr(text, (*c)->name), "%d: %s", i, (*c)->name);
        ck_assert_ptr_nonnull(strstr(text, "colorspaces --names"));
        free(text);
    }
}
END_TEST

/* What is not C takes its words from these: each has every word that can occur. */
START_TEST(words_are_passed_on)
{
    void (*const generate[])(FILE *) = {txm_generate_words, txm_generate_python};
    char *text = NULL;
    size_t bytes;
    for (int i = 0; i < 2; i++) {
        FILE *f = open_memstream(&text, &bytes);
        generate[i](f);
        fclose(f);
        for (int use = TXM_USE_MISSING; use <= TXM_USE_LOADED; use++)
            ck_assert_ptr_nonnull(strstr(text, txm_use_name((txm_use)use)));
        for (int made = 0; made < TXM_MADE_COUNT; made++)
            ck_assert_ptr_nonnull(strstr(text, txm_made_words((txm_made)made)->id));
        ck_assert_ptr_nonnull(strstr(text, txm_lint_name(TXM_LINT_GREY)));
        free(text);
    }
    FILE *f = open_memstream(&text, &bytes);
    ck_assert(txm_generate_man_words(f, "state"));
    ck_assert(!txm_generate_man_words(f, "nothing"));
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, ".It Ql fresh\n"));
    free(text);
    ck_assert_int_eq(txm_made_named("would-create"), TXM_MADE_WOULD_CREATE);
    ck_assert_int_eq(txm_made_named("melted"), TXM_MADE_COUNT);
    ck_assert_int_eq(txm_made_named(NULL), TXM_MADE_COUNT);
}
END_TEST

/* ---- settings of batches ----------------------------------------------------------------------------------------- */

START_TEST(folders_give_what_is_wanted)
{
    const char *no_masks[] = {"*_mask.*", NULL}, *only_exr[] = {"*.exr", NULL};
    txm_inputs_options o = {.struct_size = sizeof o};
    ck_assert(txm_inputs_want(&o, "in/wood.png", 3, false));
    ck_assert(!txm_inputs_want(&o, "in/notes.txt", 3, false));
    ck_assert(!txm_inputs_want(&o, "in/.hidden.png", 3, false));
    ck_assert(!txm_inputs_want(&o, "in/wood.tx", 3, false));
    ck_assert(txm_inputs_want(&o, "in/sub", 3, true));
    ck_assert(!txm_inputs_want(&o, "in/blender_tx", 3, true));
    o.exclude = no_masks;
    ck_assert(!txm_inputs_want(&o, "in/wood_mask.png", 3, false));
    o.include = only_exr;
    ck_assert(txm_inputs_want(&o, "in/wood.exr", 3, false));
    ck_assert(!txm_inputs_want(&o, "in/wood.png", 3, false));
    o = (txm_inputs_options){.struct_size = sizeof o, .tx_files = true};
    ck_assert(txm_inputs_want(&o, "in/wood.tx", 3, false));
    ck_assert(txm_inputs_want(&o, "in/blender_tx", 3, true));
    ck_assert(!txm_inputs_want(&o, "in/wood.png", 3, false));
}
END_TEST

/* The name of the object contains everything that influences the tx file, and nothing else. */
START_TEST(objects_are_named_by_what_shapes_them)
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
END_TEST

static bool note_path(void *user, const char *path)
{
    char *text = user;
    snprintf(text + strlen(text), 512 - strlen(text), "%s;", path);
    return true;
}

START_TEST(watched_folders_follow_the_tree)
{
    char found[512] = "";
    txm_error err = {0};
    const txm_inputs_options inputs = {.struct_size = sizeof inputs, .recursive = true};
    const txm_watch_options options = {.struct_size = sizeof options, .inputs = &inputs};
    txm_watch_tree tree = {.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .options = &options};
    ck_assert_int_ge(tree.fd, 0);
    batch_enter();
    batch_folder("in");
    batch_folder("in/a");
    batch_folder("in/a/deep");
    batch_folder("in/ab");
    batch_png("in/a/wood.png", 1);
    ck_assert_msg(txm_watch_tree_add(&tree, "in", 3, note_path, found, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(tree.count, 4);
    ck_assert_ptr_nonnull(strstr(found, "in/a/wood.png;"));
    int wd = tree.folders[0].wd;
    ck_assert_str_eq(txm_watch_tree_at(&tree, wd)->path, "in");
    ck_assert_ptr_null(txm_watch_tree_at(&tree, 12345));
    /* A folder selects everything below it, but not names that merely begin with it. */
    ck_assert_int_eq(txm_watch_tree_remove(&tree, "in/a", NULL, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(tree.count, 2);
    txm_watch_tree_forget(&tree, wd);
    ck_assert_uint_eq(tree.count, 1);
    txm_watch_tree_clear(&tree);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_watch_tree_add(&tree, "nowhere", 0, NULL, NULL, &err), TXM_STATUS_NOT_FOUND);
    txm_watch_tree_clear(&tree);
    close(tree.fd);
    batch_leave();
}
END_TEST

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static bool read_table(const uint8_t *bytes, size_t n)
{
    static txm_decode_table table;
    txm_bit_reader r = {.in = bytes, .end = bytes + n};
    return txm_decode_table_read(&table, &r);
}

/* Tables that no encoder writes are refused and left to the library; they are never decoded by guessing. */
START_TEST(codes_that_are_none_are_refused)
{
    static const uint8_t zeros[64] = {0};
    uint8_t ones[64];
    memset(ones, 0xFF, sizeof ones);
    ck_assert(!read_table(zeros, sizeof zeros));
    ck_assert(!read_table(ones, sizeof ones));
    ck_assert(!read_table(zeros, 0));
}
END_TEST

START_TEST(srgb_tables_are_the_curve)
{
    const txm_tables *t = txm_tables_of_u8();
    ck_assert(t->u8_grey[0] <= 0.0f && t->u8_grey[255] >= 1.0f);
    ck_assert(fabsf(t->u8_grey[128] - 0.2158605f) < 1e-6f);
    for (int i = 1; i < 256; i++)
        ck_assert(t->u8_grey[i] > t->u8_grey[i - 1]);
    ck_assert_ptr_eq(txm_tables_of_u16(), t);
    ck_assert(fabsf(t->u16_grey[128 * 257] - t->u8_grey[128]) < 1e-6f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of the tools, batch and codec");
    TCase *t = add_case(suite, "parts");
    add_tests(t, outcomes_have_stable_words, notes_are_no_failure, near_commands_are_found, filters_are_listed,
              files_differ_in_tiles_and_metadata, completion_knows_every_command, words_are_passed_on,
              folders_give_what_is_wanted, objects_are_named_by_what_shapes_them, watched_folders_follow_the_tree,
              codes_that_are_none_are_refused, srgb_tables_are_the_curve);
    return run_suite(suite);
}
