/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the settings of a project.
 *
 * In: paths. Out: values with the place where each was set. Variables take precedence over files. project_inputs.c
 * applies them.
 */
#include <stdbool.h>

#include "tools/options/project.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/plugin.h"
#include "base/path.h"
#include "base/spelling.h"
#include "tools/output/say.h"
#include "txtile/status.h"

/* For a link, both owners count, because the owner of the link chose the file. */
static txm_status examine(const char *path, const char *folder, bool *trusted, txm_error *err)
{
    struct stat file, link, dir;
    if (lstat(path, &link) != 0 || stat(path, &file) != 0 || stat(folder, &dir) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    *trusted = (txm_is_our_user(link.st_uid) && txm_is_our_user(file.st_uid)) || !(dir.st_mode & S_IWOTH);
    return TXM_OK;
}

/* Whether the settings file at `path`, found by a search, is used. *trusted is false, with one warning per file, if
 * another user put it into a folder that everybody may write to, such as /tmp. Fails if this cannot be determined:
 * NO_MEMORY, or as stat(2) does. */
static txm_status settings_trust(const char *path, bool *trusted, txm_error *err)
{
    static char *warned; /* the last path, because many images share their settings */
    char *folder = txm_path_dir(path);
    *trusted = false;
    txm_status status = folder ? examine(path, folder, trusted, err) : txm_no_memory(err, path);
    free(folder);
    if (status != TXM_OK || *trusted || (warned && strcmp(warned, path) == 0))
        return status;
    txm_say(TXM_SAY_WARNING,
            "%s: ignored, because it belongs to another user and is in a folder that everybody may write to; if you "
            "trust it, %s",
            path,
            strstr(path, "/.blender_project") ? "name its project.toml with --ocio"
                                              : "set TXMILL_SETTINGS to this path");
    free(warned);
    warned = txm_strdup(path);
    return TXM_OK;
}

enum { MAX_LINE = 4096, MAX_LINES = 10000 };

static const char *const names[TXM_KEYS] = {"cache-dir", "cache-limit", "ocio",    "working-space", "blender", "preset",
                                            "rule",      "rules",       "threads", "map",           "limit"};

const char *txm_project_key_name(txm_project_key key)
{
    return names[key];
}

/* All values of these settings count; of other settings only the first, which has the highest precedence. */
bool txm_project_key_repeats(txm_project_key key)
{
    return key == TXM_KEY_RULE || key == TXM_KEY_RULES || key == TXM_KEY_MAP || key == TXM_KEY_LIMIT;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Takes ownership of both strings; NULL means exhausted memory. */
static txm_status add_setting(txm_project *p, txm_project_key key, char *value, char *origin, bool outside,
                              txm_error *err)
{
    txm_project_value *values = value && origin ? realloc(p->values, (p->count + 1) * sizeof *values) : NULL;
    if (!values) {
        free(value);
        free(origin);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for settings");
    }
    p->values = values;
    /* Values from files have an absolute path as origin, those of variables their names. */
    p->values[p->count++] = (txm_project_value){key, value, origin, outside, origin[0] == '/'};
    return TXM_OK;
}

/* The project is zeroed, so that it can be filled again. */
void txm_project_free(txm_project *project)
{
    if (!project)
        return;
    for (size_t i = 0; i < project->count; i++) {
        free((char *)project->values[i].value);
        free((char *)project->values[i].origin);
    }
    for (size_t i = 0; i < project->above_count; i++)
        free(project->above[i]);
    free(project->above);
    free(project->values);
    free(project->path);
    *project = (txm_project){0};
}

/* It is checked where the value is read, so that a message names the line in the file and not an option. */
static txm_status check_value(txm_project_key key, const char *value, const char *origin, txm_error *err)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);
    if (!*value)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %s has no value", origin, names[key]);
    if (key == TXM_KEY_THREADS && (!isdigit((unsigned char)*value) || *end || n < 1 || n > 1024))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: threads is '%s', but must be a whole number from 1 to 1024", origin,
                        value);
    txm_blender blender;
    txm_error why = {0};
    if (key == TXM_KEY_BLENDER && txm_args_blender(value, &blender, &why) != TXM_OK)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: blender is '%s', but %s", origin, value, why.message);
    if (key == TXM_KEY_CACHE_LIMIT && txm_parse_size(value, NULL, &why) != TXM_OK)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: cache-limit is '%s', but %s", origin, value, why.message);
    if (key == TXM_KEY_MAP && txm_args_map(value, NULL, NULL, &why) != TXM_OK)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: map is '%s', but %s", origin, value, why.message);
    if (key == TXM_KEY_LIMIT && txm_args_limit(value, &why) != TXM_OK)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %s", origin, why.message);
    if (key == TXM_KEY_PRESET && strcmp(value, "pbr") != 0 && strcmp(value, "none") != 0)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown preset '%s'; use pbr or none", origin, value);
    return TXM_OK;
}

