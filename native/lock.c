// The kernel ties a lock to the open file description, not to the process that asks for it. Our parent shares the
// description with us, so the lock stays with the parent after we exit.
#include "lock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frame.h"

enum { exit_taken = 0, exit_elsewhere = 1 };

int lock_main(int file) {
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return exit_elsewhere;
    dprintf(2, "the lock cannot be acquired: %s\n", strerror(errno));
    return exit_failed;
  }
  return exit_taken;
}

int own_main(int file) {
  const int taken = lock_main(file);
  if (taken != exit_taken) return taken;
  // The daemon's memory must not be written to a core file when it crashes. Node has no call for this limit, so we set it
  // for our parent. One byte, not zero: with zero the kernel still pipes the memory to the machine's core collector.
  // Processes that the daemon starts cannot raise it again.
  const struct rlimit none = {1, 1};
  if (prlimit(getppid(), RLIMIT_CORE, &none, NULL) != 0) {
    dprintf(2, "core dumps cannot be disabled: %s\n", strerror(errno));
    return exit_failed;
  }
  return exit_taken;
}
