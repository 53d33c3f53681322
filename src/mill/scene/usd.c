/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads USD scenes (.usd, .usda, .usdc, .usdz) and MaterialX documents (.mtlx), and lists the image nodes that Cycles'
 * Hydra delegate makes of them. usd-core composes the layers, references and variants of USD: the helper txmill-usd.py
 * runs with it in the user's python3, and prints one JSON object per line. It is a process of its own, which reads each
 * scene in a copy of itself, so that a file on which USD crashes, loops or runs out of memory affects that scene only;
 * its output is checked like a file. It is kept for the next scene. $TXMILL_PYTHON names another Python,
 * $TXMILL_USD_SECONDS another time limit than ten minutes.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/os/machine.h"
#include "base/os/plugin.h"
#include "base/os/process.h"
#include "base/path.h"
#include "mill/scene/nodes.h"

#define HELPER_FILE "txmill-usd.py"

enum { MAX_LINE_BYTES = 4 << 20, READ_BYTES = 64 << 10, USUAL_SECONDS = 600, MOST_SECONDS = 1000000 };

/* The helper's output so far. */
typedef struct usd_answer {
    txm_scene *scene;
    txm_node_list nodes;
    const char *python;
    bool begun, ended; /* the helper has said something; it said that its output is complete */
    txm_status status; /* the status that the helper reported, or with which reading its output failed */
    txm_error *err;
} usd_answer;

/* ---- the helper's output ----------------------------------------------------------------------------------------- */

/* "" for anything that is not a text, since the helper's output is not trusted. */
static const char *text_of(const cJSON *o, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    return text ? text : "";
}

static bool flag_of(const cJSON *o, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, name));
}

/* What is wrong, by the name of a status. */
static txm_status status_of(const cJSON *o)
{
    static const txm_status statuses[] = {TXM_STATUS_CORRUPT, TXM_STATUS_NOT_DOWNLOADED, TXM_STATUS_NOT_INSTALLED};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (strcmp(text_of(o, "status"), txm_status_name(statuses[i])) == 0)
            return statuses[i];
    return TXM_STATUS_UNSUPPORTED;
}

/* For a texture without a space of its own, the delegate keeps that of a new node. */
static txm_status take_usd_node(usd_answer *a, const cJSON *o)
{
    static const char *const owner_types[] = {"material", "light"};
    const cJSON *space = cJSON_GetObjectItemCaseSensitive(o, "colorspace"),
                *extension = cJSON_GetObjectItemCaseSensitive(o, "extension"),
                *interpolation = cJSON_GetObjectItemCaseSensitive(o, "interpolation"),
                *alpha = cJSON_GetObjectItemCaseSensitive(o, "alpha_type");
    const char *path = text_of(o, "path");
    uint32_t *tiles = txm_calloc(TXM_NODE_MAX_TILES, sizeof *tiles);
    const cJSON *tile;
    size_t tile_count = 0;
    cJSON_ArrayForEach(tile, cJSON_GetObjectItemCaseSensitive(o, "tiles"))
    {
        const double number = cJSON_IsNumber(tile) ? tile->valuedouble : 0;
        if (tiles && tile_count < TXM_NODE_MAX_TILES && number > 1000 && number < 100000)
            tiles[tile_count++] = (uint32_t)number;
    }
    char *normal = NULL;
    if (!txm_path_map_apply(a->scene->options.maps, a->scene->options.map_count, text_of(o, "stored"), &normal))
        normal = *path == '/' ? txm_path_normal(path) : txm_strdup("");
    txm_status status = TXM_OK;
    if (!tiles || !normal) {
        status = txm_no_memory(a->err, a->scene->info.path);
    } else {
        txm_image_node node = {.node = text_of(o, "node"),
                               .owner = text_of(o, "owner"),
                               .owner_type = owner_types[strcmp(text_of(o, "owner_type"), "light") == 0],
                               .library = text_of(o, "library"),
                               .stored_path = text_of(o, "stored"),
                               .path = normal,
                               .colorspace = cJSON_IsString(space) ? space->valuestring : TXM_NODE_COLORSPACE,
                               .alpha = txm_node_alpha(cJSON_GetStringValue(alpha)),
                               .environment = flag_of(o, "environment"),
                               .inside = flag_of(o, "inside"),
                               .normal = flag_of(o, "normal"),
                               .tiles = tiles,
                               .tile_count = tile_count,
                               .extension = txm_node_extension(cJSON_GetStringValue(extension)),
                               .interpolation = txm_node_interpolation(cJSON_GetStringValue(interpolation))};
        node.tiled = !node.inside && (node.tile_count > 0 || strstr(txm_path_base(normal), "<UDIM>"));
        status = txm_nodes_add(a->scene, &a->nodes, &node, a->err);
    }
    free(normal);
    free(tiles);
    return status;
}

