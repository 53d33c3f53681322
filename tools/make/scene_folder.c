/* SPDX-License-Identifier: Apache-2.0
 *
 * The images of a scene folder, txmill-scene(5): the lines of its scene.txt that begin with `image`.
 *
 *     image NAME "PATH" colorspace "SPACE" alpha TYPE ... [udim NUMBER...]
 *
 * All other lines are for those who render the scene. Ptex files, which have a line of their own, are read directly and
 * need no tx file.
 */
#include "tools/make/scene_folder.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"

enum { FORMAT_VERSION = 1 };

typedef struct reader {
    const char *file; /* for messages */
    size_t line;
    const char *at; /* the rest of the line */
    txm_error *err;
} reader;

static txm_status fail(const reader *r, const char *what)
{
    return txm_fail(r->err, TXM_STATUS_CORRUPT, "%s:%zu: %s", r->file, r->line, what);
}

static size_t take_word(reader *r, const char **word)
{
    r->at += strspn(r->at, " \t\r");
    *word = r->at;
    r->at += strcspn(r->at, " \t\r");
    return (size_t)(r->at - *word);
}

static bool take(reader *r, const char *expected)
{
    const char *word;
    const size_t n = take_word(r, &word);
    return n == strlen(expected) && memcmp(word, expected, n) == 0;
}

/* A JSON string, the caller's; NULL after a failure. */
static char *take_text(reader *r)
{
    const char *end = NULL;
    r->at += strspn(r->at, " \t\r");
    cJSON *json = *r->at == '"' ? cJSON_ParseWithOpts(r->at, &end, 0) : NULL;
    char *text = txm_strdup(cJSON_GetStringValue(json));
    if (json && !text)
        txm_no_memory(r->err, r->file);
    else if (!text)
        fail(r, "a text in double quotes is missing");
    r->at = json ? end : r->at;
    cJSON_Delete(json);
    return text;
}

/* The path with a number in place of <UDIM> or <UVTILE>. */
static char *tile_path(const char *path, unsigned number)
{
    const unsigned tile = number - 1001;
    for (const char *at = strchr(path, '<'); at; at = strchr(at + 1, '<')) {
        const int before = (int)(at - path);
        if (!strncasecmp(at, "<UDIM>", 6))
            return txm_asprintf("%.*s%u%s", before, path, number, at + 6);
        if (!strncasecmp(at, "<UVTILE>", 8))
            return txm_asprintf("%.*su%u_v%u%s", before, path, tile % 10 + 1, tile / 10 + 1, at + 8);
    }
    return txm_strdup(path);
}

/* Calls `found` for the image, or for each of its UDIM tiles. */
static txm_status pass_on(reader *r, txm_input *image, txm_status (*found)(void *user, const txm_input *, txm_error *),
                          void *user)
{
    txm_status status = TXM_OK;
    const char *word, *path = image->path;
    char *end;
    size_t tiles = 0;
    for (size_t n; (n = take_word(r, &word));)
        if (n == 4 && !memcmp(word, "udim", 4))
            break;
    for (size_t n; status == TXM_OK && (n = take_word(r, &word)); tiles++) {
        const unsigned long number = strtoul(word, &end, 10);
        if (end != word + n || number < 1001 || number > 9999)
            return fail(r, "a UDIM number must be from 1001 to 9999");
        char *tile = tile_path(path, (unsigned)number);
        image->path = tile;
        image->pattern = path;
        status = tile ? found(user, image, r->err) : txm_no_memory(r->err, path);
        free(tile);
    }
    return tiles ? status : found(user, image, r->err);
}

static txm_status read_image(reader *r, const char *folder, const txm_project_maps *maps,
                             txm_status (*found)(void *user, const txm_input *image, txm_error *err), void *user)
{
    const char *word;
    char *here = NULL, *space = NULL, type[32] = "";
    txm_input image = {.from_scene = true};
    txm_status status = TXM_OK;
    take_word(r, &word); /* its name */
    char *stored = take_text(r);
    if (stored && take(r, "colorspace"))
        space = take_text(r);
    if (space && take(r, "alpha")) {
        const size_t n = take_word(r, &word);
        snprintf(type, sizeof type, "%.*s", (int)(n < sizeof type ? n : 0), word);
    }
    if (r->err->status != TXM_OK)
        status = r->err->status;
    else if (!space || !txm_alpha_parse(type, &image.alpha))
        status = fail(r, "an image has a name, a path, a colour space and an alpha type");
    else if (!txm_path_map_apply(maps->items, maps->count, stored, &here))
        here = txm_path_join(folder, stored);
    if (status == TXM_OK && !here)
        status = txm_no_memory(r->err, stored);
    image.path = here;
    image.colorspace = space;
    if (status == TXM_OK)
        status = pass_on(r, &image, found, user);
    free(here);
    free(space);
    free(stored);
    return status;
}

static txm_status read_header(reader *r)
{
    const char *word;
    char *end;
    if (!take(r, "txmill-scene") || !take_word(r, &word))
        return fail(r, "not a scene: the first line must be 'txmill-scene 1'");
    if (strtoul(word, &end, 10) > FORMAT_VERSION)
        return txm_fail(r->err, TXM_STATUS_NEWER, "%s:%zu: the scene needs a newer txmill", r->file, r->line);
    return TXM_OK;
}

txm_status txm_scene_folder_images(const char *folder, const txm_project_maps *maps,
                                   txm_status (*found)(void *user, const txm_input *image, txm_error *err), void *user,
                                   txm_error *err)
{
    char *path = txm_path_join(folder, "scene.txt"), *text = NULL;
    size_t capacity = 0;
    ssize_t n;
    bool begun = false;
    struct stat st;
    reader r = {.file = path, .err = err};
    txm_status status = path ? TXM_OK : txm_no_memory(err, folder);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    FILE *in = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (path && !in)
        status = txm_fail_errno(err, fd >= 0 && !errno ? EINVAL : errno, "%s: the scene cannot be opened", path);
    while (status == TXM_OK && (n = getline(&text, &capacity, in)) >= 0) {
        r.line++;
        r.at = text;
        if (strlen(text) != (size_t)n)
            status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: not a text file", path);
        text[n && text[n - 1] == '\n' ? n - 1 : n] = 0;
        r.at += strspn(text, " \t\r");
        if (status != TXM_OK || !*r.at || *r.at == '#')
            continue;
        if (!begun)
            status = read_header(&r);
        else if (take(&r, "image"))
            status = read_image(&r, folder, maps, found, user);
        begun = true;
    }
    if (status == TXM_OK && ferror(in))
        status = txm_fail_errno(err, errno, "%s: the scene cannot be read", path);
    else if (status == TXM_OK && !begun)
        status = fail(&r, "not a scene: the first line must be 'txmill-scene 1'");
    free(text);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    free(path);
    return status;
}
