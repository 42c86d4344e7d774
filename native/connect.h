// Connecting the sockets of a command for it, so that a name in the file system leads to a socket of this sandbox only.
#ifndef AMBIT_CONNECT_H
#define AMBIT_CONNECT_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Processes that connect for a command at one time; further calls wait.
enum { connecting_max = 256 };

// The kernel can hand the call over, and we may take a descriptor of a command's.
bool connect_is_offered(void);

// The device of a file system in memory that is the sandbox's own; -1 with errno where the folder is on another one.
int connect_own_device(const char *folder, dev_t *device);

// In the command's process, before it runs its program: connect(2) waits for an answer from here on. The descriptor on
// which it is answered, or -1 with errno. System calls only: the caller shares our memory.
int connect_hand_over(const struct sock_filter *program, size_t count);

// Takes one call that waits and leaves it to a process of its own, whose id is returned. 0: there is no such process.
pid_t connect_start(int listener, dev_t own);

#endif
