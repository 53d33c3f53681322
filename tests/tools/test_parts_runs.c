/* SPDX-License-Identifier: Apache-2.0
 *
 * What commands share between their options and the library: inputs from operands, guards, runs of a batch and their
 * reports, projects below a folder, scenes and what they look up. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "tools/gc/gc_used.h"
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/list/list_scene.h"
#include "tools/make/make_guard.h"
#include "tools/make/make_report.h"
#include "tools/make/make_run.h"
#include "tools/make/scene_folder.h"
#include "tools/options/project.h"
#include "tools/output/say.h"
#include "util_batch.h"
#include "util_blend.h"
#include "util_check.h"
#include "util_tx.h"

static txm_error err;

static void enter(void)
{
    err = (txm_error){0};
    unsetenv("OCIO");
    txm_say_set_level(TXM_SAY_ERROR);
    batch_enter();
}

static txm_operands operands_of(char **items)
{
    txm_operands o = {.items = items};
    while (items[o.count])
        o.count++;
    return o;
}

/* Makes a tx file beside an image, as make writes it. */
static void make(const char *image, const char *tx)
{
    txm_context *context = NULL;
    txm_settings settings;
    txm_result result;
    const txm_context_options options = {.struct_size = sizeof options, .threads = 1};
    const txm_convert_options how = {.struct_size = sizeof how, .output = tx};
    txm_settings_init(&settings);
    ck_assert_int_eq(txm_context_new(&options, &context, &err), TXM_OK);
    ck_assert_msg(!txm_convert(context, image, &settings, &how, &result, &err), "%s", err.message);
    txm_result_clear(&result);
    txm_context_free(&context);
}

/* ---- tx files as operands ---------------------------------------------------------------------------------------- */

START_TEST(tx_files_are_collected)
{
    static char folder[] = "f", file[] = "a.tx", gone[] = "gone.tx";
    char *all[] = {folder, file, gone, NULL}, *none[] = {NULL};
    const txm_tx_files_args plain = {0};
    batch_folder("f");
    batch_folder("f/blender_tx");
    batch_png("a.png", 1);
    make("a.png", "a.tx");
    make("a.png", "f/blender_tx/b.tx");
    batch_png("f/c.png", 2);
    txm_inputs *inputs = NULL;
    txm_operands o = operands_of(all);
    ck_assert_int_eq(txm_tx_files_collect("info", &plain, &o, &inputs, &err), TXM_OK);
    ck_assert_uint_eq(txm_inputs_count(inputs), 3);
    ck_assert_str_eq(txm_files_path(inputs, 0), "f/blender_tx/b.tx");
    ck_assert_str_eq(txm_files_path(inputs, 1), "a.tx");
    ck_assert_int_eq(txm_input_check(txm_inputs_at(inputs, 1), &err), TXM_OK);
    ck_assert_int_eq(txm_input_check(txm_inputs_at(inputs, 2), &err), TXM_OK); /* a reader will notice */
    ck_assert_ptr_null(txm_files_path(inputs, 3));
    /* The last call frees them. Its code is that of the failure that ended the run, or of the tally. */
    txm_tally tally = {0};
    txm_tally_add(&tally, TXM_OK);
    err = (txm_error){0};
    ck_assert_int_eq(txm_files_finish(&inputs, &tally, &err), TXM_EXIT_OK);
    ck_assert_ptr_null(inputs);
    txm_fail(&err, TXM_STATUS_IO, "share is gone");
    ck_assert_int_eq(txm_files_finish(&inputs, &tally, &err), TXM_EXIT_RETRY);
    err = (txm_error){0};
    o = operands_of(none);
    ck_assert_int_eq(txm_tx_files_collect("info", &plain, &o, &inputs, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "txmill info"));
    ck_assert_ptr_null(inputs);
    for (int use = TXM_USE_UNREADABLE; use <= TXM_USE_LOADED; use++)
        ck_assert(*txm_use_words((txm_use)use)->word);
}
END_TEST

