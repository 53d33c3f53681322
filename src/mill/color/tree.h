/* SPDX-License-Identifier: Apache-2.0
 *
 * A config as a tree of YAML nodes, of which parts can be left out when it is written again: libyaml's document with a
 * mark per node. reduce.c tries one part after another, so leaving a part out must be cheap to undo: nodes are marked
 * and skipped when the tree is written, but never removed.
 */
#ifndef TXM_COLOR_TREE_H
#define TXM_COLOR_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/bytes.h"
#include "txtile/status.h"

/* libyaml does not always report lack of memory as such: it may give no reason at all. */
static inline bool txm_yaml_lacks_memory(const yaml_parser_t *parser)
{
    return parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR;
}

typedef struct txm_tree {
    yaml_document_t document;
    bool *dropped; /* nodes to skip when writing, by number */
    size_t nodes;  /* number of nodes in `dropped` */
    bool has_document;
} txm_tree;

/* Nodes are numbered from 1, as in libyaml; 0 means none. */
txm_status txm_tree_load(txm_tree *tree, const char *text, size_t size_bytes, txm_error *err);
void txm_tree_free(txm_tree *tree); /* also frees a tree that failed to load */

int txm_tree_root(txm_tree *tree);
/* The value of a mapping's key; 0 if `node` is not a mapping or lacks the key. */
int txm_tree_value(txm_tree *tree, int node, const char *key);
/* Text of a scalar; NULL for other nodes. */
const char *txm_tree_text(txm_tree *tree, int node);
/* The number of items of a list or entries of a mapping, 0 for others; and the n-th item, or the n-th entry's value
 * (and key). */
size_t txm_tree_count(txm_tree *tree, int node);
int txm_tree_item(txm_tree *tree, int node, size_t n, int *key);

/* Skips a node (a list's item, an entry's value) when writing, or restores it. Nodes that were added after loading
 * cannot be dropped. */
void txm_tree_drop(txm_tree *tree, int node, bool drop);
bool txm_tree_is_dropped(const txm_tree *tree, int node);

/* Replaces the value of an existing key by a string. false if memory is exhausted or the key does not exist. */
bool txm_tree_set(txm_tree *tree, int mapping, const char *key, const char *text);
/* Appends a string to the list under `key`, which is created if it does not exist. false if memory is exhausted or
 * `mapping` is not a mapping. */
bool txm_tree_append(txm_tree *tree, int mapping, const char *key, const char *text);

/* Appends a tagged mapping of `count` keys and values to the list under `key`, which is created if it does not exist.
 * false if memory is exhausted. */
bool txm_tree_append_mapping(txm_tree *tree, int mapping, const char *key, const char *tag,
                             const char *const (*entries)[2], size_t count);

txm_status txm_tree_write(txm_tree *tree, txm_bytes *out, txm_error *err);
#endif
