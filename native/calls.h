// System calls of a command that a process outside its filter executes for it, where namespaces are not available: those that name an
// address, and those that change a file's mode, owner or times, which Landlock does not hold.
#ifndef AMBIT_CALLS_H
#define AMBIT_CALLS_H

#include <stddef.h>
#include <sys/types.h>

#include "handles.h"

enum { trees_max = 16, sockets_known_max = 4096 };

// Sockets that a command has from us, by inode; the oldest are forgotten first.
struct known_sockets {
  ino_t inodes[sockets_known_max];
  size_t next;
};

struct calls_ground {
  struct handles *handles;        // NULL: there is no network
  const char *trees[trees_max];   // where a command may change files; absolute, without links
  size_t tree_count;
  struct known_sockets connected, datagrams;
};

// The kernel can hand calls over and take descriptors for them.
bool calls_are_offered(void);

// Takes one call that waits, executes and answers it. The id of a process that goes on for it; 0: there is none.
pid_t calls_answer(int listener, struct calls_ground *ground);

#endif
