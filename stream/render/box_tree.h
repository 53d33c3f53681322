/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree of boxes, for rays: nodes of four boxes, split where surface area times count is least. Its leaves are
 * triangles of a mesh, or objects of a scene. It is built once, by any number of threads, and has the same leaves for
 * each.
 */
#ifndef TXM_STREAM_BOX_TREE_H
#define TXM_STREAM_BOX_TREE_H
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/threads.h"
#include "render/lanes.h"

enum {
    TXM_WIDE = 4,  /* boxes of a node, triangles of a leaf */
    TXM_DEEP = 48, /* from here on parts are halved, which bounds the depth by 32 more */
    TXM_BOX_TREE_STACK = (TXM_WIDE - 1) * (TXM_DEEP + 32) + 1
};

typedef struct txm_box {
    lanes low, high; /* x, y, z, and a lane that is not used */
} txm_box;

/* A child is the address of a node or of triangles, or the number of an object, with a kind in the lowest bits; 0 is
 * none. */
enum { TXM_INNER = 1, TXM_LEAF = 2, TXM_KIND = 3 };

typedef struct txm_node {
    float side[2][3][TXM_WIDE]; /* lower and upper sides of the boxes by axis; a box that is not used is empty */
    uintptr_t child[TXM_WIDE];
} txm_node;

/* `number` is UINT32_MAX where there is none. */
typedef struct txm_triangles {
    float at[3][3][TXM_WIDE]; /* by vertex and axis */
    uint32_t number[TXM_WIDE];
} txm_triangles;

typedef struct txm_box_tree_block txm_box_tree_block;

typedef struct txm_box_tree {
    txm_box bounds;
    uintptr_t root;
    _Atomic(txm_box_tree_block *) blocks;
} txm_box_tree;

typedef struct txm_item {
    txm_box bounds;
    uint32_t number;
} txm_item;

/* Builds trees; `cancel` may be NULL, and the pool too: then one thread does. */
typedef struct txm_box_tree_job {
    stm_pool *pool;
    const volatile int *cancel;
    const float *positions; /* of a mesh; NULL: the leaves are objects */
    const uint32_t *corners;
} txm_box_tree_job;

/* `items` are reordered. Returns false if memory is exhausted or the job is cancelled. */
bool txm_box_tree_build(txm_box_tree *out, const txm_box_tree_job *job, txm_item *items, size_t count);
void txm_box_tree_free(txm_box_tree *t);

static inline txm_box txm_box_empty(void)
{
    return (txm_box){lanes_all(INFINITY), lanes_all(-INFINITY)};
}

/* A NaN in the second one is passed over. */
static inline txm_box txm_box_both(txm_box a, txm_box b)
{
    return (txm_box){lanes_min(b.low, a.low), lanes_max(b.high, a.high)};
}

static inline txm_box txm_box_with(txm_box b, lanes point)
{
    return (txm_box){lanes_min(point, b.low), lanes_max(point, b.high)};
}

#endif
