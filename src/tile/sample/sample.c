/* SPDX-License-Identifier: Apache-2.0
 *
 * The sampler's public functions: options, and the choice of a back-end for this machine.
 *
 * The back-end is chosen once, from the processor's features and $TXMILL_ISA. Options are checked here, so that
 * lookups, which run hundreds of millions of times, need no checks.
 */
#include <string.h>

#include "base/fail.h"
#include "tile/ops/ops.h"
#include "tile/sample/filter.h"
#include "tile/sample/sample_ops.h"
#include "tile/sample/wrap.h"

/* NULL if the build or the machine lacks it. */
const txm_sample_ops *txm_sample_ops_isa(const char *isa)
{
    static const txm_sample_ops *const tables[] = {
        &txm_sample_scalar,
#if defined(__x86_64__)
        &txm_sample_avx2,
        &txm_sample_avx512,
#elif defined(__aarch64__)
        &txm_sample_neon,
#endif
    };
    for (size_t i = 0; txm_ops_isa(isa) && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i]->isa, isa) == 0)
            return tables[i];
    return NULL;
}

static txm_lookup_result choose_sample(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *state, float out[4]);
static txm_lookup_result choose_sample_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4], float du[4],
                                         float dv[4]);
static txm_lookup_result choose_sample_n(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *batch, txm_lookup_state *state);

static uint64_t choose_texels_n(const txm_view *view, const txm_texels *batch, txm_texel_miss **misses);

/* The initial table, whose functions choose a back-end on the first lookup; threads that race here choose the same one.
 * After that a lookup costs only two more loads and a jump. */
static const txm_sample_ops choosing = {"none", choose_sample, NULL, choose_sample_d, choose_sample_n, choose_texels_n};
static const txm_sample_ops *chosen = &choosing;

/* A relaxed load is enough because both tables are constant. */
static const txm_sample_ops *ops(void)
{
    return __atomic_load_n(&chosen, __ATOMIC_RELAXED);
}

/* May run in several threads at once, all of which store the same pointer. */
static const txm_sample_ops *choose_for_machine(void)
{
    const txm_sample_ops *best = txm_sample_ops_isa(txm_ops_best()->isa);
    __atomic_store_n(&chosen, best, __ATOMIC_RELAXED);
    return best;
}

static txm_lookup_result choose_sample(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return choose_for_machine()->sample(view, texture, how, at, state, out);
}

static txm_lookup_result choose_sample_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4], float du[4],
                                         float dv[4])
{
    return choose_for_machine()->sample_d(view, texture, how, at, state, out, du, dv);
}

static txm_lookup_result choose_sample_n(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *batch, txm_lookup_state *state)
{
    return choose_for_machine()->sample_n(view, texture, how, batch, state);
}

static uint64_t choose_texels_n(const txm_view *view, const txm_texels *batch, txm_texel_miss **misses)
{
    return choose_for_machine()->texels_n(view, batch, misses);
}

uint64_t txm_texels_n(const txm_view *view, const txm_texels *batch)
{
    return ops()->texels_n(view, batch, NULL);
}

uint64_t txm_texels_coarser_n(const txm_view *view, const txm_texels *batch, txm_texel_miss *misses, size_t *count)
{
    txm_texel_miss *next = misses;
    const uint64_t texels = ops()->texels_n(view, batch, &next);
    *count = (size_t)(next - misses);
    return texels;
}

txm_lookup_result txm_sample(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                             txm_lookup_state *state, float out[4])
{
    return ops()->sample(view, texture, how, at, state, out);
}

txm_lookup_result txm_sample_d(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                               txm_lookup_state *state, float out[4], float du[4], float dv[4])
{
    return ops()->sample_d(view, texture, how, at, state, out, du, dv);
}

txm_lookup_result txm_sample_n(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *batch,
                               txm_lookup_state *state)
{
    txm_sampler certain;
    if (!batch->random)
        how = txm_sampler_without_chance(how, &certain);
    return ops()->sample_n(view, texture, how, batch, state);
}

/* ---- options ---- */

