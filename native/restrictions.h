// The set-up frames every word shares (`H`, `L`, `S`, `U`): parsed into a value first, applied later and in order.
#ifndef AMBIT_RESTRICTIONS_H
#define AMBIT_RESTRICTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "frame.h"
#include "landlock.h"
#include "limits.h"
#include "seccomp.h"

// Zeroed, it asks for nothing.
struct restrictions {
  bool landlock_asked, seccomp_asked;
  struct landlock_request landlock;
  struct sock_filter *program;  // owned
  size_t program_count;
  struct limit limits[limits_max];
  size_t limit_count;
};

// 1: one of ours and taken. 0: another kind. -1 with errno: one of ours that does not parse, or one too many.
int restrictions_parse(struct restrictions *into, const struct frame *frame);

// Limits, not dumpable, no_new_privs, Landlock, capabilities, seccomp, in this order.
// 0, or -1 with errno and the name of the step that failed. Everything asked for holds, or it is a failure.
int restrictions_apply(const struct restrictions *restrictions, const char **stage);

// Gives back the memory; what was applied stays.
void restrictions_free(struct restrictions *restrictions);

#endif
