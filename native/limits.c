// Limits of resources, by the one call that reads and sets them in 64 bits on every system.
#include "limits.h"

#include <sys/syscall.h>
#include <unistd.h>

// Both the C library's "no limit" and the protocol's: all ones, and so the largest number of all.
struct pair {
  uint64_t soft, hard;
};

int limits_apply(const struct limit *limits, size_t count) {
  for (size_t at = 0; at < count; at++) {
    struct pair held;
    if (syscall(SYS_prlimit64, 0, limits[at].resource, NULL, &held) != 0) return -1;
    // Lowering needs no right, and raising the hard limit is never tried: more than there is means all there is.
    const uint64_t value = limits[at].value < held.hard ? limits[at].value : held.hard;
    const struct pair next = {value, value};
    if (syscall(SYS_prlimit64, 0, limits[at].resource, &next, NULL) != 0) return -1;
  }
  return 0;
}