static txm_status take_usd_layer(usd_answer *a, const cJSON *o)
{
    const char *path = text_of(o, "path"), *message = text_of(o, "message");
    txm_error why = {0};
    if (*message)
        txm_fail(&why, status_of(o), "%s: %.400s", path, message);
    else if (!flag_of(o, "there"))
        txm_fail(&why, TXM_STATUS_NOT_FOUND, "%s: not found", path);
    for (size_t i = 0; i < a->scene->libraries.count; i++)
        if (strcmp(a->scene->libraries.data[i].path, path) == 0)
            return TXM_OK;
    return txm_nodes_add_library(a->scene, path, text_of(o, "parent"), why.status, why.message, a->err);
}

static txm_status take_usd_line(usd_answer *a, const char *line)
{
    const char *path = a->scene->info.path;
    cJSON *o = cJSON_Parse(line);
    const char *kind = text_of(o, "kind");
    txm_status status = TXM_OK;
    if (strcmp(kind, "node") == 0) {
        status = take_usd_node(a, o);
    } else if (strcmp(kind, "layer") == 0) {
        status = take_usd_layer(a, o);
    } else if (strcmp(kind, "lacking") == 0) {
        const char *why = text_of(o, "message");
        a->ended = true;
        if (txm_loading_lacked_memory(why)) {
            status = txm_fail(a->err, TXM_STATUS_NO_MEMORY, "%s: there is not enough memory to load usd-core: %.200s",
                              path, why);
        } else {
            status = txm_fail(
                a->err, TXM_STATUS_NOT_INSTALLED,
                "%s: reading USD needs usd-core for %s (%.200s): pip install 'txmill[usd]', or pip install usd-core",
                path, a->python, why);
        }
    } else if (strcmp(kind, "memory") == 0) {
        status = txm_fail(a->err, TXM_STATUS_NO_MEMORY, "%s: USD needs more memory than there is", path);
    } else if (strcmp(kind, "failed") == 0) {
        status = txm_fail(a->err, TXM_STATUS_CORRUPT, "%s: %.20s cannot open it: %.400s", path,
                          *text_of(o, "reader") ? text_of(o, "reader") : "USD", text_of(o, "message"));
    } else if (strcmp(kind, "unread") == 0) {
        status = txm_fail(a->err, status_of(o), "%s: %.400s", path, text_of(o, "message"));
    } else if (strcmp(kind, "end") == 0) {
        a->ended = true;
    } else {
        status =
            txm_fail(a->err, TXM_STATUS_UNSUPPORTED,
                     "%s: %s gave an answer that cannot be read; TXMILL_PYTHON names another Python", path, a->python);
    }
    cJSON_Delete(o);
    return status;
}

