// Numbers that look random and are the same in every run of the same seed.
#ifndef AMBIT_FUZZ_RANDOM_H
#define AMBIT_FUZZ_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
  uint64_t state;
};

static inline uint64_t random_next(struct random *random) {
  random->state ^= random->state << 13;
  random->state ^= random->state >> 7;
  random->state ^= random->state << 17;
  return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

// Below `end`, which is not zero.
static inline size_t random_below(struct random *random, size_t end) {
  return (size_t)(random_next(random) >> 16) % end;
}

#endif
