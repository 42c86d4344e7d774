// Signals by Landlock: a process reaches those of its own domain and of domains within it. The kernel delivers a signal to
// "everyone" while it holds new processes back, and asks Landlock about each one, so nothing outside is ever reached.
#include "scope.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "landlock.h"

enum { scope_abstract_sockets = 1 << 0, scope_signals = 1 << 1 };
// Every domain refuses renames and links from one folder to another unless a rule allows them, also a domain that is not about
// files. This one leaves them to the domain of a command, whose rules say where.
enum { right_refer = 1 << 13 };

// INVARIANT: true only after a signal to a process outside was refused. Without it, "everyone" would be the whole machine.
static bool is_held;

int scope_enter(pid_t outside) {
  char top[] = "/";
  struct landlock_rule everywhere = {.rights = right_refer, .path = top};
  const struct landlock_request request = {
      .files = right_refer,
      .scopes = scope_abstract_sockets | scope_signals,
      .rules = &everywhere,
      .count = 1,
  };
  // Allowed before and denied after proves that the domain works.
  if (kill(outside, 0) != 0) return -1;
  if (landlock_restrict(&request) != 0) return -1;
  if (kill(outside, 0) == 0) {
    errno = EPERM;
    return -1;
  }
  if (errno != EPERM) return -1;
  is_held = true;
  return 0;
}

void scope_end(void) {
  if (!is_held) return;
  kill(-1, SIGKILL);
  for (;;)
    if (waitpid(-1, NULL, __WALL) < 0 && errno != EINTR) return;
}
