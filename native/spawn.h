// Starting one command: a session or a terminal of its own, default signals, three descriptors and no more.
#ifndef AMBIT_SPAWN_H
#define AMBIT_SPAWN_H

#include <sys/types.h>

#include "command.h"
#include "landlock.h"
#include "limits.h"
#include "setup.h"
#include "terminal.h"

// Our ends, none of which waits. `input` is -1 where the command reads from nothing. On a terminal the two are copies of
// its master, there are no errors apart, and the command is a process group in the foreground.
struct spawned {
  pid_t process;
  int input, output, errors;
  struct terminal terminal;
  int calls;  // the calls it hands over; -1: none
};

// What every command gets.
struct spawn_ground {
  int nothing;  // what a command without input reads from
  const struct limit *limits;
  size_t limit_count;
  const struct socket_request *sockets;
  const struct landlock_request *landlock;  // which every command enters; NULL: it is in one already
};

// 0, or the errno of why it was not started.
int spawn_command(const struct command *command, const struct spawn_ground *ground, struct spawned *spawned);

#endif
