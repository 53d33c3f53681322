/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks txmill for settings. It is the program that started this one, the one beside it, or the one in $PATH. It reads
 * nothing and says nothing but its answer.
 */
#include "cli/settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/say.h"
#include "txtile/describe.h"
#include "txtile/reader.h"

extern char **environ;

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* The two parts of 'FROM TO', which are separated by blanks; the second begins with a slash. */
static txm_status split_map(const char *text, size_t *from_bytes, const char **to, txm_error *err)
{
    const char *end = strstr(text, " /"), *tab = strstr(text, "\t/");
    end = tab && (!end || tab < end) ? tab : end;
    const char *at = end;
    while (at && at > text && isspace((unsigned char)at[-1]))
        at--;
    if (!at || at == text)
        return stm_fail(err, TXM_STATUS_USAGE,
                        "a map has two parts, as in 'P:\\ /mnt/p': how stored paths begin, and an absolute path here");
    *from_bytes = (size_t)(at - text);
    *to = end + 1;
    return TXM_OK;
}

static txm_status parse_map(const char *text, void *field, txm_error *err)
{
    size_t bytes;
    const char *to;
    (void)field;
    return split_map(text, &bytes, &to, err);
}

#define AT(member) .offset = offsetof(stm_project_args, member)
const stm_option stm_config_options[] = {
    STM_OPTION(STRING, "ocio", .rare = true, AT(ocio), .arg = "FILE", .values = STM_VALUES_FILE,
               .help = "OpenColorIO config, archive or ocio:// name (default: as in Blender, else built in)",
               .more = "If the config cannot be loaded, the command fails; no other config is used instead. Without "
                       "this option the config is that of $BLENDER_OCIO, else of $OCIO, else the built-in one, which "
                       "has the colour spaces of Blender's default one."),
    STM_OPTION(STRING, "working-space", .rare = true, AT(working_space), .arg = "NAME",
               .help = "Scene-linear space of the tx files (default: the config's scene_linear role)",
               .more = "The names of tx files depend on it."),
    STM_OPTION(STRING, "blender", .rare = true, AT(blender), .arg = "VERSION",
               .help = "Release of Blender whose tx files are used (default: the newest)"),
    {0},
};
const stm_option stm_map_options[] = {
    STM_OPTION(LIST, "path-map", .rare = true, AT(maps), .arg = "'FROM TO'", .parse = parse_map,
               .help = "Look for files whose stored paths begin with FROM in the folder TO (repeatable, the first "
                       "match counts)",
               .more = "FROM is what a scene stores, such as P:\\ or \\\\server\\share or /Volumes/tex; TO is an "
                       "absolute path here. Without it paths are relative to the scene's folder."),
    {0},
};

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* A name without a slash is looked up in $PATH. */
static char *find_txmill(void)
{
    const char *starter = secure_getenv("TXMILL_PROGRAM");
    if (starter && *starter)
        return strdup(starter);
    char *beside = stm_beside_program("txmill");
    if (beside && access(beside, X_OK) == 0)
        return beside;
    free(beside);
    return strdup("txmill");
}

/* Everything until the end of a pipe; NULL with errno. */
static char *read_all(int fd)
{
    stm_bytes text = {0};
    char part[4096];
    ssize_t n = 1;
    int error = stm_bytes_puts(&text, "") ? 0 : ENOMEM;
    while (!error && n) {
        n = read(fd, part, sizeof part);
        if (n > 0 && !stm_bytes_add(&text, part, (size_t)n))
            error = ENOMEM;
        else if (n < 0 && errno != EINTR)
            error = errno;
    }
    if (error)
        stm_bytes_free(&text);
    errno = error;
    return stm_bytes_take(&text);
}

/* Runs `words` and returns what it prints, which is short; NULL with errno. */
static char *output_of(char *const *words)
{
    posix_spawn_file_actions_t actions;
    int out[2] = {-1, -1}, status;
    pid_t pid;
    char *text = NULL;
    const int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    int rc = none < 0 || pipe2(out, O_CLOEXEC) != 0 ? errno : posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&actions, none, STDIN_FILENO);
        rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, none, STDERR_FILENO);
        rc = rc ? rc : posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(out[1]);
    }
    if (rc == 0) {
        text = read_all(out[0]);
        rc = errno;
        close(out[0]); /* if reading failed, the program must not wait for a reader */
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    } else if (out[0] >= 0) {
        close(out[0]);
    }
    if (none >= 0)
        close(none);
    errno = rc;
    return text;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* A failure that txmill printed as an object. */
