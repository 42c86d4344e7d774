// Every client runs this before each tool call, so it starts at once and knows nothing: the daemon reads the client's question,
// decides, and says what to print and how to exit. INVARIANT: it exits with 0 only after the daemon's whole answer was printed;
// every other end is `hook_blocked` with a text on standard error, because a silent one is no denial to some clients.
#include "hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  // The daemon reads no longer message.
  message_bytes_max = 1048576,
  input_bytes_max = 1000000,
  output_bytes_max = 1048576,
  header_bytes = 5,
  kind_json = 0,
  kind_bytes = 1,
  // Of a frame of bytes: the request and its channel.
  place_bytes = 5,
  daemon_protocol = 3,
  path_bytes_max = 4096,
  words_max = 16,
  told_bytes_max = 400,
  again_milliseconds = 5,
};

enum channel { channel_output = 1, channel_errors = 2, channel_status = 3 };

struct text {
  char *bytes;
  size_t length, capacity;
};

struct answer {
  struct text output, errors;
  int status;
};

static int64_t deadline;

static int64_t now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int block(const char *why) {
  dprintf(2, "ambit: the call is blocked: %s\n", why);
  return hook_blocked;
}

// True when the descriptor is ready before the deadline.
static bool wait_for(int descriptor, short events) {
  for (;;) {
    const int64_t left = deadline - now_milliseconds();
    if (left <= 0) return false;
    struct pollfd waiting = {.fd = descriptor, .events = events};
    const int ready = poll(&waiting, 1, left > 60000 ? 60000 : (int)left);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

static bool put(struct text *text, const char *bytes, size_t length) {
  if (text->capacity - text->length < length) return false;
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  return true;
}

static bool make(struct text *text, size_t capacity) {
  *text = (struct text){.bytes = malloc(capacity), .capacity = capacity};
  return text->bytes != NULL;
}

size_t hook_quote(const char *text, size_t length, char *into, size_t capacity) {
  static const char digits[] = "0123456789abcdef";
  size_t written = 0;
  const char quote = '"';
#define PUT(byte) do { if (written < capacity) into[written] = (byte); written++; } while (0)
  PUT(quote);
  for (size_t at = 0; at < length; at++) {
    const unsigned char byte = (unsigned char)text[at];
    if (byte == '"' || byte == '\\') {
      PUT('\\');
      PUT((char)byte);
    } else if (byte < 0x20 || byte == 0x7f) {
      PUT('\\');
      PUT('u');
      PUT('0');
      PUT('0');
      PUT(digits[byte >> 4]);
      PUT(digits[byte & 15]);
    } else PUT((char)byte);
  }
  PUT(quote);
#undef PUT
  return written;
}

static bool put_quoted(struct text *text, const char *bytes, size_t length) {
  const size_t room = text->capacity - text->length;
  const size_t written = hook_quote(bytes, length, text->bytes + text->length, room);
  if (written > room) return false;
  text->length += written;
  return true;
}

static bool put_plain(struct text *text, const char *plain) { return put(text, plain, strlen(plain)); }

// The folder must be the account's own and closed to others: what answers there is our daemon.
static int open_folder(const char *path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat found;
  if (fstat(folder, &found) == 0 && found.st_uid == geteuid() && (found.st_mode & 077) == 0) return folder;
  close(folder);
  errno = EPERM;
  return -1;
}

static int reach_daemon(const char *path) {
  const int folder = open_folder(path);
  if (folder < 0) return -1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/call.sock", folder);
  const int daemon = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int result = daemon < 0 ? -1 : connect(daemon, (const struct sockaddr *)&address, sizeof address);
  // The daemon's backlog is full: it is busy, and not gone.
  while (daemon >= 0 && result != 0 && errno == EAGAIN && deadline > now_milliseconds()) {
    poll(NULL, 0, again_milliseconds);
    result = connect(daemon, (const struct sockaddr *)&address, sizeof address);
  }
  const int error = errno;
  close(folder);
  if (result == 0) return daemon;
  if (daemon >= 0) close(daemon);
  errno = error;
  return -1;
}

static bool send_whole(int daemon, const char *bytes, size_t length) {
  while (length > 0) {
    const ssize_t count = send(daemon, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN || !wait_for(daemon, POLLOUT)) return false;
      continue;
    }
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

static bool send_message(int daemon, const struct text *message) {
  const uint32_t length = (uint32_t)message->length;
  const char header[header_bytes] = {(char)(length >> 24), (char)(length >> 16), (char)(length >> 8), (char)length, kind_json};
  return send_whole(daemon, header, sizeof header) && send_whole(daemon, message->bytes, message->length);
}

static bool read_exactly(int daemon, char *into, size_t length) {
  while (length > 0) {
    if (!wait_for(daemon, POLLIN)) return false;
    const ssize_t count = recv(daemon, into, length, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return false;
    if (count > 0) {
      into += count;
      length -= (size_t)count;
    }
  }
  return true;
}

// The client's question, to its end.
static bool read_input(struct text *input) {
  for (;;) {
    if (input->length == input->capacity || !wait_for(0, POLLIN)) return false;
    const ssize_t count = read(0, input->bytes + input->length, input->capacity - input->length);
    if (count == 0) return true;
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (count > 0) input->length += (size_t)count;
  }
}

static bool write_whole(int to, const struct text *text) {
  for (size_t at = 0; at < text->length;) {
    const ssize_t count = write(to, text->bytes + at, text->length - at);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) at += (size_t)count;
  }
  return true;
}

static bool begins_with(const struct text *text, const char *start) {
  const size_t length = strlen(start);
  return text->length >= length && memcmp(text->bytes, start, length) == 0;
}

static bool take_bytes(const struct text *frame, struct answer *answer) {
  if (frame->length < place_bytes) return false;
  const char *bytes = frame->bytes + place_bytes;
  const size_t length = frame->length - place_bytes;
  switch ((enum channel)(unsigned char)frame->bytes[4]) {
    case channel_output: return put(&answer->output, bytes, length);
    case channel_errors: return put(&answer->errors, bytes, length);
    case channel_status:
      if (length != 1 || answer->status >= 0) return false;
      answer->status = (unsigned char)bytes[0];
      return true;
  }
  return false;
}

enum heard { heard_more, heard_answer, heard_wrong };

static enum heard hear(int daemon, struct text *frame, struct answer *answer) {
  unsigned char header[header_bytes];
  if (!read_exactly(daemon, (char *)header, sizeof header)) return heard_wrong;
  const size_t length = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
  frame->length = 0;
  if (length > frame->capacity || !read_exactly(daemon, frame->bytes, length)) return heard_wrong;
  frame->length = length;
  if (header[4] == kind_bytes) return take_bytes(frame, answer) ? heard_more : heard_wrong;
  if (header[4] != kind_json) return heard_wrong;
  if (begins_with(frame, "{\"id\":1,\"ok\":true")) return heard_answer;
  // Its greeting, and that it waits for a person.
  return begins_with(frame, "{\"hello\":") || begins_with(frame, "{\"id\":1,\"event\":") ? heard_more : heard_wrong;
}

static int give(const struct answer *answer) {
  if (answer->status != 0 && answer->status != hook_blocked) return block("the daemon's answer has no status");
  if (answer->status == hook_blocked && answer->errors.length == 0) return block("the daemon gave no reason");
  if (!write_whole(2, &answer->errors) || !write_whole(1, &answer->output)) return block("the answer cannot be printed");
  return answer->status;
}

static bool ask(int daemon, const char *cwd, char **words, const struct text *input, struct text *message) {
  char hello[64];
  snprintf(hello, sizeof hello, "{\"hello\":{\"protocol\":%d,\"version\":\"hook\"}}", daemon_protocol);
  if (!put_plain(message, hello) || !send_message(daemon, message)) return false;
  message->length = 0;
  bool fits = put_plain(message, "{\"id\":1,\"ask\":\"hook.decide\",\"value\":{\"cwd\":") && put_quoted(message, cwd, strlen(cwd)) &&
              put_plain(message, ",\"words\":[");
  for (size_t at = 0; words[at] != NULL; at++)
    fits = fits && at < words_max && (at == 0 || put_plain(message, ",")) && put_quoted(message, words[at], strlen(words[at]));
  fits = fits && put_plain(message, "],\"text\":") && put_quoted(message, input->bytes, input->length) && put_plain(message, "}}");
  return fits && send_message(daemon, message);
}

int hook_main(const char *folder, const char *milliseconds, char **words) {
  const size_t digits = strspn(milliseconds, "0123456789");
  if (digits == 0 || digits > 9 || milliseconds[digits] != 0) return block("the time limit is not a number");
  deadline = now_milliseconds() + strtol(milliseconds, NULL, 10);
  signal(SIGPIPE, SIG_IGN);
  char cwd[path_bytes_max];
  if (getcwd(cwd, sizeof cwd) == NULL) return block("the working folder no longer exists");
  const int daemon = reach_daemon(folder);
  if (daemon < 0) {
    // A line of the machine's settings names the daemon of who wrote it; each other user has one of their own.
    if (errno == ENOENT || errno == ECONNREFUSED || errno == EACCES) return hook_no_daemon;
    char why[128];
    snprintf(why, sizeof why, "the daemon cannot be reached: %s", strerror(errno));
    return block(why);
  }
  struct text input, message;
  struct answer answer = {.status = -1};
  if (!make(&input, input_bytes_max) || !make(&message, message_bytes_max) || !make(&answer.output, output_bytes_max) ||
      !make(&answer.errors, output_bytes_max))
    return block("no memory");
  if (!read_input(&input)) return block("its input is larger than 1 MB, or was not complete in time");
  if (!ask(daemon, cwd, words, &input, &message)) return block("its input is larger than 1 MB, or the daemon is gone");
  for (;;) {
    const enum heard heard = hear(daemon, &message, &answer);
    if (heard == heard_answer) return give(&answer);
    if (heard == heard_more) continue;
    if (deadline <= now_milliseconds()) return block("the daemon did not respond in time");
    // A refusal, which names its reason.
    dprintf(2, "ambit: the call is blocked: the daemon returned no decision: %.*s\n",
            (int)(message.length < told_bytes_max ? message.length : told_bytes_max), message.bytes);
    return hook_blocked;
  }
}
