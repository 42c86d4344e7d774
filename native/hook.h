// A client's hook: hands the client's question to the daemon and gives its answer back as output and exit status.
#ifndef AMBIT_HOOK_H
#define AMBIT_HOOK_H

#include <stddef.h>

enum {
  hook_blocked = 2,
  // No daemon serves, and nothing was read from standard input: another program may ask instead.
  hook_no_daemon = 75,
};

// `folder`: that of the daemon's sockets. `milliseconds`: for everything, as digits. `words`: passed on to the daemon.
int hook_main(const char *folder, const char *milliseconds, char **words);

// A text as JSON, quotes included: what it writes, or would write where `capacity` is too small.
size_t hook_quote(const char *text, size_t length, char *into, size_t capacity);

#endif
