// Answers of the file worker: put together behind room for a header, and sent as many at once as there are.
#include "files.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static void begin(struct writer *answer, uint32_t number, uint8_t status) {
  answer->length = frame_header_bytes;
  answer->failed = false;
  write_u32(answer, number);
  write_u8(answer, status);
}

void files_done(struct writer *answer, const struct files_request *request) {
  begin(answer, request->number, 0);
}

void files_refuse(struct writer *answer, const struct files_request *request, int error, const char *why) {
  begin(answer, request->number, 1);
  write_u32(answer, (uint32_t)error);
  write_text(answer, why);
}

void files_failed(struct writer *answer, const struct files_request *request, const char *why) {
  if (errno == ELOOP)
    files_link(answer, request);
  else
    files_refuse(answer, request, errno, why);
}

bool files_fits(const struct writer *answer, size_t count) {
  return answer->capacity - answer->length >= count;
}

void files_amend_u8(struct writer *answer, size_t at, uint8_t value) {
  answer->bytes[at] = value;
}

void files_amend_u32(struct writer *answer, size_t at, uint32_t value) {
  struct writer place = {answer->bytes + at, 4, 0, false};
  write_u32(&place, value);
}

static int send_all(int control, const uint8_t *bytes, size_t count) {
  for (size_t sent = 0; sent < count;) {
    const ssize_t part = send(control, bytes + sent, count - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (part >= 0) {
      sent += (size_t)part;
    } else if (errno == EAGAIN) {
      struct pollfd waiting = {.fd = control, .events = POLLOUT};
      if (poll(&waiting, 1, -1) < 0 && errno != EINTR) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

int files_send(struct files_outgoing *outgoing) {
  const size_t count = outgoing->count;
  outgoing->count = 0;
  return send_all(outgoing->control, outgoing->bytes, count);
}

int files_answer(struct files_outgoing *outgoing, struct writer *answer) {
  if (answer->failed) {
    errno = EMSGSIZE;
    return -1;
  }
  files_amend_u32(answer, 0, (uint32_t)(answer->length - frame_header_bytes));
  files_amend_u8(answer, 4, 'A');
  if (answer->length > sizeof outgoing->bytes - outgoing->count && files_send(outgoing) != 0) return -1;
  if (answer->length > sizeof outgoing->bytes) return send_all(outgoing->control, answer->bytes, answer->length);
  memcpy(outgoing->bytes + outgoing->count, answer->bytes, answer->length);
  outgoing->count += answer->length;
  return 0;
}