/* Takes all complete lines; the rest is kept for the next call. */
static txm_status take_usd_lines(usd_answer *a, txm_bytes *bytes)
{
    char *data = (char *)bytes->data, *end;
    size_t used = 0;
    txm_status status = TXM_OK;
    while (status == TXM_OK && (end = memchr(data + used, '\n', bytes->size - used))) {
        *end = 0;
        status = take_usd_line(a, data + used);
        used = (size_t)(end - data) + 1;
    }
    memmove(data, data + used, bytes->size - used);
    bytes->size -= used;
    if (status == TXM_OK && bytes->size > MAX_LINE_BYTES) {
        status = txm_fail(a->err, TXM_STATUS_TOO_LARGE, "%s: a node of it takes more than %d MiB", a->scene->info.path,
                          MAX_LINE_BYTES >> 20);
    }
    return status;
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* A running helper. */
typedef struct usd_helper {
    long pid;              /* it leads a process group, to which its copy belongs */
    int in, out;           /* its standard input and output */
    char python[PATH_MAX]; /* no longer name can be started */
} usd_helper;

/* One helper is kept; it ends with this process, because its standard input does. */
static struct {
    pthread_mutex_t lock;
    usd_helper helper; /* pid 0: none */
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the helper is told: options, then the scene. *words, which the caller frees, borrows them; NULL if memory is
 * exhausted. */
static int usd_words(const txm_scene *scene, const char ***words)
{
    int count = 0;
    *words = txm_calloc(scene->options.map_count + 1, 3 * sizeof **words);
    if (!*words)
        return 0;
    if (scene->options.every_variant)
        (*words)[count++] = "--every-variant";
    for (size_t i = 0; i < scene->options.map_count; i++) {
        (*words)[count++] = "--map";
        (*words)[count++] = scene->options.maps[i].from;
        (*words)[count++] = scene->options.maps[i].to;
    }
    (*words)[count++] = scene->info.path;
    return count;
}

/* Starts a helper that reads the scene; the caller frees it with end_helper. */
static txm_status start_helper(usd_answer *a, const char *program, usd_helper *out)
{
    const char *path = a->scene->info.path;
    const char **words = NULL;
    int count = usd_words(a->scene, &words), in[2] = {-1, -1}, ends[2] = {-1, -1};
    char **argv = words ? txm_calloc((size_t)count + 3, sizeof *argv) : NULL;
    *out = (usd_helper){.in = -1, .out = -1};
    snprintf(out->python, sizeof out->python, "%s", a->python);
    if (!argv) {
        free(words);
        return txm_no_memory(a->err, path);
    }
    argv[0] = (char *)a->python;
    argv[1] = (char *)program;
    memcpy(argv + 2, words, (size_t)count * sizeof *words);
    int rc = txm_socket_pair(in);
    if (rc == 0)
        rc = txm_pipe(ends);
    if (rc == 0) {
        const txm_program helper = {
            .argv = argv, .group = true, .file_count = 3, .files = {in[1], ends[1], TXM_FILE_NOTHING}};
        rc = txm_process_start(&helper, &out->pid);
    }
    free(argv);
    free(words);
    out->in = in[0];
    out->out = ends[0];
    for (int i = 0; i < 2; i++) {
        const int theirs = i ? ends[1] : in[1];
        if (theirs >= 0)
            close(theirs);
    }
    if (rc == ENOENT) {
        return txm_fail(a->err, TXM_STATUS_NOT_INSTALLED,
                        "%s: reading USD needs Python with usd-core, and there is no %s: install python3, then "
                        "pip install usd-core",
                        path, a->python);
    }
    return rc == 0 ? TXM_OK : txm_fail_errno(a->err, rc, "%s: %s cannot be started", path, a->python);
}

/* Asks a running helper for another scene; false if it cannot be asked. */
static bool order_scene(const usd_answer *a, const usd_helper *h)
{
    const char **words = NULL;
    int count = usd_words(a->scene, &words);
    cJSON *line = words ? cJSON_CreateStringArray(words, count) : NULL;
    char *text = line ? cJSON_PrintUnformatted(line) : NULL;
    size_t bytes = text ? strlen(text) : 0;
    if (text)
        text[bytes++] = '\n'; /* in place of the NUL */
    bool sent = text && txm_socket_send(h->in, text, bytes) == (long)bytes;
    free(text);
    free(words);
    cJSON_Delete(line);
    return sent;
}

/* Reads until the answer is complete, the helper closes its end, or its time is over. */
static txm_status listen_to_helper(usd_answer *a, int fd)
{
    const char *path = a->scene->info.path;
    const char *said = getenv("TXMILL_USD_SECONDS");
    char *rest = NULL;
    long seconds = said ? strtol(said, &rest, 10) : 0;
    if (!said || !*said || *rest || seconds <= 0 || seconds > MOST_SECONDS)
        seconds = USUAL_SECONDS;
    const double end = txm_clock_seconds() + (double)seconds;
    txm_bytes bytes = {0};
    txm_status status = TXM_OK;
    while (status == TXM_OK && !a->ended) {
        const double left = end - txm_clock_seconds();
        int ready = left > 0 ? txm_wait_readable(fd, left > 0.2 ? 200 : (int)(left * 1000) + 1) : 0;
        ssize_t n = -1;
        if (a->scene->options.cancel && *a->scene->options.cancel) {
            status = txm_fail(a->err, TXM_STATUS_CANCELLED, "%s: stopped", path);
        } else if (left <= 0) {
            status = txm_fail(a->err, TXM_STATUS_TOO_LARGE,
                              "%s: USD took more than %ld s to read it; set TXMILL_USD_SECONDS to allow more", path,
                              seconds);
        } else if (ready > 0 && !txm_bytes_reserve(&bytes, bytes.size + READ_BYTES)) {
            status = txm_no_memory(a->err, path);
        } else if (ready > 0) {
            n = read(fd, bytes.data + bytes.size, READ_BYTES);
            if (n == 0)
                break;
            a->begun |= n > 0;
            if (n < 0 && errno != EINTR)
                status = txm_fail_errno(a->err, errno, "%s: cannot read the output of the USD helper", path);
        } else if (ready < 0 && errno != EINTR) {
            status = txm_fail_errno(a->err, errno, "%s: cannot wait for the USD helper", path);
        }
        if (status == TXM_OK && n > 0) {
            bytes.size += (size_t)n;
            status = take_usd_lines(a, &bytes);
        }
    }
    txm_bytes_free(&bytes);
    return status;
}

/* Ends the helper and its copy; a helper whose answer is not needed any more at once. One that only closed its pipe
 * ends soon, or hangs in a handler of its crash. */
static txm_end end_helper(usd_helper *h, bool at_once)
{
    txm_end how = {TXM_END_UNKNOWN, 0};
    const bool gone = h->pid && !at_once && txm_process_wait(h->pid, 5, &how);
    if (h->pid)
        txm_process_kill(h->pid, true);
    if (h->pid && !gone)
        txm_process_wait(h->pid, -1, &how);
    for (int i = 0; i < 2; i++) {
        const int ours = i ? h->out : h->in;
        if (ours >= 0)
            close(ours);
    }
    *h = (usd_helper){.in = -1, .out = -1};
    return how;
}

static txm_status run_usd(usd_answer *a, const char *program)
{
    /* The kept helper is asked, if it is of the same Python and takes the order. */
    pthread_mutex_lock(&idle.lock);
    usd_helper h = idle.helper;
    idle.helper = (usd_helper){0};
    pthread_mutex_unlock(&idle.lock);
    bool again = h.pid && strcmp(h.python, a->python) == 0 && order_scene(a, &h);
    if (h.pid && !again)
        end_helper(&h, true);
    txm_status status = again ? listen_to_helper(a, h.out) : TXM_OK;
    if (again && status == TXM_OK && !a->begun) { /* it had ended before it got the order */
        end_helper(&h, true);
        again = false;
    }
    if (!again) {
        status = start_helper(a, program, &h);
        if (status != TXM_OK) {
            end_helper(&h, true);
            return status;
        }
        status = listen_to_helper(a, h.out);
    }
    if (a->ended) {
        pthread_mutex_lock(&idle.lock);
        const bool keep = !idle.helper.pid;
        if (keep)
            idle.helper = h;
        pthread_mutex_unlock(&idle.lock);
        if (!keep)
            end_helper(&h, true);
        return status;
    }
    const txm_end how = end_helper(&h, status != TXM_OK);
    if (status != TXM_OK)
        return status;
    const char *path = a->scene->info.path;
    if (how.cause == TXM_END_STOPPED)
        return txm_fail(a->err, TXM_STATUS_CANCELLED, "%s: stopped", path);
    /* Python and USD crash where they get no memory. */
    uint64_t bytes;
    if (txm_limit_of(TXM_LIMIT_ADDRESSES, &bytes) || txm_limit_of(TXM_LIMIT_DATA, &bytes)) {
        return txm_fail(a->err, TXM_STATUS_NO_MEMORY,
                        "%s: USD gave up, most likely for lack of memory: ulimit -v or ulimit -d limits it", path);
    }
    if (how.cause != TXM_END_EXIT) {
        return txm_fail(a->err, TXM_STATUS_CORRUPT, "%s: USD crashed while reading it, with signal %d (%s)", path,
                        how.code, txm_end_text(&how));
    }
    return txm_fail(a->err, TXM_STATUS_UNSUPPORTED, "%s: %s exited with %d before it had read the scene", path,
                    a->python, how.code);
}

/* ---- the scene --------------------------------------------------------------------------------------------------- */

txm_status txm_scene_read_usd(txm_scene *scene, const char *path, txm_error *err)
{
    const char *python = getenv("TXMILL_PYTHON");
    usd_answer a = {.scene = scene, .python = python && *python ? python : "python3", .err = err};
    char *looked_in = NULL, *helper = txm_plugin_path(HELPER_FILE, &looked_in);
    struct stat st;
    txm_status status;
    /* The file is checked here because USD's own messages are less clear. */
    if (stat(path, &st) != 0 || access(path, R_OK) != 0) {
        status = txm_fail_errno(err, errno, "%s: cannot open", path);
    } else if (!S_ISREG(st.st_mode)) {
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    } else if (!helper) {
        status =
            looked_in ? txm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s: %s", path, looked_in) : txm_no_memory(err, path);
    } else {
        status = run_usd(&a, helper);
    }
    if (status == TXM_OK)
        status = txm_nodes_collect(scene, &a.nodes, err);
    free(helper);
    free(looked_in);
    free(a.nodes.entries.data);
    return status;
}
