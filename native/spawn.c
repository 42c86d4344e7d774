// A child that shares our memory until it runs its program, as posix_spawn makes one: nothing is copied, and it says in
// shared memory why it could not start. posix_spawn itself would search our PATH instead of the command's.
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "connect.h"
#include "kernel.h"
#include "landlock.h"

// A child that never returns from here would leave its marks in the memory it shares with us.
#define IN_CHILD __attribute__((noinline, no_sanitize("address", "undefined")))

enum { stack_bytes = 262144, candidate_bytes_max = 4096 };
enum { right_read_file = 1 << 2 };

// What a child needs to know, and where it says what went wrong.
struct start {
  const struct command *command;
  const struct spawn_ground *ground;
  const char *search;
  int input, output, errors;
  int ruleset;   // of Landlock; -1: none
  int listener;  // where it sends the descriptor on which its calls are answered; -1: it hands none over
  volatile int error;
};

static const char *value_of(char *const *environment, const char *name) {
  const size_t length = strlen(name);
  for (; *environment != NULL; environment++)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') return *environment + length + 1;
  return NULL;
}

// Errors that mean "not here": the next folder of the PATH may have it.
IN_CHILD static bool is_elsewhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ESTALE || error == ENODEV ||
         error == ETIMEDOUT;
}

// The rules of execvpe, but a file of no known format is an error here: nothing is handed to a shell.
IN_CHILD static int run_found(const struct start *start) {
  const char *name = start->command->arguments[0];
  if (name[0] == 0) return ENOENT;
  char *const *arguments = start->command->arguments;
  char *const *environment = start->command->environment;
  if (strchr(name, '/') != NULL) {
    execve(name, arguments, environment);
    return errno;
  }
  const size_t length = strlen(name);
  char candidate[candidate_bytes_max];
  bool refused = false;
  for (const char *folder = start->search;; folder++) {
    const char *end = strchrnul(folder, ':');
    const size_t before = (size_t)(end - folder);
    if (before + 1 + length < sizeof candidate) {
      memcpy(candidate, folder, before);
      candidate[before] = '/';
      // An empty folder means the current one.
      memcpy(candidate + before + (before > 0), name, length + 1);
      execve(candidate, arguments, environment);
      if (!is_elsewhere(errno)) return errno;
      refused = refused || errno == EACCES;
    }
    if (*end == 0) return refused ? EACCES : ENOENT;
    folder = end;
  }
}

// A job in the foreground of its terminal; signals are still blocked, or asking for it from the background would stop us.
IN_CHILD static int enter_session(const struct start *start) {
  if (!start->command->has_terminal) return setsid() < 0 ? -1 : 0;
  return setpgid(0, 0) != 0 ? -1 : tcsetpgrp(start->input, getpid());
}

// One descriptor in one message, which fits into the socket: nothing waits.
IN_CHILD static int send_descriptor(int socket, int descriptor) {
  char byte = 0;
  struct iovec bytes = {&byte, 1};
  _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof descriptor)];
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  __builtin_memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int receive_descriptor(int socket) {
  char byte;
  int descriptor = -1;
  struct iovec bytes = {&byte, 1};
  _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof descriptor)];
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return -1;
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof descriptor)) return -1;
  memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

IN_CHILD static int hand_over(const struct start *start) {
  if (start->listener < 0) return 0;
  const struct socket_request *sockets = start->ground->sockets;
  const int calls = connect_hand_over(sockets->program, sockets->program_count);
  return calls < 0 ? -1 : send_descriptor(start->listener, calls);
}

// The list of its own memory, by which the C library finds the end of the first stack; Bun aborts without it. The kernel shows it
// to this command's domain alone. Processes that the command starts have other names, which no rule can know, and so none.
IN_CHILD static int allow_own_maps(int ruleset) {
  static const char before[] = "/proc/", after[] = "/maps";
  char path[32];
  char *at = path + sizeof path - sizeof after;
  memcpy(at, after, sizeof after);
  for (pid_t rest = getpid(); rest > 0; rest /= 10) *--at = (char)('0' + rest % 10);
  at -= sizeof before - 1;
  memcpy(at, before, sizeof before - 1);
  const struct landlock_rule rule = {right_read_file, at};
  return landlock_add(ruleset, &rule);
}

// Without namespaces: the command ends with us, and is in a domain of its own, from which it reaches neither us nor what we may.
IN_CHILD static int enter_domain(const struct start *start) {
  if (start->ruleset < 0) return 0;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || allow_own_maps(start->ruleset) != 0) return -1;
  return landlock_enter(start->ruleset);
}

