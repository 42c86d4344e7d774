// Asks the broker for what git wants to know. What comes back is a user name and a placeholder or a token, as the
// broker decides; nothing is kept, and `store` and `erase` have nothing to do.
#include "credential.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "address.h"

enum { seconds_max = 60 };

// Reads to the end; false when it is longer than we take, or cannot be read.
static bool read_whole(int from, struct credential_text *text) {
  for (;;) {
    if (text->length == sizeof text->bytes) return false;
    const ssize_t count = read(from, text->bytes + text->length, sizeof text->bytes - text->length);
    if (count == 0) return true;
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text->length += (size_t)count;
  }
}

static bool write_whole(int to, const char *bytes, size_t length) {
  while (length > 0) {
    const ssize_t count = write(to, bytes, length);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    }
  }
  return true;
}

static bool begins_with(const char *line, size_t length, const char *const *keys) {
  for (; *keys != NULL; keys++) {
    const size_t size = strlen(*keys);
    if (length > size && line[size] == '=' && memcmp(line, *keys, size) == 0) return true;
  }
  return false;
}

// A control character in a line would mean one thing to us and another to the next reader.
static bool is_plain(const char *line, size_t length) {
  for (size_t at = 0; at < length; at++)
    if ((unsigned char)line[at] < 0x20 || line[at] == 0x7f) return false;
  return true;
}

bool credential_keep_lines(const struct credential_text *from, const char *const *keys, struct credential_text *into) {
  for (size_t at = 0; at < from->length;) {
    const char *line = from->bytes + at;
    const char *end = memchr(line, '\n', from->length - at);
    const size_t length = end == NULL ? from->length - at : (size_t)(end - line);
    if (length == 0) return true;
    at += length + 1;
    if (!begins_with(line, length, keys)) continue;
    if (!is_plain(line, length) || sizeof into->bytes - into->length < length + 1) return false;
    memcpy(into->bytes + into->length, line, length);
    into->bytes[into->length + length] = '\n';
    into->length += length + 1;
  }
  return true;
}

static int reach_broker(void) {
  const int broker = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (broker < 0) return -1;
  const struct timeval patience = {.tv_sec = seconds_max};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(broker_port)};
  memcpy(&address.sin_addr, broker_address, sizeof broker_address);
  if (setsockopt(broker, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
      setsockopt(broker, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
      connect(broker, (const struct sockaddr *)&address, sizeof address) == 0)
    return broker;
  close(broker);
  return -1;
}

static int get(void) {
  static const char *const asked[] = {"protocol", "host", "path", NULL};
  static const char *const answered[] = {"username", "password", NULL};
  static struct credential_text from_git, question, from_broker, answer;
  if (!read_whole(0, &from_git) || !credential_keep_lines(&from_git, asked, &question)) return 1;
  const int broker = reach_broker();
  if (broker < 0) return 1;
  const bool heard = write_whole(broker, question.bytes, question.length) && write_whole(broker, "\n", 1) &&
                     shutdown(broker, SHUT_WR) == 0 && read_whole(broker, &from_broker);
  close(broker);
  if (!heard || !credential_keep_lines(&from_broker, answered, &answer)) return 1;
  return write_whole(1, answer.bytes, answer.length) ? 0 : 1;
}

int credential_main(const char *action) {
  if (strcmp(action, "get") == 0) return get();
  return strcmp(action, "store") == 0 || strcmp(action, "erase") == 0 ? 0 : 1;
}
