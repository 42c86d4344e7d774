// Takes a landing back: only where everything is still as it landed.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

static bool is_landed(const struct landing *landing, const char *path, const struct path_map *steps) {
  uint32_t number;
  return path_map_get(steps, path, strlen(path), &number) && landing->steps[number].kind != step_delete;
}

// A folder that landed goes only where everything in it landed with it.
static int check_folder_entries(struct landing *landing, const struct step *step, int parent, const struct path_map *steps,
                                struct report *conflicts) {
  struct arena arena = {0};
  uint32_t count = 0, left = land_entries_max;
  char path[land_path_bytes_max + 257];
  const int folder = files_open_here(parent, last_name(step->path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder < 0) return -1;
  const char *name = folder_names(folder, &arena, &count, &left);
  bool whole = true;
  for (uint32_t at = 0; name != NULL && whole && at < count; at++, name += strlen(name) + 1) {
    snprintf(path, sizeof path, "%s/%s", step->path, name);
    whole = is_landed(landing, path, steps);
  }
  if (name != NULL && !whole) report_add(conflicts, step->path, report_not_empty, 0);
  arena_free(&arena);
  close(folder);
  return name == NULL ? -1 : 0;
}

static int check_landed(struct landing *landing, const struct step *step, uint32_t number, const struct path_map *steps,
                        struct report *conflicts) {
  struct identity now = {.kind = kind_none};
  uint32_t last = number;
  const int parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
  if (parent >= 0 && identity_at(parent, last_name(step->path), &now) != 0) return -1;
  path_map_get(steps, step->path, strlen(step->path), &last);
  // Another step of the same landing is about the same name: that one says what must be there.
  if (last != number) return 0;
  const bool same = identity_same(&now, &step->landed) && (now.kind == kind_none || now.kind == kind_folder ||
                                                           now.changed == step->landed.changed);
  if (!same) report_add(conflicts, step->path, now.kind == kind_none ? report_gone : report_changed, 0);
  else if (now.kind == kind_folder) return check_folder_entries(landing, step, parent, steps, conflicts);
  return 0;
}

static int check_undo(struct landing *landing, struct report *conflicts) {
  struct path_map steps = {0};
  int result = 0;
  for (uint32_t at = 0; result == 0 && at < landing->count; at++) {
    const char *path = landing->steps[at].path;
    if (!path_map_put(&steps, path, strlen(path), at)) result = -1;
  }
  for (uint32_t at = 0; result == 0 && at < landing->count; at++)
    if (landing->steps[at].action != action_none)
      result = check_landed(landing, &landing->steps[at], at, &steps, conflicts);
  path_map_free(&steps);
  return result;
}

static bool undo_landing(struct landing *landing, uint32_t number) {
  const struct lander *lander = landing->lander;
  struct report conflicts = {0}, stuck = {0};
  enum journal_state state;
  uint32_t failed = 0;
  if (journal_load(landing, &state) != 0) return send_failure(lander, number, errno, "no such landing");
  if (state != journal_done) return send_failure(lander, number, EINVAL, "this landing is not done");
  if (check_undo(landing, &conflicts) != 0) return send_failure(lander, number, errno, "cannot compare the root");
  if (conflicts.count > 0) return send_reports(lander, number, landing->number, &conflicts, &stuck);
  if (land_stage_undo(landing, &failed) != 0 || journal_add(landing, journal_undoing) != 0) {
    const int error = errno;
    for (uint32_t at = 0; !landing->renames && at < landing->count; at++) {
      char name[land_slot_bytes];
      const int folder = slot_folder(landing, at);
      slot_name(landing, at, name);
      if (folder >= 0) unlinkat(folder, name, 0);
    }
    return send_failure(lander, number, error, "cannot prepare the undo");
  }
  if (landing_roll_back(landing, journal_undone, &stuck) != 0)
    return send_failure(lander, number, errno, "undone, but the journal could not be updated: recover the draft");
  if (stuck.count > 0) return send_reports(lander, number, landing->number, &conflicts, &stuck);
  return send_done(lander, number, &landing->number, 1);
}

bool land_undo(const struct lander *lander, struct reader *reader) {
  static struct landing landing;
  const uint32_t number = read_u32(reader);
  const char *id = read_text(reader);
  const uint32_t which = read_u32(reader);
  if (!read_done(reader) || !is_draft_id(id)) return false;
  bool answered;
  if (landing_open(&landing, lander, id) != 0) {
    answered = send_failure(lander, number, errno, "the draft cannot be opened");
  } else if (!landing_is_at_rest(&landing)) {
    answered = send_failure(lander, number, errno, "an earlier landing of this draft is not finished");
  } else {
    landing.number = which;
    answered = undo_landing(&landing, number);
  }
  landing_close(&landing);
  return answered;
}
