// git's credential helper inside a sandbox. It hands out nothing: the broker adds credentials outside. Where git still asks,
// none is kept for the host, and the helper says what the user can do.
#include "credential.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int get(void) {
  static const char *const asked[] = {"host", NULL};
  static struct credential_text from_git, host;
  if (!read_whole(0, &from_git) || !credential_keep_lines(&from_git, asked, &host)) return 1;
  // git may name a host once: `host=` and the end of its line frame it.
  static const char key[] = "host=";
  if (host.length <= sizeof key || memchr(host.bytes, '\n', host.length) != host.bytes + host.length - 1) return 1;
  const char *name = host.bytes + sizeof key - 1;
  const int length = (int)(host.length - sizeof key);
  fprintf(stderr,
          "ambit: %.*s wants a credential, and no secret for git is kept for it; "
          "the user can keep one: ambit secrets set NAME --tool git --host %.*s\n",
          length, name, length, name);
  return 0;
}

int credential_main(const char *action) {
  if (strcmp(action, "get") == 0) return get();
  return strcmp(action, "store") == 0 || strcmp(action, "erase") == 0 ? 0 : 1;
}