START_TEST(what_is_no_tx_file_is_named)
{
    static const struct {
        const char *path, *says;
    } cases[] = {{"a.png", "txmill make a.png"}, {"s.blend", "txmill list s.blend"}};
    batch_png("a.png", 1);
    batch_file("s.blend", "BLENDER-v304");
    for (int i = 0; i < 2; i++) {
        txm_error why = {0};
        txm_fail(&why, TXM_STATUS_UNSUPPORTED, "no tx file");
        txm_tx_explain(cases[i].path, &why);
        ck_assert_msg(strstr(why.message, cases[i].says), "%s", why.message);
    }
    txm_error other = {0};
    txm_fail(&other, TXM_STATUS_CORRUPT, "cut short");
    txm_tx_explain("a.png", &other);
    ck_assert_str_eq(other.message, "cut short");
}
END_TEST

/* ---- guards ------------------------------------------------------------------------------------------------------ */

START_TEST(outputs_may_not_be_inputs)
{
    txm_inputs *inputs = NULL;
    batch_png("a.png", 1);
    batch_png("b.png", 2);
    ck_assert_int_eq(symlink("b.png", "link.tx"), 0);
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, NULL), TXM_OK);
    const txm_input entries[] = {{.path = "a.png", .output = "new.tx", .origin = "list:1"},
                                 {.path = "b.png", .output = "a.png", .origin = "list:2"},
                                 {.path = "b.png"}};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(txm_inputs_add_entry(inputs, &entries[i], NULL), TXM_OK);
    txm_make_args args = {0};
    /* A name from a list fails its own entry, with its line. */
    ck_assert_int_eq(txm_make_guard(&args, inputs, &err), TXM_OK);
    ck_assert_int_eq(txm_inputs_at(inputs, 0)->status, TXM_OK);
    ck_assert_int_eq(txm_inputs_at(inputs, 1)->status, TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 1)->message, "list:2"));
    /* A link to an input is the input; -o ends the run. */
    args.output = "link.tx";
    ck_assert_int_eq(txm_make_guard(&args, inputs, &err), TXM_STATUS_USAGE);
    args.force = true;
    err = (txm_error){0};
    ck_assert_int_eq(txm_make_guard(&args, inputs, &err), TXM_STATUS_USAGE); /* never, whatever is forced */
    args.output = "fresh.tx";
    err = (txm_error){0};
    ck_assert_int_eq(txm_make_guard(&args, inputs, &err), TXM_OK);
    txm_inputs_free(&inputs);
}
END_TEST

/* ---- reports of runs --------------------------------------------------------------------------------------------- */

static void add(txm_make_report *r, const char *path, txm_outcome outcome, txm_status status)
{
    const txm_input input = {.path = path};
    txm_result result = {.outcome = outcome, .width = 4, .height = 2, .tx_bytes = 100};
    txm_error why = {0};
    if (status != TXM_OK)
        txm_fail(&why, status, "%s: broken", path);
    result.tx_path = (char *)"a.tx";
    const txm_batch_file file = {.input = &input, .result = &result, .err = &why};
    txm_make_report_add(r, &file);
}

