// Giving up, for good, what a command must not have. Each: 0, or -1 with errno.
#ifndef AMBIT_DROP_H
#define AMBIT_DROP_H

#include <stddef.h>

// Closes every descriptor but 0, 1, 2 and those named (each at least 3; at most 8 of them).
int drop_descriptors(const int *kept, size_t count);
// No other process of the same user may look into or write to our memory, or take our descriptors; no core is dumped.
int drop_dumpable(void);
// No program started from here on gains anything by being set-uid or by file capabilities.
int drop_new_privileges(void);
// Every capability, the ambient and the bounding set included; looks afterwards whether they are gone.
int drop_capabilities(void);

#endif
