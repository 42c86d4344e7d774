// The one frame on its way to the owner. Nothing more is read from a command until it is gone: that is the
// back-pressure.
#ifndef AMBIT_OUTGOING_H
#define AMBIT_OUTGOING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

// Zeroed, it is empty.
struct outgoing {
  size_t start, end;
  uint8_t bytes[frame_header_bytes + output_chunk_bytes_max];
};

static inline bool outgoing_is_empty(const struct outgoing *outgoing) {
  return outgoing->start == outgoing->end;
}

// Where the payload of the next frame is to be put, output_chunk_bytes_max at most; only while it is empty.
uint8_t *outgoing_payload(struct outgoing *outgoing);
// Makes a frame of what was put there.
void outgoing_begin(struct outgoing *outgoing, uint8_t kind, size_t length);
// Sends what the socket takes without waiting. False: the owner is gone.
bool outgoing_flush(struct outgoing *outgoing, int control);

#endif
