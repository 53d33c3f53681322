/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs drivers in a process of their own first.
 *
 * A broken driver can crash or hang the process that loads it, and so can its compiler for one particular kernel.
 * Therefore the helper txmill-opencl-probe loads all drivers before this process does, and compiles the kernels that
 * the cache lacks. It exits by itself, or the driver crashes it, or it is killed after a timeout, which
 * TXMILL_OPENCL_SECONDS sets for slow machines and for tests. Input and output are files in memory, so neither process
 * waits for the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/library.h"
#include "base/os/pages.h"
#include "base/os/process.h"
#include "base/whole.h"
#include "device/opencl/opencl_impl.h"

enum { START_SECONDS = 30, BUILD_SECONDS = 300 };

bool ocl_is_helper;

/* The helper is installed beside this plug-in. */
static bool helper_path(char *out, size_t room)
{
    static const char in_this_plugin;
    char here[PATH_MAX];
    if (!txm_library_at(&in_this_plugin, here))
        return false;
    int n = snprintf(out, room, "%.*stxmill-opencl-probe", (int)(strrchr(here, '/') - here) + 1, here);
    return n > 0 && (size_t)n < room && access(out, X_OK) == 0;
}

static unsigned seconds_or(unsigned usual)
{
    const char *text = getenv("TXMILL_OPENCL_SECONDS");
    const unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n > 0 && n <= 86400 ? (unsigned)n : usual;
}

typedef enum outcome {
    NOT_RUN, /* it could not be started, or other code has collected its status, which is not held against the driver */
    TOO_SLOW,
    ENDED
} outcome;

/* Runs the helper, with files for its input and output (TXM_FILE_SAME: none). */
static outcome run_helper(char *const argv[], int in, int out, unsigned seconds, txm_end *end)
{
    const txm_program helper = {.argv = argv, .file_count = 3, .files = {in, out, TXM_FILE_SAME}};
    long pid;
    if (txm_process_start(&helper, &pid) != 0)
        return NOT_RUN;
    if (txm_process_wait(pid, seconds, end))
        return end->cause == TXM_END_UNKNOWN ? NOT_RUN : ENDED;
    txm_process_kill(pid, false);
    txm_process_wait(pid, -1, end);
    return TOO_SLOW;
}

int ocl_probe(void)
{
    char path[4096], text[OCL_TEXT_BYTES];
    char *const argv[] = {path, NULL};
    const unsigned seconds = seconds_or(START_SECONDS);
    txm_end end;
    if (!helper_path(path, sizeof path))
        return 0;
    const outcome how = run_helper(argv, TXM_FILE_SAME, TXM_FILE_SAME, seconds, &end);
    if (how == TOO_SLOW)
        snprintf(text, sizeof text, "a driver did not answer within %u s; OCL_ICD_VENDORS names other drivers",
                 seconds);
    else if (how == ENDED && end.cause != TXM_END_EXIT)
        snprintf(text, sizeof text, "a driver crashed when it was started (%s); OCL_ICD_VENDORS names other drivers",
                 txm_end_text(&end));
    else
        return 0;
    ocl_say(OCL_BROKEN, text);
    return OCL_BROKEN;
}

static bool put_source(int file, const txm_rt_program *p)
{
    for (const char *const *line = p->source; *line; line++)
        if (txm_write_all(file, *line, strlen(*line)))
            return false;
    return lseek(file, 0, SEEK_SET) == 0;
}

/* Reads the helper's whole output and appends a 0; NULL if there is none. */
static uint8_t *take_output(int file, size_t *size)
{
    struct stat st;
    if (fstat(file, &st) || st.st_size <= 0 || st.st_size > 1 << 28 || lseek(file, 0, SEEK_SET) != 0)
        return NULL;
    uint8_t *bytes = calloc((size_t)st.st_size + 1, 1);
    *size = (size_t)st.st_size;
    if (bytes && txm_read_all(file, bytes, *size)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* Turns the helper's end into a code and a message. */
static int judge_build(outcome how, const txm_end *end, unsigned seconds, const char *said)
{
    char text[OCL_TEXT_BYTES];
    if (how == TOO_SLOW)
        snprintf(text, sizeof text, "its driver did not compile the kernels within %u s", seconds);
    else if (how == ENDED && end->cause != TXM_END_EXIT)
        snprintf(text, sizeof text, "its driver crashed while it compiled the kernels (%s)", txm_end_text(end));
    else if (how == ENDED && end->code == OCL_HELPER_REFUSED && said)
        snprintf(text, sizeof text, "%s", said);
    else
        return 0;
    ocl_say(OCL_NO_BUILD, text);
    return OCL_NO_BUILD;
}

int ocl_build_elsewhere(const ocl_device *d, const txm_rt_program *p, uint8_t **binary, size_t *size)
{
    char path[4096], word[] = "build", number[16];
    char *const argv[] = {path, word, number, NULL};
    const unsigned seconds = seconds_or(BUILD_SECONDS);
    txm_end end = {TXM_END_EXIT, 0};
    outcome how = NOT_RUN;
    int code = 0;
    *binary = NULL;
    *size = 0;
    snprintf(number, sizeof number, "%u", d->number);
    const int in = txm_memory_file("txmill-kernels"), out = txm_memory_file("txmill-binary");
    if (helper_path(path, sizeof path) && in >= 0 && out >= 0 && put_source(in, p)) {
        how = run_helper(argv, in, out, seconds, &end);
        *binary = take_output(out, size);
        code = judge_build(how, &end, seconds, (const char *)*binary);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (code || how != ENDED || end.cause != TXM_END_EXIT || end.code != 0) {
        free(*binary);
        *binary = NULL;
    }
    return code;
}
