// Replacing files: all of the new content or all of the old, whatever happens on the way. New content is written beside
// what it replaces and then takes its name. Nothing is flushed: what outlasts a power failure is the file system's to say.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "files.h"

enum { draft_names_max = 8, draft_name_bytes = 64 };

// A new hidden file beside the target: mode 0600 until it has its content.
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

static int fill(int draft, const struct stat *before, mode_t mode, const uint8_t *bytes, size_t count) {
  if (files_write_all(draft, bytes, count) != 0) return -1;
  return before == NULL ? fchmod(draft, mode) : keep_facts(draft, before);
}

bool files_write(struct files_request *request, struct writer *answer) {
  const mode_t mode = read_u32(&request->rest) & 0777 & ~(mode_t)files_mask;
  const size_t count = read_left(&request->rest);
  const uint8_t *bytes = read_bytes(&request->rest, count);
  if (!read_done(&request->rest)) return false;
  const char *name, *why = "";
  const int folder = files_open_for_change(request, answer, &name);
  if (folder < 0) return true;
  struct stat before;
  char draft_name[draft_name_bytes];
  const int found = files_look_at(folder, name, &before, &why);
  int draft = -1;
  if (found == 0 || errno == ENOENT) draft = make_draft(folder, draft_name);
  // A rename replaces a name and never follows one: whatever stands there by now, nothing else is written.
  if (draft < 0) {
    files_refuse(answer, request, errno, why);
  } else if (fill(draft, found == 0 ? &before : NULL, mode, bytes, count) != 0 ||
             renameat(folder, draft_name, folder, name) != 0) {
    files_refuse(answer, request, errno, why);
    unlinkat(folder, draft_name, 0);
  } else {
    files_done(answer, request);
  }
  if (draft >= 0) files_close(draft);
  files_close(folder);
  return true;
}
