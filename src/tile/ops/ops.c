/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the table of row operations for this machine. The table is built once: scalar C first, then the back-ends
 * that the machine and $TXMILL_ISA allow overwrite entries. Every entry gives the same bits, so the choice affects
 * only time.
 */
#include "tile/ops/ops.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- what the processor can run ------------------------------------------------------------------------------------
 *
 * This is detected at run time, since one build runs on many machines. F16C is required with AVX2, because half floats
 * are common in textures. */

static bool has_scalar(void)
{
    return true;
}

#if defined(__x86_64__)
/* Clang 14's __builtin_cpu_supports does not support f16c; "avx2" implies that the system saves the registers. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && has_f16c();
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
static bool has_neon(void)
{
    return true; /* part of the architecture */
}
#endif

/* ---- the tables -------------------------------------------------------------------------------------------------- */

/* Back-ends in rising order of preference. A builder is NULL if the build lacks the back-end. */
static const struct {
    const char *name;
    bool (*available)(void);
    void (*fill)(txm_ops *ops);
} backends[] = {
    {"scalar", has_scalar, NULL},
#if defined(__x86_64__)
    {"avx2", has_avx2, txm_ops_fill_avx2},
    {"avx512", has_avx512, txm_ops_fill_avx512},
#elif defined(__aarch64__)
    {"neon", has_neon, txm_ops_fill_neon},
#endif
};

enum { BACKENDS = sizeof backends / sizeof *backends };
static txm_ops tables[BACKENDS];
static int best;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Called once. An unknown or unavailable $TXMILL_ISA is ignored: it is for tests, which check which ISA is used. */
static void choose_ops(void)
{
    for (int i = 0; i < BACKENDS; i++) {
        if (!backends[i].available())
            continue;
        /* Each level is built on the one below it: AVX-512 machines run AVX2 code where wider vectors are not faster.
         */
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

/* Returns the same table for the whole life of the process. */
const txm_ops *txm_ops_best(void)
{
    pthread_once(&once, choose_ops);
    return &tables[best];
}

/* Lists only ISAs that this machine can run, scalar first. NULL ends the list. */
const char *txm_ops_isa_name(size_t index)
{
    pthread_once(&once, choose_ops);
    for (int i = 0; i < BACKENDS; i++) {
        if (tables[i].isa && index-- == 0)
            return tables[i].isa;
    }
    return NULL;
}

/* Tests and measurements compare tables. NULL if the ISA is not available. */
const txm_ops *txm_ops_isa(const char *isa)
{
    pthread_once(&once, choose_ops);
    for (int i = 0; i < BACKENDS; i++) {
        if (tables[i].isa && strcmp(isa, tables[i].isa) == 0)
            return &tables[i];
    }
    return NULL;
}

/* ---- functions of the public headers ----------------------------------------------------------------------------- */

void txm_samples_to_float(txm_type type, const void *samples, float *out, size_t count)
{
    txm_ops_best()->to_float(type, samples, out, count);
}

void txm_samples_from_float(txm_type type, const float *values, void *out, size_t count)
{
    txm_ops_best()->from_float(type, values, out, count);
}
