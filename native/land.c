// The lander from start to end: root, drafts and restrictions first, then one request after another until the owner is gone.
#include "land.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "drop.h"
#include "files.h"
#include "kernel.h"

enum { steps_bytes_max = 67108864 };

// Steps that arrived and wait for the request they belong to.
struct pending {
  uint8_t *bytes;
  size_t length, capacity;
};

static void open_folder(struct lander *lander, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  const uint8_t which = read_u8(&reader);
  const char *path = read_text(&reader);
  if (!read_done(&reader) || which > 1 || path[0] != '/') frame_fail(lander->control, EPROTO, "folder");
  int *into = which == 0 ? &lander->root : &lander->drafts;
  if (*into >= 0) frame_fail(lander->control, EEXIST, "folder");
  // No link anywhere in the path: the owner sends the real one.
  *into = kernel_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, resolve_no_links | resolve_no_magic_links);
  if (*into < 0) frame_fail(lander->control, errno, which == 0 ? "root" : "drafts");
}

// False when the owner went away before it said go.
static bool set_up(struct lander *lander, struct frame_input *input) {
  for (;;) {
    struct frame frame;
    const int received = frame_receive(lander->control, input, &frame);
    if (received == 0) return false;
    if (received < 0) frame_fail(lander->control, errno, "set-up");
    if (frame.kind == 'G') {
      if (frame.length == 0 && lander->root >= 0 && lander->drafts >= 0) return true;
      frame_fail(lander->control, EPROTO, "go");
    }
    if (frame.kind == 'T') {
      open_folder(lander, &frame);
      continue;
    }
    const int taken = restrictions_parse(&lander->restrictions, &frame);
    if (taken < 0) frame_fail(lander->control, errno, "set-up");
    if (taken == 0) frame_fail(lander->control, EPROTO, "set-up");
  }
}

// Whether a file can be renamed from the drafts into the root. The kernel compares the mounts before it looks for the name,
// which is not there: nothing is renamed.
static bool is_one_mount(const struct lander *lander) {
  uint64_t random[2];
  char name[land_slot_bytes];
  if (getrandom(random, sizeof random, 0) != sizeof random) return false;
  snprintf(name, sizeof name, "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
  return kernel_renameat2(lander->drafts, name, lander->root, name, rename_no_replace) != 0 && errno == ENOENT;
}

static void say_ready(const struct lander *lander) {
  uint8_t bytes[3 + 32];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u8(&writer, lander->restrictions.landlock_asked);
  write_u8(&writer, lander->restrictions.seccomp_asked);
  write_u8(&writer, lander->renames);
  const int folders[] = {lander->root, lander->drafts};
  for (size_t at = 0; at < 2; at++) {
    struct stat facts;
    if (fstat(folders[at], &facts) != 0) frame_fail(lander->control, errno, "folder");
    write_u64(&writer, facts.st_dev);
    write_u64(&writer, facts.st_ino);
  }
  if (writer.failed || frame_send(lander->control, 'R', bytes, writer.length) != 0) _exit(exit_failed);
}

static bool keep_steps(struct pending *pending, const struct frame *frame) {
  if (frame->length > steps_bytes_max - pending->length) return false;
  if (pending->length + frame->length > pending->capacity) {
    const size_t capacity = 2 * (pending->length + frame->length);
    uint8_t *bytes = realloc(pending->bytes, capacity);
    if (bytes == NULL) return false;
    pending->bytes = bytes;
    pending->capacity = capacity;
  }
  if (frame->length > 0) memcpy(pending->bytes + pending->length, frame->payload, frame->length);
  pending->length += frame->length;
  return true;
}

static bool land_pending(const struct lander *lander, struct pending *pending, struct reader *reader) {
  struct reader steps = {pending->bytes, pending->bytes == NULL ? NULL : pending->bytes + pending->length, false};
  const bool answered = land_land(lander, reader, &steps);
  free(pending->bytes);
  *pending = (struct pending){0};
  return answered;
}

static bool answer_to(const struct lander *lander, struct pending *pending, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  // Steps stand before the request that lands them, and before no other.
  if (pending->length > 0 && frame->kind != 'p' && frame->kind != 'l') return false;
  switch (frame->kind) {
    case 's':
      return land_scan(lander, &reader);
    case 'p':
      return keep_steps(pending, frame);
    case 'l':
      return land_pending(lander, pending, &reader);
    case 'u':
      return land_undo(lander, &reader);
    case 'v':
      return land_recover(lander, &reader);
    case 'r':
      return land_read(lander, &reader);
    case 'f':
      return land_flush(lander, &reader);
    default:
      return false;
  }
}

int land_main(int control) {
  static struct lander lander;
  static struct pending pending;
  struct frame_input input = {0};
  struct frame frame;
  const char *stage = "descriptors";
  lander = (struct lander){.control = control, .root = -1, .drafts = -1};
  // A write beyond a limit is an answer, not the end of the worker.
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  umask(files_mask);
  if (drop_descriptors(&control, 1) != 0) frame_fail(control, errno, stage);
  if (!set_up(&lander, &input)) return 0;
  lander.renames = is_one_mount(&lander);
  if (files_restrict(&lander.restrictions, &stage) != 0) frame_fail(control, errno, stage);
  say_ready(&lander);
  restrictions_free(&lander.restrictions);
  for (;;) {
    const int received = frame_receive(control, &input, &frame);
    if (received == 0) return 0;
    if (received < 0) frame_fail(control, errno, "request");
    if (!answer_to(&lander, &pending, &frame)) frame_fail(control, EPROTO, "request");
    frame_rest(&input);
  }
}
