// Before anything changes: is the root what the program saw? Chooses for every step what will be done.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

struct check {
  struct landing *landing;
  struct path_map steps;  // path to the number of the last step about it
  struct path_map folders;  // path of a folder of the root to its `way_*` flags
  struct report *conflicts;
  uint64_t start;
};

// What is known of the folders on the way to a name.
enum {
  way_moved = 1,   // one of them came to its place by a rename after the start
  way_opaque = 2,  // the program made one of them itself, or emptied it: below it nothing of the root was visible
};

static const struct step *earlier_step(const struct check *check, const char *path, size_t length) {
  uint32_t number;
  return path_map_get(&check->steps, path, length, &number) ? &check->landing->steps[number] : NULL;
}

static bool is_unchanged(const struct check *check, const struct step *step) {
  const struct history *history = &check->landing->history;
  uint32_t at;
  if (step->before.changed <= check->start) return true;
  if (!path_map_get(&history->paths, step->path, strlen(step->path), &at)) return false;
  return identity_same(&history->restored[at], &step->before) && history->restored[at].changed == step->before.changed;
}

// A rename changes the entries of the folder around and the ctime of the folder that moves, and leaves its mtime. A folder that
// has an entry added or removed later gets both times at once, and is then not told from one that never moved.
static bool is_moved_folder(const struct check *check, const struct stat *around, const struct stat *folder) {
  const struct identity above = identity_of(around), here = identity_of(folder);
  return above.modified > check->start && here.changed > check->start && here.changed != here.modified;
}

static bool is_opaque_folder(struct landing *landing, const char *path, size_t length) {
  char unknown[256] = "";
  const int upper = folder_open(&landing->upper_folder, path, length);
  return upper >= 0 && overlay_marks(upper, false, unknown) == mark_opaque;
}

