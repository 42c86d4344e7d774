// Two ends of one TCP connection. A program expects a TCP socket, with its options and addresses, so a Unix pair would not
// do; and no listener that another process could connect to is left behind.
#include "pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { attempts_max = 8, question_bytes_max = 4096 };

static void close_if(int descriptor) {
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  errno = error;
}

static bool is_same(const struct sockaddr_in *left, const struct sockaddr_in *right) {
  return left->sin_addr.s_addr == right->sin_addr.s_addr && left->sin_port == right->sin_port;
}

// The connection that came in is ours: another process may have been faster. Its address is the proof.
static int accept_own(int listener, int program) {
  struct sockaddr_in ours, theirs;
  socklen_t length = sizeof ours;
  if (getsockname(program, (struct sockaddr *)&ours, &length) != 0) return -1;
  for (int attempt = 0; attempt < attempts_max; attempt++) {
    length = sizeof theirs;
    const int broker = accept4(listener, (struct sockaddr *)&theirs, &length, SOCK_CLOEXEC);
    if (broker < 0) return -1;
    if (is_same(&ours, &theirs)) return broker;
    close(broker);
  }
  errno = ECONNABORTED;
  return -1;
}

int pair_make(struct pair *pair) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof place;
  *pair = (struct pair){-1, -1};
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  // Waits for nothing: over loopback the kernel completes the connection before the call returns.
  if (bind(listener, (struct sockaddr *)&place, sizeof place) == 0 && listen(listener, attempts_max) == 0 &&
      getsockname(listener, (struct sockaddr *)&place, &length) == 0 &&
      (pair->program = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0 &&
      connect(pair->program, (struct sockaddr *)&place, sizeof place) == 0)
    pair->broker = accept_own(listener, pair->program);
  close_if(listener);
  if (pair->broker >= 0) return 0;
  close_if(pair->program);
  return -1;
}

// A message with its length in front; false at the end of either side.
static bool carry_question(int messages, int stream) {
  uint8_t bytes[2 + question_bytes_max];
  const ssize_t count = recv(messages, bytes + 2, question_bytes_max, MSG_TRUNC);
  if (count <= 0) return false;
  // No question is as long: it is dropped, as a network would.
  if (count > question_bytes_max) return true;
  bytes[0] = (uint8_t)(count >> 8);
  bytes[1] = (uint8_t)count;
  return send(stream, bytes, (size_t)count + 2, MSG_NOSIGNAL) == count + 2;
}

struct answers {
  uint8_t bytes[2 + 65535];
  size_t length;
};

static bool carry_answers(struct answers *answers, int stream, int messages) {
  const ssize_t count = recv(stream, answers->bytes + answers->length, sizeof answers->bytes - answers->length, 0);
  if (count <= 0) return false;
  answers->length += (size_t)count;
  for (;;) {
    const size_t whole = 2 + ((size_t)answers->bytes[0] << 8 | answers->bytes[1]);
    if (answers->length < 2 || answers->length < whole) return true;
    // A program that does not read loses answers, as over a network.
    send(messages, answers->bytes + 2, whole - 2, MSG_DONTWAIT | MSG_NOSIGNAL);
    answers->length -= whole;
    memmove(answers->bytes, answers->bytes + whole, answers->length);
  }
}

_Noreturn void pair_relay_names(int messages, int stream) {
  static struct answers answers;
  for (;;) {
    struct pollfd watched[] = {{messages, POLLIN, 0}, {stream, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) _exit(1);
    if (watched[0].revents != 0 && !carry_question(messages, stream)) _exit(0);
    if (watched[1].revents != 0 && !carry_answers(&answers, stream, messages)) _exit(0);
  }
}
