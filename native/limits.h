// Limits of resources for this process and everything it starts.
#ifndef AMBIT_LIMITS_H
#define AMBIT_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum { limits_max = 16 };

struct limit {
  uint32_t resource;
  uint64_t value;
};

// Soft and hard at once, never above the hard limit that holds already. 0, or -1 with errno.
int limits_apply(const struct limit *limits, size_t count);

#endif
