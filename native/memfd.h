// Programs that live in no file: memory descriptors that could be executed past every mount and Landlock rule.
#ifndef AMBIT_MEMFD_H
#define AMBIT_MEMFD_H

#include <stdbool.h>

// Asks the kernel to refuse them in this pid namespace. Where it cannot be asked nothing happens: see below.
void memfd_forbid(void);
// Whether one can be made, by trying, after everything else is in place: only this answer is reported.
bool memfd_is_held(void);

#endif