/* ---- variables -------------------------------------------------------------------------------------------------- */

/* TXMILL_CACHE_DIR for cache-dir, and so on: every key has a variable, whose name is derived from it. */
static void variable_of(const char *name, char out[64])
{
    size_t n = (size_t)snprintf(out, 64, "TXMILL_%s", name);
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

/* A variable whose name is similar to one of ours is probably misspelt, so there is a warning. Once per run. */
static void warn_of_near_variables(void)
{
    static bool done;
    char word[32];
    for (char **e = environ; e && *e && !done; e++) {
        size_t n = strcspn(*e, "=");
        if (strncmp(*e, "TXMILL_", 7) != 0 || n - 7 >= sizeof word)
            continue;
        char variable[64] = "";
        unsigned least = 3; /* letters that differ */
        snprintf(word, sizeof word, "%.*s", (int)(n - 7), *e + 7);
        for (int k = 0; k < TXM_KEYS; k++)
            if (txm_spelling_better(word, names[k], &least))
                variable_of(names[k], variable);
        if (*variable && strncmp(variable, *e, n) != 0)
            txm_say(TXM_SAY_WARNING, "%.*s: unknown variable, ignored; did you mean %s?", (int)n, *e, variable);
    }
    done = true;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Trims in place; returns the first character that is left. A carriage return counts as a blank, because files are
 * edited on Windows as well. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n && strchr(" \t\r\n", text[n - 1]))
        text[--n] = 0;
    return text;
}

/* A value in double quotes is used unchanged, including blanks. Elsewhere only a # after a blank begins a comment,
 * because names of files may contain one. Returns false for a quote that is not closed. */
static bool cut_value(char **value)
{
    char *text = *value;
    if (*text == '"') {
        char *end = strchr(text + 1, '"'), *rest = end ? trim(end + 1) : NULL;
        if (!end || (*rest && *rest != '#'))
            return false;
        *end = 0;
        *value = text + 1;
        return true;
    }
    for (char *c = text; *c; c++)
        if (*c == '#' && (c == text || c[-1] == ' ' || c[-1] == '\t')) {
            *c = 0;
            break;
        }
    *value = trim(text);
    return true;
}

/* *real: the real path of a file or folder; where it does not exist or this user may not look, the text below the last
 * folder that can be examined is kept. New string. */
static txm_status real_path(const char *path, char **real, txm_error *err)
{
    *real = realpath(path, NULL);
    if (*real)
        return TXM_OK;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP && errno != ENAMETOOLONG)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    char *parent = txm_path_dir(path), *above = NULL;
    txm_status status = !parent                ? txm_no_memory(err, path)
                        : strcmp(parent, path) ? real_path(parent, &above, err)
                                               : TXM_OK;
    if (above && !(*real = txm_path_join(above, txm_path_base(path))))
        status = txm_no_memory(err, path);
    free(above);
    free(parent);
    return status;
}

