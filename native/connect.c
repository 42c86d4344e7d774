// connect(2) of a command is executed here. The kernel looks sockets up by inode, over every mount and network
// namespace, so a listener of the host on a file system that the sandbox shows would be reached; and a filter cannot read
// the address. Pid 1 therefore copies socket and address, resolves the name to an inode that it holds, and connects to
// that one if it lies on the file system in memory that is the sandbox's own.
// INVARIANT: no call is ever continued (SECCOMP_USER_NOTIF_FLAG_CONTINUE): the kernel would read descriptor and address
// a second time, after another thread had changed them.
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "drop.h"
#include "frame.h"
#include "kernel.h"

// Structures of the kernel's that may grow; larger ones are refused at the start.
enum { notice_bytes_max = 256, look_seconds = 1 };

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

// A signal to the caller must not start the call a second time: Go sends itself one every few milliseconds.
static const unsigned long hand_over_flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

static int wrong(int error) {
  errno = error;
  return -1;
}

// Yama lets an ancestor take descriptors in its modes 0 and 1; in mode 2 only with capabilities.
static bool is_tracing_open(void) {
  const int file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  char mode = 0;
  const ssize_t count = read(file, &mode, 1);
  close(file);
  return count == 1 && (mode == '0' || mode == '1');
}

bool connect_is_offered(void) {
  struct seccomp_notif_sizes sizes;
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return false;
  if (sizes.seccomp_notif > notice_bytes_max || sizes.seccomp_notif_resp > notice_bytes_max) return false;
  // Flags are looked at before the program, which is not there.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, hand_over_flags, NULL) == 0 || errno != EFAULT) return false;
  if (syscall(number_pidfd_getfd, -1, 0, 0) == 0 || errno != EBADF) return false;
  return is_tracing_open();
}

int connect_own_device(const char *folder, dev_t *device) {
  struct stat status;
  struct statfs file_system;
  const uint64_t resolve = resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, resolve);
  if (place < 0) return -1;
  const int result = fstat(place, &status) != 0 || fstatfs(place, &file_system) != 0 ? -1 : 0;
  const int error = errno;
  close(place);
  if (result != 0) return wrong(error);
  if (file_system.f_type != TMPFS_MAGIC) return wrong(EXDEV);
  *device = status.st_dev;
  return 0;
}

int connect_hand_over(const struct sock_filter *program, size_t count) {
  const struct sock_fprog whole = {(unsigned short)count, (struct sock_filter *)(uintptr_t)program};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, hand_over_flags, &whole);
}

// One call: what the command asked for, in memory of ours.
struct call {
  uint64_t id;
  int socket;
  int target;  // what a name led to; -1
  union {
    struct sockaddr any;
    struct sockaddr_un named;
    struct sockaddr_storage whole;
  } address;
  socklen_t length;
};

static void answer(int listener, uint64_t id, int error) {
  _Alignas(8) uint8_t memory[notice_bytes_max] = {0};
  struct seccomp_notif_resp *response = (struct seccomp_notif_resp *)(void *)memory;
  response->id = id;
  response->error = -error;
  // A caller that is gone needs no answer.
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response);
}

// The process of a thread, for kernels that open processes only.
static pid_t process_of(pid_t thread) {
  char name[40], text[512];
  snprintf(name, sizeof name, "/proc/%d/status", (int)thread);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return -1;
  text[count] = 0;
  const char *line = strstr(text, "\nTgid:");
  return line == NULL ? -1 : (pid_t)strtol(line + 6, NULL, 10);
}

static int take_descriptor(pid_t thread, uint64_t number) {
  if (number > INT32_MAX) return wrong(EBADF);
  int process = (int)syscall(number_pidfd_open, thread, pidfd_thread);
  if (process < 0) process = (int)syscall(number_pidfd_open, process_of(thread), 0);
  if (process < 0) return -1;
  const int taken = (int)syscall(number_pidfd_getfd, process, (int)number, 0);
  const int error = errno;
  close(process);
  errno = error;
  return taken;
}

static int take_address(struct call *call, pid_t thread, uint64_t address, uint64_t length) {
  if (length > sizeof call->address) return wrong(EINVAL);
  const struct iovec ours = {&call->address, length};
  const struct iovec theirs = {(void *)(uintptr_t)address, length};
  if (length > 0 && process_vm_readv(thread, &ours, 1, &theirs, 1, 0) != (ssize_t)length) return wrong(EFAULT);
  call->length = (socklen_t)length;
  return 0;
}

