/* SPDX-License-Identifier: Apache-2.0
 * Makes the list of cases, and formats and parses their names. */
#include "cases.h"

#include <err.h>
#include <stdlib.h>

enum { TIMES = 5 };

static void add(cases *c, fault_kind kind, int call, unsigned at, int error)
{
    if ((c->count & (c->count - 1)) == 0) {
        c->faults = realloc(c->faults, (c->count ? 2 * c->count : 1) * sizeof *c->faults);
        if (!c->faults)
            err(2, "memory");
    }
    c->faults[c->count++] = (fault){kind, call, at, error};
}

static void add_errors(cases *c, fault_kind kind, int call, unsigned at, const int *errors)
{
    for (; *errors; errors++)
        add(c, kind, call, at, *errors);
}

static void add_call(cases *c, const scenario *s, int i, unsigned at)
{
    const fault_call *call = &fault_calls[i];
    if (s->calls) {
        add_errors(c, FAULT_ERROR, i, at, call->errors);
        add_errors(c, FAULT_ERROR_ON, i, at, call->errors_on);
        add_errors(c, FAULT_ERROR_LATE, i, at, call->errors_late);
        if (call->size >= 0) {
            add(c, FAULT_HALF, i, at, 0);
            add(c, FAULT_ONE, i, at, 0);
            if (!call->writes)
                add(c, FAULT_ZERO, i, at, 0);
        }
    }
    if (s->deaths) {
        add(c, FAULT_KILL, i, at, 0);
        if (!s->peers)
            add(c, FAULT_TERM, i, at, 0);
    }
}

/* SplitMix64. */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The groups take turns as long as they have cases left. */
static void mix(cases *c, uint64_t seed)
{
    size_t count[GROUPS] = {0}, at[GROUPS] = {0};
    fault *sorted = malloc(c->count * sizeof *sorted + 1), *part[GROUPS];
    if (!sorted)
        err(2, "memory");
    part[0] = sorted;
    for (group g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < c->count; i++)
            if (case_group(&c->faults[i]) == g)
                part[g][count[g]++] = c->faults[i];
        for (size_t i = count[g]; i > 1; i--) {
            const size_t other = random_bits(&seed) % i;
            const fault f = part[g][i - 1];
            part[g][i - 1] = part[g][other];
            part[g][other] = f;
        }
        if (g + 1 < GROUPS)
            part[g + 1] = part[g] + count[g];
    }
    for (size_t done = 0; done < c->count;)
        for (group g = 0; g < GROUPS; g++)
            if (at[g] < count[g])
                c->faults[done++] = part[g][at[g]++];
    free(sorted);
}

cases cases_of(const stage *g, uint64_t seed)
{
    const scenario *s = g->scenario;
    cases c = {0};
    /* Beside other processes no two runs are the same, so a case is worth more than one run. */
    for (unsigned time = 0; time < (s->peers ? TIMES : 1); time++)
        for (int i = 0; i < fault_call_count; i++)
            for (unsigned n = 1; n <= g->counts.counts[i]; n++)
                add_call(&c, s, i, n);
    for (unsigned n = 1; s->allocations && n <= g->counts.allocations; n++) {
        add(&c, FAULT_ALLOCATION, -1, n, 0);
        add(&c, FAULT_ALLOCATIONS, -1, n, 0);
    }
    mix(&c, seed);
    return c;
}

group case_group(const fault *f)
{
    return fault_is_death(f) ? GROUP_DEATHS : fault_is_allocation(f) ? GROUP_ALLOCATIONS : GROUP_CALLS;
}
