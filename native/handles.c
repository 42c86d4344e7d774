// Node's channel carries lines of JSON; a socket travels beside its line, and each is answered by one fixed line.
#include "handles.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// So many may be on their way: the kernel bounds sockets in flight, and waiting for each one costs a round each.
enum { unanswered_max = 16, milliseconds_max = 20000, line_bytes_max = 256 };

static const char answer[] = "{\"cmd\":\"NODE_HANDLE_ACK\"}\n";

static int wait_for(int channel, short events) {
  struct pollfd waiting = {.fd = channel, .events = events};
  const int ready = poll(&waiting, 1, milliseconds_max);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0 ? 0 : -1;
}

// Any byte other than the expected answer is a protocol error. One read that does not wait: 0, or -1 with errno (EAGAIN: nothing
// to read now).
static int read_answers(struct handles *handles) {
  char bytes[line_bytes_max];
  const ssize_t count = recv(handles->channel, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count <= 0) {
    if (count == 0) errno = EPIPE;
    return -1;
  }
  for (ssize_t at = 0; at < count; at++) {
    if (bytes[at] != answer[handles->matched] || handles->unanswered == 0) {
      errno = EPROTO;
      return -1;
    }
    if (++handles->matched < sizeof answer - 1) continue;
    handles->matched = 0;
    handles->unanswered--;
  }
  return 0;
}

static int take_answers(struct handles *handles, size_t unanswered) {
  while (handles->unanswered > unanswered) {
    if (read_answers(handles) == 0) continue;
    if (errno != EAGAIN || wait_for(handles->channel, POLLIN) != 0) return -1;
  }
  return 0;
}

int handles_look(struct handles *handles) {
  return read_answers(handles) == 0 || errno == EAGAIN ? 0 : -1;
}

bool handles_are_full(const struct handles *handles) {
  return handles->unanswered >= unanswered_max;
}

int handles_send_line(int channel, char *line, size_t length, int passed) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
  } control;
  memset(&control, 0, sizeof control);
  struct iovec part = {line, length};
  struct msghdr message = {
      .msg_iov = &part,
      .msg_iovlen = 1,
      .msg_control = &control,
      .msg_controllen = sizeof control,
  };
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &passed, sizeof passed);
  for (;;) {
    const ssize_t sent = sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent == (ssize_t)length) return 0;
    if (sent >= 0) {
      errno = EPROTO;
      return -1;
    }
    if (errno != EAGAIN || wait_for(channel, POLLOUT) != 0) return -1;
  }
}

int handles_give(struct handles *handles, int socket, enum handle_kind kind, const char *message) {
  char line[line_bytes_max];
  const char *type = kind == handle_datagram ? "dgram.Native" : "net.Native";
  static const char form[] = "{\"cmd\":\"NODE_HANDLE\",\"type\":\"%s\",\"msg\":%s}\n";
  const int length = snprintf(line, sizeof line, form, type, message);
  int result = -1;
  if (length < 0 || (size_t)length >= sizeof line) errno = EMSGSIZE;
  // Safe: what is given away is a socket of this sandbox's own network, to the process that set the sandbox up.
  else if (take_answers(handles, unanswered_max - 1) == 0)
    result = handles_send_line(handles->channel, line, (size_t)length, socket);
  if (result == 0) handles->unanswered++;
  const int error = errno;
  close(socket);
  errno = error;
  return result;
}

int handles_arrived(struct handles *handles) {
  return take_answers(handles, 0);
}
