/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds trees from the root: a part is split into four at most, the largest first, each where a division into 16 bins
 * along one axis costs least. Parts of many items are split by other threads.
 */
#include "render/box_tree.h"

#include <string.h>

#include "base/base.h"

enum {
    BINS = 16,      /* places where a part may be split, along each axis */
    ALONE = 1 << 14 /* parts with more items are split by several threads */
};

/* Memory of nodes and leaves: blocks in a list, which several threads fill, each with a block of its own. */
struct stm_box_tree_block {
    struct stm_box_tree_block *next;
    size_t used;
};
enum { BLOCK_BYTES = 1 << 16, BLOCK_HEAD = 64 };

/* Half of the surface; an empty box has none. */
static float area(stm_box b)
{
    const lanes s = b.high - b.low;
    const float half = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
    return s[0] >= 0.0f ? half : 0.0f;
}

typedef struct builder {
    stm_box_tree *out;
    const stm_box_tree_job *job;
    size_t most; /* items of a leaf */
    _Atomic bool failed;
} builder;

/* Bytes with the alignment of nodes, from the caller's own block. NULL: no memory. */
static void *take(builder *b, stm_box_tree_block **own, size_t bytes)
{
    if (!*own || (*own)->used + bytes > BLOCK_BYTES) {
        stm_box_tree_block *made = aligned_alloc(BLOCK_HEAD, BLOCK_BYTES);
        if (!made) {
            atomic_store(&b->failed, true);
            return NULL;
        }
        made->used = BLOCK_HEAD;
        made->next = atomic_load(&b->out->blocks);
        while (!atomic_compare_exchange_weak(&b->out->blocks, &made->next, made)) {
        }
        *own = made;
    }
    void *found = (char *)*own + (*own)->used;
    (*own)->used += (bytes + 15) / 16 * 16;
    return found;
}

void stm_box_tree_free(stm_box_tree *t)
{
    for (stm_box_tree_block *at = atomic_load(&t->blocks), *next; at; at = next) {
        next = at->next;
        free(at);
    }
}

static uintptr_t leaf(builder *b, stm_box_tree_block **own, const stm_item *p, size_t count)
{
    if (!b->job->positions)
        return (uintptr_t)p->number << 2 | STM_LEAF;
    stm_triangles *t = take(b, own, sizeof *t);
    if (!t)
        return 0;
    for (size_t i = 0; i < STM_WIDE; i++) {
        const uint32_t number = p[i < count ? i : 0].number;
        for (int v = 0; v < 3; v++)
            for (int axis = 0; axis < 3; axis++)
                t->at[v][axis][i] =
                    b->job->positions[3 * (size_t)b->job->corners[3 * (size_t)number + (size_t)v] + (size_t)axis];
        t->number[i] = i < count ? number : UINT32_MAX;
    }
    return (uintptr_t)t | STM_LEAF;
}

static lanes middle(const stm_item *p)
{
    return p->bounds.low + p->bounds.high;
}

/* Where to split, by the middles of items along an axis: those of a bin below `bin` are on the left. */
typedef struct split {
    float cost, from, scale;
    int axis, bin;
} split;

static int bin_of(const split *s, const stm_item *p)
{
    const float at = (middle(p)[s->axis] - s->from) * s->scale; /* NaN counts as 0 */
    return at >= (float)BINS ? BINS - 1 : at > 0.0f ? (int)at : 0;
}

/* The cheapest of the splits along one axis. */
static split along(const stm_item *p, size_t count, stm_box middles, int axis)
{
    const float width = middles.high[axis] - middles.low[axis];
    split found = {INFINITY, middles.low[axis], (float)BINS * 0.999f / width, axis, 0};
    stm_box bounds[BINS], left[BINS], right = stm_box_empty();
    size_t counts[BINS] = {0}, before = 0, after = 0;
    if (!(width > 0.0f) || !isfinite(width) || !isfinite(found.scale) || !isfinite(found.from))
        return found;
    for (int i = 0; i < BINS; i++)
        bounds[i] = stm_box_empty();
    for (size_t i = 0; i < count; i++) {
        const int bin = bin_of(&found, &p[i]);
        bounds[bin] = stm_box_both(bounds[bin], p[i].bounds);
        counts[bin]++;
    }
    left[0] = bounds[0];
    for (int i = 1; i < BINS; i++)
        left[i] = stm_box_both(left[i - 1], bounds[i]);
    before = count;
    for (int i = BINS - 1; i > 0; i--) {
        right = stm_box_both(right, bounds[i]);
        before -= counts[i];
        after += counts[i];
        const float cost = area(left[i - 1]) * (float)before + area(right) * (float)after;
        if (before && after && cost < found.cost) {
            found.cost = cost;
            found.bin = i;
        }
    }
    return found;
}

