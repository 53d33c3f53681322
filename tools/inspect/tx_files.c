/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects files from the command line.
 *
 * In: operands as typed. Out: a list of inputs for commands that read files: the contents of folders, lists and
 * patterns. A file that cannot be read stays in the list as a failure, so that it is reported in its place.
 */
#include "tools/inspect/tx_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/say.h"
#include "tools/ptex/ptex_files.h"
#include "txmill/format.h"
#include "txmill/guard.h"
#include "txmill/scene.h"
#include "txtile/describe.h"

#define AT(member) .offset = offsetof(txm_tx_files_args, member)
const txm_option txm_tx_files_options[] = {
    TXM_OPTION(LIST, "include", .rare = true, AT(include), .arg = "GLOB",
               .help = "In folders, use only the files that match (repeatable)",
               .more = "Folders are searched with their subfolders for files with the right extension. A list, one "
                       "path per line, is read with @FILE, or from standard input with -."),
    TXM_OPTION(LIST, "exclude", .rare = true, AT(exclude), .arg = "GLOB",
               .help = "In folders, leave out files and subfolders that match (repeatable)"),
    {0},
};
#undef AT

const char *txm_besides_output(const txm_operands *operands)
{
    static const char *const takers[][2] = {{"html", " besides the name after --html"},
                                            {"output", " besides the name after -o"},
                                            {"log", " besides the name after --log"}};
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (txm_opt_given(operands, takers[i][0]))
            return takers[i][1];
    return "";
}

/* If operands were given but no files were found, a folder was probably mistyped, so this is an error. */
static txm_status check_any(const txm_files_how *how, const txm_operands *operands, const txm_inputs *inputs,
                            txm_error *err)
{
    char more[TXM_FORMAT_COUNT];
    if (txm_inputs_count(inputs) || how->may_be_none)
        return TXM_OK;
    if (!operands->count)
        return txm_fail(err, TXM_STATUS_USAGE, "no %s given%s; 'txmill %s --help' lists the options", how->what,
                        txm_besides_output(operands), how->command);
    return txm_fail(err, TXM_STATUS_USAGE, "%s%s%s: no %s found; nothing was done%s", operands->items[0],
                    operands->count > 1 ? " and " : "",
                    operands->count > 1 ? txm_format_count(operands->count - 1, "other argument", more) : "", how->what,
                    how->hint ? how->hint : "");
}

/* ---- the tx files of an image ----------------------------------------------------------------------------------- */

