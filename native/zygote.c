// The loop that starts and ends commands: of pid 1, and of the supervisor where there are no namespaces. It has no handlers for
// signals, so nothing inside the sandbox can disturb it. Pid 1 waits in poll alone, so it sees the end of the owner at once; the
// supervisor also opens paths that a command names, and the daemon ends one that does not answer.
#include "zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "connect.h"
#include "empty.h"
#include "feed.h"
#include "ipc.h"
#include "outgoing.h"
#include "run.h"
#include "scope.h"
#include "spawn.h"

enum phase {
  phase_idle,
  phase_running,   // until we are the only process left
  phase_draining,  // what they left in the pipes
  phase_telling,   // `D` is on its way
};

enum { output_index = 0, errors_index = 1 };

// What can be left in two pipes, however large a command made them: more comes from a process outside.
enum { drained_chunks_max = 256 };

struct zygote {
  const struct zygote_ground *ground;
  enum phase phase;
  struct run run;
  struct feed feed;
  int pipes[2];  // -1: at its end
  struct terminal terminal;
  int calls;     // of connect(2), which we execute; -1: none are handed over
  int next;      // which of the two is read first, so that neither starves the other
  int drained;   // how often something was read when no writer was left
  struct outgoing outgoing;
};

int zygote_signals(void) {
  sigset_t every, child;
  sigfillset(&every);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigprocmask(SIG_SETMASK, &every, NULL) != 0) return -1;
  return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

// With pid 1 the kernel ends everything else in the sandbox; without namespaces we do.
_Noreturn static void end_with_owner(void) {
  scope_end();
  _exit(0);
}

_Noreturn static void fail(struct zygote *zygote, int error, const char *stage) {
  // A frame that is half sent is finished first, as far as the owner takes it, or ours would be read as its rest.
  outgoing_flush(&zygote->outgoing, zygote->ground->control);
  scope_end();
  if (!outgoing_is_empty(&zygote->outgoing)) _exit(exit_failed);
  frame_fail(zygote->ground->control, error, stage);
}

static bool is_owner_gone(void *about) {
  const struct zygote *zygote = about;
  struct pollfd control = {.fd = zygote->ground->control, .events = POLLRDHUP};
  if (poll(&control, 1, 0) > 0) end_with_owner();
  return false;
}

static void tell(struct zygote *zygote, bool clean) {
  struct writer writer = {outgoing_payload(&zygote->outgoing), output_chunk_bytes_max, 0, false};
  run_write(&zygote->run, clean, &writer);
  outgoing_begin(&zygote->outgoing, 'D', writer.length);
  zygote->phase = phase_telling;
}

static void begin(struct zygote *zygote, const struct frame *frame) {
  struct command command;
  struct run *run = &zygote->run;
  *run = (struct run){.how = run_exited, .begun = clock_now()};
  int error = command_parse(&command, frame) == 0 ? 0 : errno;
  if (error == EPROTO) fail(zygote, error, "command");
  if (error == 0) {
    struct spawned spawned;
    run->output_left = command.output_bytes_max;
    if (command.milliseconds_max != 0) run->deadline = run->begun + (uint64_t)command.milliseconds_max * 1000;
    const struct zygote_ground *ground = zygote->ground;
    const struct spawn_ground given = {ground->nothing, ground->limits, ground->limit_count, ground->sockets,
                                       ground->landlock};
    error = spawn_command(&command, &given, &spawned);
    run->process = spawned.process;
    zygote->feed = feed_into(spawned.input);
    zygote->pipes[output_index] = spawned.output;
    zygote->pipes[errors_index] = spawned.errors;
    zygote->terminal = spawned.terminal;
    zygote->calls = spawned.calls;
    run->is_job = command.has_terminal;
    command_free(&command);
  }
  zygote->phase = phase_running;
  zygote->drained = 0;
  if (error == 0) return;
  run->how = run_not_started;
  run->value = error;
  run->process = 0;
  run->wall = clock_now() - run->begun;
  tell(zygote, true);
}

static void resize(struct zygote *zygote, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  const struct terminal_size size = {.columns = read_u16(&reader), .rows = read_u16(&reader)};
  if (!read_done(&reader)) fail(zygote, EPROTO, "size");
  if (zygote->phase == phase_running && zygote->terminal.theirs >= 0) terminal_resize(&zygote->terminal, size);
}

// A command on a terminal that stopped itself, or was stopped from its keyboard: the owner decides when it goes on.
static void tell_halt(struct zygote *zygote) {
  if (!zygote->run.halted || !outgoing_is_empty(&zygote->outgoing)) return;
  zygote->run.halted = false;
  outgoing_begin(&zygote->outgoing, 'Z', 0);
  if (!outgoing_flush(&zygote->outgoing, zygote->ground->control)) end_with_owner();
}

