/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the name of an output before anything is written.
 *
 * In: an output's name and the inputs. Out: TXM_OK, or a refusal that says which file would be lost. Files are
 * compared by identity, not by name, because links and other spellings may be the same file.
 */
#include "txmill/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/whole.h"
#include "mill/write/archive.h"
#include "txmill/format.h"
#include "txmill/inspect.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"
#include "txmill/scene.h"
#include "txtile/describe.h"

/* The marks of txmill's files are near the beginning; TIFF has its texts at the end. */
enum { HEAD_BYTES = 64 << 10 };

typedef struct head {
    size_t bytes;
    char data[HEAD_BYTES];
} head;

/* Reads the first or, with `end`, the last bytes of a file; none if it cannot be read. */
static void read_head(const char *path, bool end, head *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    out->bytes = 0;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        const off_t from = end && st.st_size > HEAD_BYTES ? st.st_size - HEAD_BYTES : 0;
        const int64_t got = txm_pread_most(fd, out->data, HEAD_BYTES, (uint64_t)from);
        out->bytes = got > 0 ? (size_t)got : 0;
    }
    close(fd);
}

static bool holds(const head *h, const char *text)
{
    return memmem(h->data, h->bytes, text, strlen(text)) != NULL;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

static bool begins(const head *h, const char *magic, size_t bytes)
{
    return h->bytes >= bytes && memcmp(h->data, magic, bytes) == 0;
}

/* The first bytes decide and not the extension, because the name may be the user's mistake. */
static txm_file_kind kind_of_head(const head *h, const char **noun)
{
    static const struct {
        const char *magic;
        size_t bytes;
        txm_file_kind kind;
        const char *noun;
    } kinds[] = {
        {"Ptex", 4, TXM_FILE_PTEX, "a Ptex file"},
        {"RIFF", 4, TXM_FILE_RIFF, "a RIFF file"},
        {"PK\3\4", 4, TXM_FILE_PACKED, "a zip archive"},
        {"\x1F\x8B", 2, TXM_FILE_PACKED, "a gzip file"},
        {"\x28\xB5\x2F\xFD", 4, TXM_FILE_PACKED, "a zstd file"},
        {"<!doctype html", 14, TXM_FILE_PAGE, "an HTML page"},
        {"<!DOCTYPE html", 14, TXM_FILE_PAGE, "an HTML page"},
        {"{\"schema\":\"txmill.", 18, TXM_FILE_LOG, "a log of txmill"},
    };
    if ((*noun = txm_image_noun(h->data, h->bytes)))
        return TXM_FILE_IMAGE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(h, kinds[i].magic, kinds[i].bytes)) {
            *noun = kinds[i].noun;
            return kinds[i].kind;
        }
    const txm_scene_format *scene;
    for (size_t i = 0; (scene = txm_scene_format_at(i)); i++)
        if (scene->begins && begins(h, scene->begins, strlen(scene->begins))) {
            *noun = scene->what;
            return TXM_FILE_SCENE;
        }
    *noun = "another kind of file";
    return TXM_FILE_OTHER;
}

/* A tiled pyramid that says so, or has the extension, such as maketx makes. */
static bool is_tx(const char *path)
{
    txm_tx *tx = NULL;
    txm_tx_description d = {0};
    if (txm_tx_open(path, &tx, NULL) != TXM_OK)
        return false;
    bool is = txm_path_has_ext(path, "tx") ||
              (txm_tx_describe(tx, &d, NULL) == TXM_OK && (d.format_version >= 0 || *d.requested));
    txm_tx_description_free(&d);
    txm_tx_close(&tx);
    return is;
}

txm_file_kind txm_kind_of_file(const char *path, const char **noun)
{
    static _Thread_local head h;
    struct stat st;
    const char *found;
    txm_file_kind kind;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        kind = TXM_FILE_FOLDER;
        found = "a folder";
    } else if (is_tx(path)) {
        kind = TXM_FILE_TX;
        found = "a tx file";
    } else {
        read_head(path, false, &h);
        kind = kind_of_head(&h, &found);
    }
    if (noun)
        *noun = found;
    return kind;
}

/* Text such as "3 0 0.5 0.25": a column, a row, values. */
static bool is_text_of_pixels(const head *h)
{
    char line[256];
    int x, y, n = 0;
    double value;
    size_t length = 0;
    while (length < h->bytes && length + 1 < sizeof line && h->data[length] != '\n')
        length++;
    memcpy(line, h->data, length);
    line[length] = 0;
    return sscanf(line, "%d %d %lf%n", &x, &y, &value, &n) == 3 &&
           strspn(line + n, "0123456789.+-einfa ") == length - (size_t)n;
}

/* Whether the file must never be replaced, whatever the options say, because somebody made it by hand or it took hours.
 * Formats without a magic number are recognized by name, if the contents are not text. */
