/* SPDX-License-Identifier: Apache-2.0
 * A folder with all that is in it, held in memory: kept, put back, compared. */
#ifndef FAULTS_TREE_H
#define FAULTS_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

typedef struct tree_file {
    char *name; /* below the folder */
    mode_t mode;
    struct timespec mtime;
    ino_t inode; /* names of the same file have it in common */
    char *data;  /* of a link: where it leads */
    size_t size;
} tree_file;

typedef struct tree {
    tree_file *files; /* by name */
    size_t count;
} tree;

/* All of these end the program where the disk does not do as it should: nothing is being tested here. */
tree tree_read(const char *folder);
tree tree_copy(const tree *t);
/* Makes the folder be as the tree is, and nothing else. */
void tree_restore(const tree *t, const char *folder);
void tree_clear(const char *folder);
void tree_free(tree *t);

const tree_file *tree_find(const tree *t, const char *name);
/* The same kind, content and, for tx files, time, which ties them to their sources. */
bool tree_file_equal(const tree_file *a, const tree_file *b);
/* The same names, contents, modes and times throughout. */
bool tree_same(const tree *a, const tree *b);
#endif
