// `ambit` inside a sandbox: asks the session that it runs in, over HTTP on the sandbox's own loopback. Absent on purpose:
// a word for an agent, a session or an answer to an approval. A program inside can ask, and widen nothing.
#include "ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { answer_bytes_max = 8388608, request_bytes_max = 1048576, at_once_max = 16 };
enum { exit_allow = 0, exit_usage = 2, exit_unavailable = 4, exit_deny = 10, exit_ask = 11 };

// Bytes that grow; `failed` when there is no memory or more than the limit.
struct text {
  char *bytes;
  size_t length, capacity;
  bool failed;
};

static void add(struct text *text, const char *bytes, size_t count, size_t most) {
  if (text->failed || count > most - text->length) {
    text->failed = true;
    return;
  }
  if (text->length + count > text->capacity) {
    size_t capacity = text->capacity == 0 ? 4096 : text->capacity;
    while (capacity < text->length + count) capacity *= 2;
    char *grown = realloc(text->bytes, capacity);
    if (grown == NULL) {
      text->failed = true;
      return;
    }
    text->bytes = grown;
    text->capacity = capacity;
  }
  memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
}

static void add_text(struct text *text, const char *words) {
  add(text, words, strlen(words), request_bytes_max);
}

static void add_quoted(struct text *text, const char *word) {
  add_text(text, "\"");
  for (; *word != 0; word++) {
    char escaped[8];
    const unsigned char byte = (unsigned char)*word;
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      add_text(text, escaped);
    } else {
      add(text, word, 1, request_bytes_max);
    }
  }
  add_text(text, "\"");
}

