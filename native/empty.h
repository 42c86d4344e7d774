// Folders that are private to a sandbox and emptied after every command.
#ifndef AMBIT_EMPTY_H
#define AMBIT_EMPTY_H

#include <stdbool.h>
#include <stddef.h>

#include "setup.h"

// Makes those that are absent, mode 0700, and looks whether their file systems hold no more than asked. 0, or -1.
int emptied_make(const struct emptied *folders, size_t count);
// Empties all of them and makes them as they were at the start. `interrupted` is asked from time to time. True: done.
bool emptied_again(const struct emptied *folders, size_t count, bool (*interrupted)(void *), void *about);

#endif
