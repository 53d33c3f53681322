/* SPDX-License-Identifier: Apache-2.0
 * Reads folders into memory, restores and compares them. */
#include "tree.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *formatted(const char *format, ...)
{
    char *s;
    va_list args;
    va_start(args, format);
    if (vasprintf(&s, format, args) < 0)
        err(2, "memory");
    va_end(args);
    return s;
}

/* nftw has no user pointer. */
static tree *filling;
static size_t prefix;

static void read_content(const char *path, tree_file *f, size_t size)
{
    f->data = malloc(size + 1);
    if (!f->data)
        err(2, "%s", path);
    if (S_ISLNK(f->mode)) {
        ssize_t n = readlink(path, f->data, size + 1);
        if (n < 0)
            err(2, "%s", path);
        f->size = (size_t)n;
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    while (fd >= 0 && f->size < size && (n = read(fd, f->data + f->size, size - f->size)) > 0)
        f->size += (size_t)n;
    if (fd < 0 || n < 0)
        err(2, "%s", path);
    close(fd);
}

/* Where a run remembers which images are damaged, and what leads there. A read that fails without an error looks like a
 * file that was cut, so it may be there or not. */
static bool is_memory_of_damage(const char *name)
{
    static const char place[] = ".cache/txmill/damaged";
    const size_t bytes = strlen(name);
    return bytes < sizeof place ? strncmp(name, place, bytes) == 0 && (place[bytes] == '/' || !place[bytes])
                                : strncmp(name, place, sizeof place - 1) == 0 && name[sizeof place - 1] == '/';
}

static int take(const char *path, const struct stat *st, int type, struct FTW *where)
{
    if (where->level == 0 || type == FTW_NS || is_memory_of_damage(path + prefix))
        return 0;
    tree *t = filling;
    t->files = realloc(t->files, (t->count + 1) * sizeof *t->files);
    if (!t->files)
        err(2, "%s", path);
    tree_file *f = &t->files[t->count++];
    *f = (tree_file){.name = strdup(path + prefix), .mode = st->st_mode, .mtime = st->st_mtim, .inode = st->st_ino};
    if (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode))
        read_content(path, f, (size_t)st->st_size);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tree_file *)a)->name, ((const tree_file *)b)->name);
}

tree tree_read(const char *folder)
{
    tree t = {0};
    filling = &t;
    prefix = strlen(folder) + 1;
    if (nftw(folder, take, 16, FTW_PHYS) != 0)
        err(2, "%s", folder);
    if (t.count)
        qsort(t.files, t.count, sizeof *t.files, by_name);
    return t;
}

static void *copied(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (!copy)
        err(2, "tree");
    return memcpy(copy, data, bytes);
}

tree tree_copy(const tree *t)
{
    tree copy = {copied(t->files, t->count * sizeof *t->files), t->count};
    for (size_t i = 0; i < copy.count; i++) {
        copy.files[i].name = strdup(t->files[i].name);
        copy.files[i].data = t->files[i].data ? copied(t->files[i].data, t->files[i].size) : NULL;
    }
    return copy;
}

void tree_free(tree *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->files[i].name);
        free(t->files[i].data);
    }
    free(t->files);
    *t = (tree){0};
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    if (where->level > 0 && remove(path) != 0)
        err(2, "%s", path);
    return 0;
}

void tree_clear(const char *folder)
{
    if (nftw(folder, drop, 16, FTW_PHYS | FTW_DEPTH) != 0 && errno != ENOENT)
        err(2, "%s", folder);
}

static void restore_file(const tree *t, const tree_file *f, const char *folder)
{
    char *path = formatted("%s/%s", folder, f->name);
    const tree_file *first = t->files; /* the first of the names of the same file */
    while (first->inode != f->inode)
        first++;
    if (S_ISDIR(f->mode)) {
        if (mkdir(path, f->mode & 07777) != 0)
            err(2, "%s", path);
    } else if (S_ISLNK(f->mode)) {
        char *to = strndup(f->data, f->size);
        if (!to || symlink(to, path) != 0)
            err(2, "%s", path);
        free(to);
    } else if (S_ISREG(f->mode) && first != f) {
        char *other = formatted("%s/%s", folder, first->name);
        if (link(other, path) != 0)
            err(2, "%s", path);
        free(other);
    } else if (S_ISREG(f->mode)) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f->mode & 07777);
        if (fd < 0 || write(fd, f->data, f->size) != (ssize_t)f->size || close(fd) != 0)
            err(2, "%s", path);
    }
    free(path);
}

void tree_restore(const tree *t, const char *folder)
{
    tree_clear(folder);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        err(2, "%s", folder);
    for (size_t i = 0; i < t->count; i++)
        restore_file(t, &t->files[i], folder);
    /* Times are set last: those of folders after their content was written. */
    for (size_t i = t->count; i-- > 0;) {
        const tree_file *f = &t->files[i];
        char *path = formatted("%s/%s", folder, f->name);
        const struct timespec times[2] = {f->mtime, f->mtime};
        if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0)
            err(2, "%s", path);
        free(path);
    }
}

const tree_file *tree_find(const tree *t, const char *name)
{
    const tree_file key = {.name = (char *)name};
    return t->count ? bsearch(&key, t->files, t->count, sizeof *t->files, by_name) : NULL;
}

static bool same_time(const tree_file *a, const tree_file *b)
{
    return a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

bool tree_file_equal(const tree_file *a, const tree_file *b)
{
    if ((a->mode & S_IFMT) != (b->mode & S_IFMT) || a->size != b->size ||
        (a->size && memcmp(a->data, b->data, a->size)))
        return false;
    const size_t n = strlen(a->name);
    return !S_ISREG(a->mode) || n <= 3 || strcmp(a->name + n - 3, ".tx") != 0 || same_time(a, b);
}

bool tree_same(const tree *a, const tree *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const tree_file *f = &a->files[i], *g = &b->files[i];
        same = strcmp(f->name, g->name) == 0 && f->mode == g->mode && (S_ISDIR(f->mode) || same_time(f, g)) &&
               tree_file_equal(f, g);
    }
    return same;
}
