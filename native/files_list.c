// What a folder holds, alone or with everything below it, as an answer.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct listing {
  struct writer *answer;
  uint32_t count, count_max;
};

static bool add(void *whom, int folder, const char *path, const char *name, uint8_t kind) {
  (void)folder;
  struct listing *listing = whom;
  const size_t first = strlen(path);
  if (listing->count == listing->count_max || !files_fits(listing->answer, first + strlen(name) + 3)) return false;
  write_u8(listing->answer, kind);
  write_bytes(listing->answer, path, first);
  if (first > 0) write_u8(listing->answer, '/');
  write_text(listing->answer, name);
  listing->count++;
  return true;
}

// `depth_max` 0: the folder alone, whatever is below the folders in it.
static bool answer_entries(struct files_request *request, struct writer *answer, uint32_t count_max, uint32_t depth_max) {
  const int folder = files_open(request->tree->descriptor, request->path, O_RDONLY | O_DIRECTORY, 0);
  if (folder < 0) {
    files_failed(answer, request, "");
    return true;
  }
  files_done(answer, request);
  const size_t places = answer->length;
  write_u8(answer, 0);
  write_u32(answer, 0);
  struct listing listing = {answer, 0, count_max};
  const bool whole = depth_max == 0 ? files_each(folder, "", add, &listing) : files_walk(folder, depth_max, add, &listing);
  files_close(folder);
  files_amend_u8(answer, places, !whole);
  files_amend_u32(answer, places + 1, listing.count);
  return true;
}

bool files_list(struct files_request *request, struct writer *answer) {
  const uint32_t count_max = read_u32(&request->rest);
  return read_done(&request->rest) && answer_entries(request, answer, count_max, 0);
}

bool files_below(struct files_request *request, struct writer *answer) {
  const uint32_t count_max = read_u32(&request->rest);
  const uint32_t depth_max = read_u32(&request->rest);
  if (!read_done(&request->rest)) return false;
  if (depth_max > 0) return answer_entries(request, answer, count_max, depth_max);
  files_refuse(answer, request, EINVAL, "the depth must be at least 1");
  return true;
}