static int option(int socket, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

static bool is_named(const struct call *call) {
  const size_t before = offsetof(struct sockaddr_un, sun_path);
  return option(call->socket, SO_DOMAIN) == AF_UNIX && call->length > before &&
         call->address.any.sa_family == AF_UNIX && call->address.named.sun_path[0] != 0;
}

// From the caller's folder; all of them have the same root as we.
static int open_name(pid_t thread, const char *name) {
  const uint64_t flags = O_PATH | O_CLOEXEC;
  if (name[0] == '/') return kernel_openat2(AT_FDCWD, name, flags, 0, resolve_no_magic_links);
  char folder[40];
  snprintf(folder, sizeof folder, "/proc/%d/cwd", (int)thread);
  const int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (place < 0) return -1;
  const int found = kernel_openat2(place, name, flags, 0, resolve_no_magic_links);
  const int error = errno;
  close(place);
  errno = error;
  return found;
}

// Replaces the name by the descriptor of what it leads to now, so that nothing can be put in its place.
static int hold_target(struct call *call, pid_t thread, dev_t own) {
  const size_t before = offsetof(struct sockaddr_un, sun_path);
  char name[sizeof call->address + 1] = {0};
  if (call->length > sizeof call->address.named) return wrong(EINVAL);
  memcpy(name, call->address.named.sun_path, call->length - before);
  call->target = open_name(thread, name);
  if (call->target < 0) return -1;
  struct stat status;
  if (fstat(call->target, &status) != 0) return -1;
  if (!S_ISSOCK(status.st_mode)) return wrong(ECONNREFUSED);
  if (status.st_dev != own) return wrong(EACCES);
  struct sockaddr_un held = {.sun_family = AF_UNIX};
  snprintf(held.sun_path, sizeof held.sun_path, "/proc/self/fd/%d", call->target);
  call->address.named = held;
  call->length = sizeof held;
  return 0;
}

static int take_call(struct call *call, int listener, const struct seccomp_notif *notice, dev_t own) {
  const pid_t thread = (pid_t)notice->pid;
  *call = (struct call){.id = notice->id, .socket = -1, .target = -1};
  call->socket = take_descriptor(thread, notice->data.args[0]);
  if (call->socket < 0) return -1;
  // The kernel's own parameter is an int, of which this is the low half.
  if (take_address(call, thread, notice->data.args[1], (uint32_t)notice->data.args[2]) != 0) return -1;
  if (is_named(call) && hold_target(call, thread, own) != 0) return -1;
  // All of it was of the caller, not of a later process with its number.
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id);
}

static void interrupt(int number) {
  (void)number;
}

// Looks up now and then whether the caller still waits; not where the socket has a limit of its own.
static void watch_caller(const struct call *call) {
  struct timeval limit = {0};
  socklen_t length = sizeof limit;
  if (getsockopt(call->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &length) != 0) return;
  if (limit.tv_sec != 0 || limit.tv_usec != 0) return;
  const struct sigaction action = {.sa_handler = interrupt};
  const struct itimerval every = {{look_seconds, 0}, {look_seconds, 0}};
  sigset_t alarm_set;
  sigemptyset(&alarm_set);
  sigaddset(&alarm_set, SIGALRM);
  sigaction(SIGALRM, &action, NULL);
  sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
}

// In a process of its own: a socket may wait for its listener, and a name for a file system that does not answer.
_Noreturn static void execute(const struct seccomp_notif *notice, int listener, dev_t own) {
  const int kept[] = {listener};
  struct call call;
  if (drop_descriptors(kept, 1) != 0) _exit(exit_failed);
  int error = take_call(&call, listener, notice, own) == 0 ? 0 : errno;
  if (error == 0) watch_caller(&call);
  while (error == 0) {
    if (connect(call.socket, &call.address.any, call.length) == 0) break;
    uint64_t id = call.id;
    if (errno != EINTR) error = errno;
    else if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0) _exit(0);
  }
  answer(listener, notice->id, error);
  _exit(0);
}

pid_t connect_start(int listener, dev_t own) {
  _Alignas(8) uint8_t memory[notice_bytes_max] = {0};
  struct seccomp_notif *notice = (struct seccomp_notif *)(void *)memory;
  // Does not wait: a caller that ended since it was announced is an error.
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, notice) != 0) return 0;
  const pid_t process = fork();
  if (process == 0) execute(notice, listener, own);
  if (process < 0) answer(listener, notice->id, EAGAIN);
  return process > 0 ? process : 0;
}
