/* SPDX-License-Identifier: Apache-2.0
 * An OpenCL driver that crashes when it is loaded or, with TXM_CL_HANG, does not return. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    if (getenv("TXM_CL_HANG"))
        pause();
    raise(SIGSEGV);
}
