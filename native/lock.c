// The kernel ties a lock to the opening of a file, not to the process that asks for it. We were handed the opening, so
// what we take stays with the one who handed it to us after we are gone.
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
    dprintf(2, "the lock cannot be taken: %s\n", strerror(errno));
    return exit_failed;
  }
  return exit_taken;
}

int own_main(int file) {
  const int taken = lock_main(file);
  if (taken != exit_taken) return taken;
  // What the owner has in memory must not lie in a file when it falls. It cannot say so itself: Node has no word for it.
  // One byte, not nought: under nought the kernel still hands the memory to the machine's own collector of cores. And what
  // the owner starts could not raise it again.
  const struct rlimit none = {1, 1};
  if (prlimit(getppid(), RLIMIT_CORE, &none, NULL) != 0) {
    dprintf(2, "core dumps cannot be turned off: %s\n", strerror(errno));
    return exit_failed;
  }
  return exit_taken;
}
