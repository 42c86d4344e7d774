// Lands some of a draft at the request of its owner; what the other requests of a draft share.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

bool is_draft_id(const char *id) {
  const size_t length = strlen(id);
  return length > 0 && length <= land_id_bytes_max &&
         strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == length;
}

bool send_failure(const struct lander *lander, uint32_t number, int error, const char *what) {
  uint8_t bytes[land_path_bytes_max + 512];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u32(&writer, number);
  write_u8(&writer, answer_refused);
  write_u32(&writer, (uint32_t)error);
  write_text(&writer, what);
  return !writer.failed && frame_send(lander->control, 'A', bytes, writer.length) == 0;
}

static int open_or_make(int draft, const char *name) {
  if (mkdirat(draft, name, 0700) != 0 && errno != EEXIST) return -1;
  return files_open_here(draft, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

int landing_open(struct landing *landing, const struct lander *lander, const char *id) {
  *landing = (struct landing){.lander = lander, .renames = lander->renames};
  landing->draft = landing->upper = landing->bin = landing->journals = landing->journal = -1;
  landing->root_folder = (struct folder_cache){.base = lander->root, .descriptor = -1};
  landing->slot_folder = (struct folder_cache){.base = lander->root, .descriptor = -1};
  landing->upper_folder = (struct folder_cache){.descriptor = -1};
  landing->draft = files_open_here(lander->drafts, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (landing->draft < 0) return -1;
  landing->upper = open_draft_folder(landing->draft, "upper");
  if (landing->upper < 0) return -1;
  landing->upper_folder.base = landing->upper;
  landing->bin = open_or_make(landing->draft, "bin");
  landing->journals = open_or_make(landing->draft, "journal");
  return landing->bin < 0 || landing->journals < 0 ? -1 : 0;
}

void close_if_open(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

void landing_close(struct landing *landing) {
  folder_close(&landing->root_folder);
  folder_close(&landing->slot_folder);
  folder_close(&landing->upper_folder);
  close_if_open(landing->journal);
  close_if_open(landing->journals);
  close_if_open(landing->bin);
  close_if_open(landing->upper);
  close_if_open(landing->draft);
  path_map_free(&landing->history.paths);
  arena_free(&landing->arena);
}

static void write_report(struct writer *writer, const struct report *report) {
  write_u32(writer, report->count);
  write_u32(writer, (uint32_t)report->writer.length);
  if (report->writer.length > 0) write_bytes(writer, report->bytes, report->writer.length);
}

// What was found in the way and, where the root could not be put back, what is left.
bool send_reports(const struct lander *lander, uint32_t number, uint32_t landing, struct report *conflicts,
                  struct report *stuck) {
  static uint8_t bytes[frame_payload_bytes_max];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u32(&writer, number);
  write_u8(&writer, stuck->count > 0 ? answer_stuck : answer_conflict);
  write_u32(&writer, landing);
  write_report(&writer, conflicts);
  write_report(&writer, stuck);
  free(conflicts->bytes);
  free(stuck->bytes);
  return !writer.failed && frame_send(lander->control, 'A', bytes, writer.length) == 0;
}

bool send_done(const struct lander *lander, uint32_t number, const uint32_t *values, size_t count) {
  uint8_t bytes[32];
  struct writer writer = {bytes, sizeof bytes, 0, false};
  write_u32(&writer, number);
  write_u8(&writer, answer_done);
  for (size_t at = 0; at < count; at++) write_u32(&writer, values[at]);
  return !writer.failed && frame_send(lander->control, 'A', bytes, writer.length) == 0;
}

bool land_parse_steps(struct landing *landing, struct reader *steps) {
  size_t capacity = 0;
  landing->count = 0;
  while (read_left(steps) > 0) {
    if (landing->count == capacity) {
      capacity = capacity == 0 ? 64 : capacity * 2;
      struct step *larger = arena_take(&landing->arena, capacity * sizeof *larger);
      if (larger == NULL || landing->count == land_steps_max) return false;
      if (landing->count > 0) memcpy(larger, landing->steps, landing->count * sizeof *larger);
      landing->steps = larger;
    }
    struct step *step = &landing->steps[landing->count++];
    *step = (struct step){.kind = read_u8(steps)};
    step->base_kind = read_u8(steps);
    step->path = read_text(steps);
    if (steps->failed || step->kind > step_delete || (step->base_kind > kind_other && step->base_kind != kind_none))
      return false;
    if (*step->path == 0 || !files_is_plain_path(step->path)) return false;
  }
  return !steps->failed && landing->count <= land_steps_max;
}

static bool remember(struct landing *landing, const struct landing *other) {
  struct history *history = &landing->history;
  for (uint32_t at = 0; at < other->count; at++) {
    const struct step *step = &other->steps[at];
    if (step->landed.kind == kind_none) continue;
    if (history->count == history->capacity) {
      const uint32_t capacity = history->capacity == 0 ? 64 : history->capacity * 2;
      struct identity *larger = arena_take(&landing->arena, capacity * sizeof *larger);
      if (larger == NULL) return false;
      if (history->count > 0) memcpy(larger, history->restored, history->count * sizeof *larger);
      history->restored = larger;
      history->capacity = capacity;
    }
    const size_t length = strlen(step->path);
    const char *path = arena_text(&landing->arena, step->path, length);
    if (path == NULL || !path_map_put(&history->paths, path, length, history->count)) return false;
    history->restored[history->count++] = step->landed;
  }
  return true;
}

// True where no landing of the draft is unfinished. Otherwise errno is EBUSY or why that cannot be told.
bool landing_is_at_rest(struct landing *landing) {
  uint32_t numbers[land_landings_max];
  const int count = journal_numbers(landing->journals, numbers);
  for (int at = 0; at < count; at++) {
    static struct landing other;
    enum journal_state state = journal_empty;
    other = (struct landing){.lander = landing->lander, .journals = landing->journals, .number = numbers[at]};
    int loaded = journal_load(&other, &state);
    if (loaded == 0 && (state == journal_failed || state == journal_undone) && !remember(landing, &other)) loaded = -1;
    const int error = errno;
    close_if_open(other.journal);
    arena_free(&other.arena);
    errno = loaded != 0 ? error : EBUSY;
    if (loaded != 0 || state == journal_begun || state == journal_staged || state == journal_undoing) return false;
  }
  return count >= 0;
}

// What is at every name now that the landing is done: an undo begins only where it is still there.
static int note_landed(struct landing *landing) {
  for (uint32_t at = 0; at < landing->count; at++) {
    struct step *step = &landing->steps[at];
    step->landed = (struct identity){.kind = kind_none};
    if (step->action != action_create && step->action != action_replace) continue;
    const int parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
    // Gone or changed already: then an undo will find that it is not what landed.
    step->landed = step->after;
    if (parent >= 0 && identity_at(parent, last_name(step->path), &step->landed) != 0) return -1;
    if (!identity_same(&step->landed, &step->after)) step->landed = step->after;
  }
  return 0;
}

// Originals that are in their place again, with the ctime that our own rename gave them.
static void note_restored(struct landing *landing) {
  for (uint32_t at = 0; at < landing->count; at++) {
    struct step *step = &landing->steps[at];
    struct identity now;
    step->landed = (struct identity){.kind = kind_none};
    if (step->action != action_replace && step->action != action_take) continue;
    const int parent = folder_open(&landing->root_folder, step->path, parent_length(step->path));
    if (parent < 0 || identity_at(parent, last_name(step->path), &now) != 0) continue;
    if (identity_same(&now, &step->before)) step->landed = now;
  }
}

// Takes back what was done and writes down that it was. 0, or -1 with errno; what could not be taken back is reported.
int landing_roll_back(struct landing *landing, enum journal_state state, struct report *stuck) {
  if (!land_roll_back(landing, stuck)) return 0;
  if (land_flush_folders(landing) != 0) return -1;
  note_restored(landing);
  return journal_add(landing, state);
}

int landing_finish(struct landing *landing) {
  if (land_flush_folders(landing) != 0 || note_landed(landing) != 0 || journal_add(landing, journal_done) != 0) return -1;
  land_clean_slots(landing);
  return 0;
}

// Removes temporary names of a landing that did not get to change the root. Their names hold a random number of ours.
void landing_remove_slots(struct landing *landing) {
  char name[land_slot_bytes];
  for (uint32_t at = 0; at < landing->count; at++) {
    const int folder = slot_folder(landing, at);
    slot_name(landing, at, name);
    if (folder >= 0 && unlinkat(folder, name, 0) != 0) unlinkat(folder, name, AT_REMOVEDIR);
    bin_name(landing, at, name);
    unlinkat(landing->bin, name, 0);
  }
}

static uint32_t count_changes(const struct landing *landing) {
  uint32_t changed = 0;
  for (uint32_t at = 0; at < landing->count; at++) changed += landing->steps[at].action != action_none;
  return changed;
}

static bool answer_landed(const struct landing *landing, uint32_t number) {
  const uint32_t changed = count_changes(landing);
  const uint32_t values[] = {landing->number, changed, landing->count - changed};
  return send_done(landing->lander, number, values, 3);
}

// Nothing has changed in the root yet.
static bool refuse_staging(struct landing *landing, uint32_t number, uint32_t failed) {
  char what[land_path_bytes_max + 64];
  const int error = errno;
  snprintf(what, sizeof what, "cannot prepare %s", failed < landing->count ? landing->steps[failed].path : "the journal");
  landing_remove_slots(landing);
  if (landing->journal >= 0) journal_add(landing, journal_failed);
  return send_failure(landing->lander, number, error, what);
}

static bool land_steps(struct landing *landing, uint32_t number, uint64_t start) {
  const struct lander *lander = landing->lander;
  struct report conflicts = {0}, stuck = {0};
  struct flushing flushing = {0};
  uint32_t failed = landing->count;
  if (!landing_is_at_rest(landing)) return send_failure(lander, number, errno, "an earlier landing of this draft is not finished");
  if (land_check(landing, start, &conflicts) != 0) {
    const int error = errno;
    free(conflicts.bytes);
    return send_failure(lander, number, error, "cannot compare the draft with the root");
  }
  if (conflicts.count > 0) return send_reports(lander, number, 0, &conflicts, &stuck);
  // Nothing to change is no landing.
  if (count_changes(landing) == 0) return answer_landed(landing, number);
  if (getrandom(&landing->tag, sizeof landing->tag, 0) != sizeof landing->tag || journal_create(landing) != 0)
    return send_failure(lander, number, errno, "cannot write the journal");
  // Temporary names in the root are in the journal before they are made.
  if (!landing->renames && journal_add(landing, journal_begun) != 0) return refuse_staging(landing, number, failed);
  if (land_stage(landing, &failed, &flushing) != 0) {
    // A person moved or deleted the original, or its folder, while it was copied.
    if (landing->renames || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) ||
        landing->steps[failed].before.kind == kind_none)
      return refuse_staging(landing, number, failed);
    report_add(&conflicts, landing->steps[failed].path, report_gone, 0);
    landing_remove_slots(landing);
    if (journal_add(landing, journal_failed) != 0) report_add(&stuck, "", report_io, errno);
    return send_reports(lander, number, landing->number, &conflicts, &stuck);
  }
  failed = landing->count;
  const int journaled = journal_add(landing, journal_staged);
  const int journal_error = errno;
  const int flushed = land_wait_for_files(&flushing);
  if (journaled != 0) errno = journal_error;
  if (journaled != 0 || flushed != 0) return refuse_staging(landing, number, failed);
  if (land_execute(landing, &conflicts)) {
    if (landing_finish(landing) == 0) return answer_landed(landing, number);
    report_add(&conflicts, "", report_io, errno);
  }
  if (landing_roll_back(landing, journal_failed, &stuck) != 0) report_add(&stuck, "", report_io, errno);
  return send_reports(lander, number, landing->number, &conflicts, &stuck);
}

bool land_land(const struct lander *lander, struct reader *reader, struct reader *steps) {
  static struct landing landing;
  const uint32_t number = read_u32(reader);
  const char *id = read_text(reader);
  const uint64_t start = read_u64(reader);
  if (!read_done(reader) || !is_draft_id(id)) return false;
  bool answered = false;
  if (landing_open(&landing, lander, id) != 0) answered = send_failure(lander, number, errno, "the draft cannot be opened");
  else if (land_parse_steps(&landing, steps)) answered = land_steps(&landing, number, start);
  landing_close(&landing);
  return answered;
}
