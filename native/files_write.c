// Changing files: all of the new content or all of the old, never through a link, never a file that has other names.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { draft_names_max = 8, draft_name_bytes = 64, append_tries_max = 8 };

// The folder to change something in and the name of it there; answers and returns -1 where that cannot be.
static int open_for_change(struct files_request *request, struct writer *answer, const char **name) {
  if (!request->tree->writable) {
    files_refuse(answer, request, EROFS, "the tree is for reading");
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

// What may be written to. 0, or -1 with errno; ENOENT where there is nothing yet.
static int look_at(int folder, const char *name, struct stat *facts, const char **why) {
  if (fstatat(folder, name, facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (S_ISREG(facts->st_mode) && facts->st_nlink == 1) {
    // Replacing a file asks nobody whether the file may be written; we do.
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

static int write_all(int file, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -1;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

// A hidden file beside the target that nobody else has: 0600 until it has its content.
static int make_draft(int folder, char name[draft_name_bytes]) {
  for (int tries = 0; tries < draft_names_max; tries++) {
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
    snprintf(name, draft_name_bytes, ".ambit-draft-%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    const int draft = files_open(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (draft >= 0 || errno != EEXIST) return draft;
  }
  return -1;
}

// Mode and owner of what it replaces. Set-uid and set-gid are not kept: a write would take them away as well.
static int keep_facts(int draft, const struct stat *before) {
  struct stat now;
  if (fstat(draft, &now) != 0) return -1;
  const uid_t owner = now.st_uid == before->st_uid ? (uid_t)-1 : before->st_uid;
  const gid_t group = now.st_gid == before->st_gid ? (gid_t)-1 : before->st_gid;
  if ((owner != (uid_t)-1 || group != (gid_t)-1) && fchown(draft, owner, group) != 0) return -1;
  return fchmod(draft, before->st_mode & 01777);
}

static int fill_draft(int draft, const struct stat *before, mode_t mode, const uint8_t *bytes, size_t count) {
  if (write_all(draft, bytes, count) != 0) return -1;
  if ((before == NULL ? fchmod(draft, mode) : keep_facts(draft, before)) != 0) return -1;
  return fsync(draft);
}

static mode_t masked(uint32_t mode) {
  const mode_t mask = umask(0);
  umask(mask);
  return mode & 0777 & ~mask;
}

bool files_write(struct files_request *request, struct writer *answer) {
  const mode_t mode = masked(read_u32(&request->rest));
  const size_t count = read_left(&request->rest);
  const uint8_t *bytes = read_bytes(&request->rest, count);
  if (!read_done(&request->rest)) return false;
  const char *name, *why = "";
  const int folder = open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat before;
  const int found = look_at(folder, name, &before, &why);
  char draft_name[draft_name_bytes];
  int draft = -1;
  if (found == 0 || errno == ENOENT) draft = make_draft(folder, draft_name);
  if (draft < 0) {
    files_refuse(answer, request, errno, why);
    files_close(folder);
    return true;
  }
  const bool filled = fill_draft(draft, found == 0 ? &before : NULL, mode, bytes, count) == 0;
  files_close(draft);
  // A rename replaces a name and never follows one: whatever stands there by now, nothing else is written.
  if (!filled || renameat(folder, draft_name, folder, name) != 0) {
    files_refuse(answer, request, errno, why);
    unlinkat(folder, draft_name, 0);
  } else if (fsync(folder) != 0) {
    files_refuse(answer, request, errno, "the new content is there, but may not outlast a power failure");
  } else {
    files_done(answer, request);
  }
  files_close(folder);
  return true;
}

static int open_end(int folder, const char *name, mode_t mode, bool *made, struct stat *facts, const char **why) {
  const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (int tries = 0; tries < append_tries_max; tries++) {
    *made = look_at(folder, name, facts, why) != 0;
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

// Takes back what was added, where nobody else has added anything since.
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
  const int folder = open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat before;
  bool made;
  const int file = open_end(folder, name, mode, &made, &before, &why);
  if (file < 0) {
    files_refuse(answer, request, errno, why);
  } else if (write_all(file, bytes, count) != 0 || fdatasync(file) != 0) {
    take_back(file, &before, count);
    files_refuse(answer, request, errno, "");
    if (made) unlinkat(folder, name, 0);
    files_close(file);
  } else {
    files_close(file);
    if (made && fsync(folder) != 0)
      files_refuse(answer, request, errno, "it was added, but may not outlast a power failure");
    else
      files_done(answer, request);
  }
  files_close(folder);
  return true;
}

bool files_make_folder(struct files_request *request, struct writer *answer) {
  const mode_t mode = masked(read_u32(&request->rest));
  if (!read_done(&request->rest)) return false;
  const char *name;
  const int folder = open_for_change(request, answer, &name);
  if (folder < 0) return true;
  // Whatever stands there already, a link too, is refused and not looked behind.
  if (mkdirat(folder, name, mode) != 0 || fsync(folder) != 0)
    files_refuse(answer, request, errno, "");
  else
    files_done(answer, request);
  files_close(folder);
  return true;
}

bool files_delete(struct files_request *request, struct writer *answer) {
  if (!read_done(&request->rest)) return false;
  const char *name;
  const int folder = open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat facts;
  if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
    files_refuse(answer, request, errno, "");
  else if (files_kind(facts.st_mode) == 3)
    files_refuse(answer, request, EINVAL, "neither a file, a link nor a folder");
  else if (unlinkat(folder, name, S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0) != 0 || fsync(folder) != 0)
    files_refuse(answer, request, errno, "");
  else
    files_done(answer, request);
  files_close(folder);
  return true;
}
