// Where there is no pid namespace: a Landlock domain that signals cannot leave, so that "everything" means this sandbox.
#ifndef AMBIT_SCOPE_H
#define AMBIT_SCOPE_H

#include <sys/types.h>

// Enters a domain of our own and tries whether a signal reaches `outside`, a process of the same user that is not in it.
// Needs no_new_privs. 0, or -1 with errno; EPERM where the kernel does not hold signals back.
int scope_enter(pid_t outside);
// Kills everything in the domain but ourselves, in one step that no fork can slip through, and reaps all of it.
// Does nothing where no domain was entered.
void scope_end(void);

#endif
