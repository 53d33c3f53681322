/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing that a user names is dropped: what cannot be read becomes an input with a failure, in its place, and is
 * reported with the others. folder.c, pattern.c and list.c find the files; this file appends them and stores their
 * strings.
 */
#include "mill/farm/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/whole.h"
#include "mill/farm/pattern.h"
#include "txmill/scene.h"

/* The most folders that are read to suggest a name in other case: a list of a million missing files must not read their
 * folder a million times. */
enum { MAX_SEARCHES = 100 };

txm_status txm_inputs_new(const txm_inputs_options *options, txm_inputs **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_inputs_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_inputs_options", err);
    if (status)
        return status;
    txm_inputs *inputs = txm_calloc(1, sizeof *inputs);
    if (!inputs)
        return txm_no_memory(err, NULL);
    inputs->options = o;
    *out = inputs;
    return TXM_OK;
}

void txm_inputs_free(txm_inputs **inputs)
{
    if (!inputs || !*inputs)
        return;
    txm_names_free(&(*inputs)->names);
    free((*inputs)->items);
    free(*inputs);
    *inputs = NULL;
}

size_t txm_inputs_count(const txm_inputs *inputs)
{
    return inputs->count;
}

const txm_input *txm_inputs_at(const txm_inputs *inputs, size_t index)
{
    return index < inputs->count ? &inputs->items[index] : NULL;
}

uint32_t txm_input_udim(const txm_input *input)
{
    return input->pattern ? txm_pattern_tile(txm_path_base(input->pattern), txm_path_base(input->path)) : 0;
}

/* Replaces a string by the collection's copy; false if memory is exhausted. */
static bool keep_input_text(txm_inputs *inputs, const char **text)
{
    const char *given = *text;
    *text = txm_names_put(&inputs->names, given);
    return !given || *text;
}

txm_status txm_inputs_add_entry(txm_inputs *inputs, const txm_input *entry, txm_error *err)
{
    txm_error_clear(err);
    txm_input e = *entry;
    if ((unsigned)e.alpha > TXM_ALPHA_AUTO)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown alpha type %d", e.path, (int)e.alpha);
    if (!TXM_GROW(inputs->items, inputs->capacity, inputs->count))
        return txm_no_memory(err, NULL);
    /* Paths differ, but the other strings repeat. */
    e.path = txm_names_copy(&inputs->names, entry->path);
    if (!e.path || !keep_input_text(inputs, &e.pattern) || !keep_input_text(inputs, &e.origin) ||
        !keep_input_text(inputs, &e.colorspace) || !keep_input_text(inputs, &e.working_space) ||
        !keep_input_text(inputs, &e.cache_dir) || !keep_input_text(inputs, &e.output) ||
        !keep_input_text(inputs, &e.message) || !keep_input_text(inputs, &e.decided_by))
        return txm_no_memory(err, NULL);
    inputs->items[inputs->count++] = e;
    return TXM_OK;
}

txm_status txm_inputs_add_failure(txm_inputs *inputs, const char *path, const txm_input *settings,
                                  const txm_error *failure, txm_error *err)
{
    if (failure->status == TXM_STATUS_NO_MEMORY)
        return txm_fail_with(err, failure->status, failure);
    txm_input e = settings ? *settings : (txm_input){0};
    e.path = path;
    e.status = failure->status;
    e.message = failure->message;
    e.subject_bytes = failure->subject_bytes;
    e.advice_at = failure->advice_at;
    return txm_inputs_add_entry(inputs, &e, err);
}

static txm_status no_input(const txm_inputs *inputs, size_t index, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_USAGE, "there is no input %zu of %zu", index, inputs->count);
}

txm_status txm_inputs_fail(txm_inputs *inputs, size_t index, const txm_error *failure, txm_error *err)
{
    txm_error_clear(err);
    if (index >= inputs->count)
        return no_input(inputs, index, err);
    txm_input *e = &inputs->items[index];
    const char *message = txm_names_put(&inputs->names, failure->message);
    if (!message)
        return txm_no_memory(err, NULL);
    e->status = failure->status;
    e->message = message;
    e->subject_bytes = failure->subject_bytes;
    e->advice_at = failure->advice_at;
    return TXM_OK;
}