/* *outside: whether a path, seen from the folder of a .txmill, is outside of that folder, links included. */
static txm_status find_outside(const char *settings, const char *path, bool *outside, txm_error *err)
{
    char *folder = txm_path_dir(settings), *own = NULL, *real = NULL, *normal = NULL;
    char *joined = folder ? txm_path_join(folder, path) : NULL;
    txm_status status = joined ? real_path(folder, &own, err) : txm_no_memory(err, settings);
    if (status == TXM_OK)
        status = real_path(joined, &real, err);
    /* What does not exist yet may have ".." in it. */
    if (status == TXM_OK && real && !(normal = txm_path_normal(real)))
        status = txm_no_memory(err, settings);
    const size_t n = own && strcmp(own, "/") ? strlen(own) : 0;
    *outside = !own || !normal || strncmp(normal, own, n) != 0 || (normal[n] && normal[n] != '/');
    free(normal);
    free(real);
    free(own);
    free(joined);
    free(folder);
    return status;
}

/* An unknown setting fails the run, because ignoring a misspelt one could convert a whole project with the defaults. */
static txm_status take_line(txm_project *p, const char *path, char *line, const char *origin, bool *root,
                            txm_error *err)
{
    char *text = trim(line), *equals = strchr(text, '=');
    if (!*text || *text == '#')
        return TXM_OK;
    if (!equals)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: '%s': must be SETTING = VALUE", origin, text);
    *equals = 0;
    const char *word = trim(text);
    char *value = trim(equals + 1);
    if (!cut_value(&value))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %s has a quote that is not closed, or text after it", origin, word);
    if (!strcmp(word, "root")) {
        /* "root = true" is not a setting: it says that files above do not apply. */
        *root = *root || !strcmp(value, "true");
        return !strcmp(value, "true") || !strcmp(value, "false")
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_USAGE, "%s: root is '%s', but must be true or false", origin, value);
    }
    int key = 0;
    while (key < TXM_KEYS && strcmp(word, names[key]) != 0)
        key++;
    if (key == TXM_KEYS) {
        /* The message suggests a similar setting, and lists all, since there are few. */
        const char *near = NULL;
        unsigned least = UINT_MAX;
        for (int k = 0; k < TXM_KEYS; k++)
            if (txm_spelling_better(word, names[k], &least))
                near = names[k];
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: unknown setting '%s'%s%s%s; there are cache-dir, cache-limit, ocio, working-space, "
                        "blender, preset, rule, "
                        "rules, threads, map and limit",
                        origin, word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    txm_status status = check_value((txm_project_key)key, value, origin, err);
    if (status != TXM_OK)
        return status;
    /* Relative paths of files are relative to the folder of the .txmill. */
    const char *named = getenv("TXMILL_SETTINGS");
    bool is_file = key == TXM_KEY_RULES || (key == TXM_KEY_OCIO && strncmp(value, "ocio://", 7) != 0);
    char *dir = is_file ? txm_path_dir(path) : NULL;
    char *full = dir ? txm_path_join(dir, value) : is_file ? NULL : txm_strdup(value);
    free(dir);
    /* Whoever names a file of settings knows what it says. */
    bool outside = false;
    const char *target = is_file || key == TXM_KEY_CACHE_DIR ? value : NULL;
    if (key == TXM_KEY_MAP)
        status = txm_args_map(value, NULL, &target, err);
    if (status == TXM_OK && target && !(named && *named))
        status = find_outside(path, target, &outside, err);
    if (status != TXM_OK) {
        free(full);
        return status;
    }
    return add_setting(p, (txm_project_key)key, full, txm_strdup(origin), outside, err);
}

