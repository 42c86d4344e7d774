// Pid 1 of a sandbox that is set up: runs the owner's commands, one at a time, until the owner is gone.
#ifndef AMBIT_ZYGOTE_H
#define AMBIT_ZYGOTE_H

#include <sys/types.h>

#include "calls.h"
#include "frame.h"
#include "landlock.h"
#include "setup.h"

struct zygote_ground {
  int control;
  int nothing;  // what a command without input reads from
  int signals;  // tells when a child died
  struct frame_input *input;
  const struct emptied *emptied;
  size_t emptied_count;
  const struct limit *limits;  // those that each command gets anew
  size_t limit_count;
  const struct socket_request *sockets;
  dev_t own_device;  // of the file system that its sockets are on
  // Without namespaces: the process that watches us, the rules every command enters, and how its calls are answered.
  pid_t guard;  // 0: we are pid 1
  const struct landlock_request *landlock;  // NULL: none
  struct calls_ground *calls;
};

// Blocks every signal and gives a descriptor that tells of dead children; -1 with errno. Called before anything is
// dropped, so that no later step has to be allowed for it.
int zygote_signals(void);
_Noreturn void zygote_serve(const struct zygote_ground *ground);

#endif