static bool is_precious(const char *path)
{
    static _Thread_local head h;
    const txm_file_kind kind = txm_kind_of_file(path, NULL);
    const bool known = kind != TXM_FILE_OTHER && kind != TXM_FILE_PAGE && kind != TXM_FILE_PACKED;
    read_head(path, false, &h);
    return known || txm_scene_format_of(path) || (txm_is_image_name(path) && memchr(h.data, 0, h.bytes));
}

/* Whether the file has the mark of a kind that people edit with programs which keep it. */
static bool has_mark(const char *path, txm_output_kind kind)
{
    static _Thread_local head h;
    read_head(path, false, &h);
    if (kind == TXM_OUTPUT_PAGE)
        return holds(&h, "<meta name=\"generator\" content=\"txmill");
    if (kind == TXM_OUTPUT_PLOT)
        return holds(&h, "<!-- made by txmill");
    if (kind != TXM_OUTPUT_PICTURE)
        return false;
    if (holds(&h, TXM_PICTURE_MARK))
        return true;
    read_head(path, true, &h);
    return holds(&h, TXM_PICTURE_MARK);
}

/* Programs that add files to an archive keep its comment, which then has another size. */
static bool is_own_archive(const char *path)
{
    static _Thread_local head h;
    struct stat st;
    char comment[TXM_ARCHIVE_COMMENT_BYTES + 1];
    read_head(path, true, &h);
    if (stat(path, &st) != 0 || h.bytes < TXM_ARCHIVE_COMMENT_BYTES)
        return false;
    snprintf(comment, sizeof comment, TXM_ARCHIVE_COMMENT, (unsigned long long)st.st_size);
    return !memcmp(h.data + h.bytes - TXM_ARCHIVE_COMMENT_BYTES, comment, TXM_ARCHIVE_COMMENT_BYTES);
}

/* Whether the file may be replaced by one of `kind`, because it is of that kind, or empty. Pictures, pages and plots
 * are replaced only if nobody has changed them since. */
static txm_status is_of_kind(const char *path, txm_output_kind kind, bool *is, txm_error *err)
{
    static _Thread_local head h;
    *is = true;
    if (kind == TXM_OUTPUT_TX && is_tx(path))
        return TXM_OK;
    read_head(path, false, &h);
    switch (kind) {
    case TXM_OUTPUT_TX:
        *is = false;
        break;
    case TXM_OUTPUT_LOG:
        *is = begins(&h, "{\"schema\":\"txmill.", 18);
        break;
    case TXM_OUTPUT_PIXELS:
        *is = is_text_of_pixels(&h);
        break;
    case TXM_OUTPUT_TRACE:
        *is = begins(&h, "TXMTRACE", 8);
        break;
    case TXM_OUTPUT_ARCHIVE:
        *is = is_own_archive(path);
        break;
    case TXM_OUTPUT_TABLE:
        *is = begins(&h, "# image\tpart\t", 13);
        break;
    case TXM_OUTPUT_PAGE:
    case TXM_OUTPUT_PLOT:
    case TXM_OUTPUT_PICTURE:
        *is = has_mark(path, kind);
        return *is ? txm_out_file_check(path, is, err) : TXM_OK;
    }
    return TXM_OK;
}

/* ---- what is in the way ----------------------------------------------------------------------------------------- */

static bool is_file_at(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* Whether the input is a tx file that was made from the file `st`. */
static bool made_from(const char *input, const struct stat *st)
{
    txm_tx *tx = NULL;
    txm_tx_description d = {0};
    bool is = false;
    if (txm_tx_open(input, &tx, NULL) == TXM_OK && txm_tx_describe(tx, &d, NULL) == TXM_OK && *d.source) {
        char *dir = txm_path_dir(input), *above = dir ? txm_path_join(dir, "..") : NULL;
        char *beside = above ? txm_path_join(above, txm_path_base(d.source)) : NULL;
        is = is_file_at(st, d.source) || (beside && is_file_at(st, beside));
        free(beside);
        free(above);
        free(dir);
    }
    txm_tx_description_free(&d);
    txm_tx_close(&tx);
    return is;
}

/* Whether the texture cache beside a file has a tx file of its name: pictures in formats that txmill cannot mark as
 * its own may be used as textures. */
static bool has_tx_file(const char *path)
{
    size_t bytes;
    const char *base = txm_path_base(path);
    char *dir = txm_path_dir(path), *cache = dir ? txm_path_join(dir, "blender_tx") : NULL;
    DIR *folder = cache ? opendir(cache) : NULL;
    bool has = false;
    for (struct dirent *e; folder && !has && (e = readdir(folder));)
        has = txm_tx_name_parse(e->d_name, &bytes, NULL, NULL) && strlen(base) == bytes &&
              !memcmp(base, e->d_name, bytes);
    if (folder)
        closedir(folder);
    free(cache);
    free(dir);
    return has;
}

/* The kind of file to write, with its article, and an example of its name. */
static const char *const wanted[] = {"a tx file",
                                     "a picture that txmill wrote",
                                     "a page that txmill wrote",
                                     "a log of txmill",
                                     "a text of pixels",
                                     "a trace of tiles",
                                     "a table of tiles",
                                     "a plot that txmill wrote",
                                     "an archive that txmill wrote"};
static const char *const examples[] = {"wood.tx",      "picture.png", "page.html", "run.jsonl", "tile.txt",
                                       "render.trace", "tiles.tsv",   "plot.svg",  "shot10.zip"};

/* The usual cause is `--log *.png` or the like: the output's name was left out, and the shell put an image in its
 * place. The message says so, with an example of the right form. */
static txm_status refuse_kind(const txm_output *o, txm_error *err)
{
    const char *noun;
    txm_kind_of_file(o->path, &noun);
    bool may = o->kind != TXM_OUTPUT_TX && o->kind != TXM_OUTPUT_LOG && !is_precious(o->path);
    if (has_mark(o->path, o->kind))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s %s: the file was changed after txmill wrote it, or an earlier version wrote it; nothing "
                        "was written. Give another name, or %s",
                        o->option, o->path, may ? "--overwrite to replace the file" : "remove the file");
    return txm_fail(err, TXM_STATUS_USAGE,
                    "%s %s: the file already exists and is %s, not %s; nothing was written. Was the name after %s left "
                    "out, as in %s %s? Give another name, or %s",
                    o->option, o->path, noun, wanted[o->kind], o->option, o->option, examples[o->kind],
                    may ? "--overwrite to replace the file" : "remove the file");
}