/* Only a regular file is read; /dev/null stands for no settings. */
static FILE *open_settings(const char *path, txm_error *err)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!f || fstat(fd, &st) != 0)
        txm_fail_errno(err, errno, "%s: cannot read the project's settings", path);
    else if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && txm_is_null_device(st.st_rdev)))
        txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file, so not the project's settings", path);
    else
        return f;
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return NULL;
}

/* A byte order mark, which some editors write, is skipped. The number and length of lines are limited, because the
 * file was found by searching upwards and may be anything. A link may lead to any file, which is not quoted. *root: it
 * inherits nothing. */
static txm_status read_project_file(txm_project *p, const char *path, bool *root, txm_error *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    char line[MAX_LINE], origin[MAX_LINE + 32];
    txm_status status = TXM_OK;
    *root = false;
    FILE *f = open_settings(path, err);
    if (!f)
        return err->status;
    for (size_t number = 1; status == TXM_OK && fgets(line, sizeof line, f); number++) {
        bool marked = number == 1 && !strncmp(line, mark, sizeof mark - 1);
        snprintf(origin, sizeof origin, "%s:%zu", path, number);
        if ((!strchr(line, '\n') && strlen(line) + 1 == sizeof line) || number > MAX_LINES)
            status = txm_fail(err, TXM_STATUS_USAGE, "%s: too long for a file of settings", origin);
        else
            status = take_line(p, path, line + (marked ? sizeof mark - 1 : 0), origin, root, err);
    }
    bool outside = false;
    txm_error own = {0};
    if (status == TXM_STATUS_USAGE && (find_outside(path, txm_path_base(path), &outside, &own) != TXM_OK || outside)) {
        txm_error_clear(err);
        txm_fail(err, status,
                 "%s: not a valid setting; its text is not shown, since the file is a link out of its folder", origin);
    }
    if (status == TXM_OK && ferror(f))
        status = txm_fail_errno(err, errno, "%s: reading the project's settings failed", path);
    fclose(f);
    return status;
}

/* ---- finding it ------------------------------------------------------------------------------------------------- */

/* *path: `name` in `folder`, if it is of this kind of file and is trusted; else NULL. If this cannot be determined, it
 * fails. */
static txm_status probe(const char *folder, const char *name, mode_t kind, char **path, txm_error *err)
{
    struct stat st;
    txm_status status = TXM_OK;
    char *full = txm_path_join(folder, name);
    bool there = full && stat(full, &st) == 0, trusted = false;
    *path = NULL;
    if (!full)
        return txm_no_memory(err, folder);
    if (!there && errno != ENOENT && errno != ENOTDIR) {
        /* A .txmill in a folder that this user may not search does not apply. */
        const int why = errno;
        if (why != EACCES || access(folder, X_OK) == 0)
            status = txm_fail_errno(err, why, "%s: cannot be examined", full);
    }
    if (status == TXM_OK && there && (st.st_mode & S_IFMT) == kind)
        status = settings_trust(full, &trusted, err);
    if (trusted)
        *path = full;
    else
        free(full);
    return status;
}

/* A folder .blender_project hides those above it, whatever its project.toml is. A file that does not exist belongs to
 * nobody. */
static txm_status probe_project(const char *folder, char **path, txm_error *err)
{
    char *project = NULL;
    bool trusted = true;
    *path = NULL;
    txm_status status = probe(folder, ".blender_project", S_IFDIR, &project, err);
    if (status != TXM_OK || !project)
        return status;
    if (!(*path = txm_path_join(project, "project.toml")))
        status = txm_no_memory(err, folder);
    else if (access(*path, F_OK) == 0)
        status = settings_trust(*path, &trusted, err);
    if (status != TXM_OK || !trusted) {
        free(*path);
        *path = NULL;
    }
    free(project);
    return status;
}

/* *found: the .txmill or Blender project of `start` or of a folder above it; NULL if there is none. `beside`: the
 * .txmill in `start` is known already. */
