// Changing files in their place: never through a link, never a file that has other names.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { append_tries_max = 8 };

int files_open_for_change(struct files_request *request, struct writer *answer, const char **name) {
  if (!request->tree->writable) {
    files_refuse(answer, request, EROFS, "the tree is read-only");
    return -1;
  }
  if (*request->path == 0) {
    files_refuse(answer, request, EBUSY, "the tree itself");
    return -1;
  }
  const int folder = files_open_parent(request, name);
  if (folder < 0) files_failed(answer, request, "");
  return folder;
}

int files_look_at(int folder, const char *name, struct stat *facts, const char **why) {
  if (fstatat(folder, name, facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (S_ISREG(facts->st_mode) && facts->st_nlink == 1) {
    // The kernel does not check a replaced file's own permissions on rename; we do.
    return faccessat(folder, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW);
  }
  if (S_ISREG(facts->st_mode)) {
    *why = "several hard links";
    errno = EMLINK;
  } else if (S_ISLNK(facts->st_mode)) {
    *why = "a link is not written through";
    errno = ELOOP;
  } else {
    *why = "not a plain file";
    errno = S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
  }
  return -1;
}

int files_write_all(int file, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -1;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

static int open_end(int folder, const char *name, mode_t mode, bool *made, struct stat *facts, const char **why) {
  const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (int tries = 0; tries < append_tries_max; tries++) {
    *made = files_look_at(folder, name, facts, why) != 0;
    if (*made && errno != ENOENT) return -1;
    const int file = files_open(folder, name, *made ? flags | O_CREAT | O_EXCL : flags, *made ? mode : 0);
    if (file < 0 && (errno == EEXIST || errno == ENOENT)) continue;
    if (file < 0) return -1;
    // What was opened need not be what was looked at.
    if (fstat(file, facts) != 0) return files_close(file);
    if (S_ISREG(facts->st_mode) && facts->st_nlink == 1) return file;
    *why = S_ISREG(facts->st_mode) ? "several hard links" : "not a plain file";
    errno = S_ISREG(facts->st_mode) ? EMLINK : EINVAL;
    return files_close(file);
  }
  return -1;
}

// Takes back what was added, where no other process has added anything since.
static void take_back(int file, const struct stat *before, size_t count) {
  const int error = errno;
  struct stat now;
  if (fstat(file, &now) == 0 && now.st_size > before->st_size && now.st_size <= before->st_size + (off_t)count &&
      ftruncate(file, before->st_size) != 0) {
    // It stays longer than it was; the refusal says that it failed.
  }
  errno = error;
}

bool files_append(struct files_request *request, struct writer *answer) {
  const mode_t mode = read_u32(&request->rest) & 0777;
  const size_t count = read_left(&request->rest);
  const uint8_t *bytes = read_bytes(&request->rest, count);
  if (!read_done(&request->rest)) return false;
  const char *name, *why = "";
  const int folder = files_open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat before;
  bool made;
  const int file = open_end(folder, name, mode, &made, &before, &why);
  if (file < 0) {
    files_refuse(answer, request, errno, why);
  } else if (files_write_all(file, bytes, count) != 0) {
    take_back(file, &before, count);
    files_refuse(answer, request, errno, "");
    if (made) unlinkat(folder, name, 0);
    files_close(file);
  } else {
    files_close(file);
    files_done(answer, request);
  }
  files_close(folder);
  return true;
}

bool files_make_folder(struct files_request *request, struct writer *answer) {
  const mode_t mode = read_u32(&request->rest) & 0777 & ~(mode_t)files_mask;
  if (!read_done(&request->rest)) return false;
  const char *name;
  const int folder = files_open_for_change(request, answer, &name);
  if (folder < 0) return true;
  // Whatever stands there already, a link too, is refused and not looked behind.
  if (mkdirat(folder, name, mode) != 0)
    files_refuse(answer, request, errno, "");
  else
    files_done(answer, request);
  files_close(folder);
  return true;
}

bool files_delete(struct files_request *request, struct writer *answer) {
  if (!read_done(&request->rest)) return false;
  const char *name;
  const int folder = files_open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat facts;
  if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
    files_refuse(answer, request, errno, "");
  else if (files_kind(facts.st_mode) == 3)
    files_refuse(answer, request, EINVAL, "neither a file, a link nor a folder");
  else if (unlinkat(folder, name, S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0) != 0)
    files_refuse(answer, request, errno, "");
  else
    files_done(answer, request);
  files_close(folder);
  return true;
}
