/* SPDX-License-Identifier: Apache-2.0
 * What the operating system is asked, one thing at a time. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/os/barrier.h"
#include "base/os/clock.h"
#include "base/os/copies.h"
#include "base/os/files.h"
#include "base/os/machine.h"
#include "base/os/pages.h"
#include "base/os/process.h"
#include "base/os/signals.h"
#include "base/os/terminal.h"
#include "base/os/watch.h"
#include "base/whole.h"
#include "util_batch.h"
#include "util_check.h"

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Starts a shell with these files. */
static long shell(const char *script, bool group, int in, int out, int extra)
{
    char *const argv[] = {"sh", "-c", (char *)script, NULL};
    const txm_program program = {
        .argv = argv, .group = group, .file_count = extra < 0 ? 3 : 4, .files = {in, out, TXM_FILE_NOTHING, extra}};
    long pid;
    ck_assert_int_eq(txm_process_start(&program, &pid), 0);
    return pid;
}

TEST(programs_get_the_files_they_are_given)
{
    int sockets[2], ends[2];
    char text[64] = "";
    txm_end end;
    ck_assert_int_eq(txm_socket_pair(sockets), 0);
    ck_assert_int_eq(txm_pipe(ends), 0);
    /* It has files 0 to 3; 4 is what ls reads. A file of this process that programs inherit does not reach it. */
    const int high = fcntl(sockets[0], F_DUPFD, sockets[0] + 100);
    long pid = shell("cat <&3; echo $(ls /proc/self/fd)", false, TXM_FILE_NOTHING, ends[1], sockets[1]);
    close(sockets[1]);
    close(ends[1]);
    ck_assert_int_eq(txm_socket_send(sockets[0], "sent ", 5), 5);
    close(high);
    close(sockets[0]);
    for (size_t n = 0; txm_wait_readable(ends[0], 10000) == 1;) {
        const ssize_t got = read(ends[0], text + n, sizeof text - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    ck_assert_str_eq(text, "sent 0 1 2 3 4\n");
    ck_assert(txm_process_wait(pid, -1, &end));
    ck_assert_int_eq(end.cause, TXM_END_EXIT);
    ck_assert_int_eq(end.code, 0);
    close(ends[0]);
}

/* Standard files of this process that are closed, or given in another order, are not mixed up. */
TEST(standard_files_may_change_places)
{
    int ends[2];
    char text[8] = "";
    txm_end end;
    ck_assert_int_eq(txm_pipe(ends), 0);
    const int kept = txm_file_again(STDIN_FILENO), kept_out = txm_file_again(STDOUT_FILENO);
    ck_assert_int_eq(dup2(ends[1], STDIN_FILENO), STDIN_FILENO);
    close(STDOUT_FILENO);
    const long pid = shell("echo swap", false, TXM_FILE_NOTHING, STDIN_FILENO, -1);
    dup2(kept, STDIN_FILENO);
    dup2(kept_out, STDOUT_FILENO);
    close(ends[1]);
    ck_assert(txm_process_wait(pid, -1, &end));
    ck_assert_int_eq(read(ends[0], text, sizeof text - 1), 5);
    ck_assert_str_eq(text, "swap\n");
    close(ends[0]);
    close(kept);
    close(kept_out);
}

TEST(ends_have_causes)
{
    static const struct {
        const char *script;
        txm_end_cause cause;
        int code;
    } ends[] = {{"exit 7", TXM_END_EXIT, 7},
                {"kill -TERM $$", TXM_END_STOPPED, SIGTERM},
                {"kill -INT $$", TXM_END_STOPPED, SIGINT},
                {"kill -KILL $$", TXM_END_KILLED, SIGKILL},
                {"kill -ABRT $$", TXM_END_GAVE_UP, SIGABRT},
                {"kill -XCPU $$", TXM_END_OVERTIME, SIGXCPU},
                {"kill -SEGV $$", TXM_END_CRASHED, SIGSEGV}};
    txm_end end;
    /* What this process ignores or blocks does not reach the program. */
    signal(SIGINT, SIG_IGN);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const long pid = shell(ends[i].script, false, TXM_FILE_NOTHING, TXM_FILE_NOTHING, -1);
        ck_assert(txm_process_wait(pid, -1, &end));
        ck_assert_int_eq(end.cause, ends[i].cause);
        ck_assert_int_eq(end.code, ends[i].code);
        ck_assert_msg(end.cause == TXM_END_EXIT || *txm_end_text(&end), "no text");
        /* The end is told once. */
        ck_assert(txm_process_wait(pid, 0, &end));
        ck_assert_int_eq(end.cause, TXM_END_UNKNOWN);
    }
    signal(SIGINT, SIG_DFL);
    char *const nothing[] = {"txmill-no-such-program", NULL};
    long pid;
    ck_assert_int_eq(txm_process_start(&(txm_program){.argv = nothing, .file_count = 3}, &pid), ENOENT);
    ck_assert_int_eq(pid, 0);
}

TEST(waiting_has_a_limit)
{
    txm_end end;
    const long pid = shell("sleep 60 & wait", true, TXM_FILE_NOTHING, TXM_FILE_NOTHING, -1);
    ck_assert(!txm_process_wait(pid, 0, &end));
    ck_assert(!txm_process_wait(pid, 0.03, &end));
    ck_assert(txm_process_exists(pid));
    txm_process_kill(pid, true);
    ck_assert(txm_process_wait(pid, 30, &end));
    ck_assert_int_eq(end.cause, TXM_END_KILLED);
    ck_assert(!txm_process_exists(pid));
    const long other = shell("sleep 60", false, TXM_FILE_NOTHING, TXM_FILE_NOTHING, -1);
    txm_process_stop(other);
    ck_assert(txm_process_wait(other, -1, &end));
    ck_assert_int_eq(end.cause, TXM_END_STOPPED);
}

TEST(nobody_reads_any_more)
{
    int ends[2];
    ck_assert_int_eq(txm_pipe(ends), 0);
    ck_assert(!txm_reader_is_gone(ends[1]));
    ck_assert_int_eq(txm_wait_readable(ends[0], 0), 0);
    close(ends[0]);
    ck_assert(txm_reader_is_gone(ends[1]));
    close(ends[1]);
    ck_assert_int_eq(txm_socket_pair(ends), 0);
    close(ends[0]);
    errno = 0;
    ck_assert_int_eq(txm_socket_send(ends[1], "x", 1), -1);
    ck_assert_int_eq(errno, EPIPE);
    close(ends[1]);
}

/* What arrives in parts is read as a whole. */
TEST(parts_are_read_whole)
{
    int ends[2];
    char text[8] = "";
    ck_assert_int_eq(txm_pipe(ends), 0);
    const long pid = shell("printf ab; sleep 0.05; printf cde", false, TXM_FILE_NOTHING, ends[1], -1);
    close(ends[1]);
    ck_assert_int_eq(txm_read_all(ends[0], text, 3), 0);
    ck_assert_str_eq(text, "abc");
    ck_assert_int_eq(txm_read_most(ends[0], text, 7), 2);
    ck_assert_int_eq(txm_read_all(ends[0], text, 1), EIO);
    ck_assert_int_eq(txm_read_most(-1, text, 1), -1);
    txm_end end;
    ck_assert(txm_process_wait(pid, -1, &end));
    close(ends[0]);
    const int fd = txm_memory_file("whole");
    ck_assert_int_eq(txm_write_all(fd, "xyz", 3), 0);
    ck_assert_int_eq(txm_pwrite_all(fd, "!", 1, 5), 0);
    ck_assert_int_eq(txm_pread_all(fd, text, 6, 0), 0);
    ck_assert_mem_eq(text, "xyz\0\0!", 6);
    ck_assert_int_eq(txm_pread_all(fd, text, 2, 5), EIO);
    ck_assert_int_eq(txm_pread_most(fd, text, 2, 5), 1);
    close(fd);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(txm_write_all(full, "x", 1), ENOSPC);
    close(full);
}

/* ---- files and memory -------------------------------------------------------------------------------------------- */

static int open_file(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

TEST(files_are_copied_linked_and_renamed)
{
    struct stat st;
    uint64_t done = 0;
    char target[16] = "", draft[] = "draft.XXXXXX", folder[] = "folder.XXXXXX";
    batch_enter();
    batch_file("a", "content");
    batch_file("b", "");
    ck_assert_int_eq(chmod("a", 0640), 0);
    const int from = open_file("a"), to = open_file("b");
    ck_assert_int_eq(txm_file_copy(from, to, 7, &done), 0);
    ck_assert_uint_eq(done, 7);
    ck_assert_int_eq(txm_file_sync(to), 0);
    ck_assert_int_eq(txm_file_keep_mode(to, "a"), 0);
    ck_assert_int_eq(txm_file_keep_mode(to, "nothing"), 0);
    ck_assert_int_eq(txm_file_set_time(to, &(struct timespec){1000, 5}), 0);
    ck_assert_int_eq(fstat(to, &st), 0);
    ck_assert_int_eq(st.st_size, 7);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
    ck_assert_int_eq(txm_file_set_time_at("b", NULL), 0);
    ck_assert_int_eq(stat("b", &st), 0);
    ck_assert_int_eq(st.st_mtim.tv_sec, 1000);
    ck_assert_int_gt(st.st_atim.tv_sec, 1000);
    ck_assert_int_eq(txm_file_set_time_at("b", &(struct timespec){2000, 0}), 0);
    ck_assert_int_eq(txm_file_set_time_at("nothing", NULL), ENOENT);
    ck_assert_int_eq(txm_file_set_owner(to, getuid(), getgid()), 0);
    ck_assert(txm_file_is_own(geteuid()));
    ck_assert_int_eq(txm_file_link("a", "c"), 0);
    ck_assert_int_eq(txm_file_link("a", "b"), EEXIST);
    ck_assert_int_eq(txm_file_rename_new("c", "b"), EEXIST);
    ck_assert_int_eq(txm_file_rename_new("c", "d"), 0);
    ck_assert_int_eq(access("c", F_OK), -1);
    ck_assert_int_eq(txm_file_symlink("d", "e"), 0);
    ck_assert_int_eq(txm_file_target("e", target, sizeof target - 1), 1);
    ck_assert_str_eq(target, "d");
    ck_assert_int_eq(txm_file_target("d", target, sizeof target - 1), -1);
    const int temporary = txm_file_temporary(draft);
    ck_assert_int_ge(temporary, 0);
    ck_assert_int_eq(access(draft, F_OK), 0);
    ck_assert(txm_folder_temporary(folder));
    txm_folder_sync(".");
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(txm_is_null_device(st.st_rdev));
    ck_assert(!txm_is_null_device(st.st_dev));
    close(temporary);
    close(from);
    close(to);
    batch_leave();
}

TEST(pages_hold_files)
{
    const size_t page = txm_page_bytes();
    const int fd = txm_memory_file("test");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page)), 0);
    ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)page), 1);
    char *pages = txm_pages_of_file(fd, 2 * page);
    ck_assert_ptr_nonnull(pages);
    ck_assert_int_eq(pages[page], 'x');
    ck_assert(txm_pages_readable(pages + page, page));
    txm_pages_drop(pages, 2 * page);
    ck_assert_int_eq(pages[page], 'x');
    ck_assert(txm_pages_replace(pages + page, page));
    ck_assert_int_eq(pages[page], 0);
    txm_pages_free(pages, 2 * page);
    close(fd);
    ck_assert_ptr_null(txm_pages_of_file(-1, page));
    char *own = txm_pages_new(4 << 20);
    txm_pages_prefer_large(own, 4 << 20);
    own[5] = 1;
    ck_assert_int_eq(own[6], 0);
    txm_pages_free(own, 4 << 20);
    txm_pages_free(NULL, page);
    const size_t odd = (1 << 20) + 5;
    own = txm_pages_aligned(odd, 2 << 20);
    ck_assert_uint_eq((uintptr_t)own % (2 << 20), 0);
    ck_assert_int_eq(own[odd - 1], 0);
    txm_pages_free_aligned(own, odd);
    ck_assert_ptr_null(txm_pages_aligned(SIZE_MAX - 5, 64));
    ck_assert(txm_pages_have_room(page));
    ck_assert(!txm_pages_have_room(SIZE_MAX / 2));
    FREED void *memory = malloc(100);
    ck_assert_uint_ge(txm_usable_bytes(memory), 100);
    ck_assert_uint_eq(txm_usable_bytes(NULL), 0);
}

