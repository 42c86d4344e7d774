// Devices of the machine, new device nodes, and the terminal of our parent.
#include <linux/tiocl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "probe.h"

static void open_device(const char *path) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  judge(fd, path);
}

static void make_node(const char *kind) {
  const char *path = below("attempt-node-%s", kind);
  unlink(path);
  mode_t mode = strcmp(kind, "block") == 0 ? S_IFBLK : S_IFCHR;
  dev_t device = mode == S_IFBLK ? makedev(254, 0) : makedev(1, 1);
  judge(mknod(path, mode | 0600, device), path);
}

static void make_node_in_tmp(const char *argument) {
  (void)argument;
  judge(mknod("/tmp/attempt-node", S_IFCHR | 0600, makedev(1, 1)), "/tmp/attempt-node");
}

// Any terminal we can reach: our own descriptors and the names of terminals.
static int terminal(void) {
  for (int fd = 0; fd < 64; fd++)
    if (isatty(fd)) return fd;
  int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd >= 0) return fd;
  return open("/dev/console", O_RDWR | O_CLOEXEC | O_NOCTTY);
}

static void terminal_reached(const char *argument) {
  (void)argument;
  int fd = terminal();
  if (fd >= 0) open_way("terminal", "descriptor %d is a terminal", fd);
  refused("/dev/tty, /dev/console and every descriptor");
}

static void foreign_terminals(const char *argument) {
  (void)argument;
  for (int at = 0; at < 16; at++) {
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%d", at);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) open_way("terminal", "%s", path);
  }
  refused("/dev/pts/*");
}

// Called on a terminal if there is one, otherwise on standard input: a filter answers before the device does.
static void push_input(unsigned long request) {
  int fd = terminal();
  char letter = '\n';
  struct tiocl_selection paste = {0};
  (void)paste;
  long result = syscall(SYS_ioctl, fd < 0 ? 0 : fd, request, &letter);
  if (result < 0) refused(fd < 0 ? "asked of standard input" : "asked of a terminal");
  open_way("pushed", "a byte for the shell outside");
}

static void push(const char *argument) {
  (void)argument;
  push_input(TIOCSTI);
}
static void push_high(const char *argument) {
  (void)argument;
  push_input(TIOCSTI | (1UL << 32));
}
static void console(const char *argument) {
  (void)argument;
  push_input(TIOCLINUX);
}
static void console_high(const char *argument) {
  (void)argument;
  push_input(TIOCLINUX | (1UL << 32));
}
static void discipline(const char *argument) {
  (void)argument;
  push_input(TIOCSETD);
}

// An own terminal would give access to the line disciplines of the kernel.
static void own_terminal(const char *argument) {
  (void)argument;
  judge(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), "/dev/ptmx");
}

const struct attempt device_attempts[] = {
    {"device", open_device},
    {"mknod", make_node},
    {"mknod-tmp", make_node_in_tmp},
    {"terminal", terminal_reached},
    {"terminals-of-others", foreign_terminals},
    {"terminal-own", own_terminal},
    {"tiocsti", push},
    {"tiocsti-high", push_high},
    {"tioclinux", console},
    {"tioclinux-high", console_high},
    {"tiocsetd", discipline},
    {NULL, NULL},
};
