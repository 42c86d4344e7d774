// Before the root changes: new files get their final mode, lose every attribute, and are on disk. Where files land by
// rename they stay in the draft until their step; otherwise a copy of each is made beside its target.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

enum { names_bytes = 65536, folder_mode = 0755 };

void slot_name(const struct landing *landing, uint32_t step, char name[land_slot_bytes]) {
  if (landing->renames) bin_name(landing, step, name);
  else snprintf(name, land_slot_bytes, ".ambit-land-%016llx-%u", (unsigned long long)landing->tag, step);
}

void bin_name(const struct landing *landing, uint32_t step, char name[land_slot_bytes]) {
  snprintf(name, land_slot_bytes, "%u-%u", landing->number, step);
}

int slot_folder(struct landing *landing, uint32_t step) {
  if (landing->renames) return landing->bin;
  return folder_open(&landing->slot_folder, landing->steps[step].path, landing->steps[step].slot_folder);
}

// No attribute lands. False where one cannot be taken away; the label that the system itself gives to files stays.
static bool strip_attributes(int file) {
  static char names[names_bytes];
  const ssize_t length = flistxattr(file, names, sizeof names);
  if (length < 0) return errno == EOPNOTSUPP;
  for (const char *name = names; name < names + length; name += strlen(name) + 1)
    if (strcmp(name, "security.selinux") != 0 && fremovexattr(file, name) != 0) return false;
  return true;
}

// A new file is 0644 or 0755. A replaced one keeps its permissions; its execute bits follow its read bits, or none is set.
static mode_t mode_for(const struct step *step, bool executable) {
  if (step->before.kind != kind_file) return executable ? 0755 : 0644;
  const mode_t mode = step->before.mode & 0777;
  const mode_t bits = executable ? (mode & 0444) >> 2 | 0100 : 0;
  return (mode & ~(mode_t)0111) | bits;
}

// Owner first: a change of owner takes mode bits away.
static int set_facts(int file, const struct step *step, bool executable) {
  struct stat now;
  if (fstat(file, &now) != 0) return -1;
  const bool replaces = step->before.kind == kind_file;
  const uid_t owner = replaces ? step->before.owner : now.st_uid;
  const gid_t group = replaces ? step->before.group : step->group;
  if ((now.st_uid != owner || now.st_gid != group) && fchown(file, owner, group) != 0) return -1;
  return fchmod(file, mode_for(step, executable));
}

// A name in `bin` of a landing that never began may be left from a crash; a journal would say so otherwise.
static void make_room(struct landing *landing, int folder, const char *name) {
  if (folder != landing->bin) return;
  unlinkat(folder, name, 0);
  unlinkat(folder, name, AT_REMOVEDIR);
}

// Moving keeps the inode; a file with other names in the draft, of another owner, or with an attribute that stays is copied.
static bool can_move(const struct landing *landing, int file, const struct stat *facts) {
  return landing->renames && facts->st_nlink == 1 && facts->st_uid == geteuid() && strip_attributes(file);
}

static int stage_file(struct landing *landing, uint32_t number, struct flushing *flushing) {
  struct step *step = &landing->steps[number];
  char slot[land_slot_bytes];
  const char *name = last_name(step->path);
  const int upper = folder_open(&landing->upper_folder, step->path, parent_length(step->path));
  if (upper < 0) return -1;
  int file = open_draft_file(upper, name);
  if (file < 0) return -1;
  struct stat facts;
  if (fstat(file, &facts) != 0) return files_close(file);
  if (!can_move(landing, file, &facts)) {
    close(file);
    const int folder = slot_folder(landing, number);
    if (folder < 0) return -1;
    slot_name(landing, number, slot);
    make_room(landing, folder, slot);
    if (copy_file(upper, name, folder, slot, NULL) != 0) return -1;
    file = files_open_here(folder, slot, O_RDONLY | O_NOFOLLOW);
    if (file < 0) return -1;
  }
  struct stat staged;
  if (set_facts(file, step, (facts.st_mode & 0100) != 0) != 0 || fstat(file, &staged) != 0) return files_close(file);
  step->after = identity_of(&staged);
  if (flushing == NULL) {
    close(file);
    return 0;
  }
  // Begun here and waited for later, all together: one wait for the disk and not one for each file. A file system that cannot
  // begin early does all of it later.
  (void)sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
  flushing->files[flushing->count++] = file;
  return 0;
}