START_TEST(runs_are_reported_and_counted)
{
    txm_make_report r;
    const txm_batch_totals totals = {.inputs = 4};
    txm_make_report_init(&r, true, false, false, 0);
    ck_assert_int_eq(txm_make_report_open_log(&r, "logs/run.log", &err), TXM_OK);
    txm_make_report_planned(&r, &totals);
    batch_catch();
    add(&r, "a.png", TXM_OUTCOME_CREATED, TXM_OK);
    add(&r, "b.png", TXM_OUTCOME_UP_TO_DATE, TXM_OK);
    add(&r, "c.png", TXM_OUTCOME_CREATED, TXM_STATUS_CORRUPT);
    int code = txm_make_report_finish(&r);
    char *text = strdup(batch_caught());
    ck_assert_int_eq(code, TXM_EXIT_FAILED);
    static const char *const states[] = {"created", "up-to-date", "failed"};
    char *save = NULL, *line = strtok_r(text, "\n", &save);
    for (int i = 0; i < 3; i++, line = strtok_r(NULL, "\n", &save)) {
        cJSON *o = cJSON_Parse(line);
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "state")->valuestring, states[i]);
        cJSON_Delete(o);
    }
    cJSON *o = cJSON_Parse(line);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(o, "type")->valuestring, "summary");
    ck_assert(cJSON_GetObjectItemCaseSensitive(o, "failed")->valueint == 1);
    ck_assert(cJSON_GetObjectItemCaseSensitive(o, "not_started")->valueint == 1);
    ck_assert(cJSON_GetObjectItemCaseSensitive(o, "tx_bytes")->valueint == 100);
    cJSON_Delete(o);
    free(text);
    /* The log holds the same lines. */
    size_t bytes;
    uint8_t *log = load_file("logs/run.log", &bytes);
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += log[i] == '\n';
    ck_assert_uint_eq(lines, 4);
    free(log);
}
END_TEST

START_TEST(runs_that_end_early_say_why)
{
    txm_make_report r;
    const txm_batch_totals totals = {.inputs = 3};
    txm_make_report_init(&r, true, false, false, 0);
    txm_make_report_planned(&r, &totals);
    batch_catch();
    add(&r, "a.png", TXM_OUTCOME_CREATED, TXM_OK);
    txm_fail(&err, TXM_STATUS_DISK_FULL, "the disk is full");
    txm_make_report_stop(&r, &err);
    int code = txm_make_report_finish(&r);
    const char *text = batch_caught();
    ck_assert_int_eq(code, TXM_EXIT_RETRY);
    ck_assert_ptr_nonnull(strstr(text, "the disk is full"));
    ck_assert_ptr_nonnull(strstr(text, "\"failed\":2"));
    /* One log cannot be opened, and the other cannot be written. */
    batch_file("file", "");
    txm_make_report_init(&r, false, true, false, 0);
    err = (txm_error){0};
    ck_assert_int_ne(txm_make_report_open_log(&r, "file/run.log", &err), TXM_OK);
    ck_assert_int_eq(txm_make_report_open_log(&r, NULL, &err), TXM_OK);
    pthread_mutex_destroy(&r.lock);
    if (access("/dev/full", W_OK) == 0) {
        txm_make_report_init(&r, false, true, false, 0);
        ck_assert_int_eq(txm_make_report_open_log(&r, "/dev/full", &err), TXM_OK);
        add(&r, "a.png", TXM_OUTCOME_CREATED, TXM_OK);
        r.inputs = 1;
        ck_assert_int_eq(txm_make_report_finish(&r), TXM_EXIT_RETRY);
    }
}
END_TEST

/* ---- batches from arguments -------------------------------------------------------------------------------------- */

