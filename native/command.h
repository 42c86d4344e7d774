// One command as the owner asks for it (`X`): parsed whole, pointing into a copy of the frame it came in.
#ifndef AMBIT_COMMAND_H
#define AMBIT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "terminal.h"

enum {
  arguments_max = 4096,
  environment_max = 256,
};

struct command {
  uint32_t milliseconds_max;  // 0: no limit
  uint64_t output_bytes_max;
  bool input;
  bool has_terminal;  // instead of three pipes
  struct terminal_size size;
  const char *directory;
  char **arguments;    // ended by a null
  char **environment;  // ended by a null
  void *memory;        // owned: all of the above lies in it
};

// 0, or -1 with errno: EPROTO it does not parse, E2BIG it does but has more words than can be run.
int command_parse(struct command *into, const struct frame *frame);
void command_free(struct command *command);

#endif
