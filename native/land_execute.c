// Changing the root, one rename for each name, and taking it back. Whatever came between is recognised by its inode, size and time,
// and put back: no name is ever overwritten.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "kernel.h"
#include "land.h"

enum { exchanges_max = 8 };

// One step with its two places open.
struct place {
  struct step *step;
  int parent, slots;
  const char *name;
  char slot[land_slot_bytes];
};

static bool open_place(struct landing *landing, uint32_t number, struct place *place) {
  struct step *step = &landing->steps[number];
  *place = (struct place){.step = step, .name = last_name(step->path)};
  slot_name(landing, number, place->slot);
  place->parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
  place->slots = slot_folder(landing, number);
  return place->parent >= 0 && place->slots >= 0;
}

static bool is_at(int folder, const char *name, const struct identity *wanted) {
  struct identity found;
  return identity_at(folder, name, &found) == 0 && identity_same(&found, wanted);
}

static bool is_absent(int folder, const char *name) {
  struct identity found;
  return identity_at(folder, name, &found) == 0 && found.kind == kind_none;
}

static int exchange(const struct place *place) {
  return kernel_renameat2(place->slots, place->slot, place->parent, place->name, rename_exchange);
}

// Takes a new file out of the draft, where it is not in its slot already.
static int fill_slot(struct landing *landing, const struct place *place) {
  if (!landing->renames || is_at(place->slots, place->slot, &place->step->after)) return 0;
  const int upper = folder_open(&landing->upper_folder, place->step->path, parent_length(place->step->path));
  if (upper < 0) return -1;
  return kernel_renameat2(upper, place->name, place->slots, place->slot, rename_no_replace);
}

// The other way round, after a step was taken back.
static void empty_slot(struct landing *landing, const struct place *place) {
  const struct step *step = place->step;
  if (!is_at(place->slots, place->slot, &step->after)) return;
  if (step->kind == step_folder) {
    unlinkat(place->slots, place->slot, AT_REMOVEDIR);
    return;
  }
  const int upper = folder_open(&landing->upper_folder, step->path, parent_length(step->path));
  if (landing->renames && upper >= 0 &&
      kernel_renameat2(place->slots, place->slot, upper, place->name, rename_no_replace) == 0)
    return;
  // It was a copy: the draft still has the file.
  if (upper >= 0 && !is_absent(upper, place->name)) unlinkat(place->slots, place->slot, 0);
}

// What came out is not what the program saw: a person's. It goes back; should the name have changed once more meanwhile, the newest is
// what stays at the name, and the older one stays in the slot.
static enum report_reason put_back(const struct place *place) {
  struct identity out;
  if (identity_at(place->slots, place->slot, &out) != 0 || exchange(place) != 0) return report_kept;
  for (int tries = 0; tries < exchanges_max; tries++) {
    if (is_at(place->slots, place->slot, &place->step->after)) return report_changed;
    if (exchange(place) != 0) return report_kept;
    if (is_at(place->slots, place->slot, &out)) return report_kept;
    if (identity_at(place->slots, place->slot, &out) != 0 || exchange(place) != 0) return report_kept;
  }
  return report_kept;
}

// 0 where it was done; otherwise the reason, with errno where it is report_io.
static int create(struct landing *landing, const struct place *place) {
  if (fill_slot(landing, place) != 0) return report_io;
  if (kernel_renameat2(place->slots, place->slot, place->parent, place->name, rename_no_replace) != 0)
    return errno == EEXIST ? report_changed : report_io;
  if (place->step->kind == step_folder) folder_close(&landing->root_folder);
  return 0;
}

static int replace(struct landing *landing, const struct place *place) {
  // Looked at first, so that a change that is already there costs no exchange.
  if (!is_at(place->parent, place->name, &place->step->before)) return report_changed;
  if (fill_slot(landing, place) != 0) return report_io;
  if (exchange(place) != 0) return errno == ENOENT ? report_gone : report_io;
  return is_at(place->slots, place->slot, &place->step->before) ? 0 : (int)put_back(place);
}