typedef struct seen {
    int count;
    bool appeared, gone, folder;
} seen;

static bool on_folder_event(void *user, const txm_folder_event *event)
{
    seen *s = user;
    ck_assert(event->folder >= 0 && !event->overflow);
    s->count++;
    s->appeared |= event->name && !strcmp(event->name, "new") && event->appeared;
    s->gone |= event->name && !strcmp(event->name, "new") && event->gone;
    s->folder |= event->name && !strcmp(event->name, "below") && event->is_folder;
    return true;
}

TEST(changes_in_folders_are_told)
{
    seen s = {0};
    batch_enter();
    const int fd = txm_folders_open(), number = txm_folders_add(fd, ".");
    ck_assert_int_ge(number, 0);
    ck_assert_int_eq(txm_folders_add(fd, "./."), number);
    ck_assert_int_eq(txm_folders_add(fd, "nothing"), -1);
    ck_assert_int_eq(txm_folders_read(fd, on_folder_event, &s), 0);
    ck_assert_int_eq(s.count, 0);
    batch_file("new", "content");
    ck_assert_int_eq(mkdir("below", 0700), 0);
    ck_assert_int_eq(unlink("new"), 0);
    ck_assert_int_eq(txm_wait_readable(fd, 10000), 1);
    ck_assert_int_eq(txm_folders_read(fd, on_folder_event, &s), 0);
    ck_assert(s.appeared && s.gone && s.folder);
    txm_folders_drop(fd, number);
    close(fd);
    batch_leave();
}