int land_wait_for_files(struct flushing *flushing) {
  int result = 0;
  for (uint32_t at = 0; at < flushing->count; at++) {
    if (result == 0) result = fsync(flushing->files[at]);
    files_close(flushing->files[at]);
  }
  flushing->count = 0;
  return result;
}

static int stage_link(struct landing *landing, uint32_t number) {
  struct step *step = &landing->steps[number];
  char slot[land_slot_bytes];
  const char *name = last_name(step->path);
  const int upper = folder_open(&landing->upper_folder, step->path, parent_length(step->path));
  if (upper < 0 || identity_at(upper, name, &step->after) != 0) return -1;
  if (step->after.kind != kind_link) {
    errno = EINVAL;
    return -1;
  }
  if (landing->renames && step->after.links == 1 && step->after.owner == geteuid()) return 0;
  const int folder = slot_folder(landing, number);
  if (folder < 0) return -1;
  slot_name(landing, number, slot);
  make_room(landing, folder, slot);
  if (copy_link(upper, name, folder, slot) != 0) return -1;
  return identity_at(folder, slot, &step->after);
}

// Made in the slot, so that it is known by its inode before it has its name.
static int stage_folder(struct landing *landing, uint32_t number) {
  struct step *step = &landing->steps[number];
  char slot[land_slot_bytes];
  const int folder = slot_folder(landing, number);
  if (folder < 0) return -1;
  slot_name(landing, number, slot);
  make_room(landing, folder, slot);
  if (mkdirat(folder, slot, folder_mode) != 0) return -1;
  if (step->set_group_id && (fchownat(folder, slot, (uid_t)-1, step->group, AT_SYMLINK_NOFOLLOW) != 0 ||
                             fchmodat(folder, slot, folder_mode | S_ISGID, 0) != 0))
    return -1;
  return identity_at(folder, slot, &step->after);
}

// Where the original cannot be moved to `bin` it is copied there first.
static int copy_original(struct landing *landing, uint32_t number) {
  const struct step *step = &landing->steps[number];
  char name[land_slot_bytes];
  const int parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
  if (parent < 0) return -1;
  bin_name(landing, number, name);
  make_room(landing, landing->bin, name);
  if (step->before.kind == kind_link) return copy_link(parent, last_name(step->path), landing->bin, name);
  return copy_file(parent, last_name(step->path), landing->bin, name, &step->before);
}

static int stage_one(struct landing *landing, uint32_t number, struct flushing *flushing) {
  const struct step *step = &landing->steps[number];
  const bool has_original = step->action == action_replace || step->action == action_take;
  if (!landing->renames && has_original && copy_original(landing, number) != 0) return -1;
  if (step->action != action_create && step->action != action_replace) return 0;
  if (step->kind == step_folder) return stage_folder(landing, number);
  return step->kind == step_link ? stage_link(landing, number) : stage_file(landing, number, flushing);
}

int land_stage(struct landing *landing, uint32_t *failed, struct flushing *flushing) {
  uint32_t files = 0;
  for (uint32_t at = 0; at < landing->count; at++) files += landing->steps[at].action != action_none;
  const bool flushes = files <= flushed_one_by_one_max;
  int result = 0;
  for (uint32_t at = 0; result == 0 && at < landing->count; at++) {
    *failed = at;
    result = stage_one(landing, at, flushes ? flushing : NULL);
  }
  if (result != 0) {
    const int error = errno;
    land_wait_for_files(flushing);
    errno = error;
    return -1;
  }
  folder_close(&landing->root_folder);
  // Content is on disk before a name leads to it; the copies of originals before the originals go.
  if (!flushes && syncfs(landing->lander->root) != 0) return -1;
  if (!landing->renames && syncfs(landing->bin) != 0) return -1;
  return 0;
}

int land_stage_undo(struct landing *landing, uint32_t *failed) {
  char slot[land_slot_bytes], name[land_slot_bytes];
  if (landing->renames) return 0;
  for (uint32_t at = 0; at < landing->count; at++) {
    struct step *step = &landing->steps[at];
    if (step->action != action_replace && step->action != action_take) continue;
    *failed = at;
    const int folder = slot_folder(landing, at);
    if (folder < 0) return -1;
    slot_name(landing, at, slot);
    bin_name(landing, at, name);
    const int copied = step->before.kind == kind_link ? copy_link(landing->bin, name, folder, slot)
                                                      : copy_file(landing->bin, name, folder, slot, &step->before);
    if (copied != 0 || identity_at(folder, slot, &step->before) != 0) return -1;
  }
  return syncfs(landing->lander->root);
}