static int take(const struct place *place) {
  if (!is_at(place->parent, place->name, &place->step->before)) return report_changed;
  if (kernel_renameat2(place->parent, place->name, place->slots, place->slot, rename_no_replace) != 0)
    return errno == ENOENT ? report_gone : report_io;
  if (is_at(place->slots, place->slot, &place->step->before)) return 0;
  // Should there be another by now, the one we hold stays where it is.
  if (kernel_renameat2(place->slots, place->slot, place->parent, place->name, rename_no_replace) == 0) return report_changed;
  return report_kept;
}

static int remove_folder(struct landing *landing, const struct place *place) {
  if (!is_at(place->parent, place->name, &place->step->before)) return report_changed;
  const int removed = unlinkat(place->parent, place->name, AT_REMOVEDIR);
  const int error = errno;
  folder_close(&landing->root_folder);
  errno = error;
  if (removed == 0) return 0;
  return error == ENOTEMPTY || error == EEXIST ? report_not_empty : report_io;
}

static int perform(struct landing *landing, const struct place *place) {
  switch (place->step->action) {
    case action_create:
      return create(landing, place);
    case action_replace:
      return replace(landing, place);
    case action_take:
      return take(place);
    case action_rmdir:
      return remove_folder(landing, place);
    default:
      return 0;
  }
}

// A process that had an original open may have written to it after it was moved: then it is not what the program saw.
static bool originals_unchanged(struct landing *landing, struct report *conflicts) {
  bool unchanged = true;
  struct place place;
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    if (step->action != action_replace && step->action != action_take) continue;
    // The folder of the name itself may be gone by now.
    open_place(landing, at, &place);
    if (place.slots >= 0 && is_at(place.slots, place.slot, &step->before)) continue;
    report_add(conflicts, step->path, report_changed, 0);
    unchanged = false;
  }
  return unchanged;
}

bool land_execute(struct landing *landing, struct report *conflicts) {
  struct place place;
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    if (step->action == action_none) continue;
    errno = 0;
    const int reason = open_place(landing, at, &place) ? perform(landing, &place) : report_parent;
    if (reason == 0) continue;
    report_add(conflicts, step->path, (enum report_reason)reason, reason == report_io || reason == report_parent ? errno : 0);
    return false;
  }
  return originals_unchanged(landing, conflicts);
}

// Another kind of file was deleted first to make room for this one, and is in its place again.
static bool is_older_restored(const struct landing *landing, const struct place *place) {
  const struct step *step = place->step;
  struct identity now;
  if (step == landing->steps || strcmp(step[-1].path, step->path) != 0 || step[-1].kind != step_delete) return false;
  if (identity_at(place->parent, place->name, &now) != 0) return false;
  return step[-1].action == action_rmdir ? now.kind == kind_folder : identity_same(&now, &step[-1].before);
}

static int undo_create(struct landing *landing, const struct place *place) {
  const struct step *step = place->step;
  if (!is_at(place->parent, place->name, &step->after)) {
    // Never done, or taken back before: then the new file is in its slot or in the draft.
    if (step->kind == step_folder || is_at(place->slots, place->slot, &step->after)) return 0;
    const int upper = folder_open(&landing->upper_folder, step->path, parent_length(step->path));
    if (upper >= 0 && landing->renames && is_at(upper, place->name, &step->after)) return 0;
    // A person who removed it left the name as it was before.
    return is_absent(place->parent, place->name) || is_older_restored(landing, place) ? 0 : report_changed;
  }
  if (step->kind == step_folder) {
    const int removed = unlinkat(place->parent, place->name, AT_REMOVEDIR);
    const int error = errno;
    folder_close(&landing->root_folder);
    errno = error;
    return removed == 0 ? 0 : error == ENOTEMPTY || error == EEXIST ? report_not_empty : report_io;
  }
  if (kernel_renameat2(place->parent, place->name, place->slots, place->slot, rename_no_replace) != 0) return report_io;
  if (is_at(place->slots, place->slot, &step->after)) return 0;
  if (kernel_renameat2(place->slots, place->slot, place->parent, place->name, rename_no_replace) == 0) return report_changed;
  return report_kept;
}

