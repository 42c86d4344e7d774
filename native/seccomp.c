// The seccomp program is made and tested on the owner's side; here it is only handed to the kernel, which checks it.
#include "seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int wrong(int error) {
  errno = error;
  return -1;
}

int seccomp_parse(struct reader *reader, struct sock_filter **program, size_t *count) {
  const size_t bytes = read_left(reader);
  *count = bytes / 8;
  if (bytes % 8 != 0 || *count == 0) return wrong(EPROTO);
  if (*count > seccomp_instructions_max) return wrong(E2BIG);
  struct sock_filter *parsed = calloc(*count, sizeof *parsed);
  if (parsed == NULL) return wrong(ENOMEM);
  for (size_t at = 0; at < *count; at++) {
    parsed[at].code = read_u16(reader);
    parsed[at].jt = read_u8(reader);
    parsed[at].jf = read_u8(reader);
    parsed[at].k = read_u32(reader);
  }
  *program = parsed;
  return 0;
}

int seccomp_install(const struct sock_filter *program, size_t count) {
  if (count == 0 || count > seccomp_instructions_max) {
    errno = EINVAL;
    return -1;
  }
  // The kernel only reads the instructions; its structure just does not say so.
  const struct sock_fprog whole = {(unsigned short)count, (struct sock_filter *)(uintptr_t)program};
  // Safe at any privilege: a filter takes away and cannot be removed; no_new_privs is set, so that no set-uid program
  // can be confused by the failures it makes.
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole);
}
