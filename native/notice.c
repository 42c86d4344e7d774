// One system call that waits, by the kernel's user notification. The caller is named by its number, which may be of another
// process by the time it is used: what is read is used only if the call still waits afterwards.
#include "notice.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Structures of the kernel's that may grow; larger ones are refused at the start.
enum { notice_bytes_max = 256, page_bytes = 4096 };

static int wrong(int error) {
  errno = error;
  return -1;
}

bool notice_is_offered(void) {
  struct seccomp_notif_sizes sizes;
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return false;
  return sizes.seccomp_notif <= notice_bytes_max && sizes.seccomp_notif_resp <= notice_bytes_max;
}

int notice_take(int listener, struct call *call) {
  _Alignas(8) uint8_t memory[notice_bytes_max] = {0};
  struct seccomp_notif *notice = (struct seccomp_notif *)(void *)memory;
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, notice) != 0) return -1;
  *call = (struct call){.listener = listener, .id = notice->id, .thread = (pid_t)notice->pid, .number = notice->data.nr};
  memcpy(call->arguments, notice->data.args, sizeof call->arguments);
  char name[40];
  snprintf(name, sizeof name, "/proc/%d/mem", (int)call->thread);
  // Ties us to the memory itself: a later process with the same number has another. Not there for a caller that may not be
  // looked into; its calls with arguments in memory fail.
  call->memory = open(name, O_RDONLY | O_CLOEXEC);
  return 0;
}

bool notice_is_valid(const struct call *call) {
  uint64_t id = call->id;
  return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int notice_copy(const struct call *call, uint64_t address, void *into, size_t length) {
  if (length == 0) return 0;
  if (call->memory < 0 || address > INT64_MAX - length) return wrong(EFAULT);
  if (pread(call->memory, into, length, (off_t)address) != (ssize_t)length) return wrong(EFAULT);
  return notice_is_valid(call) ? 0 : wrong(ESRCH);
}

int notice_text(const struct call *call, uint64_t address, char *into, size_t size) {
  // Page by page: the text may be the last one of its memory.
  for (size_t length = 0; length < size;) {
    const size_t to_page = page_bytes - (size_t)((address + length) % page_bytes);
    const size_t wanted = to_page < size - length ? to_page : size - length;
    if (notice_copy(call, address + length, into + length, wanted) != 0) return -1;
    if (memchr(into + length, 0, wanted) != NULL) return 0;
    length += wanted;
  }
  return wrong(ENAMETOOLONG);
}

int notice_descriptor(const struct call *call, uint64_t number, struct descriptor_facts *into) {
  char name[64], text[256];
  const unsigned wanted = (uint32_t)number;
  *into = (struct descriptor_facts){0};
  snprintf(name, sizeof name, "/proc/%d/fd/%u", (int)call->thread, wanted);
  const ssize_t length = readlink(name, text, sizeof text - 1);
  if (length < 0) return wrong(errno == ENOENT ? EBADF : EACCES);
  text[length] = 0;
  unsigned long inode = 0;
  into->is_socket = sscanf(text, "socket:[%lu]", &inode) == 1;
  into->inode = (ino_t)inode;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%u", (int)call->thread, wanted);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  const ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (count <= 0) return wrong(EBADF);
  text[count] = 0;
  const char *line = strstr(text, "flags:");
  if (line == NULL) return wrong(EBADF);
  const unsigned long flags = strtoul(line + 6, NULL, 8);
  into->is_nonblocking = (flags & O_NONBLOCK) != 0;
  into->closes_on_exec = (flags & O_CLOEXEC) != 0;
  return notice_is_valid(call) ? 0 : wrong(ESRCH);
}

int notice_put(const struct call *call, int descriptor, int number, bool closes_on_exec) {
  const struct seccomp_notif_addfd addition = {
      .id = call->id,
      .flags = number < 0 ? 0U : (uint32_t)SECCOMP_ADDFD_FLAG_SETFD,
      .srcfd = (uint32_t)descriptor,
      .newfd = number < 0 ? 0 : (uint32_t)number,
      .newfd_flags = closes_on_exec ? O_CLOEXEC : 0,
  };
  return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
}

void notice_answer(struct call *call, int64_t value, int error) {
  _Alignas(8) uint8_t memory[notice_bytes_max] = {0};
  struct seccomp_notif_resp *response = (struct seccomp_notif_resp *)(void *)memory;
  response->id = call->id;
  response->val = error == 0 ? value : 0;
  response->error = -error;
  // A caller that is gone needs no answer.
  ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, response);
  if (call->memory >= 0) close(call->memory);
  call->memory = -1;
}