static bool is_image(const char *path)
{
    struct stat st;
    txm_tx *tx = NULL;
    if (!txm_is_image_name(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    bool is_tx = txm_tx_open(path, &tx, NULL) == TXM_OK;
    txm_tx_close(&tx);
    return !is_tx;
}

/* The tx files of an image; owned. */
typedef struct found_files {
    char **paths;
    size_t count, capacity;
} found_files;

static txm_status find_in_cache(found_files *found, const char *image, const char *folder, txm_error *err)
{
    size_t bytes;
    unsigned version;
    char md5[33];
    const char *base = txm_path_base(image);
    DIR *dir = opendir(folder);
    txm_status status = TXM_OK;
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR ? TXM_OK : txm_fail_errno(err, errno, "%s: cannot be read", folder);
    for (struct dirent *e; status == TXM_OK && (e = readdir(dir));) {
        if (!txm_tx_name_parse(e->d_name, &bytes, &version, md5) || bytes != strlen(base) ||
            memcmp(base, e->d_name, bytes))
            continue;
        char *path = TXM_GROW(found->paths, found->capacity, found->count) ? txm_path_join(folder, e->d_name) : NULL;
        if (path)
            found->paths[found->count++] = path;
        else
            status = txm_no_memory(err, folder);
    }
    closedir(dir);
    return status;
}

/* The path of the cache folder that the image's project sets; NULL if it sets none. */
static char *cache_dir_of(const char *image)
{
    char *paths[] = {(char *)image}, *folder = NULL;
    txm_project project = {0};
    txm_error ignored = {0}; /* the command reports an invalid .txmill when it applies it */
    if (txm_project_find(paths, 1, &project, &ignored) == TXM_OK)
        for (size_t i = 0; !folder && i < project.count; i++)
            if (project.values[i].key == TXM_KEY_CACHE_DIR && *project.values[i].value) {
                char *dir = txm_path_dir(image);
                folder = dir ? txm_path_join(dir, project.values[i].value) : NULL;
                free(dir);
            }
    txm_project_free(&project);
    return folder;
}

/* Of several tx files, the one that Cycles loads with the settings of the image's project; `count` if it is none of
 * them, or cannot be determined. */
static size_t choose_file(const found_files *found, const char *image, const txm_operands *operands)
{
    txm_inputs *one = NULL;
    txm_project_contexts contexts = {0};
    /* The applied settings refer to these until the command applies its own. */
    static txm_config_args config;
    static txm_rule_args rule_args;
    static txm_settings settings;
    static uint32_t threads;
    txm_resolution r = {0};
    txm_error ignored = {0};
    size_t chosen = found->count;
    config = (txm_config_args){0};
    rule_args = (txm_rule_args){0};
    threads = 1;
    const txm_project_targets targets = {&settings.cache_dir, &config, &rule_args, &threads};
    txm_settings_init(&settings);
    bool known = txm_inputs_new(NULL, &one, &ignored) == TXM_OK &&
                 txm_inputs_add_entry(one, &(txm_input){.path = image}, &ignored) == TXM_OK &&
                 txm_project_examine(&targets, operands, one, &settings, &contexts, &ignored) == TXM_OK;
    if (known) {
        const txm_rules *rules = txm_project_rules(&contexts, 0);
        if (rules)
            txm_rules_apply(rules, txm_inputs_at(one, 0), &settings);
        known = txm_resolve_image(txm_project_context(&contexts, 0), image, &settings, NULL, &r, &ignored) == TXM_OK;
    }
    for (size_t i = 0; known && r.path && i < found->count; i++)
        if (strcmp(txm_path_base(r.path), txm_path_base(found->paths[i])) == 0)
            chosen = i;
    txm_resolution_clear(&r);
    txm_project_contexts_free(&contexts);
    txm_inputs_free(&one);
    return chosen;
}

/* Adds the tx files of an image, in the cache folder of its project and beside it; or the image itself if there is
 * none, so that the command says what it is. `one`: of several only the one that the settings choose. */
static txm_status add_of_image(txm_inputs *inputs, const char *image, const txm_operands *operands, bool one,
                               txm_error *err)
{
    found_files found = {0};
    char *dir = txm_path_dir(image), *beside = dir ? txm_path_join(dir, "blender_tx") : NULL;
    char *named = cache_dir_of(image);
    txm_status status = beside ? TXM_OK : txm_no_memory(err, image);
    if (status == TXM_OK && named)
        status = find_in_cache(&found, image, named, err);
    if (status == TXM_OK && !found.count)
        status = find_in_cache(&found, image, beside, err);
    if (status == TXM_OK && !found.count)
        status = txm_inputs_add(inputs, image, err);
    const size_t chosen =
        one && status == TXM_OK && found.count > 1 ? choose_file(&found, image, operands) : found.count;
    for (size_t i = 0; status == TXM_OK && i < found.count; i++) {
        if (chosen < found.count && i != chosen) {
            txm_say(TXM_SAY_INFO, "%s: %s is for other settings", image, found.paths[i]);
            continue;
        }
        status = txm_inputs_add_entry(inputs, &(txm_input){.path = found.paths[i]}, err);
        txm_say(TXM_SAY_INFO, "%s: its tx file is %s", image, found.paths[i]);
    }
    for (size_t i = 0; i < found.count; i++)
        free(found.paths[i]);
    free(found.paths);
    free(named);
    free(beside);
    free(dir);
    return status;
}

/* ---- collecting ------------------------------------------------------------------------------------------------- */

txm_status txm_globs_check(const txm_operands *operands, txm_error *err)
{
    struct stat st;
    const char *glob = txm_opt_given(operands, "include") ? "include" : "exclude";
    if (!operands->count || !txm_opt_given(operands, glob))
        return TXM_OK;
    for (size_t i = 0; i < operands->count; i++) {
        const char *operand = operands->items[i];
        bool is_list = operand[0] == '@' || !strcmp(operand, "-");
        if (is_list || stat(operand, &st) != 0 || S_ISDIR(st.st_mode))
            return TXM_OK;
    }
    return txm_fail(
        err, TXM_STATUS_USAGE,
        "--%s: applies to files in folders, but no folder is given; name a folder, or only the files that are wanted",
        glob);
}

/* A user's own --include replaces the usual patterns, because added to them it could not narrow the choice. */
txm_status txm_files_collect(const txm_files_how *how, const txm_tx_files_args *args, const txm_operands *operands,
                             txm_inputs **out, txm_error *err)
{
    const txm_inputs_options options = {.struct_size = sizeof(txm_inputs_options),
                                        .recursive = !how->places,
                                        .include = args->include.items ? args->include.items : how->usual,
                                        .exclude = args->exclude.items,
                                        .tx_files = how->tx,
                                        .empty = txm_say_warning,
                                        .what = how->usual && !args->include.items ? how->what : NULL,
                                        .scene = how->scene,
                                        .scene_user = how->scene_user,
                                        .cancel = txm_signal_flag(),
                                        .ptex_files = how->ptex};
    txm_status status = txm_globs_check(operands, err);
    if (status == TXM_OK)
        status = txm_inputs_new(&options, out, err);
    for (size_t i = 0; status == TXM_OK && i < operands->count; i++)
        status = how->dash_is_file && !strcmp(operands->items[i], "-")
                     ? txm_inputs_add_entry(*out, &(txm_input){.path = "-"}, err)
                 : how->of_images && is_image(operands->items[i])
                     ? add_of_image(*out, operands->items[i], operands, how->one, err)
                     : txm_inputs_add(*out, operands->items[i], err);
    if (status == TXM_OK)
        status = check_any(how, operands, *out, err);
    if (status != TXM_OK)
        txm_inputs_free(out);
    return status;
}

txm_status txm_tx_files_collect(const char *command, const txm_tx_files_args *args, const txm_operands *operands,
                                txm_inputs **out, txm_error *err)
{
    static const char *const with_ptex[] = {"info", "extract", "view"};
    txm_files_how how = {
        .command = command, .what = "tx file", .tx = true, .of_images = true, .one = strcmp(command, "borders") != 0};
    for (size_t i = 0; i < sizeof with_ptex / sizeof *with_ptex; i++)
        how.ptex |= strcmp(command, with_ptex[i]) == 0;
    return txm_files_collect(&how, args, operands, out, err);
}

int txm_files_finish(txm_inputs **inputs, const txm_tally *tally, const txm_error *err)
{
    size_t count = *inputs ? txm_inputs_count(*inputs) : 0;
    txm_inputs_free(inputs);
    return err->status ? txm_finish_failed(err, count) : txm_finish(tally);
}

/* The command handles folders itself, so they are not searched. */
txm_status txm_places_collect(const char *command, const char *what, const txm_operands *operands, txm_inputs **out,
                              txm_error *err)
{
    const txm_files_how how = {.command = command, .what = what, .places = true};
    static const txm_tx_files_args plain;
    return txm_files_collect(&how, &plain, operands, out, err);
}

txm_status txm_place_check(const txm_input *input, txm_error *err)
{
    /* A folder is an error only for commands that need files. */
    return input->status == TXM_STATUS_NOT_A_FILE ? TXM_OK : txm_input_check(input, err);
}

txm_status txm_input_check(const txm_input *input, txm_error *err)
{
    const txm_failure failure = {input->message, input->subject_bytes, input->advice_at};
    return input->status == TXM_OK ? TXM_OK : txm_fail_again(err, input->status, &failure);
}

const char *txm_files_path(const void *inputs, size_t index)
{
    const txm_input *input = txm_inputs_at(inputs, index);
    return input ? input->path : NULL;
}

static bool lies_beside(const char *path, const char *source)
{
    struct stat st;
    char *folder = txm_path_dir(path), *absolute = folder ? txm_path_absolute(folder) : NULL;
    char *above = absolute ? txm_path_dir(absolute) : NULL;
    char *image = above ? txm_path_join(above, txm_path_base(source)) : NULL;
    bool beside = image && !strcmp(txm_path_base(absolute), "blender_tx") && stat(image, &st) == 0;
    free(image);
    free(above);
    free(absolute);
    free(folder);
    return beside;
}

txm_status txm_tx_place(const char *path, char **place, txm_error *err)
{
    struct stat st;
    txm_error failure = {0};
    txm_tx *tx = NULL;
    txm_tx_description d = {0};
    bool elsewhere = txm_tx_open(path, &tx, &failure) == TXM_OK && txm_tx_describe(tx, &d, &failure) == TXM_OK &&
                     txm_path_is_absolute(d.source) && !lies_beside(path, d.source) && stat(d.source, &st) == 0;
    bool passing = failure.status != TXM_OK && txm_status_retryable(failure.status);
    *place = passing ? NULL : txm_strdup(elsewhere ? d.source : path);
    txm_tx_description_free(&d);
    txm_tx_close(&tx);
    if (passing)
        return txm_fail_as(err, &failure);
    return *place ? TXM_OK : txm_no_memory(err, path);
}

/* A file in a texture cache is damaged, whatever its first bytes are. */
bool txm_tx_explain_other(const char *path, txm_error *err)
{
    size_t bytes;
    unsigned version;
    char md5[33];
    const char *noun;
    const bool image = txm_kind_of_file(path, &noun) == TXM_FILE_IMAGE && txm_is_image_name(path);
    if (txm_tx_name_parse(txm_path_base(path), &bytes, &version, md5) || (!image && !txm_scene_format_of(path)))
        return false;
    txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: is %s", path, noun);
    txm_tx_explain(path, err);
    return true;
}

/* A user who named the image instead gets a message that says what the file is and which command to use. */
void txm_tx_explain(const char *path, txm_error *err)
{
    if (err->status != TXM_OK)
        txm_ptex_advise(path);
    if (err->status != TXM_STATUS_UNSUPPORTED || txm_explain_pointer(path, err))
        return;
    const char *noun;
    if (txm_kind_of_file(path, &noun) == TXM_FILE_TX)
        return; /* something else is wrong */
    const bool scene = txm_scene_format_of(path) != NULL;
    char *word = txm_shell_path(path);
    const char *quoted = word ? word : path;
    txm_error_clear(err);
    if (txm_is_image_name(path))
        txm_fail(err, TXM_STATUS_NOT_FOUND, "%s: is %s without a tx file; 'txmill make %s' makes one", path, noun,
                 quoted);
    else
        txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: is %s, not a tx file%s%s%s", path, noun,
                 scene ? "; 'txmill list " : "", scene ? quoted : "", scene ? "' shows the images of the scene" : "");
    free(word);
}