/* Puts items of the left part first; returns how many. Where no split is better than another, or the tree has become
 * too deep, the part is halved. */
static size_t parted(stm_item *p, size_t count, unsigned depth)
{
    stm_box middles = stm_box_empty();
    split best = {.cost = INFINITY};
    for (size_t i = 0; i < count; i++)
        middles = stm_box_with(middles, middle(&p[i]));
    for (int axis = 0; axis < 3 && depth < STM_DEEP; axis++) {
        const split found = along(p, count, middles, axis);
        if (found.cost < best.cost)
            best = found;
    }
    if (!(best.cost < INFINITY))
        return count / 2;
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (bin_of(&best, &p[i]) < best.bin) {
            const stm_item other = p[left];
            p[left++] = p[i];
            p[i] = other;
        }
    return left;
}

typedef struct range {
    stm_item *first;
    size_t count;
    stm_box bounds;
} range;

static range range_of(stm_item *first, size_t count)
{
    range r = {first, count, stm_box_empty()};
    for (size_t i = 0; i < count; i++)
        r.bounds = stm_box_both(r.bounds, first[i].bounds);
    return r;
}

typedef struct task {
    builder *builder;
    range part;
    unsigned depth;
    uintptr_t *out;
} task;

static uintptr_t subtree(builder *b, stm_box_tree_block **own, range whole, unsigned depth);

static void run_task(void *data)
{
    task *j = data;
    stm_box_tree_block *own = NULL;
    *j->out = subtree(j->builder, &own, j->part, j->depth);
}

/* Splits the largest of the parts until there are four, or none can be split. */
static int parts_of(range whole, size_t most, unsigned depth, range *parts)
{
    int count = 1;
    parts[0] = whole;
    while (count < STM_WIDE) {
        int largest = -1;
        for (int i = 0; i < count; i++)
            if (parts[i].count > most && (largest < 0 || area(parts[i].bounds) > area(parts[largest].bounds)))
                largest = i;
        if (largest < 0)
            break;
        const range cut = parts[largest];
        const size_t left = parted(cut.first, cut.count, depth);
        parts[largest] = range_of(cut.first, left);
        parts[count++] = range_of(cut.first + left, cut.count - left);
    }
    return count;
}

/* Returns a child; 0 if memory is exhausted or the build is cancelled. */
static uintptr_t subtree(builder *b, stm_box_tree_block **own, range whole, unsigned depth)
{
    range parts[STM_WIDE];
    task tasks[STM_WIDE];
    if (atomic_load(&b->failed) || stm_is_cancelled(b->job->cancel))
        return 0;
    if (whole.count <= b->most)
        return leaf(b, own, whole.first, whole.count);
    stm_node *n = take(b, own, sizeof *n);
    if (!n)
        return 0;
    const int count = parts_of(whole, b->most, depth, parts);
    stm_group *group = b->job->pool && whole.count > ALONE ? stm_group_new(b->job->pool) : NULL;
    for (int i = 0; i < STM_WIDE; i++) {
        const stm_box bounds = i < count ? parts[i].bounds : stm_box_empty();
        for (int axis = 0; axis < 3; axis++) {
            n->side[0][axis][i] = bounds.low[axis];
            n->side[1][axis][i] = bounds.high[axis];
        }
        n->child[i] = 0;
    }
    for (int i = 0; i < count; i++) {
        tasks[i] = (task){b, parts[i], depth + 1, &n->child[i]};
        if (!group || parts[i].count <= b->most || !stm_group_submit(group, run_task, &tasks[i]))
            n->child[i] = subtree(b, own, parts[i], depth + 1);
    }
    stm_group_free(group);
    return (uintptr_t)n | STM_INNER;
}

bool stm_box_tree_build(stm_box_tree *out, const stm_box_tree_job *job, stm_item *items, size_t count)
{
    builder b = {out, job, job->positions ? STM_WIDE : 1, false};
    stm_box_tree_block *own = NULL;
    const range whole = range_of(items, count);
    out->bounds = whole.bounds;
    out->root = count ? subtree(&b, &own, whole, 0) : 0;
    return !atomic_load(&b.failed) && !stm_is_cancelled(job->cancel);
}