START_TEST(jobs_are_planned_from_arguments)
{
    static char good[] = "f", none[] = "empty";
    char *items[] = {good, NULL}, *nothing[] = {none, NULL};
    const txm_input_args input = {0};
    const txm_rule_args rules = {0};
    const txm_config_args config = {0};
    const txm_running_args running = {.threads = 1, .device = "cpu"};
    const txm_batch_job_args args = {.input = &input, .rules = &rules, .config = &config, .running = &running};
    txm_settings settings;
    txm_settings_init(&settings);
    const txm_batch_options options = {.struct_size = sizeof options, .settings = &settings, .dry_run = true};
    batch_folder("f");
    batch_folder("empty");
    batch_png("f/a.png", 1);
    batch_png("f/b.png", 2);
    txm_batch_job job = {0};
    txm_operands o = operands_of(items);
    ck_assert_msg(txm_batch_job_collect(&job, &args, &o, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(txm_inputs_count(job.inputs), 2);
    ck_assert_msg(txm_batch_job_plan(&job, &args, &options, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(job.batch);
    txm_batch_job_free(&job);
    job = (txm_batch_job){0};
    o = operands_of(nothing);
    ck_assert_int_eq(txm_batch_job_collect(&job, &args, &o, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "empty: no image to convert"));
    txm_batch_job_free(&job);
    job = (txm_batch_job){.may_be_empty = true};
    err = (txm_error){0};
    ck_assert_int_eq(txm_batch_job_collect(&job, &args, &o, &err), TXM_OK);
    txm_batch_job_free(&job);
    /* A misspelt colour space is one error, found before any image is opened. */
    job = (txm_batch_job){0};
    o = operands_of(items);
    settings.colorspace = "sRBG";
    ck_assert_int_eq(txm_batch_job_collect(&job, &args, &o, &err), TXM_OK);
    ck_assert_int_eq(txm_batch_job_plan(&job, &args, &options, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "sRGB"));
    txm_batch_job_free(&job);
}
END_TEST

/* Runs all of it, as the command does. */
START_TEST(runs_make_what_is_asked_for)
{
    static char a[] = "a.png", gone[] = "gone.png";
    char *good[] = {a, NULL}, *bad[] = {a, gone, NULL};
    txm_make_args args = {.running = {.threads = 1, .device = "cpu"}, .report = {.quiet = true}};
    txm_settings_args_default(&args.settings);
    batch_png("a.png", 1);
    txm_operands o = operands_of(good);
    args.dry_run = true;
    ck_assert_int_eq(txm_make_run(&args, &o), TXM_EXIT_OK);
    ck_assert_int_ne(access("blender_tx", F_OK), 0);
    args.dry_run = false;
    ck_assert_int_eq(txm_make_run(&args, &o), TXM_EXIT_OK);
    ck_assert_int_eq(access("blender_tx", F_OK), 0);
    o = operands_of(bad);
    ck_assert_int_eq(txm_make_run(&args, &o), TXM_EXIT_FAILED);
}
END_TEST

/* ---- projects ---------------------------------------------------------------------------------------------------- */

START_TEST(inputs_follow_their_own_projects)
{
    static char top[] = "p";
    char *items[] = {top, NULL};
    const char *cache_dir = NULL;
    txm_config_args config = {0};
    txm_rule_args rules = {0};
    uint32_t threads = 1;
    const txm_project_targets targets = {&cache_dir, &config, &rules, &threads};
    const txm_config_args same[] = {{.blender = TXM_BLENDER_NEWEST},
                                    {.ocio = "a", .blender = TXM_BLENDER_NEWEST},
                                    {.ocio = "a", .working_space = "b", .blender = TXM_BLENDER_NEWEST},
                                    {.ocio = "b", .working_space = "b", .blender = TXM_BLENDER_NEWEST},
                                    {.ocio = "b", .working_space = "b", .blender = TXM_BLENDER_5_3}};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            ck_assert_int_eq(txm_config_args_same(&same[i], &same[k]), i == k);
    batch_folder("p");
    batch_folder("p/one");
    batch_folder("p/two");
    batch_file("p/.txmill", "cache-dir = tx\n");
    batch_file("p/two/.txmill", "cache-dir = other\nworking-space = ACEScg\nrule = *.png=Non-Color\n");
    batch_folder("p/bad");
    batch_file("p/bad/.txmill", "ocio = gone.ocio\n");
    batch_png("p/one/a.png", 1);
    batch_png("p/two/b.png", 2);
    batch_png("p/bad/c.png", 3);
    txm_operands o = operands_of(items);
    txm_inputs *inputs = NULL;
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, NULL), TXM_OK);
    const char *const paths[] = {"p/one/a.png", "p/two/b.png", "p/bad/c.png"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(txm_inputs_add_entry(inputs, &(txm_input){.path = paths[i]}, NULL), TXM_OK);
    txm_settings settings;
    txm_settings_init(&settings);
    txm_project_contexts contexts = {0};
    ck_assert_msg(txm_project_examine(&targets, &o, inputs, &settings, &contexts, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(cache_dir, "tx"));
    ck_assert_ptr_eq(txm_project_context(&contexts, 0), contexts.common);
    ck_assert_ptr_ne(txm_project_context(&contexts, 1), contexts.common);
    ck_assert_ptr_eq(txm_project_rules(&contexts, 0), contexts.common_rules);
    ck_assert_ptr_nonnull(txm_rules_match(txm_project_rules(&contexts, 1), "p/two/b.png"));
    ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 1)->cache_dir, "other"));
    /* A missing config fails its own image, and the message names the .txmill that sets it. */
    ck_assert_int_eq(txm_inputs_at(inputs, 0)->status, TXM_OK);
    ck_assert_int_ne(txm_inputs_at(inputs, 2)->status, TXM_OK);
    ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 2)->message, "bad/.txmill"));
    txm_project_contexts_free(&contexts);
    ck_assert_ptr_null(contexts.common);
    txm_inputs_free(&inputs);
}
END_TEST

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

