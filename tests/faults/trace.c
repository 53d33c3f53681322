/* SPDX-License-Identifier: Apache-2.0
 * Runs a command under ptrace and makes one of its system calls fail. */
#include "trace.h"

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

enum { PEERS = 8, TICK_MILLISECONDS = 20, TASKS = 1024, EARLY = 64 };

static faults_shared *shared;
/* Commands, and the decoders that they start, are forked from these processes; 0: none. */
static struct {
    pid_t commands, decoders;
    int ask; /* a byte requests a command */
} server;

/* The last processes whose end was reported before their start. It may be reported in the next run. */
static struct {
    pid_t pid;
    int status;
} early[EARLY];
static unsigned early_count;

typedef struct session {
    const run_request *request;
    run_result *result;
    pid_t pid, peers[PEERS]; /* pid is 0 until the server has forked the process */
    unsigned peer_count;
    pid_t tasks[TASKS]; /* threads and processes that have not ended */
    unsigned task_count;
    struct timespec began;
    bool asked_to_end;
} session;

void trace_prepare(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0)
        err(2, "%s", path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        err(2, "%s", path);
    close(fd);
}

static void redirect(const char *path, int to, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(98);
}

/* Starts a process without ptrace, which works beside the one under test. */
static pid_t start_peer(const run_request *r)
{
    pid_t pid = fork();
    if (pid < 0)
        err(2, "fork");
    if (pid > 0)
        return pid;
    setpgid(0, 0);
    redirect("/dev/null", STDIN_FILENO, O_RDONLY);
    redirect("/dev/null", STDOUT_FILENO, O_WRONLY);
    redirect("/dev/null", STDERR_FILENO, O_WRONLY);
    if (chdir(r->folder) == 0)
        execv(r->argv[0], r->argv);
    _exit(97);
}

/* Runs in the new process. Addresses are the same in every run, so that a printed stack can be looked up. */
static void become_server(const run_request *r, const char *program, const char *decoders, int fd, int gate)
{
    char go;
    char *const argv[] = {(char *)program, NULL};
    setpgid(0, 0);
    personality(ADDR_NO_RANDOMIZE);
    redirect("/dev/null", STDIN_FILENO, O_RDONLY);
    redirect("/dev/null", STDOUT_FILENO, O_WRONLY);
    if (strcmp(program, r->argv[0]) != 0) /* as for decoders that txmill starts */
        redirect(r->explain ? r->err : "/dev/null", STDERR_FILENO, O_WRONLY | O_CREAT | O_APPEND);
    setenv("LD_PRELOAD", r->library, 1);
    setenv("FAULTS_SHARED", r->shared, 1);
    setenv("FAULTS_SERVER", "1", 1);
    if (decoders)
        setenv("FAULTS_DECODERS", decoders, 1);
    if (dup2(fd, FAULTS_SERVER_FD) < 0 || chdir(r->folder) != 0 || read(gate, &go, 1) != 1)
        _exit(98);
    execv(program, argv);
    _exit(97);
}

static pid_t start_server(const run_request *r, const char *program, const char *decoders, int fd)
{
    int gate[2];
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (pipe2(gate, O_CLOEXEC) != 0)
        err(2, "pipe");
    pid_t pid = fork();
    if (pid == 0)
        become_server(r, program, decoders, fd, gate[0]);
    if (pid < 0)
        err(2, "fork");
    setpgid(pid, pid);
    if (ptrace(PTRACE_SEIZE, pid, 0, options) != 0)
        err(2, "ptrace");
    if (write(gate[1], "", 1) != 1)
        err(2, "pipe");
    close(gate[0]);
    close(gate[1]);
    close(fd);
    return pid;
}

static void start_servers(const run_request *r)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int pair[2];
    if (server.commands)
        return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        err(2, "socketpair");
    if (r->decoder) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (snprintf(at.sun_path, sizeof at.sun_path, "%s-decoders", r->shared) >= (int)sizeof at.sun_path)
            errx(2, "%s is too long for the name of a socket", r->shared);
        unlink(at.sun_path);
        if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 16) != 0)
            err(2, "%s", at.sun_path);
        server.decoders = start_server(r, r->decoder, NULL, fd);
    }
    server.commands = start_server(r, r->argv[0], r->decoder ? at.sun_path : NULL, pair[1]);
    server.ask = pair[0];
}

static void end_server(pid_t *pid)
{
    int status;
    pid_t t = 0;
    if (*pid)
        kill(*pid, SIGKILL);
    /* The threads of a process come first. */
    while (*pid && t >= 0 && (t != *pid || WIFSTOPPED(status)))
        t = waitpid(-1, &status, __WALL);
    *pid = 0;
}

void trace_end(void)
{
    if (server.commands)
        close(server.ask);
    end_server(&server.commands);
    end_server(&server.decoders);
}

static char *append_word(char *to, const char *word)
{
    size_t n = strlen(word) + 1;
    if (to + n >= shared->words + sizeof shared->words)
        errx(2, "the command is too long");
    return (char *)memcpy(to, word, n) + n;
}