static txm_status search(const char *start, bool beside, char **found, txm_error *err)
{
    txm_status status = TXM_OK;
    char *folder = txm_path_absolute(start);
    *found = NULL;
    if (!folder)
        return txm_path_absolute_failed(start, err);
    while (folder && status == TXM_OK && !*found) {
        bool top = strcmp(folder, "/") == 0;
        char *above = top ? NULL : txm_path_dir(folder);
        if (!top && !above)
            status = txm_no_memory(err, start);
        if (status == TXM_OK && !beside)
            status = probe(folder, ".txmill", S_IFREG, found, err);
        if (status == TXM_OK && !*found)
            status = probe_project(folder, found, err);
        beside = false;
        free(folder);
        folder = above;
    }
    free(folder);
    return status;
}

/* The folder where the search for an operand's project begins: a folder itself, or the folder of a file. */
static char *start_of(const char *operand)
{
    struct stat st;
    if (!*operand || operand[0] == '@' || !strcmp(operand, "-"))
        return txm_strdup(".");
    return stat(operand, &st) == 0 && S_ISDIR(st.st_mode) ? txm_strdup(operand) : txm_path_dir(operand);
}

/* *path is owned by the caller; NULL if no folder above has a .txmill, which is not a failure. A file that a
 * variable names replaces the search, whoever owns it. */
txm_status txm_project_path(const char *file, char **path, txm_error *err)
{
    const char *named = getenv("TXMILL_SETTINGS");
    *path = NULL;
    if (txm_settings_ignored())
        return TXM_OK;
    if (named && *named)
        return (*path = txm_path_absolute(named)) ? TXM_OK : txm_path_absolute_failed(named, err);
    char *start = start_of(file);
    txm_status status = start ? search(start, false, path, err) : txm_no_memory(err, file);
    free(start);
    return status;
}

static txm_status find_file(char *const *paths, size_t count, txm_project *p, txm_error *err)
{
    for (size_t i = 0; i < (count ? count : 1); i++) {
        char *path;
        txm_status status = txm_project_path(count ? paths[i] : "", &path, err);
        if (status != TXM_OK)
            return status;
        bool same = i == 0 || (!path && !p->path) || (path && p->path && !strcmp(path, p->path));
        if (i == 0)
            p->path = path;
        else
            free(path);
        if (!same) {
            free(p->path);
            p->path = NULL;
            return TXM_OK;
        }
    }
    return TXM_OK;
}

/* Takes ownership of `path`. */
static txm_status add_above(txm_project *p, char *path, txm_error *err)
{
    char **above = realloc(p->above, (p->above_count + 1) * sizeof *above);
    if (!above) {
        free(path);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for settings");
    }
    p->above = above;
    above[p->above_count++] = path;
    return TXM_OK;
}

static txm_status find_above(const char *path, char **found, txm_error *err)
{
    const bool project = txm_color_is_project(path);
    char *folder = txm_path_dir(path), *own = folder && project ? txm_path_dir(folder) : NULL,
         *above = own ? txm_path_dir(own) : NULL;
    txm_status status = TXM_OK;
    *found = NULL;
    if (!folder || (project && !above))
        status = txm_no_memory(err, path);
    else if (!project)
        status = search(folder, true, found, err);
    else if (strcmp(own, "/") != 0)
        status = search(above, false, found, err);
    free(folder);
    free(own);
    free(above);
    return status;
}

/* *outside: whether the config of a Blender project is outside of the folder of the project. */
static txm_status find_config_outside(const char *project, bool *outside, txm_error *err)
{
    txm_error why = {0};
    char *config = NULL, *below = txm_path_dir(project);
    txm_status status = below ? txm_color_project_config(project, &config, &why) : txm_no_memory(&why, project);
    if (config && strncmp(config, "ocio://", 7) != 0)
        status = find_outside(below, config, outside, &why);
    free(config);
    free(below);
    /* Why a project does not count is said where the config is loaded. */
    return status == TXM_OK || status == TXM_STATUS_CONFIG ? TXM_OK : txm_fail_as(err, &why);
}

