// Frames as a well-behaved owner sends them: where the mutations start from.
#ifndef AMBIT_FUZZ_SEEDS_H
#define AMBIT_FUZZ_SEEDS_H

#include <stddef.h>
#include <stdint.h>

struct seed {
  uint8_t kind;
  const char *payload;
  size_t length;
};

extern const struct seed seeds[];
extern const size_t seed_count;

#endif