static txm_status failure_of(const cJSON *object, txm_error *err)
{
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(object, "error");
    const char *name = text_of(e, "status"), *message = text_of(e, "message");
    const char *subject = text_of(e, "subject"), *advice = text_of(e, "advice");
    txm_status status = TXM_STATUS_INTERNAL;
    if (!e)
        return TXM_OK;
    for (int i = TXM_OK + 1; name && i < 64; i++)
        if (!strcmp(txm_status_name((txm_status)i), name)) {
            status = (txm_status)i;
            break;
        }
    if (!message)
        return stm_fail(err, status, "txmill failed");
    const size_t bytes = strlen(message), end = advice ? strlen(advice) : 0;
    return stm_fail_parts(err, status, message, subject ? strlen(subject) : 0, end && end < bytes ? bytes - end : 0);
}

/* Runs `txmill COMMAND --json ...`; *out is an array of its objects. */
static txm_status query(const char *command, const stm_project_args *args, char *const *paths, size_t count,
                        cJSON **out, txm_error *err)
{
    enum { MOST_PATHS = 1000 };
    const char *options[][2] = {{"--ocio", args ? args->ocio : NULL},
                                {"--working-space", args ? args->working_space : NULL},
                                {"--blender", args ? args->blender : NULL},
                                {"--cache-dir", args ? args->cache_dir : NULL}};
    char *program = find_txmill();
    const char **words = stm_calloc((count < MOST_PATHS ? count : MOST_PATHS) + 16, sizeof *words);
    txm_status status = TXM_OK;
    size_t n = 0;
    *out = cJSON_CreateArray();
    if (!program || !words || !*out) {
        status = stm_no_memory(err, NULL);
    } else {
        words[n++] = program;
        words[n++] = command;
        words[n++] = "--json";
        if (stm_settings_ignored())
            words[n++] = "--no-settings";
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (options[i][1]) {
                words[n++] = options[i][0];
                words[n++] = options[i][1];
            }
        words[n++] = "--";
        for (size_t i = 0; i < count && i < MOST_PATHS; i++)
            words[n++] = paths[i];
        char *text = output_of((char *const *)words);
        if (!text)
            status = stm_fail_errno(
                err, errno, "%s: the settings of its project cannot be asked from %s, with /dev/null as its input",
                paths[0], program);
        for (char *rest = text, *line; status == TXM_OK && rest && (line = strsep(&rest, "\n"));) {
            cJSON *object = *line ? cJSON_Parse(line) : NULL;
            if (object && !cJSON_AddItemToArray(*out, object)) {
                cJSON_Delete(object);
                status = stm_no_memory(err, NULL);
            }
        }
        free(text);
    }
    free(words);
    free(program);
    for (const cJSON *o = *out ? (*out)->child : NULL; status == TXM_OK && o; o = o->next)
        status = failure_of(o, err);
    return status;
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

/* The value of a setting that all paths have in common; NULL if there is none. */
static const char *common(const cJSON *answers, const char *setting)
{
    const char *value = NULL;
    bool first = true, same = true;
    for (const cJSON *o = answers->child; o; o = o->next) {
        const char *name = text_of(o, "setting"), *origin = text_of(o, "origin"), *own = text_of(o, "value");
        if (!name || strcmp(name, setting) != 0 || !origin)
            continue;
        own = strcmp(origin, "default") == 0 ? NULL : own;
        /* The library knows Blender's variables itself. */
        if (!strcmp(origin, "OCIO") || !strcmp(origin, "BLENDER_OCIO"))
            own = NULL;
        same = same && (first || (own && value ? strcmp(own, value) == 0 : own == value));
        value = own;
        first = false;
    }
    return same ? value : NULL;
}

static txm_status add_map(stm_settings *s, const char *text, size_t *capacity, txm_error *err)
{
    size_t bytes;
    const char *to;
    if (split_map(text, &bytes, &to, err) != TXM_OK)
        return err->status;
    char *from = strndup(text, bytes);
    if (!from || !STM_GROW(s->maps, *capacity, s->map_count)) {
        free(from);
        return stm_no_memory(err, NULL);
    }
    s->maps[s->map_count++] = (txm_path_map){from, to};
    return TXM_OK;
}

/* Settings that lead out of the folder of their .txmill. */
static cJSON *outside;

/* Says what leads out of the folder of its .txmill, which may be a stranger's. */
static txm_status note_outside(const cJSON *answers, txm_error *err)
{
    for (const cJSON *o = answers->child; o; o = o->next) {
        const char *setting = text_of(o, "setting"), *value = text_of(o, "value"), *origin = text_of(o, "origin");
        if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "outside")) || !setting || !value || !origin)
            continue;
        const cJSON *said = outside ? outside->child : NULL;
        while (said && (strcmp(text_of(said, "setting"), setting) || strcmp(text_of(said, "origin"), origin)))
            said = said->next;
        if (said)
            continue;
        stm_say(STM_SAY_INFO, "%s: %s = %s is outside of the folder of this file (--no-settings ignores .txmill files)",
                origin, setting, value);
        cJSON *entry = cJSON_CreateObject();
        outside = outside ? outside : cJSON_CreateArray();
        if (!entry || !cJSON_AddItemToArray(outside, entry) || !cJSON_AddStringToObject(entry, "setting", setting) ||
            !cJSON_AddStringToObject(entry, "value", value) || !cJSON_AddStringToObject(entry, "origin", origin))
            return stm_no_memory(err, NULL);
    }
    return TXM_OK;
}