/* ---- the machine and the program --------------------------------------------------------------------------------- */

TEST(the_machine_is_known)
{
    txm_volume volume;
    txm_window_size size = {1, 1, 1, 1};
    uint64_t value;
    char text[TXM_SYSTEM_BYTES];
    ck_assert_uint_ge(txm_cpu_count(), 1);
    ck_assert_uint_gt(txm_machine_bytes(), 1 << 20);
    ck_assert(txm_volume_of("/", &volume));
    ck_assert(*volume.kind);
    ck_assert(!txm_volume_of("/nothing/at/all", &volume));
    txm_system_text(text);
    ck_assert_ptr_nonnull(strchr(text, ','));
    const int fd = txm_memory_file("no terminal");
    ck_assert(!txm_window_size_of(fd, &size));
    ck_assert_uint_eq(size.columns, 0);
    close(fd);
    ck_assert(txm_limit_set(TXM_LIMIT_CORE, 0));
    ck_assert(txm_limit_of(TXM_LIMIT_CORE, &value));
    ck_assert_uint_eq(value, 0);
    ck_assert_int_gt(txm_clock_today().tv_sec, 1000000000);
    if (txm_barrier_possible())
        ck_assert(txm_barrier_everywhere());
    txm_barrier_by_force();
    txm_yield();
}

