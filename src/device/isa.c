/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine can run.
 *
 * The processor is asked, not the compiler, since one build runs on many machines. F16C is required with AVX2 because
 * half floats are everywhere in textures.
 */
#include "device/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool txm_isa_scalar_available(void)
{
    return true;
}

#if defined(__x86_64__)
/* Clang 14's __builtin_cpu_supports does not know the half conversions; that the system saves the registers they use is
 * what "avx2" tells. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

bool txm_isa_avx2_available(void)
{
    return __builtin_cpu_supports("avx2") && has_f16c();
}

bool txm_isa_avx512_available(void)
{
    return txm_isa_avx2_available() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
bool txm_isa_neon_available(void)
{
    return true; /* part of the architecture */
}
#endif
