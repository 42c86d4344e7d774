// Frames over a stream socket. Whether the socket itself waits or not makes no difference here: every call says
// MSG_DONTWAIT and waiting is done by poll, so that flags another process set cannot make us block or spin.
#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  input_bytes_min = 65536,
  input_bytes_max = frame_header_bytes + frame_payload_bytes_max,
  stage_bytes_max = 256,
  farewell_milliseconds_max = 1000,
};

static uint32_t number_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

enum frame_state frame_next(struct frame_input *input, struct frame *frame) {
  const size_t held = input->end - input->start;
  if (held < frame_header_bytes) return frame_partial;
  const uint8_t *header = input->bytes + input->start;
  const uint32_t length = number_at(header);
  // Looked at as soon as it is there: a length we would never accept is not waited for.
  if (length > frame_payload_bytes_max) return frame_wrong;
  if (held - frame_header_bytes < length) return frame_partial;
  *frame = (struct frame){header[4], length, header + frame_header_bytes};
  input->start += frame_header_bytes + length;
  return frame_whole;
}

// Room for at least one more byte and, where the header is known, for all of the frame under way.
static bool make_room(struct frame_input *input, size_t wanted) {
  const size_t held = input->end - input->start;
  if (held >= frame_header_bytes) {
    const uint32_t length = number_at(input->bytes + input->start);
    if (length <= frame_payload_bytes_max && frame_header_bytes + length > held + wanted)
      wanted = frame_header_bytes + length - held;
  }
  if (input->capacity - input->end >= wanted) return true;
  if (held > 0 && input->start > 0) memmove(input->bytes, input->bytes + input->start, held);
  input->start = 0;
  input->end = held;
  if (input->capacity - held >= wanted) return true;
  size_t capacity = input->capacity < input_bytes_min ? input_bytes_min : input->capacity;
  while (capacity - held < wanted) capacity *= 2;
  uint8_t *bytes = realloc(input->bytes, capacity);
  if (bytes == NULL) return false;
  input->bytes = bytes;
  input->capacity = capacity;
  return true;
}

bool frame_append(struct frame_input *input, const void *bytes, size_t count) {
  if (count == 0) return true;
  if (count > 2 * (size_t)input_bytes_max || !make_room(input, count)) return false;
  memcpy(input->bytes + input->end, bytes, count);
  input->end += count;
  return true;
}

long frame_fill(struct frame_input *input, int control) {
  if (!make_room(input, 1)) {
    errno = ENOMEM;
    return -1;
  }
  ssize_t count;
  do count = recv(control, input->bytes + input->end, input->capacity - input->end, MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count > 0) input->end += (size_t)count;
  return count;
}

void frame_rest(struct frame_input *input) {
  if (input->start != input->end || input->capacity <= input_bytes_min) return;
  free(input->bytes);
  *input = (struct frame_input){0};
}

// Waits until the socket is ready; a negative time is for ever.
static bool wait_for(int control, short events, int milliseconds) {
  struct pollfd waiting = {.fd = control, .events = events};
  int ready;
  do ready = poll(&waiting, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

int frame_try(int control, struct frame_input *input, struct frame *frame) {
  for (;;) {
    switch (frame_next(input, frame)) {
      case frame_whole:
        return 1;
      case frame_wrong:
        errno = EPROTO;
        return -1;
      case frame_partial:
        break;
    }
    const long count = frame_fill(input, control);
    if (count < 0) return -1;
    if (count > 0) continue;
    if (input->start == input->end) return 0;
    errno = EPROTO;
    return -1;
  }
}

int frame_wait(int control) {
  return wait_for(control, POLLIN, -1) ? 0 : -1;
}

int frame_receive(int control, struct frame_input *input, struct frame *frame) {
  for (;;) {
    const int received = frame_try(control, input, frame);
    if (received >= 0 || errno != EAGAIN) return received;
    if (frame_wait(control) != 0) return -1;
  }
}

static int send_all(int control, const uint8_t *bytes, size_t count, int milliseconds) {
  while (count > 0) {
    const ssize_t sent = send(control, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes += sent;
      count -= (size_t)sent;
    } else if (errno == EAGAIN) {
      if (!wait_for(control, POLLOUT, milliseconds)) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

static void put_header(uint8_t *header, uint8_t kind, size_t length) {
  struct writer writer = {header, frame_header_bytes, 0, false};
  write_u32(&writer, (uint32_t)length);
  write_u8(&writer, kind);
}

int frame_send(int control, uint8_t kind, const void *payload, size_t length) {
  uint8_t small[512];
  if (length > frame_payload_bytes_max) {
    errno = EMSGSIZE;
    return -1;
  }
  put_header(small, kind, length);
  if (length <= sizeof small - frame_header_bytes) {
    if (length > 0) memcpy(small + frame_header_bytes, payload, length);
    return send_all(control, small, frame_header_bytes + length, -1);
  }
  if (send_all(control, small, frame_header_bytes, -1) != 0) return -1;
  return send_all(control, payload, length, -1);
}

void frame_fail(int control, int error, const char *stage) {
  uint8_t bytes[frame_header_bytes + 4 + stage_bytes_max + 1];
  size_t length = strlen(stage);
  if (length > stage_bytes_max) length = stage_bytes_max;
  put_header(bytes, 'F', 4 + length + 1);
  struct writer writer = {bytes, sizeof bytes, frame_header_bytes, false};
  write_u32(&writer, (uint32_t)error);
  write_bytes(&writer, stage, length);
  write_u8(&writer, 0);
  // An owner that does not read must not keep us: the exit status says it as well.
  send_all(control, bytes, writer.length, farewell_milliseconds_max);
  _exit(exit_failed);
}