static unsigned long long *argument(struct user_regs_struct *regs, int which)
{
    unsigned long long *const all[] = {&regs->rdi, &regs->rsi, &regs->rdx, &regs->r10, &regs->r8, &regs->r9};
    return all[which];
}

/* Records what the call is about: its path, or the file of its descriptor. */
static void describe(session *s, pid_t t, const fault_call *call, struct user_regs_struct *regs)
{
    char text[PATH_MAX] = "", link[64];
    if (call->path >= 0) {
        struct iovec here = {text, sizeof text - 1};
        struct iovec there = {(void *)*argument(regs, call->path), sizeof text - 1};
        /* If a path is near the end of a mapping, it is read up to that end. */
        if (process_vm_readv(t, &here, 1, &there, 1, 0) < 0) {
            there.iov_len = here.iov_len = 4096 - (*argument(regs, call->path) & 4095);
            if (process_vm_readv(t, &here, 1, &there, 1, 0) < 0)
                text[0] = 0;
        }
    }
    if (!text[0] && call->descriptor >= 0) {
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)t, (int)*argument(regs, call->descriptor));
        ssize_t n = readlink(link, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
    }
    snprintf(s->result->where, sizeof s->result->where, "%s", text);
}

/* Skips the call and lets it return. */
static void answer(pid_t t, struct user_regs_struct *regs, long long value)
{
    regs->orig_rax = (unsigned long long)-1;
    regs->rax = (unsigned long long)value;
    ptrace(PTRACE_SETREGS, t, 0, regs);
}

/* Returns how the thread continues: with PTRACE_CONT, or with PTRACE_SYSCALL to stop again after the call. */
static int strike(session *s, pid_t t, const fault_call *call, struct user_regs_struct *regs)
{
    const fault *f = &s->request->fault;
    unsigned long long *size = call->size >= 0 ? argument(regs, call->size) : NULL;
    bool struck = true;
    int how = PTRACE_CONT;
    if (!s->result->struck)
        describe(s, t, call, regs);
    switch (f->kind) {
    case FAULT_ERROR:
    case FAULT_ERROR_ON:
        /* brk reports a failure by returning the present break, which is never 0. */
        answer(t, regs, strcmp(call->name, "brk") == 0 ? 0 : -f->error);
        break;
    case FAULT_ERROR_LATE:
        how = PTRACE_SYSCALL;
        break;
    case FAULT_HALF:
    case FAULT_ONE:
    case FAULT_ZERO:
        struck = f->kind == FAULT_ZERO || *size >= 2; /* fewer bytes cannot be halved */
        if (f->kind == FAULT_ZERO) {
            answer(t, regs, 0);
        } else if (struck) {
            *size = f->kind == FAULT_ONE ? 1 : *size / 2;
            ptrace(PTRACE_SETREGS, t, 0, regs);
        }
        break;
    case FAULT_KILL:
        kill(s->pid, SIGKILL);
        break;
    case FAULT_TERM: /* a process that got SIGTERM is ending already; a second one would kill it */
        struck = !s->asked_to_end;
        if (struck)
            kill(s->pid, SIGTERM);
        break;
    default:
        struck = false;
    }
    /* Its handler prints the stack as soon as the call has returned. */
    if (struck && s->request->explain && !s->result->struck)
        tgkill(s->pid, t, SIGUSR2);
    s->result->struck |= struck;
    return how;
}

/* Output to standard error is not affected, because it is needed for judging the run. */
static int on_call(session *s, pid_t t)
{
    struct user_regs_struct regs;
    const fault *f = &s->request->fault;
    if (ptrace(PTRACE_GETREGS, t, 0, &regs) != 0)
        return PTRACE_CONT;
    int i = 0;
    while (i < fault_call_count && (unsigned long long)fault_calls[i].number != regs.orig_rax)
        i++;
    if (i == fault_call_count)
        return PTRACE_CONT;
    if (shared->loading || shared->starting == t ||
        (regs.rdi == STDERR_FILENO && strncmp(fault_calls[i].name, "write", 5) == 0))
        return PTRACE_CONT;
    unsigned n = ++s->result->counts[i];
    if (f->kind != FAULT_NONE && f->call == i && (n == f->at || (n > f->at && f->kind == FAULT_ERROR_ON)))
        return strike(s, t, &fault_calls[i], &regs);
    return PTRACE_CONT;
}

static void add_task(session *s, pid_t t)
{
    /* The end of a process may be reported before its parent reports that it started it. */
    for (unsigned i = 0; i < EARLY; i++)
        if (early[i].pid == t) {
            if (t == s->pid)
                s->result->status = early[i].status;
            early[i].pid = 0;
            return;
        }
    if (s->task_count == TASKS)
        errx(2, "more than %d threads and processes", TASKS);
    s->tasks[s->task_count++] = t;
}