static txm_status parse_blender(const char *text, const char *origin, txm_blender *out, txm_error *err)
{
    if (txm_blender_parse(text, out))
        return TXM_OK;
    *out = TXM_BLENDER_NEWEST;
    if (!(strtod(text, NULL) > strtod(txm_blender_name(*out), NULL)))
        return stm_fail(err, TXM_STATUS_USAGE, "%s: '%s' is not a release of Blender that txmill knows", origin, text);
    stm_say(STM_SAY_WARNING, "Blender %.20s is newer than this txmill; names and pixels are those of %s", text,
            txm_blender_name(*out));
    return TXM_OK;
}

txm_status stm_settings_of(const stm_project_args *args, char *const *paths, size_t count, stm_settings *s,
                           txm_error *err)
{
    static char here[] = ".";
    char **there = stm_calloc(count + 1, sizeof *there);
    size_t n = 0, capacity = 0;
    if (!there)
        return stm_no_memory(err, NULL);
    for (size_t i = 0; i < count; i++)
        if (access(paths[i], F_OK) == 0)
            there[n++] = paths[i];
    if (!n)
        there[n++] = here;
    txm_status status = query("settings", NULL, there, n, &s->answers, err);
    free(there);
    if (status != TXM_OK)
        return status;
    const char *release = args->blender ? args->blender : common(s->answers, "blender");
    const char *threads = common(s->answers, "threads");
    s->ocio = args->ocio ? args->ocio : common(s->answers, "ocio");
    s->working_space = args->working_space ? args->working_space : common(s->answers, "working-space");
    s->cache_dir = args->cache_dir ? args->cache_dir : common(s->answers, "cache-dir");
    s->threads = args->threads ? args->threads : threads ? (uint32_t)strtoul(threads, NULL, 10) : 0;
    s->blender = TXM_BLENDER_NEWEST;
    if (release)
        status = parse_blender(release, args->blender ? "--blender" : "blender =", &s->blender, err);
    for (size_t i = 0; status == TXM_OK && i < args->maps.count; i++)
        status = add_map(s, args->maps.items[i], &capacity, err);
    for (const cJSON *o = s->answers->child; status == TXM_OK && o; o = o->next) {
        const char *setting = text_of(o, "setting"), *value = text_of(o, "value");
        if (setting && value && !strcmp(setting, "map"))
            status = add_map(s, value, &capacity, err);
        s->rules |= setting && value && (!strncmp(setting, "rule", 4) || !strcmp(setting, "preset"));
    }
    return status == TXM_OK ? note_outside(s->answers, err) : status;
}

void stm_settings_free(stm_settings *s)
{
    for (size_t i = 0; i < s->map_count; i++)
        free((char *)s->maps[i].from);
    free(s->maps);
    cJSON_Delete(s->answers);
    *s = (stm_settings){0};
}

void stm_settings_json(cJSON *object)
{
    char *text = outside ? cJSON_PrintUnformatted(outside) : NULL;
    if (outside)
        stm_json_raw(object, "settings_outside", text);
    cJSON_free(text);
}

txm_status stm_settings_of_image(const stm_project_args *args, const char *image, char **space, txm_alpha *alpha,
                                 txm_error *err)
{
    cJSON *answers;
    char *paths[] = {(char *)image};
    *space = NULL;
    txm_status status = query("resolve", args, paths, 1, &answers, err);
    const cJSON *o = answers ? answers->child : NULL;
    const char *name = text_of(o, "colorspace"), *word = text_of(o, "alpha");
    if (status == TXM_OK && (!name || !word))
        status = stm_fail(err, TXM_STATUS_INTERNAL, "%s: txmill resolve says neither colour space nor alpha", image);
    if (status == TXM_OK && !(*space = strdup(name)))
        status = stm_no_memory(err, image);
    if (status == TXM_OK && !txm_alpha_parse(word, alpha))
        status = stm_fail(err, TXM_STATUS_INTERNAL, "%s: txmill resolve says alpha %s", image, word);
    cJSON_Delete(answers);
    return status;
}