txm_status txm_inputs_say(txm_inputs *inputs, size_t index, const txm_input *said, txm_error *err)
{
    txm_error_clear(err);
    if (index >= inputs->count)
        return no_input(inputs, index, err);
    txm_input s = *said, *e = &inputs->items[index];
    if ((unsigned)s.alpha > TXM_ALPHA_AUTO)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown alpha type %d", e->path, (int)s.alpha);
    if (!keep_input_text(inputs, &s.colorspace) || !keep_input_text(inputs, &s.working_space) ||
        !keep_input_text(inputs, &s.cache_dir) || !keep_input_text(inputs, &s.decided_by))
        return txm_no_memory(err, NULL);
    e->colorspace = s.colorspace;
    e->alpha = s.alpha;
    e->working_space = s.working_space;
    e->cache_dir = s.cache_dir;
    e->ruled = s.ruled;
    e->by_preset = s.by_preset;
    e->limit_px = s.limit_px;
    e->decided_by = s.decided_by;
    return TXM_OK;
}

/* Scenes are passed to a callback, which adds their images in the same place. */
txm_status txm_inputs_add_file(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err)
{
    txm_input e = *settings;
    e.path = path;
    if (!inputs->options.scene || !txm_scene_format_of(path))
        return txm_inputs_add_entry(inputs, &e, err);
    if (!e.colorspace && !e.alpha && !e.output)
        return inputs->options.scene(inputs->options.scene_user, inputs, path, settings, err);
    txm_error failure = {0};
    txm_fail(&failure, TXM_STATUS_USAGE,
             "%s%s%s: is a scene, which stores the colour space and alpha type of its images: leave colorspace, alpha "
             "and output out",
             e.origin ? e.origin : "", e.origin ? ": " : "", path);
    return txm_inputs_add_failure(inputs, path, settings, &failure, err);
}

typedef struct adding {
    txm_inputs *inputs;
    txm_input entry;
    txm_error *err;
} adding;

/* Called for each file that matches a pattern. */
static bool add_match(void *user, const char *path)
{
    adding *a = user;
    struct stat st;
    /* A folder may have a matching name, but a pattern is for files. */
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    return txm_inputs_add_file(a->inputs, path, &a->entry, a->err) == TXM_OK;
}

/* Whether it is the folder of a scene, txmill-scene(5); other folders may have a file of that name. It is opened
 * without blocking, since it may be a pipe. */
static bool is_scene_folder(const char *path)
{
    static const char first[] = "txmill-scene ";
    char read_first[sizeof first - 1];
    char *file = txm_path_join(path, "scene.txt");
    const int fd = file ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    free(file);
    if (fd < 0)
        return false;
    const int64_t n = txm_read_most(fd, read_first, sizeof read_first);
    close(fd);
    return n == (int64_t)sizeof read_first && memcmp(read_first, first, sizeof read_first) == 0;
}

/* An operand without files is not an error, but probably a mistake. `before`: the number of inputs before it. */
static void tell_empty(const txm_inputs *inputs, size_t before, const char *name, const char *why)
{
    char message[TXM_MESSAGE_BYTES];
    if (!inputs->options.empty || inputs->count != before)
        return;
    snprintf(message, sizeof message, "%s: %s", name, why);
    inputs->options.empty(inputs->options.empty_user, message);
}

