// The root of a sandbox as an overlay: the real root below, a layer of whiteouts for masked names, and for a draft a
// folder of the owner's that takes every change.
#ifndef AMBIT_OVERLAY_H
#define AMBIT_OVERLAY_H

#include <stdint.h>

#include "setup.h"

// Mounts what the set-up asks for; nothing without a `V` frame. 0, or -1 with errno and the name of the step.
// `start` gets the coarse clock as it was before the mount, in nanoseconds; 0 without an overlay.
int overlay_mount(const struct overlay_request *request, uint64_t *start, const char **stage);

// Waits until the coarse clock has advanced past `start`: a file changed later has a later change time.
// 0, or -1 with errno where the clock does not advance.
int overlay_wait(uint64_t start);

#endif
