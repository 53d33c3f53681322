/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tested program. Counts allocations from the moment main begins, and lets the one fail that the
 * driver chose; installs the seccomp filter that stops the program at the system calls that the driver asks for. Not
 * before main, and not in dlopen: what the dynamic linker and the constructors of 258 libraries do is none of txmill's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

/* glibc's own names for them, which a library that replaces malloc may call. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

typedef int main_fn(int argc, char **argv, char **env);
int __libc_start_main(main_fn *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

static faults_shared *shared;
static atomic_bool counting;
static main_fn *real_main;

static void print_stack(void)
{
    void *frames[48];
    bool was = atomic_exchange(&counting, false);
    backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
    atomic_store(&counting, was);
}

static void on_struck(int number)
{
    (void)number;
    print_stack();
}

/* ---- allocations ------------------------------------------------------------------------------------------------ */

static bool refuse(void)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed) || shared->loading)
        return false;
    uint64_t n = atomic_fetch_add(&shared->allocations, 1) + 1;
    if (shared->fail_at == 0 || n < shared->fail_at || (n > shared->fail_at && !shared->fail_all_after))
        return false;
    if (!atomic_exchange(&shared->failed, 1) && shared->explain)
        print_stack();
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return refuse() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t bytes)
{
    /* Given no bytes it frees, which never fails. */
    return (!old || bytes) && refuse() ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    int saved = errno;
    void *p = refuse() ? NULL : __libc_memalign(alignment, bytes);
    errno = saved;
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

/* ---- libraries that are loaded later ---------------------------------------------------------------------------- */

void *dlopen(const char *path, int flags)
{
    union {
        void *symbol;
        void *(*call)(const char *, int);
    } next = {dlsym(RTLD_NEXT, "dlopen")};
    if (shared)
        atomic_fetch_add(&shared->loading, 1);
    void *library = next.call(path, flags);
    if (shared)
        atomic_fetch_sub(&shared->loading, 1);
    return library;
}

/* ---- system calls ----------------------------------------------------------------------------------------------- */

static void install_filter(void)
{
    struct sock_filter code[FAULTS_CALLS + 6];
    unsigned n = 0, calls = shared->call_count;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, (uint8_t)(calls + 1));
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < calls; i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, shared->calls[i], (uint8_t)(calls - i), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    const struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        static const char text[] = "inject: the seccomp filter was refused\n";
        _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 98 : 99);
    }
}

static int counted_main(int argc, char **argv, char **env)
{
    if (shared && shared->explain) {
        void *frames[2];
        backtrace(frames, 2); /* loads the unwinder now, not in a handler */
        signal(SIGUSR2, on_struck);
    }
    if (shared && shared->call_count)
        install_filter();
    atomic_store(&counting, shared != NULL);
    return real_main(argc, argv, env);
}

__attribute__((constructor)) static void map_shared(void)
{
    const char *path = getenv("FAULTS_SHARED");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        shared = p;
}

int __libc_start_main(main_fn *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    union {
        void *symbol;
        int (*call)(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    } next = {dlsym(RTLD_NEXT, "__libc_start_main")};
    real_main = program;
    return next.call(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
