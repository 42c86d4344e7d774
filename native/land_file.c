// Files and folders of a draft: opened whatever their mode, compared, copied, and read for marks of the overlay file system.
// A draft is sealed and lies in a folder that is ours: no other process changes names in it while we work. What is in it was
// written by the program, so nothing of it is believed.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

enum { buffer_bytes = 131072, names_bytes = 65536 };

int open_draft_file(int folder, const char *name) {
  struct stat facts;
  if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (!S_ISREG(facts.st_mode)) {
    errno = EINVAL;
    return -1;
  }
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  const int file = files_open_here(folder, name, flags);
  // The mode of a draft's file is the program's choice and never lands; the last mode bits are set when it does.
  if (file >= 0 || errno != EACCES || fchmodat(folder, name, (facts.st_mode & 0777) | 0600, 0) != 0) return file;
  return files_open_here(folder, name, flags);
}

int open_draft_folder(int folder, const char *name) {
  struct stat facts;
  if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (!S_ISDIR(facts.st_mode)) {
    errno = ENOTDIR;
    return -1;
  }
  if ((facts.st_mode & 0700) != 0700 && fchmodat(folder, name, (facts.st_mode & 0777) | 0700, 0) != 0) return -1;
  return files_open_here(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static int open_plain(int folder, const char *name) {
  const char *why;
  struct stat facts;
  return files_open_plain(folder, name, O_RDONLY | O_NOFOLLOW, &facts, &why);
}

static ssize_t read_some(int file, uint8_t *bytes, size_t count) {
  size_t length = 0;
  while (length < count) {
    const ssize_t got = read(file, bytes + length, count - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    length += (size_t)got;
  }
  return (ssize_t)length;
}

// Where both files have a hole they have the same bytes: a sparse file of any size is compared by its data.
static int skip_holes(int left, int right) {
  const off_t at = lseek(left, 0, SEEK_CUR), size = lseek(left, 0, SEEK_END);
  if (at < 0 || size < 0) return -1;
  off_t next = size;
  for (int which = 0; which < 2; which++) {
    const int file = which == 0 ? left : right;
    const off_t data = lseek(file, at, SEEK_DATA);
    // ENXIO: no data any more. A file system that knows no holes has data everywhere.
    const off_t found = data >= 0 ? data : errno == ENXIO ? size : at;
    if (found < next) next = found;
  }
  return lseek(left, next, SEEK_SET) < 0 || lseek(right, next, SEEK_SET) < 0 ? -1 : 0;
}

// Both have the same size.
static int compare(int left, int right) {
  static uint8_t first[buffer_bytes], second[buffer_bytes];
  for (;;) {
    if (skip_holes(left, right) != 0) return -1;
    const ssize_t left_count = read_some(left, first, sizeof first);
    const ssize_t right_count = read_some(right, second, sizeof second);
    if (left_count < 0 || right_count < 0) return -1;
    if (left_count != right_count || memcmp(first, second, (size_t)left_count) != 0) return 0;
    if (left_count == 0) return 1;
  }
}

int same_content(int left_folder, const char *left_name, int right_folder, const char *right_name) {
  const int left = open_draft_file(left_folder, left_name);
  if (left < 0) return -1;
  const int right = open_plain(right_folder, right_name);
  if (right < 0) return files_close(left);
  struct stat one, other;
  int same = -1;
  if (fstat(left, &one) == 0 && fstat(right, &other) == 0) same = one.st_size == other.st_size ? compare(left, right) : 0;
  files_close(left);
  files_close(right);
  return same;
}

int same_target(int left_folder, const char *left_name, int right_folder, const char *right_name) {
  char left[land_path_bytes_max], right[land_path_bytes_max];
  const ssize_t one = readlinkat(left_folder, left_name, left, sizeof left);
  const ssize_t other = readlinkat(right_folder, right_name, right, sizeof right);
  if (one < 0 || other < 0) return -1;
  return one == other && memcmp(left, right, (size_t)one) == 0;
}

// The bytes from `at` up to `end`, which may lie behind the end of the file.
static int copy_data(int from, int to, off_t at, off_t end) {
  static uint8_t bytes[buffer_bytes];
  if (lseek(from, at, SEEK_SET) < 0 || lseek(to, at, SEEK_SET) < 0) return -1;
  // Shares the blocks where the file system can. Others refuse before the first byte, and are read and written.
  while (at < end) {
    const off_t left = end - at < (off_t)1 << 30 ? end - at : (off_t)1 << 30;
    const ssize_t count = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (count > 0) at += count;
  }
  while (at < end) {
    const size_t left = end - at < (off_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
    const ssize_t count = read_some(from, bytes, left);
    if (count <= 0) return (int)count;
    if (files_write_all(to, bytes, (size_t)count) != 0) return -1;
    at += count;
  }
  return 0;
}

// Data alone: holes stay holes, so that a sparse file takes no more room than it did.
static int copy_bytes(int from, int to) {
  struct stat facts;
  if (fstat(from, &facts) != 0) return -1;
  off_t end;
  for (off_t at = 0; at < facts.st_size; at = end) {
    const off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    const off_t start = data < 0 ? at : data;
    end = data < 0 ? facts.st_size : lseek(from, start, SEEK_HOLE);
    if (end <= start) end = facts.st_size;
    if (copy_data(from, to, start, end) != 0) return -1;
  }
  return ftruncate(to, facts.st_size);
}

static int keep_facts(int file, const struct identity *like) {
  struct stat now;
  if (fstat(file, &now) != 0) return -1;
  if ((now.st_uid != like->owner || now.st_gid != like->group) && fchown(file, like->owner, like->group) != 0) return -1;
  if (fchmod(file, like->mode & 01777) != 0) return -1;
  const struct timespec time = {(time_t)(like->modified / 1000000000u), (long)(like->modified % 1000000000u)};
  const struct timespec times[2] = {time, time};
  return futimens(file, times);
}

int copy_file(int from_folder, const char *from_name, int to_folder, const char *to_name, const struct identity *like) {
  // Only the mode of a draft's own file may be changed to read it, never that of a person's.
  const int from = like == NULL ? open_draft_file(from_folder, from_name) : open_plain(from_folder, from_name);
  if (from < 0) return -1;
  const int to = files_open(to_folder, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (to < 0) return files_close(from);
  int result = copy_bytes(from, to);
  if (result == 0 && like != NULL) result = keep_facts(to, like);
  files_close(from);
  const int error = errno;
  if (close(to) != 0 && result == 0) return -1;
  errno = error;
  return result;
}

int copy_link(int from_folder, const char *from_name, int to_folder, const char *to_name) {
  char target[land_path_bytes_max];
  const ssize_t length = readlinkat(from_folder, from_name, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  return symlinkat(target, to_folder, to_name);
}

// Which mark one attribute is. `origin`, `impure`, `uuid` and `protattr` say where a file came from and which flags its original
// had: nothing of the content depends on them. A program's own attribute of such a name is stored with `overlay.` before it
// and counts as unknown, like everything else.
static int mark_of(int file, const char *name, bool is_upper_root) {
  char value[8];
  if (strcmp(name, "origin") == 0 || strcmp(name, "impure") == 0 || strcmp(name, "protattr") == 0) return mark_none;
  if (strcmp(name, "uuid") == 0) return is_upper_root ? mark_none : mark_unknown;
  if (strcmp(name, "whiteout") == 0) return mark_whiteout;
  if (strcmp(name, "opaque") != 0) return mark_unknown;
  const ssize_t length = fgetxattr(file, "user.overlay.opaque", value, sizeof value);
  if (length != 1) return mark_unknown;
  return value[0] == 'y' ? mark_opaque : value[0] == 'x' ? mark_opaque_whiteouts : mark_unknown;
}

int overlay_marks(int file, bool is_upper_root, char unknown[256]) {
  static char names[names_bytes];
  static const char prefix[] = "user.overlay.";
  const ssize_t length = flistxattr(file, names, sizeof names);
  if (length < 0) return errno == EOPNOTSUPP ? mark_none : -1;
  int marks = mark_none;
  for (const char *name = names; name < names + length; name += strlen(name) + 1) {
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) continue;
    const int mark = mark_of(file, name + sizeof prefix - 1, is_upper_root);
    if (mark == mark_unknown) {
      strncpy(unknown, name, 255);
      unknown[255] = 0;
    }
    marks |= mark;
  }
  return marks;
}

// UTF-8 as the standard has it: shortest forms, no surrogates, nothing beyond U+10FFFF.
bool is_text(const char *bytes, size_t length) {
  const uint8_t *at = (const uint8_t *)bytes, *const end = at + length;
  while (at < end) {
    const uint8_t first = *at++;
    if (first < 0x80) continue;
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || (size_t)(end - at) < more) return false;
    if ((first == 0xe0 && at[0] < 0xa0) || (first == 0xed && at[0] > 0x9f)) return false;
    if ((first == 0xf0 && at[0] < 0x90) || (first == 0xf4 && at[0] > 0x8f)) return false;
    for (size_t byte = 0; byte < more; byte++)
      if ((at[byte] & 0xc0) != 0x80) return false;
    at += more;
  }
  return true;
}

char *folder_names(int folder, struct arena *arena, uint32_t *count, uint32_t *entries_left) {
  _Alignas(struct dirent64) static char entries[32768];
  size_t capacity = 4096, length = 0;
  char *names = arena_take(arena, capacity);
  *count = 0;
  // A descriptor that was read before starts again.
  if (names == NULL || lseek(folder, 0, SEEK_SET) < 0) return NULL;
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return NULL;
    if (bytes == 0) return names;
    for (long at = 0; at < bytes;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      at += entry->d_reclen;
      if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
      const size_t size = strlen(entry->d_name) + 1;
      if ((*entries_left)-- == 0) {
        *entries_left = 0;
        errno = E2BIG;
        return NULL;
      }
      if (length + size > capacity) {
        char *larger = arena_take(arena, capacity * 2);
        if (larger == NULL) return NULL;
        memcpy(larger, names, length);
        names = larger;
        capacity *= 2;
      }
      memcpy(names + length, entry->d_name, size);
      length += size;
      (*count)++;
    }
  }
}
