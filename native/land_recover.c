// Recovers the landings of a draft after a crash: each is finished or taken back, as its journal says.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "land.h"

// Every step was done: only the end of the journal is missing.
static bool is_complete(struct landing *landing) {
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    struct identity slot, now = {.kind = kind_none};
    char name[land_slot_bytes];
    if (step->action == action_none) continue;
    const int parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
    const int slots = slot_folder(landing, at);
    slot_name(landing, at, name);
    if (slots < 0 || identity_at(slots, name, &slot) != 0) return false;
    if (parent >= 0 && identity_at(parent, last_name(step->path), &now) != 0) return false;
    const bool has_original = step->action == action_replace || step->action == action_take;
    if (has_original && !identity_same(&slot, &step->before)) return false;
    const bool has_new = step->action == action_create || step->action == action_replace;
    if (has_new && !identity_same(&now, &step->after)) return false;
    if (step->action == action_rmdir && identity_same(&now, &step->before)) return false;
  }
  return true;
}

// Temporary names of a landing that is done, left by a crash: copies and originals of which `bin` has a copy.
static void remove_leftovers(struct landing *landing) {
  for (uint32_t at = 0; !landing->renames && at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    struct identity found;
    char name[land_slot_bytes];
    const int folder = slot_folder(landing, at);
    slot_name(landing, at, name);
    if (folder < 0 || identity_at(folder, name, &found) != 0 || found.kind != step->before.kind) continue;
    if (found.kind == kind_link || (found.bytes == step->before.bytes && found.modified == step->before.modified))
      unlinkat(folder, name, 0);
  }
}

static int recover_one(struct landing *landing, enum journal_state *state, struct report *stuck) {
  switch (*state) {
    case journal_done:
      remove_leftovers(landing);
      return 0;
    case journal_begun:
      landing_remove_slots(landing);
      *state = journal_failed;
      return journal_add(landing, journal_failed);
    case journal_staged:
      if (is_complete(landing)) {
        *state = journal_done;
        return landing_finish(landing);
      }
      *state = journal_failed;
      return landing_roll_back(landing, journal_failed, stuck);
    case journal_undoing:
      *state = journal_undone;
      return landing_roll_back(landing, journal_undone, stuck);
    default:
      return 0;
  }
}

static bool recover_all(struct landing *landing, const char *id, uint32_t number) {
  static uint8_t bytes[16 + 8 * land_landings_max];
  const struct lander *lander = landing->lander;
  struct report none = {0}, stuck = {0};
  uint32_t numbers[land_landings_max];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  const int count = journal_numbers(landing->journals, numbers);
  if (count < 0) return send_failure(lander, number, errno, "the journals cannot be listed");
  write_u32(&writer, number);
  write_u8(&writer, answer_done);
  for (int at = 0; at < count; at++) {
    static struct landing one;
    enum journal_state state = journal_empty;
    int result = landing_open(&one, lander, id);
    one.number = numbers[at];
    if (result == 0) result = journal_load(&one, &state);
    if (result == 0) result = recover_one(&one, &state, &stuck);
    const int error = errno;
    landing_close(&one);
    if (result != 0) {
      free(stuck.bytes);
      return send_failure(lander, number, error, "a landing cannot be recovered");
    }
    if (stuck.count > 0) return send_reports(lander, number, numbers[at], &none, &stuck);
    write_u32(&writer, numbers[at]);
    write_u8(&writer, (uint8_t)state);
  }
  return !writer.failed && frame_send(lander->control, 'A', bytes, writer.length) == 0;
}

bool land_recover(const struct lander *lander, struct reader *reader) {
  static struct landing landing;
  const uint32_t number = read_u32(reader);
  const char *id = read_text(reader);
  if (!read_done(reader) || !is_draft_id(id)) return false;
  const bool answered = landing_open(&landing, lander, id) != 0
                            ? send_failure(lander, number, errno, "the draft cannot be opened")
                            : recover_all(&landing, id, number);
  landing_close(&landing);
  return answered;
}
