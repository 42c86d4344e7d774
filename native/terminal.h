// Terminals of a sandbox: a devpts instance of its own, and one pair for a command that has a terminal.
#ifndef AMBIT_TERMINAL_H
#define AMBIT_TERMINAL_H

#include <stdint.h>
#include <sys/types.h>

struct terminal_size {
  uint16_t columns, rows;
};

// Our side of a command's terminal. -1: there is none.
struct terminal {
  int ours;    // the master; does not wait
  int theirs;  // the slave, open as long as the command runs, so that the master never sees a hang-up
};

// Mounts a devpts of this sandbox's own on /dev/pts, with at most so many terminals. 0, or -1 with errno.
int terminal_mount(uint32_t terminals_max);
// Makes a pair and takes it as the controlling terminal of this process, which leads its session. 0, or an errno.
int terminal_open(struct terminal *terminal, struct terminal_size size);
int terminal_resize(const struct terminal *terminal, struct terminal_size size);
// Continues a command that stopped: its process group, in the foreground.
void terminal_continue(const struct terminal *terminal, pid_t group);
// Gives the terminal up. Everything it wrote has to be read before.
void terminal_close(struct terminal *terminal);

#endif
