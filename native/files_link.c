// Where a way with links in it leads. Nothing is opened for use here: the owner decides on the answer, and what it
// allows is then opened without links.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// As many links as the kernel follows.
enum { links_max = 40 };

// The name the kernel has for a descriptor. False for what has none: deleted, or not to be reached from our root.
static bool name_of(int descriptor, char name[files_path_bytes_max]) {
  char place[40];
  snprintf(place, sizeof place, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(place, name, files_path_bytes_max - 1);
  if (length <= 0 || length >= files_path_bytes_max - 1 || name[0] != '/') return false;
  name[length] = 0;
  struct stat here, there;
  // A deleted folder's name has words behind it; what is there under that name is another thing or nothing.
  if (fstat(descriptor, &here) != 0 || lstat(name, &there) != 0) return false;
  return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static bool has_dots(const char *path) {
  for (const char *name = path; *name != 0; name += strspn(name, "/")) {
    size_t size = strcspn(name, "/");
    if ((size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.')) return true;
    name += size;
  }
  return false;
}

static bool join(char out[files_path_bytes_max], const char *first, const char *second) {
  while (*second == '/') second++;
  const char *slash = *second == 0 || *first == 0 || first[strlen(first) - 1] == '/' ? "" : "/";
  int length = snprintf(out, files_path_bytes_max, "%s%s%s", first, slash, second);
  return length >= 0 && length < files_path_bytes_max;
}

// The longest beginning of a way that can be opened; `split` is where the rest begins.
static int open_deepest(int from, const char *way, size_t *split) {
  char part[files_path_bytes_max];
  size_t end = strlen(way);
  for (;;) {
    while (end > 0 && way[end - 1] == '/') end--;
    memcpy(part, way, end);
    part[end] = 0;
    const char *whole = end > 0 ? part : way[0] == '/' ? "/" : ".";
    int opened = openat(from, whole, O_PATH | O_CLOEXEC);
    *split = end;
    if (opened >= 0 || end == 0 || errno == ELOOP || errno == EMFILE || errno == ENFILE) return opened;
    while (end > 0 && way[end - 1] != '/') end--;
  }
}

// A link without an end is there although nothing is at its end: its text is the way on.
static bool real_path(int tree, const char *path, char real[files_path_bytes_max]) {
  char way[files_path_bytes_max], target[files_path_bytes_max], next[files_path_bytes_max];
  int from = tree;
  bool told = false;
  if (!join(way, path, "")) return false;
  for (int links = 0; links <= links_max; links++) {
    size_t split;
    int deepest = open_deepest(from, way, &split);
    if (from != tree) files_close(from);
    from = deepest;
    if (deepest < 0) break;
    const char *rest = way + split + strspn(way + split, "/");
    char first[files_path_bytes_max];
    size_t size = strcspn(rest, "/");
    memcpy(first, rest, size);
    first[size] = 0;
    ssize_t length = size == 0 ? -1 : readlinkat(deepest, first, target, sizeof target);
    if (length < 0) {
      char name[files_path_bytes_max];
      told = !has_dots(rest) && name_of(deepest, name) && join(real, name, rest);
      break;
    }
    if (length == 0 || (size_t)length >= sizeof target) break;
    target[length] = 0;
    if (!join(next, target, rest + size)) break;
    memcpy(way, next, sizeof way);
  }
  if (from != tree) files_close(from);
  return told;
}

void files_link(struct writer *answer, const struct files_request *request) {
  char real[files_path_bytes_max];
  if (!real_path(request->tree->descriptor, request->path, real)) {
    files_refuse(answer, request, ELOOP, "a link that leads nowhere");
    return;
  }
  files_done(answer, request);
  files_amend_u8(answer, answer->length - 1, 2);
  write_text(answer, real);
}
