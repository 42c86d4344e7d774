// The one frame on its way to the owner.
#include "outgoing.h"

#include <errno.h>
#include <sys/socket.h>

uint8_t *outgoing_payload(struct outgoing *outgoing) {
  return outgoing->bytes + frame_header_bytes;
}

void outgoing_begin(struct outgoing *outgoing, uint8_t kind, size_t length) {
  struct writer writer = {outgoing->bytes, frame_header_bytes, 0, false};
  write_u32(&writer, (uint32_t)length);
  write_u8(&writer, kind);
  outgoing->start = 0;
  outgoing->end = frame_header_bytes + length;
}

bool outgoing_flush(struct outgoing *outgoing, int control) {
  while (!outgoing_is_empty(outgoing)) {
    const size_t left = outgoing->end - outgoing->start;
    const ssize_t sent = send(control, outgoing->bytes + outgoing->start, left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) outgoing->start += (size_t)sent;
    else if (errno == EAGAIN) return true;
    else if (errno != EINTR) return false;
  }
  return true;
}
