// Landlock: which trees may be used for what, by the kernel, for this process and everything it starts.
#ifndef AMBIT_LANDLOCK_H
#define AMBIT_LANDLOCK_H

#include <stddef.h>
#include <stdint.h>

enum { landlock_rules_max = 512 };

struct landlock_rule {
  uint64_t rights;
  char *path;  // owned
};

struct landlock_request {
  uint64_t files, network, scopes;  // what is handled: all of it is refused unless a rule gives it back
  struct landlock_rule *rules;      // owned
  size_t count;
};

// The version the kernel offers; 0 is none.
int landlock_abi(void);
// Restricts this process for good. Needs no_new_privs. 0, or -1 with errno. A path that is not there, or that a link
// stands in the way of, is passed over; rights that make no sense for a plain file are left away where the path is one;
// rights the kernel does not know fail.
int landlock_restrict(const struct landlock_request *request);
// The two halves of it: the rules as a descriptor, which can be entered as often as needed; and entering it.
int landlock_make(const struct landlock_request *request);
// One more rule for a descriptor of it, by the same rules about paths.
int landlock_add(int ruleset, const struct landlock_rule *rule);
int landlock_enter(int ruleset);

#endif
