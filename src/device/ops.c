/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing the table of row operations for this machine.
 *
 * The table is built once: scalar C first, then whatever the machine and $TXMILL_ISA allow overwrites entries. Every
 * entry gives the same bits, so the choice shows in time alone.
 */
#include "device/ops.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/isa.h"

/* In rising order of preference. A builder is NULL where the build has no such back-end. */
static const struct {
    const char *name;
    bool (*available)(void);
    void (*fill)(txm_ops *ops);
} backends[] = {
    {"scalar", txm_isa_scalar_available, NULL},
#if defined(__x86_64__)
    {"avx2", txm_isa_avx2_available, txm_ops_fill_avx2},
    {"avx512", txm_isa_avx512_available, txm_ops_fill_avx512},
#elif defined(__aarch64__)
    {"neon", txm_isa_neon_available, txm_ops_fill_neon},
#endif
};

enum { BACKENDS = sizeof backends / sizeof *backends };
static txm_ops tables[BACKENDS];
static int best;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void build(void)
{
    for (int i = 0; i < BACKENDS; i++) {
        if (!backends[i].available())
            continue;
        /* Each level builds on the one below it: AVX-512 machines run AVX2 code where no wider version pays. */
        for (int k = 0; k <= i; k++) {
            if (k == 0)
                txm_ops_fill_scalar(&tables[i]);
            else
                backends[k].fill(&tables[i]);
        }
        tables[i].isa = backends[i].name;
        best = i;
    }
    const char *forced = getenv("TXMILL_ISA");
    for (int i = 0; forced && i < BACKENDS; i++) {
        if (tables[i].isa && strcmp(forced, backends[i].name) == 0)
            best = i;
    }
}

const txm_ops *txm_ops_best(void)
{
    pthread_once(&once, build);
    return &tables[best];
}

const char *txm_ops_isa_name(size_t index)
{
    pthread_once(&once, build);
    for (int i = 0; i < BACKENDS; i++) {
        if (tables[i].isa && index-- == 0)
            return tables[i].isa;
    }
    return NULL;
}

const txm_ops *txm_ops_isa(const char *isa)
{
    pthread_once(&once, build);
    for (int i = 0; i < BACKENDS; i++) {
        if (tables[i].isa && strcmp(isa, tables[i].isa) == 0)
            return &tables[i];
    }
    return NULL;
}