START_TEST(scenes_are_listed_with_their_tx_files)
{
    txm_context *context = NULL;
    const txm_context_options options = {.struct_size = sizeof options, .threads = 1};
    const txm_list_how how = {.cache_dir = "no_such_folder"};
    char *path = scene_path("materials.blend");
    txm_list_report r = {.scene = path, .opened = open_scene(path, true)};
    txm_color_config *config = NULL;
    const txm_config_args args = {0};
    ck_assert_int_eq(txm_list_load_config(&args, NULL, &config, &err), TXM_OK);
    ck_assert_int_eq(txm_context_new(&options, &context, &err), TXM_OK);
    ck_assert_msg(txm_list_find(&r, context, &how, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_gt(r.lookup_count, 3);
    ck_assert_int_eq(txm_list_failures(&r, &err), TXM_OK);
    ck_assert_msg(txm_list_find_faults(&r, config, NULL, &err) == TXM_OK, "%s", err.message);
    size_t missing = 0;
    for (size_t i = 0; i < r.finding_count; i++)
        missing += !strcmp(r.findings[i].id, "missing-file");
    ck_assert_uint_gt(missing, 0);
    txm_summary sum = {0};
    txm_list_sum(&r, &sum);
    batch_catch();
    txm_list_print_text(&r);
    const char *text = batch_caught();
    for (size_t i = 0; i < txm_scene_image_count(r.opened); i++)
        ck_assert_ptr_nonnull(strstr(text, txm_scene_image_at(r.opened, i)->name));
    ck_assert_ptr_nonnull(strstr(text, "missing-file: "));
    batch_catch();
    bool printed = txm_list_print_json(&r);
    char *json = strdup(batch_caught()), *save = NULL;
    size_t images = 0;
    ck_assert(printed);
    for (char *line = strtok_r(json, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        cJSON *o = cJSON_Parse(line);
        ck_assert_ptr_nonnull(o);
        images += !strcmp(cJSON_GetObjectItemCaseSensitive(o, "type")->valuestring, "image");
        cJSON_Delete(o);
    }
    ck_assert_uint_eq(images, txm_scene_image_count(r.opened));
    free(json);
    txm_list_report_free(&r);
    txm_color_free(&config);
    txm_context_free(&context);
    free(path);
}
END_TEST

START_TEST(scenes_become_inputs)
{
    const txm_config_args config = {0};
    txm_make_scenes scenes = {.config_args = &config};
    txm_inputs *inputs = NULL;
    char *path = scene_path("materials.blend");
    const txm_input plain = {.path = path};
    ck_assert_int_eq(txm_inputs_new(NULL, &inputs, NULL), TXM_OK);
    ck_assert_msg(txm_make_add_scene(&scenes, inputs, path, &plain, &err) == TXM_OK, "%s", err.message);
    size_t good = 0, failed = 0;
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        ck_assert_str_eq(input->origin, path);
        good += input->status == TXM_OK;
        failed += input->status == TXM_STATUS_NOT_FOUND;
    }
    ck_assert(good > 3 && failed > 0); /* images of which some exist and some do not */
    ck_assert_uint_eq(good + failed, txm_inputs_count(inputs));
    /* A file that is not a scene is one failed input. */
    batch_file("s.blend", "no scene");
    size_t before = txm_inputs_count(inputs);
    ck_assert_int_eq(txm_make_add_scene(&scenes, inputs, "s.blend", &plain, &err), TXM_OK);
    ck_assert_uint_eq(txm_inputs_count(inputs), before + 1);
    ck_assert_int_eq(txm_inputs_at(inputs, before)->status, TXM_STATUS_CORRUPT);
    txm_make_scenes_free(&scenes);
    txm_inputs_free(&inputs);
    free(path);
}
END_TEST

START_TEST(what_scenes_use_is_kept)
{
    static const char *images[] = {"a.png", NULL}, *broken[] = {"s.blend", NULL}, *empty[] = {"f", NULL};
    static char here[] = "blender_tx";
    char *places[] = {here, NULL};
    txm_used *used = NULL;
    txm_gc_args args = {.older_than_s = -1, .max_size = UINT64_MAX, .keep_for = {images, 1}, .report = {.json = true}};
    batch_png("a.png", 1);
    batch_file("s.blend", "no scene");
    batch_folder("f");
    ck_assert_msg(txm_gc_find_used(&args, &used, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(used);
    txm_used_free(&used);
    /* An image that is unknown must not be taken for unused. */
    args.keep_for.items = broken;
    ck_assert_int_ne(txm_gc_find_used(&args, &used, &err), TXM_OK);
    txm_used_free(&used);
    args.keep_for.items = empty;
    err = (txm_error){0};
    ck_assert_int_eq(txm_gc_find_used(&args, &used, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "contains no image"));
    txm_used_free(&used);
    /* A tx file whose image is gone is removed, but only if that was requested. */
    static char a[] = "a.png";
    char *items[] = {a, NULL};
    txm_make_args make_args = {.running = {.threads = 1, .device = "cpu"}, .report = {.quiet = true}};
    txm_settings_args_default(&make_args.settings);
    txm_operands o = operands_of(items);
    ck_assert_int_eq(txm_make_run(&make_args, &o), TXM_EXIT_OK);
    ck_assert_int_eq(unlink("a.png"), 0);
    args.keep_for = (txm_opt_list){0};
    txm_inputs *folders = NULL;
    o = operands_of(places);
    for (int remove = 0; remove < 2; remove++) {
        struct stat st;
        args.remove = remove;
        ck_assert_int_eq(stat("blender_tx", &st), 0);
        ck_assert_int_eq(chdir("blender_tx"), 0);
        size_t files = batch_count();
        ck_assert_int_eq(chdir(".."), 0);
        ck_assert_uint_eq(files, 1);
        ck_assert_int_eq(txm_places_collect("gc", "folder", &o, &folders, &err), TXM_OK);
        ck_assert_int_eq(txm_place_check(txm_inputs_at(folders, 0), &err), TXM_OK);
        batch_catch();
        int code = txm_gc_folders(&args, folders);
        const char *text = batch_caught();
        ck_assert_int_eq(code, TXM_EXIT_OK);
        ck_assert_ptr_nonnull(strstr(text, "a.png.0-"));
        txm_inputs_free(&folders);
    }
    ck_assert_int_eq(access("blender_tx", F_OK) == 0 ? rmdir("blender_tx") : 0, 0); /* empty or gone */
}
END_TEST

/* ---- info -------------------------------------------------------------------------------------------------------- */

START_TEST(files_are_described)
{
    txm_context *context = NULL;
    const txm_context_options options = {.struct_size = sizeof options, .threads = 1};
    txm_info info;
    ck_assert_int_eq(txm_context_new(&options, &context, &err), TXM_OK);
    batch_png("a.png", 1);
    make("a.png", "a.tx");
    ck_assert_int_ne(txm_info_load(context, NULL, "gone.tx", true, &info, &err), TXM_OK);
    ck_assert_ptr_null(info.tx);
    err = (txm_error){0};
    ck_assert_msg(txm_info_load(context, NULL, "a.tx", true, &info, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(info.source_state, TXM_SOURCE_FRESH);
    ck_assert_int_eq(txm_tile_census_take(info.tx, NULL, NULL, NULL, &info.tiles, &err), TXM_OK);
    batch_catch();
    bool printed = txm_info_print_text(&info, &(txm_info_extent){.all_metadata = true});
    bool tiles = txm_tile_census_print(info.tx, &info.tiles, false);
    char *text = strdup(batch_caught());
    ck_assert(printed && tiles);
    ck_assert(strstr(text, "a.tx") && strstr(text, "a.png") && strstr(text, "one colour"));
    free(text);
    for (unsigned columns = 20; columns < 200; columns += 60) {
        batch_catch();
        txm_info_print_short(&info, 0, columns);
        size_t lines = 0;
        for (const char *at = batch_caught(); *at; lines++) {
            size_t n = strcspn(at, "\n");
            ck_assert_uint_le(n, columns + 2); /* an ellipsis takes one column and three bytes */
            at += n + (at[n] == '\n');
        }
        ck_assert_uint_eq(lines, TXM_INFO_SHORT_LINES);
    }
    cJSON *o = cJSON_CreateObject();
    txm_tile_census_add(o, info.tx, &info.tiles);
    char *json = cJSON_PrintUnformatted(o);
    ck_assert(strstr(json, "\"histogram\"") && strstr(json, "\"tile_bytes\""));
    free(json);
    cJSON_Delete(o);
    struct stat st;
    ck_assert_int_eq(stat("a.png", &st), 0);
    txm_info_clear(&info);
    batch_png("b.png", 2);
    ck_assert_int_eq(unlink("a.png"), 0);
    ck_assert_int_eq(txm_info_load(context, NULL, "a.tx", false, &info, &err), TXM_OK);
    ck_assert_int_eq(info.source_state, TXM_SOURCE_MISSING);
    txm_info_clear(&info);
    txm_context_free(&context);
}
END_TEST

/* ---- scene folders ----------------------------------------------------------------------------------------------- */

static char found[1024];

static txm_status note_image(void *user, const txm_input *image, txm_error *failure)
{
    const size_t n = strlen(found);
    (void)user, (void)failure;
    snprintf(found + n, sizeof found - n, "%s %s %s %s;", image->path, image->pattern ? image->pattern : "-",
             image->colorspace, txm_alpha_name(image->alpha));
    return TXM_OK;
}

static txm_status images_of(const char *text)
{
    static txm_path_map map = {"P:", "/mnt"};
    const txm_project_maps maps = {&map, 1};
    mkdir("s", 0777);
    save_file("s/scene.txt", text, strlen(text));
    err = (txm_error){0};
    *found = 0;
    return txm_scene_folder_images("s", &maps, note_image, NULL, &err);
}

START_TEST(scene_folders_name_images)
{
    ck_assert_int_eq(
        images_of("# exported\n\ntxmill-scene 1\nsize 8 8\nanything else\n"
                  "image a \"a \\\"b\\\".png\" colorspace \"sRGB\" alpha straight extension repeat\r\n"
                  "image b \"P:/t/b.png\" colorspace \"Non-Color\" alpha none\n"
                  "ptex p \"p.ptx\" colorspace \"sRGB\"\n"
                  "image u \"/u/x.<udim>.<UVTILE>\" colorspace \"sRGB\" alpha premultiplied extension clip "
                  "interpolation cubic udim 1001 1012"),
        TXM_OK);
    ck_assert_str_eq(found, "s/a \"b\".png - sRGB straight;/mnt/t/b.png - Non-Color none;"
                            "/u/x.1001.<UVTILE> /u/x.<udim>.<UVTILE> sRGB premultiplied;"
                            "/u/x.1012.<UVTILE> /u/x.<udim>.<UVTILE> sRGB premultiplied;");
    ck_assert_int_eq(images_of("txmill-scene 1\nimage v \"v.<UVTILE>.png\" colorspace \"s\" alpha none udim 1022\n"),
                     TXM_OK);
    ck_assert_str_eq(found, "s/v.u2_v3.png s/v.<UVTILE>.png s none;");
}
END_TEST

static const struct {
    const char *text;
    txm_status status;
    const char *says;
} wrong_scenes[] = {
    {"", TXM_STATUS_CORRUPT, "not a scene"},
    {"scene 1\n", TXM_STATUS_CORRUPT, "s/scene.txt:1: not a scene"},
    {"txmill-scene 99\n", TXM_STATUS_NEWER, "needs a newer txmill"},
    {"txmill-scene 1\n\nimage a a.png colorspace \"s\" alpha none\n", TXM_STATUS_CORRUPT, "s/scene.txt:3: a text in"},
    {"txmill-scene 1\nimage a \"a.png", TXM_STATUS_CORRUPT, "a text in double quotes is missing"},
    {"txmill-scene 1\nimage a \"a\" colorspace 3 alpha none\n", TXM_STATUS_CORRUPT, "a text in double quotes"},
    {"txmill-scene 1\nimage a \"a\" colorspace \"s\" alpha x\n", TXM_STATUS_CORRUPT, "an image has a name, a path"},
    {"txmill-scene 1\nimage a \"a\"\n", TXM_STATUS_CORRUPT, "an image has a name, a path"},
    {"txmill-scene 1\nimage a \"a\" colorspace \"s\" alpha none udim 12\n", TXM_STATUS_CORRUPT, "a UDIM number"},
    {"txmill-scene 1\nimage a \"a\" colorspace \"s\" alpha none udim 1001x\n", TXM_STATUS_CORRUPT, "a UDIM number"},
};

START_TEST(mistakes_in_scene_folders_have_lines)
{
    ck_assert_int_eq(images_of(wrong_scenes[_i].text), wrong_scenes[_i].status);
    ck_assert_msg(strstr(err.message, wrong_scenes[_i].says) != NULL, "%s", err.message);
}
END_TEST

START_TEST(scene_folders_are_files_of_text)
{
    const txm_project_maps none = {0};
    mkdir("s", 0777);
    save_file("s/scene.txt", "txmill-scene 1\0x", 16);
    ck_assert_int_eq(txm_scene_folder_images("s", &none, note_image, NULL, &err), TXM_STATUS_CORRUPT);
    unlink("s/scene.txt");
    err = (txm_error){0};
    ck_assert_int_eq(txm_scene_folder_images("s", &none, note_image, NULL, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(mkfifo("s/scene.txt", 0600), 0);
    err = (txm_error){0};
    ck_assert_int_ne(txm_scene_folder_images("s", &none, note_image, NULL, &err), TXM_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of runs");
    TCase *t = add_case(suite, "runs");
    tcase_add_checked_fixture(t, enter, batch_leave);
    add_tests(t, tx_files_are_collected, what_is_no_tx_file_is_named, outputs_may_not_be_inputs,
              runs_are_reported_and_counted, runs_that_end_early_say_why, jobs_are_planned_from_arguments,
              runs_make_what_is_asked_for, inputs_follow_their_own_projects);
    add_tests(t, scenes_are_listed_with_their_tx_files, scenes_become_inputs, what_scenes_use_is_kept,
              files_are_described);
    add_tests(t, scene_folders_name_images, scene_folders_are_files_of_text);
    tcase_add_loop_test(t, mistakes_in_scene_folders_have_lines, 0, sizeof wrong_scenes / sizeof *wrong_scenes);
    return run_suite(suite);
}
