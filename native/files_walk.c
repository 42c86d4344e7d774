// Folders: the entries of one, and everything below one. Folder after folder from a bounded queue, never by recursion:
// how deep a tree is costs neither stack nor descriptors.
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { entries_bytes = 32768, queue_bytes = 1048576 };

static uint8_t kind_of(int folder, const struct dirent64 *entry) {
  switch (entry->d_type) {
    case DT_REG:
      return 0;
    case DT_DIR:
      return 1;
    case DT_LNK:
      return 2;
    case DT_UNKNOWN: {
      struct stat facts;
      if (fstatat(folder, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0) return files_kind(facts.st_mode);
      return 3;
    }
    default:
      return 3;
  }
}

bool files_each(int folder, const char *path, files_visit *visit, void *whom) {
  _Alignas(struct dirent64) static char entries[entries_bytes];
  for (;;) {
    const long count = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    for (long at = 0; at < count;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      at += entry->d_reclen;
      if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
      if (!visit(whom, folder, path, entry->d_name, kind_of(folder, entry))) return false;
    }
  }
}

// Folders found and not yet opened, as texts one behind the other.
struct queue {
  size_t start, end;
  char bytes[queue_bytes];
};

static bool enqueue(struct queue *queue, const char *path, const char *name) {
  const size_t first = strlen(path), second = strlen(name);
  const size_t length = first + (first > 0) + second + 1;
  if (length > files_path_bytes_max) return false;
  if (length > sizeof queue->bytes - queue->end) {
    memmove(queue->bytes, queue->bytes + queue->start, queue->end - queue->start);
    queue->end -= queue->start;
    queue->start = 0;
    if (length > sizeof queue->bytes - queue->end) return false;
  }
  char *at = queue->bytes + queue->end;
  memcpy(at, path, first);
  if (first > 0) at[first] = '/';
  memcpy(at + length - second - 1, name, second + 1);
  queue->end += length;
  return true;
}

struct walk {
  struct queue *queue;
  uint32_t depth_max;
  bool whole, ended;
  files_visit *visit;
  void *whom;
};

static uint32_t depth_of(const char *path) {
  uint32_t depth = *path == 0 ? 0 : 1;
  for (; *path != 0; path++) depth += *path == '/';
  return depth;
}

static bool visit_and_queue(void *whom, int folder, const char *path, const char *name, uint8_t kind) {
  struct walk *walk = whom;
  if (!walk->visit(walk->whom, folder, path, name, kind)) {
    walk->ended = true;
    return false;
  }
  if (kind == 1 && (depth_of(path) + 1 >= walk->depth_max || !enqueue(walk->queue, path, name))) walk->whole = false;
  return true;
}

bool files_walk(int start, uint32_t depth_max, files_visit *visit, void *whom) {
  static struct queue queue;
  struct walk walk = {&queue, depth_max, true, false, visit, whom};
  queue.start = 0;
  queue.end = 0;
  if (depth_max == 0 || !enqueue(&queue, "", "")) return false;
  while (queue.start < queue.end && !walk.ended) {
    char path[files_path_bytes_max];
    const size_t length = strlen(queue.bytes + queue.start) + 1;
    memcpy(path, queue.bytes + queue.start, length);
    queue.start += length;
    const int folder = files_open_here(start, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (folder < 0) {
      // Gone, replaced, closed to us or another file system: not part of what is below. The rest is a bound of ours.
      if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EACCES && errno != EXDEV) walk.whole = false;
      continue;
    }
    if (!files_each(folder, path, visit_and_queue, &walk)) walk.whole = false;
    files_close(folder);
  }
  return walk.whole;
}
