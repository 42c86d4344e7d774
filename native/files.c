// The file worker from start to end: trees and walls first, then one request after another until the owner is gone.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "drop.h"

struct worker {
  int control;
  struct files_tree trees[files_trees_max];
  size_t tree_count;
  struct restrictions restrictions;
  struct files_outgoing outgoing;
};

static void open_tree(struct worker *worker, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  const uint8_t mode = read_u8(&reader);
  const char *path = read_text(&reader);
  if (!read_done(&reader) || (mode != 1 && mode != 3) || path[0] != '/') frame_fail(worker->control, EPROTO, "tree");
  if (worker->tree_count == files_trees_max) frame_fail(worker->control, E2BIG, "tree");
  const int descriptor = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) frame_fail(worker->control, errno, "tree");
  worker->trees[worker->tree_count++] = (struct files_tree){descriptor, mode == 3};
}

// False when the owner went away before it said go.
static bool set_up(struct worker *worker, struct frame_input *input) {
  for (;;) {
    struct frame frame;
    const int received = frame_receive(worker->control, input, &frame);
    if (received == 0) return false;
    if (received < 0) frame_fail(worker->control, errno, "set-up");
    if (frame.kind == 'G') {
      if (frame.length == 0) return true;
      frame_fail(worker->control, EPROTO, "go");
    }
    if (frame.kind == 'T') {
      open_tree(worker, &frame);
      continue;
    }
    const int taken = restrictions_parse(&worker->restrictions, &frame);
    if (taken < 0) frame_fail(worker->control, errno, "set-up");
    if (taken == 0) frame_fail(worker->control, EPROTO, "set-up");
  }
}

static void say_ready(const struct worker *worker) {
  uint8_t bytes[6 + 16 * files_trees_max];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u8(&writer, worker->restrictions.landlock_asked);
  write_u8(&writer, worker->restrictions.seccomp_asked);
  write_u32(&writer, (uint32_t)worker->tree_count);
  for (size_t at = 0; at < worker->tree_count; at++) {
    struct stat facts;
    if (fstat(worker->trees[at].descriptor, &facts) != 0) frame_fail(worker->control, errno, "tree");
    write_u64(&writer, facts.st_dev);
    write_u64(&writer, facts.st_ino);
  }
  if (writer.failed || frame_send(worker->control, 'R', bytes, writer.length) != 0) _exit(exit_failed);
}

static files_operation *operation_of(uint8_t kind) {
  switch (kind) {
    case 'r':
      return files_read;
    case 'w':
      return files_write;
    case 'a':
      return files_append;
    case 'd':
      return files_delete;
    case 'm':
      return files_make_folder;
    case 'l':
      return files_list;
    case 's':
      return files_stat;
    case 'k':
      return files_below;
    case 'f':
      return files_find;
    default:
      return NULL;
  }
}

static bool answer_to(struct worker *worker, const struct frame *frame, struct writer *answer) {
  struct files_request request = {.rest = reader_of(frame)};
  request.number = read_u32(&request.rest);
  const uint32_t tree = read_u32(&request.rest);
  request.path = read_text(&request.rest);
  files_operation *operation = operation_of(frame->kind);
  if (request.rest.failed || operation == NULL || tree >= worker->tree_count) return false;
  request.tree = &worker->trees[tree];
  answer->length = 0;
  // The owner sends normal paths only; another one is a mistake of the owner's, not an attempt of the agent's.
  return files_is_plain_path(request.path) && operation(&request, answer);
}

static int serve(struct worker *worker, struct frame_input *input) {
  static uint8_t bytes[files_answer_bytes_max];
  struct writer answer = {bytes, sizeof bytes, 0, false};
  struct frame frame;
  for (;;) {
    const int received = frame_try(worker->control, input, &frame);
    const int error = errno;
    if (received < 0 && error == EAGAIN) {
      // No further request is there yet.
      if (files_send(&worker->outgoing) != 0) return exit_failed;
      frame_rest(input);
      if (frame_wait(worker->control) != 0) return exit_failed;
      continue;
    }
    const bool is_quick = received > 0 && (frame.kind == 'r' || frame.kind == 's' || frame.kind == 'w');
    // Whatever may take long keeps no answer back.
    if (!is_quick && files_send(&worker->outgoing) != 0) return exit_failed;
    if (received == 0) return 0;
    if (received < 0) frame_fail(worker->control, error, "request");
    if (!answer_to(worker, &frame, &answer)) {
      files_send(&worker->outgoing);
      frame_fail(worker->control, EPROTO, "request");
    }
    if (files_answer(&worker->outgoing, &answer) != 0) return exit_failed;
  }
}

int files_main(int control) {
  static struct worker worker;
  struct frame_input input = {0};
  const char *stage = "descriptors";
  worker.control = control;
  worker.outgoing.control = control;
  // A write beyond a limit is an answer, not the end of the worker.
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  // What an agent makes is for its owner to work with, like what a person makes; our owner's own files are not.
  umask(files_mask);
  if (drop_descriptors(&control, 1) != 0) frame_fail(control, errno, stage);
  if (!set_up(&worker, &input)) return 0;
  if (files_restrict(&worker.restrictions, &stage) != 0) frame_fail(control, errno, stage);
  say_ready(&worker);
  restrictions_free(&worker.restrictions);
  return serve(&worker, &input);
}
