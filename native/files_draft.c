// Replacing files: all of the new content or all of the old, whatever happens on the way. New content is written beside
// what it replaces. Writes that come together are put in place together, so that they wait for the disk together.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

enum { draft_names_max = 8, drafts_bytes_max = 4194304 };

bool files_are_full(const struct files_drafts *drafts) {
  return drafts->count == files_drafts_max || drafts->bytes >= drafts_bytes_max;
}

// A hidden file beside the target that nobody else has: 0600 until it has its content.
static int make_draft(int folder, char name[files_draft_name_bytes]) {
  for (int tries = 0; tries < draft_names_max; tries++) {
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
    snprintf(name, files_draft_name_bytes, ".ambit-draft-%016llx%016llx", (unsigned long long)random[0],
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
  struct files_draft *draft = &request->drafts->of[request->drafts->count];
  struct stat before;
  const int found = files_look_at(folder, name, &before, &why);
  int file = -1;
  if (found == 0 || errno == ENOENT) file = make_draft(folder, draft->draft_name);
  if (file < 0) {
    files_refuse(answer, request, errno, why);
    files_close(folder);
    return true;
  }
  if (fill(file, found == 0 ? &before : NULL, mode, bytes, count) != 0) {
    files_refuse(answer, request, errno, why);
    unlinkat(folder, draft->draft_name, 0);
    files_close(file);
    files_close(folder);
    return true;
  }
  draft->number = request->number;
  draft->folder = folder;
  draft->file = file;
  draft->error = 0;
  draft->why = "";
  memcpy(draft->name, name, strlen(name) + 1);
  request->drafts->count++;
  request->drafts->bytes += count;
  return true;
}

// Hands the flushes to the kernel all at once, which then writes them down together. How many it took, from the first on.
static size_t begin_flushes(struct files_drafts *drafts) {
  struct iocb flushes[files_drafts_max], *order[files_drafts_max];
  if (drafts->count < 2) return 0;
  if (drafts->queue == 0 && syscall(SYS_io_setup, (long)files_drafts_max, &drafts->queue) != 0) return 0;
  for (size_t at = 0; at < drafts->count; at++) {
    const uint32_t file = (uint32_t)drafts->of[at].file;
    flushes[at] = (struct iocb){.aio_data = at, .aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = file};
    order[at] = &flushes[at];
  }
  const long taken = syscall(SYS_io_submit, drafts->queue, (long)drafts->count, order);
  return taken > 0 ? (size_t)taken : 0;
}

// INVARIANT: no draft is renamed before its flush has ended well. Without news of the flushes there is no going on.
static void end_flushes(struct files_drafts *drafts, size_t taken) {
  while (taken > 0) {
    struct io_event events[files_drafts_max];
    const long count = syscall(SYS_io_getevents, drafts->queue, 1L, (long)taken, events, NULL);
    if (count <= 0 && errno != EINTR) _exit(exit_failed);
    for (long at = 0; at < count; at++) drafts->of[events[at].data].error = (int)-events[at].res;
    if (count > 0) taken -= (size_t)count;
  }
}

static void flush_contents(struct files_drafts *drafts) {
  const size_t taken = begin_flushes(drafts);
  // What the kernel does not take so is flushed as ever, one after the other.
  for (size_t at = taken; at < drafts->count; at++)
    if (fsync(drafts->of[at].file) != 0) drafts->of[at].error = errno;
  end_flushes(drafts, taken);
}

// A rename replaces a name and never follows one: whatever stands there by now, nothing else is written.
static void replace(struct files_draft *draft) {
  if (draft->error == 0 && renameat(draft->folder, draft->draft_name, draft->folder, draft->name) != 0) draft->error = errno;
  if (draft->error != 0) unlinkat(draft->folder, draft->draft_name, 0);
}

// Each folder once, after everything in it is renamed. What fails is told to all who wrote in that folder.
static void flush_folders(struct files_drafts *drafts) {
  struct stat facts[files_drafts_max];
  int errors[files_drafts_max];
  for (size_t at = 0; at < drafts->count; at++) {
    struct files_draft *draft = &drafts->of[at];
    size_t same = 0;
    if (fstat(draft->folder, &facts[at]) != 0) facts[at] = (struct stat){0};
    while (same < at && (facts[same].st_ino != facts[at].st_ino || facts[same].st_dev != facts[at].st_dev)) same++;
    errors[at] = same < at ? errors[same] : fsync(draft->folder) != 0 ? errno : 0;
    if (draft->error != 0 || errors[at] == 0) continue;
    draft->error = errors[at];
    draft->why = "the new content is there, but may not outlast a power failure";
  }
}

int files_place(struct files_drafts *drafts, struct files_outgoing *outgoing) {
  uint8_t bytes[256];
  struct writer answer = {bytes, sizeof bytes, 0, false};
  int sent = 0;
  flush_contents(drafts);
  for (size_t at = 0; at < drafts->count; at++) replace(&drafts->of[at]);
  flush_folders(drafts);
  for (size_t at = 0; at < drafts->count; at++) {
    const struct files_draft *draft = &drafts->of[at];
    const struct files_request request = {.number = draft->number};
    if (draft->error == 0)
      files_done(&answer, &request);
    else
      files_refuse(&answer, &request, draft->error, draft->why);
    if (files_answer(outgoing, &answer) != 0) sent = -1;
    files_close(draft->file);
    files_close(draft->folder);
  }
  drafts->count = 0;
  drafts->bytes = 0;
  return sent;
}