static void take(struct zygote *zygote, const struct frame *frame) {
  const bool running = zygote->phase == phase_running;
  switch (frame->kind) {
    case 'X':
      if (zygote->phase != phase_idle) fail(zygote, EBUSY, "command while one runs");
      begin(zygote, frame);
      return;
    case 'I':
      if (running && !feed_add(&zygote->feed, frame->payload, frame->length)) fail(zygote, ENOMEM, "input");
      return;
    case 'J':
      if (frame->length != 0) fail(zygote, EPROTO, "end of input");
      if (running) feed_end(&zygote->feed);
      return;
    case 'W':
      resize(zygote, frame);
      return;
    case 'C':
      if (frame->length != 0) fail(zygote, EPROTO, "continue");
      if (running && zygote->run.is_job && zygote->run.process > 0)
        terminal_continue(&zygote->terminal, zygote->run.process);
      return;
    case 'K':
      if (frame->length != 0) fail(zygote, EPROTO, "stop");
      if (running) run_end(&zygote->run, run_stopped);
      return;
    default:
      fail(zygote, EPROTO, "unknown frame");
  }
}

// A whole frame always fits beside what waits, or the owner is not read from.
static bool is_listening(const struct zygote *zygote) {
  return feed_has_room(&zygote->feed, frame_payload_bytes_max);
}

static void listen_to_owner(struct zygote *zygote) {
  const long count = frame_fill(zygote->ground->input, zygote->ground->control);
  if (count == 0) end_with_owner();
  if (count < 0 && errno != EAGAIN) fail(zygote, errno, "control");
}

static void take_frames(struct zygote *zygote) {
  while (is_listening(zygote)) {
    struct frame frame;
    switch (frame_next(zygote->ground->input, &frame)) {
      case frame_whole:
        take(zygote, &frame);
        continue;
      case frame_wrong:
        fail(zygote, EPROTO, "frame");
      case frame_partial:
        frame_rest(zygote->ground->input);
        return;
    }
  }
}

// Reads once, only when nothing is on its way. What is beyond the bound is counted and thrown away.
static bool read_pipe(struct zygote *zygote, int index) {
  struct run *run = &zygote->run;
  uint8_t *payload = outgoing_payload(&zygote->outgoing);
  const ssize_t count = read(zygote->pipes[index], payload, output_chunk_bytes_max);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    close(zygote->pipes[index]);
    zygote->pipes[index] = -1;
    return false;
  }
  const uint64_t kept = (uint64_t)count < run->output_left ? (uint64_t)count : run->output_left;
  run->output_left -= kept;
  run->output_dropped += (uint64_t)count - kept;
  if (kept > 0) outgoing_begin(&zygote->outgoing, index == output_index ? 'O' : 'E', kept);
  if (kept < (uint64_t)count) run_end(run, run_output_over);
  return true;
}

// True when something was read: there may be more.
static bool read_pipes(struct zygote *zygote) {
  bool any = false;
  for (int turn = 0; turn < 2 && outgoing_is_empty(&zygote->outgoing); turn++) {
    const int index = zygote->next;
    zygote->next = 1 - zygote->next;
    if (zygote->pipes[index] >= 0 && read_pipe(zygote, index)) any = true;
    if (!outgoing_flush(&zygote->outgoing, zygote->ground->control)) end_with_owner();
  }
  return any;
}

// No process that could write is left in the sandbox: what is in the pipes now is all that is read.
static void drain(struct zygote *zygote) {
  while (outgoing_is_empty(&zygote->outgoing)) {
    if (zygote->drained < drained_chunks_max && read_pipes(zygote)) {
      zygote->drained++;
      continue;
    }
    if (!outgoing_is_empty(&zygote->outgoing)) return;
    for (int index = 0; index < 2; index++) {
      if (zygote->pipes[index] >= 0) close(zygote->pipes[index]);
      zygote->pipes[index] = -1;
    }
    feed_close(&zygote->feed);
    terminal_close(&zygote->terminal);
    if (zygote->calls >= 0) close(zygote->calls);
    zygote->calls = -1;
    const struct zygote_ground *ground = zygote->ground;
    const bool clean = emptied_again(ground->emptied, ground->emptied_count, is_owner_gone, zygote);
    // Without namespaces the filter refuses such objects: those that are there are not ours.
    tell(zygote, clean && (ground->guard != 0 || ipc_clear(is_owner_gone, zygote)));
    return;
  }
}

static void forget_signals(const struct zygote *zygote) {
  struct signalfd_siginfo told[8];
  while (read(zygote->ground->signals, told, sizeof told) > 0) continue;
  // Without the process that watches us, nothing would end a command if we were killed.
  if (zygote->ground->guard != 0 && getppid() != zygote->ground->guard) end_with_owner();
}

