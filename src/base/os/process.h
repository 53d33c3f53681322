/* SPDX-License-Identifier: Apache-2.0
 *
 * Other programs: starting one, talking to it, learning how it ended. Every helper of txmill is started here.
 *
 * Elsewhere: macOS has posix_spawn with POSIX_SPAWN_CLOEXEC_DEFAULT in place of closing what is above the given files,
 * pipe and fcntl in place of pipe2, and SO_NOSIGPIPE in place of MSG_NOSIGNAL. Windows has CreateProcess with a list of
 * the handles that are inherited, job objects in place of groups, exit codes such as 0xC0000005 in place of signals,
 * and named pipes in place of pairs of sockets; where a process would become another program, it waits for that one.
 */
#ifndef TXM_BASE_OS_PROCESS_H
#define TXM_BASE_OS_PROCESS_H
#include <stdbool.h>
#include <stddef.h>

/* In place of a descriptor in txm_program.files: nothing (reads are empty, writes are lost), or what this process has
 * under the same number. */
enum { TXM_FILE_NOTHING = -1, TXM_FILE_SAME = -2, TXM_PROGRAM_FILES = 4 };

typedef struct txm_program {
    char *const *argv; /* argv[0] is the program's path, or a name for which PATH is searched if it has no '/' */
    bool group;        /* it leads a group, which txm_process_kill ends as a whole */
    int file_count;    /* 3 or 4 */
    int files[TXM_PROGRAM_FILES]; /* what it has as files 0 to 3; it has no other file of this process */
} txm_program;

/* Starts a program. Its signals are as in a new process, but what nohup has ignored stays so. Returns 0 or an errno. */
int txm_process_start(const txm_program *program, long *pid);

/* Makes this process run another program, with its files and terminal: returns only if that fails, an errno. */
int txm_process_become(const char *path, char *const *argv);

typedef enum txm_end_cause {
    TXM_END_UNKNOWN, /* the system reports an end once, and other code of this process waited for it */
    TXM_END_EXIT,
    TXM_END_STOPPED,  /* by a request to stop, as from a terminal */
    TXM_END_KILLED,   /* as the system does when memory is exhausted */
    TXM_END_GAVE_UP,  /* by abort, as C++ does for lack of memory */
    TXM_END_OVERTIME, /* its limit of processor time is exceeded */
    TXM_END_CRASHED
} txm_end_cause;

typedef struct txm_end {
    txm_end_cause cause;
    int code; /* the exit status, or the number of the signal */
} txm_end;

/* Waits at most `seconds` (negative: as long as it takes; 0: only asks) and returns whether the process has ended. */
bool txm_process_wait(long pid, double seconds, txm_end *end);
/* The name of what ended a process other than by its exit. */
const char *txm_end_text(const txm_end *end);

/* Asks a process to end. Async-signal-safe. */
void txm_process_stop(long pid);
/* Ends it, or the group that it leads, at once. */
void txm_process_kill(long pid, bool group);
bool txm_process_exists(long pid);
long txm_process_self(void);

/* Two connected sockets, or the ends to read from and to write to of a pipe, which programs do not inherit unless they
 * are given to them. Returns 0 or an errno. */
int txm_socket_pair(int ends[2]);
int txm_pipe(int ends[2]);
/* write() into a socket; if nobody reads any more it fails with EPIPE and raises no signal. */
long txm_socket_send(int fd, const void *data, size_t bytes);
/* Waits until there is something to read, or the other end is closed: at most ms milliseconds (negative: as long as it
 * takes). Returns 1, 0 if the time is over, or -1 and errno. */
int txm_wait_readable(int fd, int ms);
/* Whether nobody reads any more what is written to a pipe or socket. */
bool txm_reader_is_gone(int fd);
#endif
