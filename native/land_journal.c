// The journal of a landing: what each name was and is to be, on disk before the first name changes.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

enum { head_bytes = 16, tail_bytes = 8, step_bytes_max = 32 + 3 * 61 };
static const uint8_t magic[8] = "ambitLJ1";

// Finds torn and damaged records; it is no defence against an author, and the folder is ours alone.
static uint64_t sum_of(const uint8_t *bytes, size_t count) {
  uint64_t sum = 1469598103934665603u;
  for (size_t at = 0; at < count; at++) sum = (sum ^ bytes[at]) * 1099511628211u;
  return sum;
}

static void write_steps(struct writer *writer, const struct landing *landing) {
  write_u8(writer, landing->renames);
  write_u64(writer, landing->tag);
  write_u32(writer, landing->count);
  for (uint32_t at = 0; at < landing->count; at++) {
    const struct step *step = &landing->steps[at];
    write_u8(writer, step->kind);
    write_u8(writer, step->action);
    write_u8(writer, step->base_kind);
    write_u16(writer, step->slot_folder);
    write_text(writer, step->path);
    identity_write(writer, &step->before);
    identity_write(writer, &step->after);
    identity_write(writer, &step->landed);
  }
}

bool journal_parse(struct landing *landing, struct reader *reader) {
  landing->renames = read_u8(reader) == 1;
  landing->tag = read_u64(reader);
  landing->count = read_u32(reader);
  if (reader->failed || landing->count > land_steps_max) return false;
  landing->steps = arena_take(&landing->arena, (landing->count + 1) * sizeof *landing->steps);
  if (landing->steps == NULL) return false;
  for (uint32_t at = 0; at < landing->count; at++) {
    struct step *step = &landing->steps[at];
    *step = (struct step){.kind = read_u8(reader)};
    step->action = read_u8(reader);
    step->base_kind = read_u8(reader);
    step->slot_folder = read_u16(reader);
    step->path = read_text(reader);
    step->before = identity_read(reader);
    step->after = identity_read(reader);
    step->landed = identity_read(reader);
    if (reader->failed || step->kind > step_delete || step->action > action_rmdir) return false;
    if (*step->path == 0 || !files_is_plain_path(step->path) || step->slot_folder > strlen(step->path)) return false;
  }
  return read_done(reader);
}

int journal_create(struct landing *landing) {
  uint32_t numbers[land_landings_max];
  const int count = journal_numbers(landing->journals, numbers);
  if (count < 0) return -1;
  landing->number = 1;
  for (int at = 0; at < count; at++)
    if (numbers[at] >= landing->number) landing->number = numbers[at] + 1;
  if (count == land_landings_max || landing->number > 999999) {
    errno = E2BIG;
    return -1;
  }
  char name[land_slot_bytes];
  snprintf(name, sizeof name, "%u", landing->number);
  landing->journal = files_open(landing->journals, name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600);
  landing->journal_is_new = true;
  return landing->journal < 0 ? -1 : 0;
}

int journal_add(struct landing *landing, enum journal_state state) {
  size_t capacity = head_bytes + tail_bytes + 16;
  for (uint32_t at = 0; at < landing->count; at++) capacity += step_bytes_max + strlen(landing->steps[at].path) + 1;
  uint8_t *bytes = malloc(capacity);
  if (bytes == NULL) return -1;
  struct writer writer = {bytes, capacity, head_bytes, false};
  write_steps(&writer, landing);
  struct writer head = {bytes, head_bytes, 0, false};
  write_bytes(&head, magic, sizeof magic);
  write_u32(&head, (uint32_t)(writer.length - head_bytes));
  write_u32(&head, (uint32_t)state);
  write_u64(&writer, sum_of(bytes, writer.length));
  int result = -1;
  if (writer.failed) errno = EMSGSIZE;
  else if (files_write_all(landing->journal, bytes, writer.length) == 0) result = fdatasync(landing->journal);
  // The name of a new journal, too; `bin` and `journal` may be new as well.
  if (result == 0 && landing->journal_is_new && (fsync(landing->journals) != 0 || fsync(landing->draft) != 0)) result = -1;
  landing->journal_is_new = false;
  const int error = errno;
  free(bytes);
  errno = error;
  return result;
}

static bool is_state(uint32_t state) {
  return state < 128 && state != 0 && strchr("ISDBUE", (int)state) != NULL;
}

// The end of the last whole record, with where its steps begin and what it says.
static size_t last_record(const uint8_t *bytes, size_t count, size_t *from, size_t *to, enum journal_state *state) {
  size_t end = 0;
  *state = journal_empty;
  while (count - end >= head_bytes + tail_bytes && memcmp(bytes + end, magic, sizeof magic) == 0) {
    struct reader head = {bytes + end + sizeof magic, bytes + end + head_bytes, false};
    const size_t length = read_u32(&head);
    const uint32_t said = read_u32(&head);
    if (count - end - head_bytes - tail_bytes < length || !is_state(said)) break;
    struct reader tail = {bytes + end + head_bytes + length, bytes + count, false};
    if (read_u64(&tail) != sum_of(bytes + end, head_bytes + length)) break;
    *from = end + head_bytes;
    *to = *from + length;
    *state = (enum journal_state)said;
    end = *to + tail_bytes;
  }
  return end;
}

int journal_load(struct landing *landing, enum journal_state *state) {
  char name[land_slot_bytes];
  struct stat facts;
  snprintf(name, sizeof name, "%u", landing->number);
  landing->journal = files_open(landing->journals, name, O_RDWR | O_APPEND | O_NOFOLLOW, 0);
  if (landing->journal < 0 || fstat(landing->journal, &facts) != 0) return -1;
  uint8_t *bytes = S_ISREG(facts.st_mode) ? arena_take(&landing->arena, (size_t)facts.st_size + 1) : NULL;
  if (bytes == NULL) {
    errno = EFBIG;
    return -1;
  }
  size_t count = 0, from = 0, to = 0;
  while (count < (size_t)facts.st_size) {
    const ssize_t got = read(landing->journal, bytes + count, (size_t)facts.st_size - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    count += (size_t)got;
  }
  const size_t end = last_record(bytes, count, &from, &to, state);
  // What is behind it would hide the records to come.
  if (end < count && ftruncate(landing->journal, (off_t)end) != 0) return -1;
  landing->count = 0;
  if (*state == journal_empty) return 0;
  struct reader reader = {bytes + from, bytes + to, false};
  if (journal_parse(landing, &reader)) return 0;
  errno = EBADMSG;
  return -1;
}

int journal_numbers(int journals, uint32_t numbers[land_landings_max]) {
  struct arena arena = {0};
  uint32_t count = 0, left = land_landings_max;
  int result = 0;
  const char *name = folder_names(journals, &arena, &count, &left);
  if (name == NULL) result = -1;
  for (uint32_t at = 0; name != NULL && at < count; at++, name += strlen(name) + 1) {
    if (name[0] < '1' || name[0] > '9' || strlen(name) > 6 || name[strspn(name, "0123456789")] != 0) continue;
    numbers[result++] = (uint32_t)strtoul(name, NULL, 10);
  }
  const int error = errno;
  arena_free(&arena);
  errno = error;
  return result;
}
