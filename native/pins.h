// Pins: files of the kernel in /proc that a command cannot change, or see.
#ifndef AMBIT_PINS_H
#define AMBIT_PINS_H

#include <stddef.h>
#include <stdint.h>

#include "setup.h"

enum pin_outcome { pin_left_absent = 0, pin_is_held = 1 };

// Holds every pin and says for each, in the order given, what became of it. 0, or -1 with errno and the pin at fault.
// A path that is a link, or is reached through one, is a failure.
int pins_hold(const struct pin *pins, size_t count, uint8_t *outcomes, size_t *at_fault);

#endif