enum { on_control, on_signals, on_input, on_output, on_errors, on_calls, on_handles, watched_count };

static struct handles *handles_of(const struct zygote *zygote) {
  const struct calls_ground *calls = zygote->ground->calls;
  return calls == NULL ? NULL : calls->handles;
}

// Otherwise callers wait.
static bool can_answer(const struct zygote *zygote) {
  const struct handles *handles = handles_of(zygote);
  return zygote->run.connecting_count < connecting_max && (handles == NULL || !handles_are_full(handles));
}

static void take_call(struct zygote *zygote, short events) {
  struct run *run = &zygote->run;
  if ((events & POLLIN) == 0) {
    // No process of the command is left that could call.
    close(zygote->calls);
    zygote->calls = -1;
    return;
  }
  const struct zygote_ground *ground = zygote->ground;
  const pid_t process = ground->calls == NULL ? connect_start(zygote->calls, ground->own_device)
                                              : calls_answer(zygote->calls, ground->calls);
  if (process > 0) run->connecting[run->connecting_count++] = process;
}

static void watch(const struct zygote *zygote, struct pollfd *watched) {
  const bool waiting = !outgoing_is_empty(&zygote->outgoing);
  const bool reading = zygote->phase == phase_running && !waiting;
  const int listening = is_listening(zygote) ? POLLIN : 0;
  const short control = (short)(POLLRDHUP | listening | (waiting ? POLLOUT : 0));
  watched[on_control] = (struct pollfd){zygote->ground->control, control, 0};
  watched[on_signals] = (struct pollfd){zygote->ground->signals, POLLIN, 0};
  watched[on_input] = (struct pollfd){feed_is_waiting(&zygote->feed) ? zygote->feed.pipe : -1, POLLOUT, 0};
  watched[on_output] = (struct pollfd){reading ? zygote->pipes[output_index] : -1, POLLIN, 0};
  watched[on_errors] = (struct pollfd){reading ? zygote->pipes[errors_index] : -1, POLLIN, 0};
  const bool connecting = zygote->phase == phase_running && !zygote->run.ending && can_answer(zygote);
  watched[on_calls] = (struct pollfd){connecting ? zygote->calls : -1, POLLIN, 0};
  const struct handles *handles = handles_of(zygote);
  watched[on_handles] = (struct pollfd){handles == NULL ? -1 : handles->channel, POLLIN, 0};
}

static void step(struct zygote *zygote) {
  struct pollfd watched[watched_count];
  watch(zygote, watched);
  const int timeout = zygote->phase == phase_running ? run_time_left(&zygote->run) : -1;
  if (poll(watched, watched_count, timeout) < 0 && errno != EINTR) fail(zygote, errno, "poll");
  const short control = watched[on_control].revents;
  // At once, even while there are bytes of the owner's left to read.
  if ((control & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) end_with_owner();
  if (watched[on_signals].revents != 0) forget_signals(zygote);
  if (watched[on_handles].revents != 0 && handles_look(handles_of(zygote)) != 0) fail(zygote, errno, "handles");
  if (watched[on_input].revents != 0) feed_write(&zygote->feed);
  if ((control & POLLIN) != 0) listen_to_owner(zygote);
  if (!outgoing_flush(&zygote->outgoing, zygote->ground->control)) end_with_owner();
  if (zygote->phase == phase_telling && outgoing_is_empty(&zygote->outgoing)) zygote->phase = phase_idle;
  take_frames(zygote);
  if (zygote->phase != phase_running) return;
  if (run_time_left(&zygote->run) == 0) run_end(&zygote->run, run_time_over);
  if (watched[on_calls].revents != 0) take_call(zygote, watched[on_calls].revents);
  read_pipes(zygote);
}

_Noreturn void zygote_serve(const struct zygote_ground *ground) {
  // Never written as a whole: most of it is a buffer whose pages a quiet command does not touch.
  static struct zygote zygote = {.phase = phase_idle, .feed = {.pipe = -1}, .pipes = {-1, -1}, .terminal = {-1, -1},
                                 .calls = -1};
  zygote.ground = ground;
  take_frames(&zygote);
  for (;;) {
    step(&zygote);
    if (zygote.phase == phase_running && run_reap(&zygote.run)) zygote.phase = phase_draining;
    if (zygote.phase == phase_running) tell_halt(&zygote);
    if (zygote.phase == phase_draining) drain(&zygote);
    if (zygote.phase == phase_telling) {
      if (!outgoing_flush(&zygote.outgoing, ground->control)) end_with_owner();
      if (outgoing_is_empty(&zygote.outgoing)) zygote.phase = phase_idle;
      if (zygote.phase == phase_idle) take_frames(&zygote);
    }
  }
}
