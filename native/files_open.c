// How the worker opens: from a tree's descriptor downwards, through folders only, and never something that could make
// it wait or do more than be opened.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"

// The kernel gives up where names are moved while it resolves a path; after this many tries the request is refused.
enum { tries_max = 64, resolve_no_other_mount = 0x01 };

bool files_is_plain_path(const char *path) {
  const size_t length = strlen(path);
  if (length == 0) return true;
  if (length >= files_path_bytes_max) return false;
  for (const char *name = path;; name++) {
    const size_t size = strcspn(name, "/");
    if (size == 0 || (size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.')) return false;
    name += size;
    if (*name == 0) return true;
  }
}

static int open_resolving(int below, const char *path, int flags, mode_t mode, uint64_t more) {
  const uint64_t resolve = resolve_beneath | resolve_no_links | resolve_no_magic_links | more;
  for (int tries = 0; tries < tries_max; tries++) {
    const int opened = kernel_openat2(below, *path == 0 ? "." : path, (uint64_t)(flags | O_CLOEXEC), mode, resolve);
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR)) return opened;
  }
  return -1;
}

int files_open(int below, const char *path, int flags, mode_t mode) {
  return open_resolving(below, path, flags, mode, 0);
}

int files_open_here(int below, const char *path, int flags) {
  return open_resolving(below, path, flags, 0, resolve_no_other_mount);
}

int files_close(int descriptor) {
  const int before = errno;
  close(descriptor);
  errno = before;
  return -1;
}

uint8_t files_kind(mode_t mode) {
  if (S_ISREG(mode)) return 0;
  if (S_ISDIR(mode)) return 1;
  return S_ISLNK(mode) ? 2 : 3;
}

static bool is_plain(int descriptor, struct stat *facts, const char **why) {
  if (fstat(descriptor, facts) != 0) return false;
  if (S_ISREG(facts->st_mode)) return true;
  errno = S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
  *why = "not a plain file";
  return false;
}

int files_open_plain(int below, const char *path, int flags, struct stat *facts, const char **why) {
  // Looked at before it is opened: to open a device can already be an act.
  const int place = files_open(below, path, O_PATH, 0);
  if (place < 0) return -1;
  const bool plain = is_plain(place, facts, why);
  files_close(place);
  if (!plain) return -1;
  // Should it have become a pipe since, this open does not wait for the other end.
  const int opened = files_open(below, path, flags | O_NONBLOCK | O_NOCTTY, 0);
  if (opened < 0) return -1;
  return is_plain(opened, facts, why) ? opened : files_close(opened);
}

int files_open_parent(const struct files_request *request, const char **name) {
  const char *slash = strrchr(request->path, '/');
  char folder[files_path_bytes_max];
  const size_t length = slash == NULL ? 0 : (size_t)(slash - request->path);
  memcpy(folder, request->path, length);
  folder[length] = 0;
  *name = slash == NULL ? request->path : slash + 1;
  return files_open(request->tree->descriptor, folder, O_RDONLY | O_DIRECTORY, 0);
}