/* Runs `child` in a copy of this process and returns how it ended. */
static txm_end end_of(void (*child)(void))
{
    txm_end end;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        child();
        txm_exit_at_once(99);
    }
    ck_assert(txm_process_wait(pid, 60, &end));
    return end;
}

static void become_a_shell(void)
{
    char *const argv[] = {"sh", "-c", "exit 33", NULL};
    const bool refused = txm_process_become("/bin/nothing", argv) == ENOENT;
    txm_exit_at_once(refused ? txm_process_become("/bin/sh", argv) : 1);
}

static volatile int ends_seen, times_seen;
static char *broken_page;

static void on_end(int number)
{
    ends_seen += txm_signal_is_request(number);
    if (ends_seen == 2)
        txm_signal_obey(number);
}

static void end_by_second_request(void)
{
    txm_signals_on_end(on_end);
    txm_process_stop(txm_process_self());
    if (ends_seen != 1)
        txm_exit_at_once(1);
    txm_process_stop(txm_process_self());
}

static void on_time(void)
{
    if (++times_seen == 3)
        txm_exit_at_once(3);
}

static void end_by_timer(void)
{
    txm_signals_on_timer(on_time, 5, 2);
    for (;;)
        pause();
}

static bool repair(void *address)
{
    return txm_pages_replace(broken_page, txm_page_bytes()) && address == broken_page;
}