static void on_stop(session *s, pid_t t, int status)
{
    unsigned long message = 0;
    struct user_regs_struct regs;
    int event = status >> 16, number = WSTOPSIG(status), how = PTRACE_CONT, deliver = 0;
    if (event == PTRACE_EVENT_SECCOMP)
        how = on_call(s, t);
    if (event != 0 && event != PTRACE_EVENT_SECCOMP && ptrace(PTRACE_GETEVENTMSG, t, 0, &message) == 0) {
        bool by_server = t == server.commands || t == server.decoders;
        if (event == PTRACE_EVENT_FORK && t == server.commands)
            s->pid = (pid_t)message;
        if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || (event == PTRACE_EVENT_CLONE && !by_server))
            add_task(s, (pid_t)message);
        /* Until main begins, the calls are the dynamic linker's. */
        if (event == PTRACE_EVENT_EXEC && !by_server)
            shared->starting = t;
    }
    if (!event && number != (SIGTRAP | 0x80)) {
        deliver = number;
    } else if (!event && ptrace(PTRACE_GETREGS, t, 0, &regs) == 0) {
        /* The call has been made and is now made to fail. */
        regs.rax = (unsigned long long)-(long long)s->request->fault.error;
        ptrace(PTRACE_SETREGS, t, 0, &regs);
    }
    ptrace(how, t, 0, deliver);
}

static void on_end(session *s, pid_t t, int status)
{
    if (t == server.commands || t == server.decoders)
        errx(2, "the server of %s ended with status %#x", t == server.commands ? "commands" : "decoders", status);
    unsigned known = 0;
    while (known < s->task_count && s->tasks[known] != t)
        known++;
    if (known < s->task_count) {
        s->tasks[known] = s->tasks[--s->task_count];
    } else {
        early[early_count % EARLY].pid = t;
        early[early_count++ % EARLY].status = status;
    }
    if (t == s->pid)
        s->result->status = status;
    for (unsigned i = 0; i < s->peer_count; i++)
        if (t == s->peers[i] && status != 0)
            s->result->peers_failed = true;
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* Every tick, ends processes that have run too long or that would go on for ever. */
static void look_at_clock(session *s)
{
    const run_request *r = s->request;
    char path[PATH_MAX];
    if (seconds_since(&s->began) > FAULT_SECONDS && !s->result->hung) {
        s->result->hung = true;
        for (unsigned i = 0; i < s->task_count; i++)
            kill(s->tasks[i], SIGKILL);
    }
    /* A second SIGTERM would end it at once. */
    bool ends_anyhow = r->fault.kind == FAULT_TERM && s->result->struck;
    if (r->until && s->pid && !s->asked_to_end && !ends_anyhow) {
        glob_t found = {0};
        snprintf(path, sizeof path, "%s/%s", r->folder, r->until);
        bool there = glob(path, 0, NULL, &found) == 0;
        if (there || seconds_since(&s->began) > GIVE_UP_SECONDS) {
            s->asked_to_end = true;
            s->result->given_up = !there;
            kill(s->pid, SIGTERM);
        }
        globfree(&found);
    }
}

static void on_tick(int number)
{
    (void)number;
}

static void tick(bool on)
{
    const struct sigaction action = {.sa_handler = on_tick};
    const struct timeval every = {.tv_usec = on ? TICK_MILLISECONDS * 1000 : 0};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){every, every}, NULL);
}

run_result trace_run(const run_request *request)
{
    run_result result = {.status = -1};
    session s = {.request = request, .result = &result, .peer_count = request->peers < PEERS ? request->peers : PEERS};
    pid_t t;
    int status;
    const fault *f = &request->fault;
    memset(shared, 0, sizeof *shared);
    if (fault_is_allocation(f)) {
        shared->fail_at = f->at;
        shared->fail_all_after = f->kind == FAULT_ALLOCATIONS;
    }
    shared->explain = request->explain;
    /* Only the call that is to fail stops the program; for counting, all do. */
    for (int i = 0; i < fault_call_count; i++)
        if (!fault_is_allocation(f) && (f->call < 0 || f->call == i))
            shared->calls[shared->call_count++] = (uint32_t)fault_calls[i].number;
    start_servers(request);
    clock_gettime(CLOCK_MONOTONIC, &s.began);
    for (unsigned i = 0; i < s.peer_count; i++)
        add_task(&s, s.peers[i] = start_peer(request));
    char *to = append_word(append_word(shared->words, request->out), request->err);
    for (char *const *a = request->argv; *a; a++)
        to = append_word(to, *a);
    if (write(server.ask, "", 1) != 1)
        err(2, "the server of commands");
    tick(true);
    /* Waits until everything that was started has ended, whoever started it. */
    while (!s.pid || s.task_count > 0) {
        t = waitpid(-1, &status, __WALL);
        if (t < 0 && errno != EINTR)
            err(2, "waitpid");
        if (t > 0 && WIFSTOPPED(status))
            on_stop(&s, t, status);
        else if (t > 0)
            on_end(&s, t, status);
        look_at_clock(&s);
    }
    tick(false);
    result.allocations = shared->allocations;
    if (fault_is_allocation(&request->fault))
        result.struck = shared->failed;
    return result;
}
