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

#include "begin.h"
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

static void hold_pins(int control, const struct setup *setup, uint8_t *outcomes) {
  size_t at_fault = 0;
  if (pins_hold(setup->pins, setup->pin_count, outcomes, &at_fault) == 0) return;
  char stage[32];
  const int error = errno;
  snprintf(stage, sizeof stage, "pin %zu", at_fault);
  frame_fail(control, error, stage);
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
  const int nothing = begin_alone(control, handles);
  begin_hello(control, connect_is_offered());
  begin_setup(control, &input, &setup);
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
  begin_ready(control, &setup, network, outcomes, start);
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
