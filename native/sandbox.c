// Setting a sandbox up: what the owner asks for is parsed whole, then done in one fixed order, then everything that
// could undo it is given up. Only after that is anything run.
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connect.h"
#include "drop.h"
#include "empty.h"
#include "frame.h"
#include "ipc.h"
#include "landlock.h"
#include "memfd.h"
#include "network.h"
#include "overlay.h"
#include "pins.h"
#include "setup.h"
#include "terminal.h"
#include "zygote.h"

static void say_hello(int control) {
  uint8_t payload[9];
  struct writer writer = {payload, sizeof payload, 0, false};
  write_u32(&writer, protocol_version);
  write_u32(&writer, (uint32_t)landlock_abi());
  write_u8(&writer, connect_is_offered() ? 1 : 0);
  if (frame_send(control, 'h', payload, writer.length) != 0) _exit(exit_failed);
}

static void receive_setup(int control, struct frame_input *input, struct setup *setup) {
  for (;;) {
    struct frame frame;
    const char *stage = "";
    const int received = frame_receive(control, input, &frame);
    // The owner closed the socket before setup: exit, nothing was done.
    if (received == 0) _exit(0);
    if (received < 0) frame_fail(control, errno, "frame");
    switch (setup_parse(setup, &frame, &stage)) {
      case setup_more:
        continue;
      case setup_go:
        return;
      case setup_wrong:
        frame_fail(control, errno, stage);
    }
  }
}

static void hold_pins(int control, const struct setup *setup, uint8_t *outcomes) {
  size_t at_fault = 0;
  if (pins_hold(setup->pins, setup->pin_count, outcomes, &at_fault) == 0) return;
  char stage[32];
  const int error = errno;
  snprintf(stage, sizeof stage, "pin %zu", at_fault);
  frame_fail(control, error, stage);
}

// Its own descriptors stay in our hands alone: a command gets three of its own and no other.
static int ready_descriptors(int control, int handles) {
  const int kept[] = {control, handles};
  if (drop_descriptors(kept, handles < 0 ? 1 : 2) != 0) frame_fail(control, errno, "descriptors");
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) frame_fail(control, errno, "null device");
  // Where we were started without one of the first three, what we open now must not take its number.
  if (nothing < 3 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || fcntl(2, F_GETFD) < 0)
    frame_fail(control, errno, "descriptors");
  if (fcntl(control, F_SETFD, FD_CLOEXEC) != 0) frame_fail(control, errno, "descriptors");
  if (handles >= 0 && fcntl(handles, F_SETFD, FD_CLOEXEC) != 0) frame_fail(control, errno, "descriptors");
  return nothing;
}

// Signals that our parent ignores would be ignored by every command.
static void default_signals(void) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
}

// Time of the processor is counted by process: a command gets all of it, and pid 1, which lives longer than any
// command, must not come to its end by it. Takes those limits out of the others and says how many there are.
static size_t take_command_limits(struct restrictions *restrictions, struct limit *into) {
  size_t taken = 0, kept = 0;
  for (size_t at = 0; at < restrictions->limit_count; at++) {
    const struct limit limit = restrictions->limits[at];
    if (limit.resource == RLIMIT_CPU) into[taken++] = limit;
    else restrictions->limits[kept++] = limit;
  }
  restrictions->limit_count = kept;
  return taken;
}

static void say_ready(int control, const struct setup *setup, enum network_mode network, const uint8_t *outcomes,
                      uint64_t start) {
  uint8_t payload[16 + pins_max];
  struct writer writer = {payload, sizeof payload, 0, false};
  write_u8(&writer, setup->restrictions.landlock_asked ? 1 : 0);
  write_u8(&writer, setup->restrictions.seccomp_asked ? 1 : 0);
  write_u8(&writer, (uint8_t)network);
  write_u8(&writer, memfd_is_held() ? 1 : 0);
  write_u64(&writer, start);
  write_u32(&writer, (uint32_t)setup->pin_count);
  write_bytes(&writer, outcomes, setup->pin_count);
  if (frame_send(control, 'R', payload, writer.length) != 0) _exit(exit_failed);
}

_Noreturn void sandbox_main(int control, int handles) {
  static struct setup setup;
  static struct frame_input input;
  static uint8_t outcomes[pins_max];
  static struct limit limits[limits_max];
  const char *stage = "";
  enum network_mode network = network_none;
  uint64_t start = 0;
  // Ending a command means killing everything in the pid namespace, which must therefore be a sandbox's own.
  if (getpid() != 1) frame_fail(control, EPERM, "not pid 1");
  default_signals();
  umask(022);
  const int nothing = ready_descriptors(control, handles);
  say_hello(control);
  receive_setup(control, &input, &setup);
  if (setup.network.asked && handles < 0) frame_fail(control, EBADF, "network without handles");

  if (overlay_mount(&setup.overlay, &start, &stage) != 0) frame_fail(control, errno, stage);
  // Before the pins, which make the files of /proc that it needs read-only.
  if (setup.terminals_max != 0 && terminal_mount(setup.terminals_max) != 0) frame_fail(control, errno, "terminals");
  hold_pins(control, &setup, outcomes);
  if (setup.network.asked && network_open(&setup.network, handles, &network, &stage) != 0)
    frame_fail(control, errno, stage);
  if (handles >= 0) close(handles);
  memfd_forbid();
  if (emptied_make(setup.emptied, setup.emptied_count) != 0) frame_fail(control, errno, "emptied folder");
  dev_t own = 0;
  if (setup.sockets.path != NULL && connect_own_device(setup.sockets.path, &own) != 0)
    frame_fail(control, errno, "sockets");
  // Objects that are there already are of a namespace that is not ours alone.
  if (!ipc_is_empty()) frame_fail(control, EEXIST, "IPC namespace");
  const int signals = zygote_signals();
  if (signals < 0) frame_fail(control, errno, "signals");
  if (chdir("/") != 0) frame_fail(control, errno, "top folder");
  const size_t limit_count = take_command_limits(&setup.restrictions, limits);
  if (restrictions_apply(&setup.restrictions, &stage) != 0) frame_fail(control, errno, stage);

  if (overlay_wait(start) != 0) frame_fail(control, errno, "start moment");
  say_ready(control, &setup, network, outcomes, start);
  restrictions_free(&setup.restrictions);
  const struct zygote_ground ground = {
      .control = control,
      .nothing = nothing,
      .signals = signals,
      .input = &input,
      .emptied = setup.emptied,
      .emptied_count = setup.emptied_count,
      .limits = limits,
      .limit_count = limit_count,
      .sockets = &setup.sockets,
      .own_device = own,
  };
  zygote_serve(&ground);
}
