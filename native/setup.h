// Everything the owner asks of a sandbox before `G`, as a value: frames are parsed into it, nothing is done yet.
#ifndef AMBIT_SETUP_H
#define AMBIT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "restrictions.h"

enum {
  bases_max = 4,
  pins_max = 64,
  masks_max = 4096,
  emptied_max = 4,
  ports_max = 1024,
  loopback_max = 64,
  path_bytes_max = 4095,
};

enum pin_action { pin_read_only = 1, pin_masked = 2 };
enum overlay_mode { overlay_read_only = 1, overlay_draft = 2 };

struct pin {
  const char *base;  // absolute; owned by the set-up
  char *path;        // below the base; owned
  uint8_t action;
};

// The root as an overlay; no path: none is asked for.
struct overlay_request {
  uint8_t mode;
  char *path;    // absolute; owned
  char **masks;  // below the root; owned
  size_t mask_count;
};

// A folder emptied after every command.
struct emptied {
  uint32_t bytes_max;
  char *path;  // owned
};

struct network_request {
  bool asked, transparent;
  uint16_t ports[ports_max];
  size_t count;
  // Ports of 127.0.0.1 that lead to the host's loopback.
  uint16_t loopback[loopback_max];
  size_t loopback_count;
};

// Unix sockets among the programs of a command; no path: there are none.
struct socket_request {
  char *path;                   // a folder on the file system that may hold them; owned
  struct sock_filter *program;  // which calls a command hands over; owned
  size_t program_count;
};

// Zeroed, it asks for nothing.
struct setup {
  char *bases[bases_max];  // owned
  size_t base_count;
  struct pin *pins;  // owned
  size_t pin_count;
  struct overlay_request overlay;
  struct emptied emptied[emptied_max];
  size_t emptied_count;
  struct network_request network;
  uint32_t terminals_max;  // 0: there are none
  struct socket_request sockets;
  struct restrictions restrictions;
};

enum setup_parsed { setup_more, setup_go, setup_wrong };

// Takes one frame. setup_wrong comes with errno and the name of what does not parse.
enum setup_parsed setup_parse(struct setup *into, const struct frame *frame, const char **stage);
void setup_free(struct setup *setup);

#endif
