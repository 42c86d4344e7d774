// The seccomp program is made and tested on the owner's side; here it is only handed to the kernel, which checks it.
#include "seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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
