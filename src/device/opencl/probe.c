/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill-opencl-probe: the helper process in which the plug-in tries out drivers first (helper.c).
 *
 * Without arguments, it loads all OpenCL drivers and lists their devices. `build N` compiles the kernels whose source
 * is on standard input for device N, and writes the driver's binary, or an error message with exit code
 * OCL_HELPER_REFUSED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/machine.h"
#include "base/whole.h"
#include "device/opencl/opencl_impl.h"

/* Reads the kernels' source from standard input, which is a file; NULL if it cannot be read. */
static char *read_source(void)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) || st.st_size <= 0 || st.st_size > 1 << 28)
        return NULL;
    char *text = calloc((size_t)st.st_size + 1, 1);
    if (text && txm_read_all(STDIN_FILENO, text, (size_t)st.st_size)) {
        free(text);
        text = NULL;
    }
    return text;
}

static int build(ocl_device *d)
{
    char *text = read_source();
    const char *const source[] = {text, NULL};
    uint8_t *binary = NULL;
    size_t size = 0;
    const int code = text && !ocl_open(d) ? ocl_compile(d, source, &binary, &size) : OCL_HELPER_FAILED;
    const char *why = code == OCL_NO_BUILD ? txm_rt_text(code) : NULL;
    bool written = false;
    if (why)
        written = txm_write_all(STDOUT_FILENO, why, strlen(why)) == 0;
    else if (!code)
        written = txm_write_all(STDOUT_FILENO, binary, size) == 0;
    free(binary);
    free(text);
    return !written ? OCL_HELPER_FAILED : why ? OCL_HELPER_REFUSED : 0;
}

int main(int argc, char **argv)
{
    ocl_device *list;
    uint32_t count = 0;
    /* A driver's crash is expected here and should not leave a core file. */
    txm_limit_set(TXM_LIMIT_CORE, 0);
    ocl_is_helper = true;
    const int code = ocl_devices(&list, &count);
    if (argc < 3)
        return 0;
    const unsigned long number = strtoul(argv[2], NULL, 10);
    return code || number >= count ? OCL_HELPER_FAILED : build(&list[number]);
}