// Runs in our memory on another stack, while we wait. It only makes system calls, and only to things of its own: its
// descriptors, folder, session, limits and signal mask are not shared.
IN_CHILD static int in_child(void *about) {
  struct start *start = about;
  sigset_t none;
  sigemptyset(&none);
  // The three come from above 2, so none is overwritten before it is copied; dup2 makes the copies survive the exec.
  if (enter_session(start) != 0 || dup2(start->input, 0) < 0 || dup2(start->output, 1) < 0 || dup2(start->errors, 2) < 0 ||
      enter_domain(start) != 0 || hand_over(start) != 0 || kernel_close_range(3, ~0u, 0) != 0 || chdir(start->command->directory) != 0 ||
      limits_apply(start->ground->limits, start->ground->limit_count) != 0 ||
      sigprocmask(SIG_SETMASK, &none, NULL) != 0)
    start->error = errno;
  else
    start->error = run_found(start);
  _exit(127);
}

static void close_if(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

// A pipe whose end on our side does not wait, while the command's does.
static int open_pipe(int ends[2], int ours) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  return fcntl(ends[ours], F_SETFL, O_NONBLOCK);
}

static int clone_child(struct start *start, pid_t *process) {
  // Its own, since a child that shares memory must not use ours. Used by one child at a time.
  static _Alignas(64) uint8_t stack[stack_bytes];
  *process = clone(in_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, start);
  if (*process < 0) return errno;
  if (start->error != 0) waitpid(*process, NULL, __WALL);
  return start->error;
}

static int start_child(struct start *start, struct spawned *spawned) {
  if (start->ground->sockets->program_count == 0) return clone_child(start, &spawned->process);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  start->listener = ends[1];
  const int error = clone_child(start, &spawned->process);
  // The child sent it before it ran anything.
  if (error == 0) spawned->calls = receive_descriptor(ends[0]);
  close(ends[0]);
  close(ends[1]);
  return error;
}

static int start_on_terminal(const struct command *command, struct start *start, struct spawned *spawned) {
  struct terminal *terminal = &spawned->terminal;
  int error = terminal_open(terminal, command->size);
  if (error != 0) return error;
  start->input = start->output = start->errors = terminal->theirs;
  spawned->input = fcntl(terminal->ours, F_DUPFD_CLOEXEC, 3);
  spawned->output = fcntl(terminal->ours, F_DUPFD_CLOEXEC, 3);
  error = spawned->input < 0 || spawned->output < 0 ? errno : start_child(start, spawned);
  if (error == 0) return 0;
  close_if(spawned->input);
  close_if(spawned->output);
  terminal_close(terminal);
  return error;
}

static int start_on_pipes(const struct command *command, struct start *start, struct spawned *spawned) {
  int input[2] = {-1, -1}, output[2] = {-1, -1}, errors[2] = {-1, -1};
  int error = 0;
  if ((command->input && open_pipe(input, 1) != 0) || open_pipe(output, 0) != 0 || open_pipe(errors, 0) != 0)
    error = errno;
  start->input = command->input ? input[0] : start->ground->nothing;
  start->output = output[1];
  start->errors = errors[1];
  if (error == 0) error = start_child(start, spawned);
  close_if(input[0]);
  close_if(output[1]);
  close_if(errors[1]);
  spawned->input = input[1];
  spawned->output = output[0];
  spawned->errors = errors[0];
  if (error == 0) return 0;
  close_if(input[1]);
  close_if(output[0]);
  close_if(errors[0]);
  return error;
}

int spawn_command(const struct command *command, const struct spawn_ground *ground, struct spawned *spawned) {
  static const struct spawned nothing = {-1, -1, -1, -1, {-1, -1}, -1};
  const char *search = value_of(command->environment, "PATH");
  struct start start = {
      .command = command,
      .ground = ground,
      .search = search == NULL ? "/usr/bin:/bin" : search,
      // Made anew for each command, which adds a rule: rules that all of them shared would grow without end.
      .ruleset = ground->landlock == NULL ? -1 : landlock_make(ground->landlock),
      .listener = -1,
  };
  *spawned = nothing;
  if (ground->landlock != NULL && start.ruleset < 0) return errno;
  const int error = command->has_terminal ? start_on_terminal(command, &start, spawned)
                                          : start_on_pipes(command, &start, spawned);
  close_if(start.ruleset);
  if (error != 0) *spawned = nothing;
  return error;
}
