// The set-up frames every word shares: first a value, then, in one place and one order, the doing.
#include "restrictions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drop.h"

static int wrong(int error) {
  errno = error;
  return -1;
}

static int parse_handled(struct restrictions *into, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  into->landlock.files = read_u64(&reader);
  into->landlock.network = read_u64(&reader);
  into->landlock.scopes = read_u64(&reader);
  if (!read_done(&reader)) return wrong(EPROTO);
  if (into->landlock_asked) return wrong(EEXIST);
  into->landlock_asked = true;
  return 1;
}

static int parse_rule(struct restrictions *into, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  const uint64_t rights = read_u64(&reader);
  const char *path = read_text(&reader);
  if (!read_done(&reader) || path[0] != '/') return wrong(EPROTO);
  if (into->landlock.count == landlock_rules_max) return wrong(E2BIG);
  if (into->landlock.rules == NULL) {
    into->landlock.rules = calloc(landlock_rules_max, sizeof *into->landlock.rules);
    if (into->landlock.rules == NULL) return wrong(ENOMEM);
  }
  char *copy = strdup(path);
  if (copy == NULL) return wrong(ENOMEM);
  into->landlock.rules[into->landlock.count++] = (struct landlock_rule){rights, copy};
  return 1;
}

static int parse_program(struct restrictions *into, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  if (into->seccomp_asked) return wrong(EEXIST);
  if (seccomp_parse(&reader, &into->program, &into->program_count) != 0) return -1;
  into->seccomp_asked = true;
  return 1;
}

static int parse_limit(struct restrictions *into, const struct frame *frame) {
  struct reader reader = reader_of(frame);
  const uint32_t resource = read_u32(&reader);
  const uint64_t value = read_u64(&reader);
  if (!read_done(&reader)) return wrong(EPROTO);
  if (into->limit_count == limits_max) return wrong(E2BIG);
  into->limits[into->limit_count++] = (struct limit){resource, value};
  return 1;
}

int restrictions_parse(struct restrictions *into, const struct frame *frame) {
  switch (frame->kind) {
    case 'H':
      return parse_handled(into, frame);
    case 'L':
      return parse_rule(into, frame);
    case 'S':
      return parse_program(into, frame);
    case 'U':
      return parse_limit(into, frame);
    default:
      return 0;
  }
}

int restrictions_apply(const struct restrictions *restrictions, const char **stage) {
  *stage = "limits";
  if (limits_apply(restrictions->limits, restrictions->limit_count) != 0) return -1;
  *stage = "not dumpable";
  if (drop_dumpable() != 0) return -1;
  *stage = "no new privileges";
  if (drop_new_privileges() != 0) return -1;
  *stage = "landlock";
  // Rules without what they are exceptions from would hold nothing: a mistake of the owner's, not a wish.
  if (!restrictions->landlock_asked && restrictions->landlock.count > 0) return wrong(EINVAL);
  if (restrictions->landlock_asked && landlock_restrict(&restrictions->landlock) != 0) return -1;
  *stage = "capabilities";
  if (drop_capabilities() != 0) return -1;
  *stage = "seccomp";
  if (!restrictions->seccomp_asked) return 0;
  return seccomp_install(restrictions->program, restrictions->program_count);
}

void restrictions_free(struct restrictions *restrictions) {
  for (size_t at = 0; at < restrictions->landlock.count; at++) free(restrictions->landlock.rules[at].path);
  free(restrictions->landlock.rules);
  free(restrictions->program);
  *restrictions = (struct restrictions){0};
}
