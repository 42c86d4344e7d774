// Reads files of a draft, of its root and of originals, and waits until a draft is on disk.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

enum { side_draft = 0, side_root = 1, side_bin = 2 };

// Opens what is asked for: a file of the draft or of the root by its path, an original by landing and step (`3-17`).
static int open_side(struct landing *landing, uint8_t side, const char *path, struct stat *facts) {
  const char *why;
  if (side == side_root) return files_open_plain(landing->lander->root, path, O_RDONLY | O_NOFOLLOW, facts, &why);
  if (side == side_bin && strspn(path, "0123456789-") != strlen(path)) {
    errno = EINVAL;
    return -1;
  }
  const int base = side == side_bin ? landing->bin : landing->upper;
  struct folder_cache cache = {.base = base, .descriptor = -1};
  const int folder = folder_open(&cache, path, parent_length(path));
  int file = folder < 0 ? -1 : open_draft_file(folder, last_name(path));
  if (file >= 0 && fstat(file, facts) != 0) file = files_close(file);
  const int error = errno;
  folder_close(&cache);
  errno = error;
  return file;
}

bool land_read(const struct lander *lander, struct reader *reader) {
  static uint8_t bytes[frame_payload_bytes_max];
  static struct landing landing;
  const uint32_t number = read_u32(reader);
  const char *id = read_text(reader);
  const uint8_t side = read_u8(reader);
  const char *path = read_text(reader);
  const uint64_t offset = read_u64(reader);
  uint32_t count = read_u32(reader);
  if (!read_done(reader) || !is_draft_id(id) || side > side_bin || *path == 0 || !files_is_plain_path(path)) return false;
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u32(&writer, number);
  write_u8(&writer, answer_done);
  struct stat facts;
  int file = landing_open(&landing, lander, id);
  if (file == 0) file = open_side(&landing, side, path, &facts);
  int error = errno;
  ssize_t got = -1;
  if (file >= 0) {
    write_u64(&writer, (uint64_t)facts.st_size);
    if (count > sizeof bytes - writer.length) count = (uint32_t)(sizeof bytes - writer.length);
    do got = pread(file, bytes + writer.length, count, (off_t)(offset >> 63 != 0 ? INT64_MAX : offset));
    while (got < 0 && errno == EINTR);
    error = errno;
    close(file);
  }
  landing_close(&landing);
  if (got < 0) return send_failure(lander, number, error, "the file cannot be read");
  return frame_send(lander->control, 'A', bytes, writer.length + (size_t)got) == 0;
}

// Waits until everything of a draft that stays is on disk: no overlay has flushed it.
bool land_flush(const struct lander *lander, struct reader *reader) {
  const uint32_t number = read_u32(reader);
  const char *id = read_text(reader);
  if (!read_done(reader) || !is_draft_id(id)) return false;
  const int draft = files_open_here(lander->drafts, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const int flushed = draft < 0 ? -1 : syncfs(draft);
  const int error = errno;
  close_if_open(draft);
  return flushed == 0 ? send_done(lander, number, NULL, 0) : send_failure(lander, number, error, "the draft cannot be flushed");
}
