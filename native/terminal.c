// A terminal that exists in the sandbox alone. The devpts instance is new, so no name in it leads to a terminal of the
// machine, and the pair is made in here: no descriptor of the person's terminal ever comes in.
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "kernel.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

// A child that never returns from here would leave its marks in the memory it shares with us.
#define IN_CHILD __attribute__((noinline, no_sanitize("address", "undefined")))

enum { stack_bytes = 65536, map_bytes_max = 32, number_bytes_max = 11 };

struct making {
  char users[map_bytes_max], groups[map_bytes_max], terminals[number_bytes_max];
  volatile int mount, error;
};

IN_CHILD static int put(const char *path, const char *text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const size_t length = strlen(text);
  const int failed = write(file, text, length) == (ssize_t)length ? 0 : -1;
  const int error = errno;
  close(file);
  errno = error;
  return failed;
}

// The kernel makes a devpts only where user 0 exists, because its ptmx belongs to that user. A sandbox of an
// ordinary user has none, so the file system is made in a user namespace below ours, in which we are, and handed out as
// a descriptor: the descriptors are shared, everything else of the child ends with it.
IN_CHILD static int make_instance(void *about) {
  struct making *making = about;
  int context = -1;
  if (put("/proc/self/setgroups", "deny") != 0 || put("/proc/self/gid_map", making->groups) != 0 ||
      put("/proc/self/uid_map", making->users) != 0 || (context = kernel_fsopen("devpts")) < 0 ||
      kernel_fsconfig(context, fs_set_string, "mode", "0600") != 0 ||
      kernel_fsconfig(context, fs_set_string, "ptmxmode", "0666") != 0 ||
      kernel_fsconfig(context, fs_set_string, "max", making->terminals) != 0 ||
      kernel_fsconfig(context, fs_create, NULL, NULL) != 0 ||
      (making->mount = kernel_fsmount(context, mount_no_setuid | mount_no_programs)) < 0)
    making->error = errno;
  if (context >= 0) close(context);
  _exit(0);
}

int terminal_mount(uint32_t terminals_max) {
  static _Alignas(64) uint8_t stack[stack_bytes];
  struct making making = {.mount = -1};
  snprintf(making.users, sizeof making.users, "0 %u 1", (unsigned)geteuid());
  snprintf(making.groups, sizeof making.groups, "0 %u 1", (unsigned)getegid());
  snprintf(making.terminals, sizeof making.terminals, "%u", (unsigned)terminals_max);
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD;
  const pid_t child = clone(make_instance, stack + sizeof stack, flags, &making);
  if (child < 0) return -1;
  while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR) continue;
  if (making.mount < 0) {
    errno = making.error == 0 ? EIO : making.error;
    return -1;
  }
  const int moved = kernel_move_mount(making.mount, "", AT_FDCWD, "/dev/pts", move_from_empty_path);
  const int error = errno;
  close(making.mount);
  errno = error;
  return moved;
}

static struct winsize window_of(struct terminal_size size) {
  return (struct winsize){.ws_row = size.rows, .ws_col = size.columns};
}

static int prepare(const struct terminal *terminal, struct terminal_size size) {
  struct termios settings;
  if (tcgetattr(terminal->theirs, &settings) != 0) return -1;
  // Erasing takes whole characters.
  settings.c_iflag |= IUTF8;
  if (tcsetattr(terminal->theirs, TCSANOW, &settings) != 0) return -1;
  const struct winsize window = window_of(size);
  if (ioctl(terminal->theirs, TIOCSWINSZ, &window) != 0) return -1;
  // We lead the session, as a shell does: a command is a job of ours, so that the terminal can stop and continue it.
  // Signals of the terminal go to the command's group; we block all of them, and are pid 1.
  return ioctl(terminal->theirs, TIOCSCTTY, 0);
}

int terminal_open(struct terminal *terminal, struct terminal_size size) {
  const int unlocked = 0;
  *terminal = (struct terminal){-1, -1};
  terminal->ours = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  // Without a devpts of our own: the machine's, by the name that every user may open.
  if (terminal->ours < 0) terminal->ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (terminal->ours >= 0 && ioctl(terminal->ours, TIOCSPTLCK, &unlocked) == 0)
    terminal->theirs = ioctl(terminal->ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal->theirs >= 0 && prepare(terminal, size) == 0) return 0;
  const int error = errno;
  terminal_close(terminal);
  return error;
}

int terminal_resize(const struct terminal *terminal, struct terminal_size size) {
  const struct winsize window = window_of(size);
  return ioctl(terminal->theirs, TIOCSWINSZ, &window);
}

void terminal_continue(const struct terminal *terminal, pid_t group) {
  tcsetpgrp(terminal->theirs, group);
  kill(-group, SIGCONT);
}

void terminal_close(struct terminal *terminal) {
  // Nothing of the session keeps it: the next command gets another one.
  if (terminal->theirs >= 0) ioctl(terminal->theirs, TIOCNOTTY, 0);
  if (terminal->theirs >= 0) close(terminal->theirs);
  if (terminal->ours >= 0) close(terminal->ours);
  *terminal = (struct terminal){-1, -1};
}
