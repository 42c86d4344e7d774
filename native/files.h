// The file worker: what its parts share. It holds a few trees open and does one small thing after another in them.
#ifndef AMBIT_FILES_H
#define AMBIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "frame.h"
#include "restrictions.h"

enum {
  files_trees_max = 64,
  files_path_bytes_max = 4096,
  files_answer_bytes_max = frame_header_bytes + frame_payload_bytes_max,
  // Set at the start; what is made by a worker is masked by it.
  files_mask = 022,
};

// Opened once; everything later starts from the descriptor, wherever its name leads by then.
struct files_tree {
  int descriptor;
  bool writable;
};

// What one frame asks. The path lies in the frame, and what stands behind it is still to be read.
struct files_request {
  uint32_t number;
  const struct files_tree *tree;
  const char *path;
  struct reader rest;
};

// The three ways an answer begins. Each takes back whatever was written before it.
void files_done(struct writer *answer, const struct files_request *request);
void files_refuse(struct writer *answer, const struct files_request *request, int error, const char *why);
// Says where the way leads that a link stands in, or refuses where that cannot be told.
void files_link(struct writer *answer, const struct files_request *request);
// What an open that failed is answered with: a link in the way is told apart from everything else.
void files_failed(struct writer *answer, const struct files_request *request, const char *why);
// Whether so many bytes more still fit into a frame.
bool files_fits(const struct writer *answer, size_t count);
// Writes over a place that was kept free.
void files_amend_u8(struct writer *answer, size_t at, uint8_t value);
void files_amend_u32(struct writer *answer, size_t at, uint32_t value);
// Small answers wait for each other, so that many go out in one send.
struct files_outgoing {
  int control;
  size_t count;
  uint8_t bytes[65536];
};
// Takes an answer that is whole, to be sent now or with those behind it: 0, or -1 with errno.
int files_answer(struct files_outgoing *outgoing, struct writer *answer);
// Sends what waits: 0, or -1 with errno.
int files_send(struct files_outgoing *outgoing);

// Names parted by single slashes, none of them `.` or `..`; the empty path is the tree itself.
bool files_is_plain_path(const char *path);
// Opens below a descriptor: never above it, never through a link of any sort. -1 with errno.
int files_open(int below, const char *path, int flags, mode_t mode);
// The same, and never into another mount.
int files_open_here(int below, const char *path, int flags);
// Opens a plain file and nothing else, without blocking. `why` is set where errno does not say it all.
int files_open_plain(int below, const char *path, int flags, struct stat *facts, const char **why);
// The folder a path lies in, opened for reading, and the last name. -1 with errno.
int files_open_parent(const struct files_request *request, const char **name);
// Always -1, and errno as it was: for the way out of something that failed.
int files_close(int descriptor);
// 0 file, 1 folder, 2 link, 3 other.
uint8_t files_kind(mode_t mode);

// Called for each entry; false ends the walk.
typedef bool files_visit(void *whom, int folder, const char *path, const char *name, uint8_t kind);
// The entries of one open folder. False where some were not visited.
bool files_each(int folder, const char *path, files_visit *visit, void *whom);
// Everything below an open folder, near ones first. False where something was left out.
bool files_walk(int start, uint32_t depth_max, files_visit *visit, void *whom);

// The folder to change something in and the name of it there; answers and returns -1 where that cannot be.
int files_open_for_change(struct files_request *request, struct writer *answer, const char **name);
// What may be written to. 0, or -1 with errno; ENOENT where there is nothing yet.
int files_look_at(int folder, const char *name, struct stat *facts, const char **why);
int files_write_all(int file, const uint8_t *bytes, size_t count);

// One for each kind of request. False for a request that does not parse to its last byte.
typedef bool files_operation(struct files_request *request, struct writer *answer);
files_operation files_read, files_stat, files_list, files_below, files_find, files_write, files_append, files_delete;
files_operation files_make_folder;

// Applies what was asked for and gives up what a worker never needs. 0, or -1 with errno and the step that failed.
int files_restrict(const struct restrictions *restrictions, const char **stage);

int files_main(int control);

#endif
