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
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/opencl/opencl_impl.h"

enum { START_SECONDS = 30, BUILD_SECONDS = 300, STEP_MS = 2 };

extern char **environ;

bool ocl_is_helper;

/* The helper is installed beside this plug-in. */
static bool helper_path(char *out, size_t room)
{
    Dl_info here;
    static const char in_this_plugin;
    if (!dladdr(&in_this_plugin, &here) || !here.dli_fname)
        return false;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) + 1 : 0;
    int n = snprintf(out, room, "%.*stxmill-opencl-probe", folder, here.dli_fname);
    return n > 0 && (size_t)n < room && access(out, X_OK) == 0;
}

static unsigned seconds_or(unsigned usual)
{
    const char *text = getenv("TXMILL_OPENCL_SECONDS");
    const unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n > 0 && n <= 86400 ? (unsigned)n : usual;
}

/* Returns the exit status, or -1 if the process had to be killed. Returns -2 if other code has already collected the
 * status: the driver's result is then unknown, and not held against it. */
static int wait_for(pid_t pid, unsigned seconds)
{
    int status = 0;
    for (unsigned ms = 0; ms < seconds * 1000; ms += STEP_MS) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid)
            return status;
        if (done < 0 && errno != EINTR)
            return -2;
        usleep(STEP_MS * 1000);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return -1;
}

/* Runs the helper, with files for its input and output, and returns the result of wait_for. *ran is false if it could
 * not be started. */
static int run_helper(char *const argv[], int in, int out, unsigned seconds, bool *ran)
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    *ran = false;
    if (posix_spawn_file_actions_init(&files))
        return 0;
    bool good = in < 0 || (!posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO) &&
                           !posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO));
    good = good && !posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (!good)
        return 0;
    *ran = true;
    return wait_for(pid, seconds);
}

int ocl_probe(void)
{
    char path[4096], text[OCL_TEXT_BYTES];
    char *const argv[] = {path, NULL};
    const unsigned seconds = seconds_or(START_SECONDS);
    bool ran;
    if (!helper_path(path, sizeof path))
        return 0;
    const int status = run_helper(argv, -1, -1, seconds, &ran);
    if (status == -1)
        snprintf(text, sizeof text, "a driver did not answer within %u s; OCL_ICD_VENDORS names other drivers",
                 seconds);
    else if (ran && status >= 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "a driver crashed when it was started (%s); OCL_ICD_VENDORS names other drivers",
                 strsignal(WTERMSIG(status)));
    else
        return 0;
    ocl_say(OCL_BROKEN, text);
    return OCL_BROKEN;
}

static bool put_source(int file, const txm_rt_program *p)
{
    for (const char *const *line = p->source; *line; line++)
        if (!ocl_write_all(file, *line, strlen(*line)))
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
    if (bytes && !ocl_read_all(file, bytes, *size)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* Turns the helper's exit status into a code and a message. */
static int judge_build(int status, bool ran, unsigned seconds, const char *said)
{
    char text[OCL_TEXT_BYTES];
    if (status == -1)
        snprintf(text, sizeof text, "its driver did not compile the kernels within %u s", seconds);
    else if (ran && status >= 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "its driver crashed while it compiled the kernels (%s)",
                 strsignal(WTERMSIG(status)));
    else if (ran && status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == OCL_HELPER_REFUSED && said)
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
    bool ran = false;
    int status = 0, code = 0;
    *binary = NULL;
    *size = 0;
    snprintf(number, sizeof number, "%u", d->number);
    const int in = memfd_create("txmill-kernels", MFD_CLOEXEC), out = memfd_create("txmill-binary", MFD_CLOEXEC);
    if (helper_path(path, sizeof path) && in >= 0 && out >= 0 && put_source(in, p)) {
        status = run_helper(argv, in, out, seconds, &ran);
        *binary = take_output(out, size);
        code = judge_build(status, ran, seconds, (const char *)*binary);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (code || !ran || status != 0) {
        free(*binary);
        *binary = NULL;
    }
    return code;
}