/* Devices and pipes are accepted, because writing to them destroys nothing. */
txm_status txm_guard_output(const txm_output *o, txm_guard_input input, const void *user, txm_error *err)
{
    txm_error_clear(err);
    struct stat st;
    const char *path;
    if (!o->path || !strcmp(o->path, "-") || stat(o->path, &st) != 0)
        return TXM_OK; /* other problems with the name are reported by the writer */
    if (S_ISDIR(st.st_mode))
        return txm_fail(err, TXM_STATUS_USAGE, "%s %s: a folder; name a file in it, as in %s %s/%s", o->option, o->path,
                        o->option, o->path, examples[o->kind]);
    if (!S_ISREG(st.st_mode))
        return TXM_OK;
    for (size_t i = 0; (path = input(user, i)); i++)
        if (is_file_at(&st, path))
            return txm_fail(err, TXM_STATUS_USAGE,
                            "%s %s: is %s, which would be lost; nothing was written. Give the output another name, as "
                            "in %s %s",
                            o->option, o->path,
                            o->kind == TXM_OUTPUT_TX ? "the image itself" : "an input of this command", o->option,
                            examples[o->kind]);
    for (size_t i = 0; (path = input(user, i)); i++)
        if (made_from(path, &st))
            return txm_fail(err, TXM_STATUS_USAGE,
                            "%s %s: is the image that %s was made from, which would be lost; nothing was written. Give "
                            "the output another name, as in %s %s",
                            o->option, o->path, path, o->option, examples[o->kind]);
    if (has_tx_file(o->path))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s %s: is an image with a tx file in blender_tx, a texture, which would be lost; nothing was "
                        "written. Give the output another name, as in %s %s",
                        o->option, o->path, o->option, examples[o->kind]);
    bool is = st.st_size == 0;
    const txm_status status = is ? TXM_OK : is_of_kind(o->path, o->kind, &is, err);
    if (is || status != TXM_OK)
        return status;
    return o->overwrite && !is_precious(o->path) ? TXM_OK : refuse_kind(o, err);
}

/* The name of a file in a texture cache contains the name of its image. */
txm_status txm_guard_tx_of(const txm_output *o, const char *image, txm_error *err)
{
    txm_error_clear(err);
    struct stat st;
    size_t bytes;
    if (!o->path || stat(o->path, &st) != 0 || !txm_tx_name_parse(txm_path_base(o->path), &bytes, NULL, NULL))
        return TXM_OK;
    const char *name = txm_path_base(o->path), *own = txm_path_base(image);
    if (strlen(own) == bytes && !strncmp(own, name, bytes))
        return TXM_OK;
    return txm_fail(
        err, TXM_STATUS_USAGE,
        "%s %s: is the tx file of %.*s, which would be lost; nothing was written. Was the name after %s left "
        "out, as in %s %s? Give another name, or remove the file",
        o->option, o->path, (int)bytes, name, o->option, o->option, examples[o->kind]);
}

typedef struct operands {
    char *const *items;
    size_t count;
} operands;

static const char *operand_at(const void *user, size_t index)
{
    const operands *o = user;
    return index < o->count ? o->items[index] : NULL;
}

txm_status txm_guard_operands(const txm_output *output, char *const *items, size_t count, txm_error *err)
{
    txm_error_clear(err);
    const operands all = {items, count};
    return txm_guard_output(output, operand_at, &all, err);
}
