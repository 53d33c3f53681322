/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/watch.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <unistd.h>

/* IN_ATTRIB: changing a file's time makes its tx file outdated. IN_CREATE: links appear without being written. */
static const uint32_t events = IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                               IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

int txm_folders_open(void)
{
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

int txm_folders_add(int fd, const char *path)
{
    return inotify_add_watch(fd, path, events);
}

void txm_folders_drop(int fd, int folder)
{
    inotify_rm_watch(fd, folder);
}

int txm_folders_read(int fd, bool (*on_event)(void *user, const txm_folder_event *event), void *user)
{
    _Alignas(struct inotify_event) char buffer[16 << 10];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        for (char *p = buffer; p < buffer + n;) {
            const struct inotify_event *e = (const void *)p;
            const txm_folder_event event = {.folder = e->wd,
                                            .name = e->len ? e->name : NULL,
                                            .is_folder = (e->mask & IN_ISDIR) != 0,
                                            .appeared = (e->mask & (IN_CREATE | IN_MOVED_TO)) != 0,
                                            .gone = (e->mask & (IN_DELETE | IN_MOVED_FROM)) != 0,
                                            .attribute = (e->mask & IN_ATTRIB) != 0,
                                            .forgotten = (e->mask & IN_IGNORED) != 0,
                                            .overflow = (e->mask & IN_Q_OVERFLOW) != 0};
            if (!on_event(user, &event))
                return 0;
            p += sizeof *e + e->len;
        }
    }
    return n < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
}
