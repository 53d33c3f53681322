/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree of boxes, for rays: nodes of four boxes, split where surface area times count is least. Its leaves are
 * triangles of a mesh, or objects of a scene. It is built once, by any number of threads, and has the same leaves for
 * each.
 */
#ifndef STM_STREAM_BOX_TREE_H
#define STM_STREAM_BOX_TREE_H
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/threads.h"
#include "render/lanes.h"

enum {
    STM_WIDE = 4,  /* boxes of a node, triangles of a leaf */
    STM_DEEP = 48, /* from here on parts are halved, which bounds the depth by 32 more */
    STM_BOX_TREE_STACK = (STM_WIDE - 1) * (STM_DEEP + 32) + 1
};

typedef struct stm_box {
    lanes low, high; /* x, y, z, and a lane that is not used */
} stm_box;

/* A child is the address of a node or of triangles, or the number of an object, with a kind in the lowest bits; 0 is
 * none. */
enum { STM_INNER = 1, STM_LEAF = 2, STM_KIND = 3 };

typedef struct stm_node {
    float side[2][3][STM_WIDE]; /* lower and upper sides of the boxes by axis; a box that is not used is empty */
    uintptr_t child[STM_WIDE];
} stm_node;

/* `number` is UINT32_MAX where there is none. */
typedef struct stm_triangles {
    float at[3][3][STM_WIDE]; /* by vertex and axis */
    uint32_t number[STM_WIDE];
} stm_triangles;

typedef struct stm_box_tree_block stm_box_tree_block;

typedef struct stm_box_tree {
    stm_box bounds;
    uintptr_t root;
    _Atomic(stm_box_tree_block *) blocks;
} stm_box_tree;

typedef struct stm_item {
    stm_box bounds;
    uint32_t number;
} stm_item;

/* Builds trees; `cancel` may be NULL, and the pool too: then one thread does. */
typedef struct stm_box_tree_job {
    stm_pool *pool;
    const volatile int *cancel;
    const float *positions; /* of a mesh; NULL: the leaves are objects */
    const uint32_t *corners;
} stm_box_tree_job;

/* `items` are reordered. Returns false if memory is exhausted or the job is cancelled. */
bool stm_box_tree_build(stm_box_tree *out, const stm_box_tree_job *job, stm_item *items, size_t count);
void stm_box_tree_free(stm_box_tree *t);

static inline stm_box stm_box_empty(void)
{
    return (stm_box){lanes_all(INFINITY), lanes_all(-INFINITY)};
}

/* A NaN in the second one is passed over. */
static inline stm_box stm_box_both(stm_box a, stm_box b)
{
    return (stm_box){lanes_min(b.low, a.low), lanes_max(b.high, a.high)};
}

static inline stm_box stm_box_with(stm_box b, lanes point)
{
    return (stm_box){lanes_min(point, b.low), lanes_max(point, b.high)};
}

#endif
