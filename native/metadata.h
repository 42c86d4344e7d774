// Mode, owner and times of files, which Landlock does not hold: changed for a command, in the trees it may write and nowhere else.
#ifndef AMBIT_METADATA_H
#define AMBIT_METADATA_H

#include <stddef.h>

#include "notice.h"

// Executes one of chmod, fchmod, fchmodat, fchmodat2, chown, fchown, lchown, fchownat and utimensat. 0, or -1 with errno.
int metadata_change(const struct call *call, const char *const *trees, size_t count);

#endif
