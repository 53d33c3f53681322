/* SPDX-License-Identifier: Apache-2.0
 * What this machine can run. */
#include "device/isa.h"

bool txm_isa_scalar_available(void)
{
    return true;
}

#if defined(__x86_64__)
bool txm_isa_avx2_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
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
