// Two processes: a guard, and the supervisor that it watches, which runs the owner's commands and executes calls for them. Each
// is in a Landlock domain that signals do not leave: guard, then supervisor, then command. So a command reaches neither, the
// supervisor ends all of a command at once, and the guard ends all of it where the supervisor is killed or stopped.
#include "supervised.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "begin.h"
#include "calls.h"
#include "drop.h"
#include "empty.h"
#include "landlock.h"
#include "scope.h"
#include "zygote.h"

// Rights of a rule that lets files be made: below its path they may be changed.
enum { right_make_file = 1 << 8 };

// Everything that would need a namespace is refused: the owner must not believe that it is there.
static void check(int control, const struct setup *setup, int handles) {
  const bool is_more = setup->overlay.path != NULL || setup->pin_count > 0 || setup->base_count > 0 ||
                       setup->terminals_max != 0 || setup->sockets.path != NULL || setup->network.count > 0 ||
                       setup->network.loopback_count > 0;
  if (is_more) frame_fail(control, ENOTSUP, "namespaces");
  const struct restrictions *asked = &setup->restrictions;
  if (!asked->landlock_asked || !asked->seccomp_asked) frame_fail(control, EINVAL, "restrictions");
  // A command must not reach the supervisor, nor a port: the filter alone does not hold it.
  if (asked->landlock.scopes == 0 || asked->landlock.network == 0) frame_fail(control, EINVAL, "restrictions");
  if (setup->network.asked != (handles >= 0)) frame_fail(control, EBADF, "network without handles");
}

static void find_trees(int control, const struct landlock_request *landlock, struct calls_ground *calls) {
  for (size_t at = 0; at < landlock->count; at++) {
    if ((landlock->rules[at].rights & right_make_file) == 0) continue;
    if (calls->tree_count == trees_max) frame_fail(control, E2BIG, "trees");
    calls->trees[calls->tree_count++] = landlock->rules[at].path;
  }
}

_Noreturn static void supervise(int control, int handles, int nothing, pid_t guard) {
  static struct setup setup;
  static struct frame_input input;
  static struct handles channel;
  static struct calls_ground calls;
  // The kernel sends SIGCHLD when the guard ends: the loop already reads that signal.
  if (prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0) != 0 || getppid() != guard) _exit(exit_failed);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) frame_fail(control, errno, "orphans");
  // The leader of a session without a terminal: a command's own is then given to it.
  if (setsid() < 0) frame_fail(control, errno, "session");
  if (scope_enter(guard) != 0) frame_fail(control, errno, "signals stay inside");
  begin_hello(control, calls_are_offered());
  begin_setup(control, &input, &setup);
  check(control, &setup, handles);
  if (!calls_are_offered()) frame_fail(control, ENOTSUP, "calls");
  if (emptied_make(setup.emptied, setup.emptied_count) != 0) frame_fail(control, errno, "emptied folder");
  const int signals = zygote_signals();
  if (signals < 0) frame_fail(control, errno, "signals");
  if (chdir("/") != 0) frame_fail(control, errno, "top folder");
  const struct restrictions *asked = &setup.restrictions;
  find_trees(control, &asked->landlock, &calls);
  // Each command gets them made anew. Made once here, so that rights the kernel does not know fail before there is a command.
  const int ruleset = landlock_make(&asked->landlock);
  if (ruleset < 0) frame_fail(control, errno, "landlock");
  close(ruleset);
  if (handles >= 0) {
    channel.channel = handles;
    calls.handles = &channel;
  }
  begin_ready(control, &setup, handles >= 0 ? network_transparent : network_none, NULL, 0);
  // The filter is a command's alone, and hands its calls over to us.
  const struct socket_request filter = {.program = asked->program, .program_count = asked->program_count};
  const struct zygote_ground ground = {
      .control = control,
      .nothing = nothing,
      .signals = signals,
      .input = &input,
      .emptied = setup.emptied,
      .emptied_count = setup.emptied_count,
      .limits = asked->limits,
      .limit_count = asked->limit_count,
      .sockets = &filter,
      .guard = guard,
      .landlock = &asked->landlock,
      .calls = &calls,
  };
  zygote_serve(&ground);
}

// Ends when the supervisor does, and everything else with it.
_Noreturn static void watch(pid_t supervisor) {
  for (;;) {
    int status;
    const pid_t process = waitpid(-1, &status, __WALL | WUNTRACED);
    if (process < 0 && errno == EINTR) continue;
    if (process >= 0 && process != supervisor) continue;
    scope_end();
    _exit(process == supervisor && WIFEXITED(status) ? WEXITSTATUS(status) : exit_failed);
  }
}

_Noreturn void supervised_main(int control, int handles) {
  sigset_t every;
  const int nothing = begin_alone(control, handles);
  sigfillset(&every);
  if (sigprocmask(SIG_SETMASK, &every, NULL) != 0) frame_fail(control, errno, "signals");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) frame_fail(control, errno, "orphans");
  if (drop_dumpable() != 0 || drop_new_privileges() != 0) frame_fail(control, errno, "no new privileges");
  // Before the domain: afterwards our parent cannot be told from any other process outside.
  if (scope_enter(getppid()) != 0) frame_fail(control, errno, "signals stay inside");
  if (drop_capabilities() != 0) frame_fail(control, errno, "capabilities");
  const pid_t guard = getpid();
  const pid_t supervisor = fork();
  if (supervisor < 0) frame_fail(control, errno, "supervisor");
  if (supervisor == 0) supervise(control, handles, nothing, guard);
  const int none[] = {nothing};
  if (drop_descriptors(none, 1) != 0) {
    scope_end();
    _exit(exit_failed);
  }
  watch(supervisor);
}