static bool write_whole(int to, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(to, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

// http://127.0.0.1:PORT/ambit and nothing else.
static uint16_t door_port(void) {
  static const char before[] = "http://127.0.0.1:";
  const char *door = getenv("AMBIT_DOOR");
  if (door == NULL || strncmp(door, before, sizeof before - 1) != 0) return 0;
  char *end = NULL;
  const long port = strtol(door + sizeof before - 1, &end, 10);
  return strcmp(end, "/ambit") == 0 && port > 0 && port < 65536 ? (uint16_t)port : 0;
}

// The status, with the body in `answer`; 0 where the door did not answer.
static int ask(const char *route, const char *accept, const struct text *body, struct text *answer) {
  const uint16_t port = door_port();
  const int door = port == 0 ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0) return 0;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  char head[256];
  const int length = snprintf(head, sizeof head,
                              "POST /ambit/%s HTTP/1.1\r\nhost: 127.0.0.1:%u\r\naccept: %s\r\nconnection: close\r\n"
                              "content-type: application/json\r\ncontent-length: %zu\r\n\r\n",
                              route, port, accept, body->length);
  bool heard = connect(door, (const struct sockaddr *)&address, sizeof address) == 0 &&
               write_whole(door, head, (size_t)length) && write_whole(door, body->bytes, body->length);
  char chunk[16384];
  while (heard) {
    const ssize_t count = read(door, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) heard = false;
    if (count <= 0) break;
    add(answer, chunk, (size_t)count, answer_bytes_max);
  }
  close(door);
  if (!heard || answer->failed || answer->length < 13 || memcmp(answer->bytes, "HTTP/1.1 ", 9) != 0) return 0;
  const char *end = memmem(answer->bytes, answer->length, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  const int status = (answer->bytes[9] - '0') * 100 + (answer->bytes[10] - '0') * 10 + answer->bytes[11] - '0';
  answer->length -= (size_t)(end + 4 - answer->bytes);
  memmove(answer->bytes, end + 4, answer->length);
  return status;
}

static int exit_of(int status) {
  switch (status) {
    case 200:
      return exit_allow;
    case 202:
      return exit_ask;
    case 403:
      return exit_deny;
    case 400:
      return exit_usage;
    default:
      return exit_unavailable;
  }
}

static int ask_once(const char *route, const char *key, char **words, bool is_list) {
  bool json = false;
  struct text body = {0}, answer = {0};
  add_text(&body, "{");
  add_quoted(&body, key);
  add_text(&body, is_list ? ":[" : ":");
  size_t count = 0;
  bool only_words = false;
  for (; *words != NULL; words++) {
    if (!only_words && strcmp(*words, "--json") == 0) {
      json = true;
      continue;
    }
    if (strcmp(*words, "--") == 0) only_words = true;
    if (count++ > 0) add_text(&body, ",");
    add_quoted(&body, *words);
  }
  add_text(&body, is_list ? "]}" : "}");
  if (count == 0 || (!is_list && count != 1)) return -1;
  if (body.failed) {
    dprintf(2, "error: the request is too long\n");
    return exit_usage;
  }
  const int status = ask(route, json ? "application/json" : "text/plain", &body, &answer);
  if (status == 0) {
    dprintf(2, "error: this sandbox has no connection to its session\n");
    return exit_unavailable;
  }
  const int to = status == 400 || status >= 404 ? 2 : 1;
  if (!write_whole(to, answer.bytes, answer.length)) return exit_unavailable;
  return exit_of(status);
}

// An answer goes out whole, while the token is held.
static bool send_line(const char *bytes, size_t count, const int token[2]) {
  char held;
  while (read(token[0], &held, 1) < 0 && errno == EINTR) continue;
  const bool sent = write_whole(1, bytes, count) && write_whole(1, "\n", 1);
  return write_whole(token[1], "t", 1) && sent;
}

static void serve_line(const struct text *line, const int token[2]) {
  struct text answer = {0};
  const int status = ask("mcp", "application/json", line, &answer);
  if (status == 0) _exit(1);
  // A notification has no answer.
  if (status == 202 || answer.length == 0) _exit(0);
  _exit(send_line(answer.bytes, answer.length, token) ? 0 : 1);
}

static void reap(size_t *running, bool wait) {
  while (*running > 0 && waitpid(-1, NULL, wait ? 0 : WNOHANG) > 0) {
    (*running)--;
    wait = false;
  }
}

// Lines of JSON on standard input and output, each message in a process of its own: one that waits holds no other up.
static int serve(void) {
  static const char too_large[] =
      "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"the message is larger than 1 MiB\"}}";
  int token[2];
  size_t running = 0;
  struct text line = {0};
  char *read_line = NULL;
  size_t capacity = 0;
  if (door_port() == 0) {
    dprintf(2, "error: this sandbox has no connection to its session\n");
    return exit_unavailable;
  }
  if (pipe(token) != 0 || !write_whole(token[1], "t", 1)) return exit_unavailable;
  for (;;) {
    const ssize_t count = getline(&read_line, &capacity, stdin);
    if (count < 0) break;
    line.length = 0;
    line.failed = false;
    add(&line, read_line, (size_t)count, request_bytes_max);
    if (line.failed) send_line(too_large, sizeof too_large - 1, token);
    if (line.failed || count < 2) continue;
    reap(&running, running >= at_once_max);
    const pid_t process = fork();
    if (process == 0) serve_line(&line, token);
    if (process > 0) running++;
  }
  while (running > 0) reap(&running, true);
  return 0;
}

int ask_main(int count, char **words) {
  int status = -1;
  signal(SIGPIPE, SIG_IGN);
  if (count > 2 && strcmp(words[1], "can") == 0) status = ask_once("can", "request", words + 2, true);
  if (count > 2 && strcmp(words[1], "why") == 0) status = ask_once("why", "id", words + 2, false);
  if (count == 3 && strcmp(words[1], "mcp") == 0 && strcmp(words[2], "serve") == 0) return serve();
  if (status >= 0) return status;
  dprintf(2, "%s",
          "usage: ambit can REQUEST... [--json]   decide one request of this session, without executing it\n"
          "       ambit why ID [--json]           explain an entry of this session\n"
          "       ambit mcp serve                 the tools of this session, for a client of the Model Context Protocol\n");
  return exit_usage;
}