static const char *const rules[] = {"cycles", "ellipse", "probes", "given"};
static const char *const modes[] = {"stochastic", "stochastic-full", "floor", "trilinear"};
#define FILTER_WORD(name, word, first, others, draws, about) [TXM_FILTER_##name] = word,
#define FILTER_ABOUT(name, word, first, others, draws, about) [TXM_FILTER_##name] = about,
static const char *const filters[] = {TXM_FILTER_TABLE(FILTER_WORD)};
static const char *const filters_about[] = {TXM_FILTER_TABLE(FILTER_ABOUT)};
enum {
    RULES = sizeof rules / sizeof *rules,
    MODES = sizeof modes / sizeof *modes,
    FILTERS = sizeof filters / sizeof *filters
};
_Static_assert(FILTERS <= 32, "filter.h keeps sets of filters in words of 32 bits");

/* NULL beyond the last value, here and below; callers use that to check and list options. */
const char *txm_level_rule_name(txm_level_rule rule)
{
    return (unsigned)rule < RULES ? rules[rule] : NULL;
}

const char *txm_level_mode_name(txm_level_mode mode)
{
    return (unsigned)mode < MODES ? modes[mode] : NULL;
}

const char *txm_filter_name(txm_filter filter)
{
    return (unsigned)filter < FILTERS ? filters[filter] : NULL;
}

const char *txm_filter_about(txm_filter filter)
{
    return (unsigned)filter < FILTERS ? filters_about[filter] : NULL;
}

bool txm_filter_is_stochastic(txm_filter filter)
{
    return (unsigned)filter < FILTERS && txm_filter_draws((int)filter);
}

/* Rule 0 and mode 0 are those of Cycles. */
void txm_sampler_init(txm_sampler *how)
{
    *how = (txm_sampler){.filter = TXM_FILTER_LINEAR, .anisotropy = TXM_MAX_ANISOTROPY};
}

/* The error names the member and its value. */
txm_status txm_sampler_check(const txm_sampler *how, txm_error *err)
{
    txm_error_clear(err);
    if (how->rule >= RULES)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown level rule %u", how->rule);
    if (how->mode >= MODES)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown level mode %u", how->mode);
    if (how->filter >= FILTERS)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown filter %u", how->filter);
    if (how->on_miss > TXM_ON_MISS_FAIL)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown stand-in %u for missed tiles", how->on_miss);
    if (how->anisotropy < 1 || how->anisotropy > TXM_MAX_ANISOTROPY)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: anisotropy is %u, and must be 1 to %d", how->anisotropy,
                        TXM_MAX_ANISOTROPY);
    if (how->after & ~(TXM_AFTER_UNASSOCIATE | TXM_AFTER_SRGB))
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown bits in `after`: %u", how->after);
    if (how->rule == TXM_LEVEL_RULE_GIVEN && txm_filter_draws_in_footprint(how->filter))
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: the filter %s needs a footprint, but only a level is given",
                        filters[how->filter]);
    if (how->chance > TXM_CHANCE_NONE)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: unknown kind of random numbers: %u", how->chance);
    if (how->reserved)
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: it was not initialised: call txm_sampler_init first");
    if (!(how->mip_bias >= -32.0f && how->mip_bias <= 32.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "sampler: the mip bias must be from -32 to 32, not %g",
                        (double)how->mip_bias);
    return TXM_OK;
}

/* The level that a lookup would choose, without looking anything up. */
float txm_level_of(uint32_t width, uint32_t height, const txm_sampler *how, const txm_lookup *at, uint32_t *random)
{
    uint32_t none = 0;
    txm_footprint f = txm_footprint_of(how, (float)width, (float)height, at->dudx, at->dvdx, at->dudy, at->dvdy);
    return txm_level_jitter(how, f.level, random ? random : &none);
}

/* The last row lacks one column, whose number would need five digits. */
uint32_t txm_udim_of(float *u, float *v)
{
    enum { ROWS = 900, LAST = 9999 - 1001 };
    uint32_t index;
    return txm_udim_place(u, v, ROWS, &index) && index <= LAST ? 1001 + index : 0;
}