/* A file that exists is never taken for a pattern, whatever its name is. */
txm_status txm_inputs_add_path(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err)
{
    const txm_inputs_options *o = &inputs->options;
    const size_t before = inputs->count;
    struct stat st;
    const bool there = stat(path, &st) == 0, folder = there && S_ISDIR(st.st_mode);
    txm_error failure = {0};
    size_t token_bytes;
    const char *token;
    if (!there && errno != ENOENT) {
        txm_fail_errno(&failure, errno, "%s: cannot be examined", path);
    } else if (folder && o->scene && is_scene_folder(path)) {
        return o->scene(o->scene_user, inputs, path, settings, err);
    } else if (folder && o->recursive) {
        char none[128];
        txm_status status = txm_inputs_add_folder(inputs, path, settings, err);
        snprintf(none, sizeof none, "no %s in this folder", o->what ? o->what : "tx file");
        if (status == TXM_OK)
            tell_empty(inputs, before, path,
                       o->exclude || (o->include && !o->what) ? "--include and --exclude leave no file in this folder"
                       : o->what || o->tx_files
                           ? none
                           : "no image in this folder: images are recognised by their extensions, such as .png, .exr "
                             "or .tif");
        return status;
    } else if (folder) {
        txm_fail(&failure, TXM_STATUS_NOT_A_FILE,
                 "%s: is a folder, and the %s in folders were not asked for (recursive)", path,
                 o->tx_files ? "tx files" : "images");
    } else if (!there && txm_pattern_is(path)) {
        /* The pattern is stored with its files, for reports and for UDIM sets. */
        adding a = {inputs, *settings, err};
        a.entry.pattern = path;
        if (txm_pattern_each(path, add_match, &a, &failure) == TXM_OK)
            return TXM_OK;
        return txm_inputs_add_failure(inputs, path, &a.entry, &failure, err);
    } else if (!there && txm_path_hint(path)) {
        txm_fail(&failure, TXM_STATUS_USAGE, "%s: %s", *path ? path : "''", txm_path_hint(path));
    } else if (!there && (token = txm_pattern_unknown(path, &token_bytes))) {
        txm_fail(&failure, TXM_STATUS_USAGE,
                 "%s: %.*s is not a token that txmill knows; write <UDIM> or <UVTILE> for tiles, #### for frames", path,
                 (int)token_bytes, token);
    } else {
        char *other = there || inputs->searches >= MAX_SEARCHES ? NULL : txm_path_other_case(path);
        inputs->searches += !there;
        /* Otherwise it is a file, or does not exist: opening it gives the best message. */
        if (!other)
            return txm_inputs_add_file(inputs, path, settings, err);
        txm_fail(&failure, TXM_STATUS_NOT_FOUND, "%s: %s exists, %s does not; upper and lower case are different here",
                 path, other, txm_path_base(path));
        free(other);
    }
    return txm_inputs_add_failure(inputs, path, settings, &failure, err);
}

txm_status txm_inputs_add(txm_inputs *inputs, const char *argument, txm_error *err)
{
    txm_error_clear(err);
    static const txm_input nothing;
    if (!argument)
        return txm_fail(err, TXM_STATUS_USAGE, "no input given: it is NULL");
    /* An image whose name begins with '@' can be named as ./@name.png. */
    if (strcmp(argument, "-") != 0 && argument[0] != '@')
        return txm_inputs_add_path(inputs, argument, &nothing, err);
    const char *list = argument + (argument[0] == '@');
    const size_t before = inputs->count;
    txm_status status = txm_inputs_add_list(inputs, list, err);
    if (status == TXM_OK)
        tell_empty(inputs, before, strcmp(list, "-") ? list : "standard input", "the list is empty");
    return status;
}

bool txm_rules_decide(const txm_rules *rules, const txm_input *input, const txm_settings *settings, txm_rule *out)
{
    const txm_rule *rule = input->from_scene ? NULL : txm_rules_match(rules, input->path);
    *out = rule ? *rule : (txm_rule){0};
    if (input->colorspace || settings->asked & TXM_ASKED_COLORSPACE)
        out->colorspace = NULL;
    if (input->alpha || settings->asked & TXM_ASKED_ALPHA)
        out->alpha = TXM_ALPHA_DEFAULT;
    return out->colorspace || out->alpha;
}

uint32_t txm_input_limit(const txm_input *input, const txm_rules *rules, uint32_t settings_px)
{
    return input->limit_px ? input->limit_px : settings_px ? settings_px : txm_rules_limit(rules, input->path);
}

/* A scene's settings are final, even if one is 'default'. */
void txm_rules_apply(const txm_rules *rules, const txm_input *input, txm_settings *settings)
{
    txm_rule rule;
    txm_rules_decide(input->ruled ? NULL : rules, input, settings, &rule);
    if (input->colorspace || rule.colorspace || input->from_scene)
        settings->colorspace = input->colorspace ? input->colorspace : rule.colorspace;
    if (input->alpha || rule.alpha || input->from_scene)
        settings->alpha = input->alpha ? input->alpha : rule.alpha;
    if (input->cache_dir)
        settings->cache_dir = input->cache_dir;
    settings->limit_px = txm_input_limit(input, input->ruled ? NULL : rules, settings->limit_px);
}