/* Reads the files from the nearest upwards, until one has root = true. One that a variable names inherits nothing. The
 * nearest Blender project counts, after every .txmill: its value is its path, from which the library finds the config.
 */
static txm_status read_files(txm_project *p, txm_error *err)
{
    const char *named = getenv("TXMILL_SETTINGS"), *path = p->path, *project = NULL;
    bool root = false;
    txm_status status = TXM_OK;
    for (;;) {
        if (!txm_color_is_project(path))
            status = read_project_file(p, path, &root, err);
        else if (!project)
            project = path;
        char *above = NULL;
        if (status == TXM_OK && !root && !(named && *named))
            status = find_above(path, &above, err);
        if (status != TXM_OK || !above)
            break;
        if ((status = add_above(p, above, err)) != TXM_OK)
            break;
        path = above;
    }
    if (status != TXM_OK || !project)
        return status;
    bool outside = false;
    if (!(named && *named))
        status = find_config_outside(project, &outside, err);
    if (status != TXM_OK)
        return status;
    return add_setting(p, TXM_KEY_OCIO, txm_strdup(project), txm_strdup(project), outside, err);
}

/* In the list, variables come before files, and nearer files before others; the first value of a setting counts. */
txm_status txm_project_find(char *const *paths, size_t count, txm_project *out, txm_error *err)
{
    *out = (txm_project){0};
    txm_status status = find_file(paths, count, out, err);
    if (status == TXM_OK) {
        warn_of_near_variables();
        for (int key = 0; status == TXM_OK && key < TXM_KEYS; key++) {
            char variable[64];
            variable_of(names[key], variable);
            const char *value = getenv(variable);
            if (!value || !*value)
                continue;
            status = check_value((txm_project_key)key, value, variable, err);
            if (status == TXM_OK)
                status = add_setting(out, (txm_project_key)key, txm_strdup(value), txm_strdup(variable), false, err);
        }
    }
    if (status == TXM_OK && out->path)
        status = read_files(out, err);
    if (status != TXM_OK)
        txm_project_free(out);
    return status;
}

/* ---- maps ------------------------------------------------------------------------------------------------------- */

static txm_status add_map(txm_project_maps *maps, const char *text, txm_error *err)
{
    size_t bytes;
    const char *to;
    if (txm_args_map(text, &bytes, &to, err) != TXM_OK)
        return err->status;
    txm_path_map *items = realloc(maps->items, txm_mul(maps->count + 1, sizeof *items));
    if (!items)
        return txm_no_memory(err, text);
    maps->items = items;
    items[maps->count] = (txm_path_map){txm_strndup(text, bytes), txm_strdup(to)};
    maps->count++;
    return items[maps->count - 1].from && items[maps->count - 1].to ? TXM_OK : txm_no_memory(err, text);
}

txm_status txm_project_maps_of(const char *scene, const txm_config_args *args, txm_project_maps *out, txm_error *err)
{
    txm_project project = {0};
    char *path = (char *)scene;
    *out = (txm_project_maps){0};
    txm_status status = txm_project_find(&path, 1, &project, err);
    for (size_t i = 0; status == TXM_OK && i < args->maps.count; i++)
        status = add_map(out, args->maps.items[i], err);
    for (size_t i = 0; status == TXM_OK && i < project.count; i++)
        if (project.values[i].key == TXM_KEY_MAP) {
            status = add_map(out, project.values[i].value, err);
            if (status == TXM_OK)
                status = txm_project_note(&project.values[i], err);
        }
    txm_project_free(&project);
    if (status != TXM_OK)
        txm_project_maps_free(out);
    return status;
}

void txm_project_maps_free(txm_project_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        free((char *)maps->items[i].from);
        free((char *)maps->items[i].to);
    }
    free(maps->items);
    *maps = (txm_project_maps){0};
}