// The flags of the folder that the first `length` bytes of a path name, and of every folder above it. -1 with errno.
static int way_to(struct check *check, const char *path, size_t length) {
  struct landing *landing = check->landing;
  uint32_t flags = 0, known;
  struct stat around, folder;
  char prefix[land_path_bytes_max];
  if (length == 0 || path_map_get(&check->folders, path, length, &flags)) return (int)flags;
  if (fstat(landing->lander->root, &around) != 0) return -1;
  for (size_t at = 1; at <= length; at++) {
    if (at < length && path[at] != '/') continue;
    memcpy(prefix, path, at);
    prefix[at] = 0;
    if (fstatat(landing->lander->root, prefix, &folder, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    if (path_map_get(&check->folders, path, at, &known)) {
      flags |= known;
    } else {
      if (is_moved_folder(check, &around, &folder)) flags |= way_moved;
      if ((flags & way_opaque) == 0 && is_opaque_folder(landing, path, at)) flags |= way_opaque;
      if (!path_map_put(&check->folders, path, at, flags)) return -1;
    }
    around = folder;
  }
  return (int)flags;
}

// A folder that a person moved into the place of another is not the one the program saw: nothing in it is replaced or deleted,
// and nothing is added to it unless the program worked in a folder of its own.
static int check_way(struct check *check, const struct step *step, size_t length) {
  const int flags = way_to(check, step->path, length);
  if (flags < 0) {
    if (errno != ENOENT && errno != ENOTDIR) return -1;
    report_add(check->conflicts, step->path, report_parent, errno);
    return 0;
  }
  if ((flags & way_moved) == 0) return 0;
  const bool has_base = step->before.kind != kind_none || (step->kind != step_delete && step->base_kind != kind_none);
  const bool is_seen = (flags & way_opaque) == 0 && step->kind != step_delete;
  if (has_base || is_seen) report_add(check->conflicts, step->path, report_parent, 0);
  return 0;
}

// A base whose ctime is not later than the start is what the program saw. A later one is accepted only where the root already
// has what the draft has.
static int settle_changed(struct check *check, struct step *step, int parent) {
  struct landing *landing = check->landing;
  const char *name = last_name(step->path);
  const int upper = folder_open(&landing->upper_folder, step->path, parent_length(step->path));
  if (upper < 0) return -1;
  struct stat draft;
  if (fstatat(upper, name, &draft, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  int same = -1;
  if (step->kind == step_link) same = same_target(upper, name, parent, name);
  else if ((draft.st_mode & 0100) != (step->before.mode & 0100)) same = 0;
  else same = same_content(upper, name, parent, name);
  // A person's file that we cannot read is not what the draft has.
  if (same < 0 && errno != EACCES && errno != ENOENT && errno != EINVAL && errno != EISDIR) return -1;
  step->action = action_none;
  if (same != 1) report_add(check->conflicts, step->path, report_changed, 0);
  return 0;
}

static int check_new_content(struct check *check, struct step *step, int parent) {
  const uint8_t wanted = step->kind == step_file ? kind_file : kind_link;
  if (step->before.kind == kind_none) {
    step->action = action_create;
    if (step->base_kind != kind_none) report_add(check->conflicts, step->path, report_gone, 0);
    return 0;
  }
  if (step->before.kind != wanted) {
    report_add(check->conflicts, step->path, report_kind, 0);
    return 0;
  }
  step->action = action_replace;
  return is_unchanged(check, step) ? 0 : settle_changed(check, step, parent);
}

// Every entry of a folder that goes must go as well.
static int check_emptied(struct check *check, struct step *step, int parent) {
  struct arena arena = {0};
  uint32_t count = 0, left = land_entries_max;
  const size_t length = strlen(step->path);
  char path[land_path_bytes_max + 256];
  const int folder = files_open_here(parent, last_name(step->path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder < 0) return -1;
  const char *name = folder_names(folder, &arena, &count, &left);
  bool whole = true;
  for (uint32_t at = 0; name != NULL && whole && at < count; at++, name += strlen(name) + 1) {
    const size_t size = strlen(name);
    memcpy(path, step->path, length);
    path[length] = '/';
    memcpy(path + length + 1, name, size + 1);
    const struct step *inside = earlier_step(check, path, length + 1 + size);
    whole = inside != NULL && inside->kind == step_delete;
  }
  if (name != NULL && !whole) report_add(check->conflicts, step->path, report_not_empty, 0);
  const int result = name == NULL ? -1 : 0;
  const int error = errno;
  arena_free(&arena);
  close(folder);
  errno = error;
  return result;
}

static int check_delete(struct check *check, struct step *step, int parent) {
  if (step->before.kind == kind_none) {
    step->action = action_none;
    return 0;
  }
  if (step->before.kind != step->base_kind || step->before.kind == kind_other) {
    report_add(check->conflicts, step->path, report_kind, 0);
    return 0;
  }
  step->action = step->before.kind == kind_folder ? action_rmdir : action_take;
  if (step->action == action_rmdir) return check_emptied(check, step, parent);
  if (!is_unchanged(check, step)) report_add(check->conflicts, step->path, report_changed, 0);
  return 0;
}

static void check_folder(struct check *check, struct step *step) {
  step->action = step->before.kind == kind_none ? action_create : action_none;
  if (step->before.kind != kind_none && step->before.kind != kind_folder)
    report_add(check->conflicts, step->path, report_kind, 0);
}

// The folder of a step that is there already: where its slot goes, and which group is handed down.
static int look_at_parent(struct step *step, int parent, size_t length) {
  struct stat facts;
  if (fstat(parent, &facts) != 0) return -1;
  step->slot_folder = (uint16_t)length;
  step->set_group_id = (facts.st_mode & S_ISGID) != 0;
  step->group = step->set_group_id ? facts.st_gid : getegid();
  return 0;
}

static int check_step(struct check *check, struct step *step) {
  struct landing *landing = check->landing;
  const size_t length = parent_length(step->path);
  const struct step *made = length == 0 ? NULL : earlier_step(check, step->path, length);
  step->before = (struct identity){.kind = kind_none};
  if (made != NULL && (made->kind == step_folder ? made->action == action_create : made->kind != step_delete)) {
    step->slot_folder = made->slot_folder;
    step->set_group_id = made->set_group_id;
    step->group = made->group;
    step->action = step->kind == step_delete ? action_none : action_create;
    if (made->kind != step_folder) report_add(check->conflicts, step->path, report_parent, 0);
    return 0;
  }
  const int parent = folder_open(&landing->root_folder, step->path, length);
  if (parent < 0) {
    const int error = errno;
    step->action = action_none;
    if (step->kind == step_delete && error == ENOENT) return 0;
    report_add(check->conflicts, step->path, report_parent, error);
    return 0;
  }
  if (look_at_parent(step, parent, length) != 0) return -1;
  const struct step *same = earlier_step(check, step->path, strlen(step->path));
  const bool is_deleted = same != NULL && same->kind == step_delete;
  if (!is_deleted && identity_at(parent, last_name(step->path), &step->before) != 0) return -1;
  if (check_way(check, step, length) != 0) return -1;
  switch (step->kind) {
    case step_folder:
      check_folder(check, step);
      return 0;
    case step_delete:
      return check_delete(check, step, parent);
    default:
      return check_new_content(check, step, parent);
  }
}

// A slot in a folder that goes would keep it from being empty: it lies in the next folder above that stays.
static void move_slots_up(struct check *check) {
  for (uint32_t at = 0; at < check->landing->count; at++) {
    struct step *step = &check->landing->steps[at];
    char folder[land_path_bytes_max];
    memcpy(folder, step->path, step->slot_folder);
    folder[step->slot_folder] = 0;
    for (;;) {
      const struct step *other = earlier_step(check, folder, strlen(folder));
      if (folder[0] == 0 || other == NULL || other->action != action_rmdir) break;
      folder[parent_length(folder)] = 0;
    }
    step->slot_folder = (uint16_t)strlen(folder);
  }
}

int land_check(struct landing *landing, uint64_t start, struct report *conflicts) {
  struct check check = {.landing = landing, .conflicts = conflicts, .start = start};
  struct timespec now;
  // A clock that was set back makes later edits look early: then nothing counts as unchanged.
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return -1;
  if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < start) check.start = 0;
  int result = 0;
  for (uint32_t at = 0; result == 0 && at < landing->count; at++) {
    struct step *step = &landing->steps[at];
    step->after = step->landed = (struct identity){.kind = kind_none};
    result = check_step(&check, step);
    if (result == 0 && !path_map_put(&check.steps, step->path, strlen(step->path), at)) result = -1;
  }
  if (result == 0) move_slots_up(&check);
  const int error = errno;
  path_map_free(&check.steps);
  path_map_free(&check.folders);
  folder_close(&landing->root_folder);
  errno = error;
  return result;
}
