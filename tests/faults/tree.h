/* SPDX-License-Identifier: Apache-2.0
 * A folder with its content, held in memory so that it can be restored and compared. */
#ifndef FAULTS_TREE_H
#define FAULTS_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

typedef struct tree_file {
    char *name; /* relative to the folder */
    mode_t mode;
    struct timespec mtime;
    ino_t inode; /* names of the same file share it */
    char *data;  /* of a link: its target */
    size_t size;
} tree_file;

typedef struct tree {
    tree_file *files; /* sorted by name */
    size_t count;
} tree;

/* All of these end the program if the disk fails, because they are not under test. */
tree tree_read(const char *folder);
tree tree_copy(const tree *t);
/* Makes the folder contain what the tree does, and nothing else. */
void tree_restore(const tree *t, const char *folder);
void tree_clear(const char *folder);
void tree_free(tree *t);

const tree_file *tree_find(const tree *t, const char *name);
/* Compares type, content and, for tx files, the time, which ties them to their sources. */
bool tree_file_equal(const tree_file *a, const tree_file *b);
/* Compares all names, contents, modes and times. */
bool tree_same(const tree *a, const tree *b);
/* printf into a new string; the program ends if memory is exhausted. */
char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
