/* SPDX-License-Identifier: Apache-2.0
 *
 * This library is preloaded into the program under test. It counts allocations from the start of main and makes the
 * one fail that the driver chose, and it installs the seccomp filter that stops the program at the system calls that
 * the driver names. It does neither before main nor in dlopen, because the work of the dynamic linker and the
 * constructors of 258 libraries is not txmill's. The same holds for a library's thread-local data: the linker
 * allocates it when a thread first uses it, and ends the process if that fails.
 *
 * Therefore a program need not be loaded for every case. If FAULTS_SERVER is set, it stops before main and forks a
 * process on request: the driver requests txmill, and the process that would have become the decoder requests that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

/* A library that replaces malloc may call these names of glibc's own. */
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

/* The dynamic linker's addresses. */
static uintptr_t linker_begin, linker_end;

static int find_linker(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    if (info->dlpi_addr != getauxval(AT_BASE))
        return 0;
    linker_begin = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && linker_begin + p->p_vaddr + p->p_memsz > linker_end)
            linker_end = linker_begin + p->p_vaddr + p->p_memsz;
    }
    return 1;
}

static bool refuse(const void *caller)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed) || shared->loading ||
        ((uintptr_t)caller >= linker_begin && (uintptr_t)caller < linker_end))
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
    return refuse(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return refuse(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t bytes)
{
    /* With a size of 0 it frees, which never fails. */
    return (!old || bytes) && refuse(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return refuse(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    int saved = errno;
    void *p = refuse(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
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

/* ---- the time ---------------------------------------------------------------------------------------------------- */

/* Encoders write the time into a picture. Pictures of two runs can be compared only if it is the same. */
time_t time(time_t *out)
{
    struct timespec now = {.tv_sec = 1600000000};
    if (!shared || strcmp(program_invocation_short_name, "txmill-oiio-worker") != 0)
        clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
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

/* ---- serving processes ------------------------------------------------------------------------------------------ */

static void give_up(const char *why)
{
    perror(why);
    _exit(98);
}

static void redirect(const char *path, int to)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        give_up(path);
}

/* Runs in the new process: the command is in shared memory. */
static void become_command(int *argc, char ***argv)
{
    static char words[FAULTS_WORDS], *arguments[64];
    int count = 0;
    memcpy(words, shared->words, sizeof words);
    char *out = words, *err = out + strlen(out) + 1;
    for (char *w = err + strlen(err) + 1; *w && count < 63; w += strlen(w) + 1)
        arguments[count++] = w;
    setpgid(0, 0);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    *argc = count;
    *argv = arguments;
}

/* The driver writes a byte for each command. */
static void serve_commands(int *argc, char ***argv)
{
    char go;
    while (read(FAULTS_SERVER_FD, &go, 1) == 1) {
        pid_t pid = fork();
        if (pid == 0) {
            become_command(argc, argv);
            return;
        }
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            give_up("fork");
    }
    _exit(0);
}

/* Receives one message with one descriptor. */
typedef union fd_message {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
} fd_message;

static struct msghdr message_of(struct iovec *byte, fd_message *room)
{
    *room = (fd_message){0};
    return (struct msghdr){.msg_iov = byte, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof *room};
}

/* Each connection brings the socket that becomes a decoder's descriptor 3, and gets the decoder's exit status. */
static void serve_decoders(void)
{
    char path[4096], byte;
    const char *plugins = getenv("TXMILL_PLUGINS");
    snprintf(path, sizeof path, "%s/txmill-oiio.so", plugins ? plugins : "");
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
        give_up(path);
    for (;;) {
        struct iovec one = {&byte, 1};
        fd_message room;
        struct msghdr m = message_of(&one, &room);
        int status, theirs, from = accept4(FAULTS_SERVER_FD, NULL, NULL, SOCK_CLOEXEC);
        if (from < 0)
            give_up("decoders");
        if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m)) {
            close(from); /* the client has been killed meanwhile */
            continue;
        }
        memcpy(&theirs, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof theirs);
        pid_t pid = fork();
        if (pid == 0) {
            if (dup2(theirs, 3) != 3)
                give_up("dup2");
            return;
        }
        close(theirs);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            give_up("fork");
        if (send(from, &status, sizeof status, MSG_NOSIGNAL) < 0)
            perror("decoders"); /* the client has been killed */
        close(from);
    }
}

/* Replaces a decoder: has one forked, and ends with its status. */
static _Noreturn void stand_in(const char *server)
{
    char byte = 0;
    int status, fd = 3, s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct iovec one = {&byte, 1};
    fd_message room;
    struct msghdr m = message_of(&one, &room);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", server);
    if (s < 0 || connect(s, (const struct sockaddr *)&to, sizeof to) != 0 || sendmsg(s, &m, 0) != 1)
        give_up(server);
    close(3);
    if (read(s, &status, sizeof status) != sizeof status)
        give_up(server);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

/* Returns in the process that is to run main. */
static void serve(int *argc, char ***argv)
{
    bool decoder = strcmp(program_invocation_short_name, "txmill-oiio-worker") == 0;
    const char *decoders = getenv("FAULTS_DECODERS");
    if (!getenv("FAULTS_SERVER")) {
        if (decoder && decoders)
            stand_in(decoders);
        return;
    }
    unsetenv("FAULTS_SERVER");
    if (decoder)
        serve_decoders();
    else
        serve_commands(argc, argv);
    close_range(decoder ? 4 : 3, ~0U, 0);
}

static int counted_main(int argc, char **argv, char **env)
{
    if (shared) {
        serve(&argc, &argv);
        if (shared->starting == getpid())
            shared->starting = 0;
    }
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
    dl_iterate_phdr(find_linker, NULL);
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