static int undo_replace(const struct place *place) {
  const struct step *step = place->step;
  if (is_absent(place->slots, place->slot) || is_at(place->slots, place->slot, &step->after)) return 0;
  if (!is_at(place->parent, place->name, &step->after)) return report_changed;
  if (exchange(place) != 0) return errno == ENOENT ? report_gone : report_io;
  if (is_at(place->slots, place->slot, &step->after)) return 0;
  // Between the look and the exchange the name got another file: that one goes back.
  return exchange(place) == 0 ? report_changed : report_kept;
}

static int undo_take(const struct place *place) {
  if (is_absent(place->slots, place->slot)) return 0;
  if (kernel_renameat2(place->slots, place->slot, place->parent, place->name, rename_no_replace) == 0) return 0;
  return errno == EEXIST ? report_kept : report_io;
}

static int undo_remove_folder(struct landing *landing, const struct place *place) {
  const struct identity *before = &place->step->before;
  if (!is_absent(place->parent, place->name)) return 0;
  folder_close(&landing->root_folder);
  const int parent = folder_open(&landing->root_folder, place->step->path, parent_length(place->step->path));
  if (parent < 0 || mkdirat(parent, place->name, before->mode & 0777) != 0) return report_io;
  // Its owner is ours to give only where we are root, and its mode always.
  if (fchownat(parent, place->name, before->owner, before->group, AT_SYMLINK_NOFOLLOW) != 0 && errno != EPERM) return report_io;
  const int folder = files_open_here(parent, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder < 0) return report_io;
  const int changed = fchmod(folder, before->mode & 07777);
  close(folder);
  return changed == 0 ? 0 : report_io;
}

static int take_back(struct landing *landing, const struct place *place) {
  switch (place->step->action) {
    case action_create:
      return undo_create(landing, place);
    case action_replace:
      return undo_replace(place);
    case action_take:
      return undo_take(place);
    case action_rmdir:
      return undo_remove_folder(landing, place);
    default:
      return 0;
  }
}

bool land_roll_back(struct landing *landing, struct report *stuck) {
  bool whole = true;
  char name[land_slot_bytes];
  struct place place;
  folder_close(&landing->root_folder);
  for (uint32_t at = landing->count; at-- > 0;) {
    const struct step *step = &landing->steps[at];
    if (step->action == action_none) continue;
    errno = 0;
    const bool opened = open_place(landing, at, &place);
    // A folder of ours that was never made, or is gone again, has nothing in it to take back.
    if (!opened && place.slots >= 0 && errno == ENOENT && step->action == action_create) {
      empty_slot(landing, &place);
      if (is_absent(place.slots, place.slot)) continue;
    }
    const int reason = opened ? take_back(landing, &place) : report_parent;
    if (reason != 0) {
      report_add(stuck, step->path, (enum report_reason)reason, reason == report_io || reason == report_parent ? errno : 0);
      whole = false;
      continue;
    }
    if (step->action == action_create || step->action == action_replace) empty_slot(landing, &place);
    if (landing->renames) continue;
    bin_name(landing, at, name);
    unlinkat(landing->bin, name, 0);
  }
  folder_close(&landing->root_folder);
  return whole;
}

void land_clean_slots(struct landing *landing) {
  struct place place;
  if (landing->renames) return;
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    if (step->action != action_replace && step->action != action_take) continue;
    open_place(landing, at, &place);
    if (place.slots >= 0 && is_at(place.slots, place.slot, &step->before))
      unlinkat(place.slots, place.slot, 0);
  }
}

int land_flush_folders(struct landing *landing) {
  uint32_t flushed = 0;
  size_t length = land_path_bytes_max;
  const char *last = "";
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    const size_t parent = parent_length(step->path);
    if (step->action == action_none || (parent == length && memcmp(step->path, last, parent) == 0)) continue;
    length = parent;
    last = step->path;
    if (++flushed > flushed_one_by_one_max) return syncfs(landing->lander->root);
    // A folder that this landing removed, or that a person moved, needs no flush of its own.
    const int folder = folder_open(&landing->root_folder, step->path, parent);
    if (folder >= 0 ? fsync(folder) != 0 : errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return -1;
  }
  return fsync(landing->bin);
}
