// Lines that hold a text, in the plain files below a folder or in one file. Bounded in matches, entries and bytes.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  line_bytes_max = 512,
  before_match_bytes = 64,
  find_depth_max = 256,
  find_entries_max = 1000000,
  find_file_bytes_max = 16777216,
};
static const uint64_t find_bytes_max = 536870912;

struct search {
  struct writer *answer;
  const char *wanted;
  size_t wanted_bytes;
  uint32_t count, count_max;
  uint32_t entries;
  uint64_t bytes;
  size_t file_bytes_max;
  char *content;
  bool whole;
};

// The piece of a line that is shown holds the match, however long the line is.
static bool add_match(struct search *search, const char *path, const char *name, uint32_t line, const char *from,
                      const char *match, const char *end) {
  if ((size_t)(match - from) + search->wanted_bytes > line_bytes_max) from = match - before_match_bytes;
  size_t length = (size_t)(end - from);
  if (length > line_bytes_max) length = line_bytes_max;
  const size_t first = strlen(path);
  if (search->count == search->count_max || !files_fits(search->answer, first + strlen(name) + length + 7)) return false;
  write_bytes(search->answer, path, first);
  if (first > 0) write_u8(search->answer, '/');
  write_text(search->answer, name);
  write_u32(search->answer, line);
  for (size_t at = 0; at < length; at++) write_u8(search->answer, from[at] == 0 ? ' ' : (uint8_t)from[at]);
  write_u8(search->answer, 0);
  search->count++;
  return true;
}

// False when no further match can be told.
static bool search_content(struct search *search, size_t length, const char *path, const char *name) {
  const char *at = search->content, *const end = at + length;
  uint32_t line = 1;
  while (at < end) {
    const char *match = memmem(at, (size_t)(end - at), search->wanted, search->wanted_bytes);
    if (match == NULL) return true;
    for (const char *next; (next = memchr(at, '\n', (size_t)(match - at))) != NULL; at = next + 1) line++;
    const char *close = memchr(match, '\n', (size_t)(end - match));
    if (!add_match(search, path, name, line, at, match, close == NULL ? end : close)) return false;
    if (close == NULL) return true;
    at = close + 1;
    line++;
  }
  return true;
}

// -1 for a file that is passed over: closed to us, not plain, or with other names, about which a path says nothing.
static long read_content(struct search *search, int below, const char *path) {
  const char *why;
  struct stat facts;
  const int file = files_open_plain(below, path, O_RDONLY | O_NOFOLLOW, &facts, &why);
  if (file < 0) return -1;
  if (facts.st_nlink > 1) return files_close(file);
  size_t length = 0;
  ssize_t got;
  while (length < search->file_bytes_max) {
    got = read(file, search->content + length, search->file_bytes_max - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  if (length == search->file_bytes_max && facts.st_size > (off_t)length) search->whole = false;
  files_close(file);
  search->bytes += length;
  return (long)length;
}

static bool visit_file(void *whom, int folder, const char *path, const char *name, uint8_t kind) {
  struct search *search = whom;
  if (++search->entries > find_entries_max || search->bytes > find_bytes_max) return false;
  if (kind != 0) return true;
  const long length = read_content(search, folder, name);
  return length < 0 || search_content(search, (size_t)length, path, name);
}

// A folder with everything below it, or one file. 0, or -1 with errno.
static int search_below(struct search *search, const struct files_request *request) {
  const int tree = request->tree->descriptor;
  const int folder = files_open(tree, request->path, O_RDONLY | O_DIRECTORY, 0);
  if (folder >= 0) {
    if (!files_walk(folder, find_depth_max, visit_file, search)) search->whole = false;
    files_close(folder);
    return 0;
  }
  if (errno != ENOTDIR) return -1;
  const long length = read_content(search, tree, request->path);
  if (length >= 0 && !search_content(search, (size_t)length, "", "")) search->whole = false;
  return 0;
}

bool files_find(struct files_request *request, struct writer *answer) {
  struct search search = {.answer = answer, .whole = true};
  search.count_max = read_u32(&request->rest);
  search.file_bytes_max = read_u32(&request->rest);
  search.wanted = read_text(&request->rest);
  if (!read_done(&request->rest)) return false;
  search.wanted_bytes = strlen(search.wanted);
  if (search.wanted_bytes == 0 || search.wanted_bytes > line_bytes_max / 2 || strchr(search.wanted, '\n') != NULL) {
    files_refuse(answer, request, EINVAL, "the search text must be a non-empty text within one line");
    return true;
  }
  if (search.file_bytes_max > find_file_bytes_max) search.file_bytes_max = find_file_bytes_max;
  search.content = malloc(search.file_bytes_max + 1);
  if (search.content == NULL) {
    files_refuse(answer, request, ENOMEM, "");
    return true;
  }
  files_done(answer, request);
  const size_t places = answer->length;
  write_u8(answer, 0);
  write_u32(answer, 0);
  if (search_below(&search, request) != 0) {
    files_failed(answer, request, "");
  } else {
    files_amend_u8(answer, places, !search.whole);
    files_amend_u32(answer, places + 1, search.count);
  }
  free(search.content);
  return true;
}
