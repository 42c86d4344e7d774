// System V shared memory, semaphores and message queues of the sandbox's own IPC namespace.
#ifndef AMBIT_IPC_H
#define AMBIT_IPC_H

#include <stdbool.h>

// True when the namespace holds none: asked before the first command, so that no other namespace is ever cleared.
bool ipc_is_empty(void);
// Removes every object. `interrupted` is asked from time to time. True: nothing is left.
bool ipc_clear(bool (*interrupted)(void *), void *about);

#endif
