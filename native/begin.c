// What every sandbox says and does before its first command.
#include "begin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drop.h"
#include "landlock.h"
#include "memfd.h"

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

int begin_alone(int control, int handles) {
  default_signals();
  umask(022);
  return ready_descriptors(control, handles);
}

void begin_hello(int control, bool connects) {
  uint8_t payload[9];
  struct writer writer = {payload, sizeof payload, 0, false};
  write_u32(&writer, protocol_version);
  write_u32(&writer, (uint32_t)landlock_abi());
  write_u8(&writer, connects ? 1 : 0);
  if (frame_send(control, 'h', payload, writer.length) != 0) _exit(exit_failed);
}

void begin_setup(int control, struct frame_input *input, struct setup *setup) {
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

void begin_ready(int control, const struct setup *setup, enum network_mode network, const uint8_t *outcomes, uint64_t start) {
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