static bool refuse(void *address)
{
    return address == NULL;
}

/* A page beyond the end of its file cannot be read. */
static void read_broken_page(void)
{
    broken_page = txm_pages_of_file(txm_memory_file("empty"), txm_page_bytes());
    txm_exit_at_once(*(volatile char *)broken_page + 40);
}

static void end_by_repaired_page(void)
{
    txm_signals_on_fault(repair);
    read_broken_page();
}

static void end_by_refused_page(void)
{
    txm_limit_set(TXM_LIMIT_CORE, 0);
    txm_signals_on_fault(refuse);
    read_broken_page();
}

/* The thread that would take the signal writes what it waits for. */
static int thread_ends[2];

static void *wait_in_thread(void *unused)
{
    char c;
    (void)unused;
    if (read(thread_ends[0], &c, 1) == 1)
        txm_exit_at_once(71);
    return NULL;
}

static void on_request_beside(int number)
{
    (void)number;
    if (write(thread_ends[1], "x", 1) != 1)
        txm_exit_at_once(1);
}

static void end_by_thread(void)
{
    txm_signals_on_end(on_request_beside);
    if (txm_pipe(thread_ends) == 0 && txm_thread_without_signals(wait_in_thread))
        txm_process_stop(txm_process_self());
    for (;;)
        pause();
}

static void end_after_lost_write(void)
{
    int ends[2];
    txm_signals_let_writes_fail();
    if (txm_pipe(ends) == 0 && close(ends[0]) == 0 && write(ends[1], "x", 1) < 0)
        txm_exit_at_once(errno == EPIPE ? 50 : 51);
}

static void on_abort(void)
{
    txm_exit_at_once(60);
}

static void end_by_abort(void)
{
    txm_signals_ignore_terminal();
    txm_signals_on_abort(on_abort);
    raise(SIGINT);
    abort();
}

TEST(signals_do_what_a_program_wants)
{
    txm_end end = end_of(become_a_shell);
    ck_assert_int_eq(end.code, 33);
    end = end_of(end_by_second_request);
    ck_assert_int_eq(end.cause, TXM_END_STOPPED);
    end = end_of(end_by_timer);
    ck_assert_int_eq(end.code, 3);
    end = end_of(end_by_repaired_page);
    ck_assert_int_eq(end.code, 40);
    end = end_of(end_by_refused_page);
    ck_assert_int_eq(end.cause, TXM_END_CRASHED);
    ck_assert_int_eq(end.code, SIGBUS);
    end = end_of(end_by_thread);
    ck_assert_int_eq(end.code, 71);
    end = end_of(end_after_lost_write);
    ck_assert_int_eq(end.code, 50);
    end = end_of(end_by_abort);
    ck_assert_int_eq(end.code, 60);
}

/* A file that all copies share counts them: two ask for another, and each begins with the value from before. */
static int counter_file, damage;

static void serve(void)
{
    struct stat st;
    if (++damage != 1 || write(counter_file, "x", 1) != 1 || fstat(counter_file, &st) != 0)
        txm_exit_at_once(1);
    txm_exit_at_once(st.st_size < 3 ? 5 : 21);
}

static void serve_in_copies(void)
{
    txm_serve_in_copies(serve, 5, 100);
}

static void crash(void)
{
    raise(SIGKILL);
}

static void crash_in_copy(void)
{
    txm_serve_in_copies(crash, 5, 100);
}

TEST(copies_begin_anew)
{
    struct stat st;
    counter_file = txm_memory_file("turns");
    txm_end end = end_of(serve_in_copies);
    ck_assert_int_eq(end.cause, TXM_END_EXIT);
    ck_assert_int_eq(end.code, 21);
    ck_assert_int_eq(fstat(counter_file, &st), 0);
    ck_assert_int_eq(st.st_size, 3);
    end = end_of(crash_in_copy);
    ck_assert_int_eq(end.cause, TXM_END_KILLED);
    close(counter_file);
}
