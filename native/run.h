// One command from its start to its end: what it used, how it ended, what is left of it.
#ifndef AMBIT_RUN_H
#define AMBIT_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "connect.h"
#include "frame.h"

enum run_how {
  run_exited = 0,
  run_signalled = 1,
  run_time_over = 2,
  run_output_over = 3,
  run_stopped = 4,
  run_not_started = 5,
};

struct run {
  enum run_how how;
  int32_t value;
  pid_t process;        // of the command itself; 0 once it is reaped
  bool ending;          // everything was told to die
  bool is_job;          // on a terminal: it can be stopped and continued
  bool halted;          // it stopped, and the owner is not told yet
  uint64_t begun, deadline;  // microseconds; a deadline of 0 is none
  uint64_t wall, user, system, memory;
  uint64_t output_left, output_dropped;
  uint32_t leftovers;
  pid_t connecting[connecting_max];  // processes of ours that connect a socket of the command's
  size_t connecting_count;
};

// Microseconds of a clock that only goes forward.
uint64_t clock_now(void);
// Kills everything else in the sandbox. The first reason stays.
void run_end(struct run *run, enum run_how how);
// Reaps processes that have exited, without waiting. True when we are the only process left in the sandbox.
bool run_reap(struct run *run);
// How long to wait at most, in milliseconds for poll; -1 for ever.
int run_time_left(const struct run *run);
// The payload of `D`.
void run_write(const struct run *run, bool clean, struct writer *writer);

#endif
