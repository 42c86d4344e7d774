// What every sandbox says and does before its first command, with and without namespaces.
#ifndef AMBIT_BEGIN_H
#define AMBIT_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "network.h"
#include "setup.h"

// Default signals, a fixed mask for new files, and no descriptor but ours: the null device, which is returned.
int begin_alone(int control, int handles);
void begin_hello(int control, bool connects);
void begin_setup(int control, struct frame_input *input, struct setup *setup);
void begin_ready(int control, const struct setup *setup, enum network_mode network, const uint8_t *outcomes, uint64_t start);

#endif
