// Set-up frames to a value. Paths are looked at as text here, once, so that what does things never has to.
#include "setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum setup_parsed wrong(int error) {
  errno = error;
  return setup_wrong;
}

// Names between single slashes, none of them "." or "..": such a path means the same place to every reader.
static bool is_plain(const char *path) {
  if (strlen(path) > path_bytes_max) return false;
  for (;;) {
    const size_t length = strcspn(path, "/");
    const bool is_dot = length == 1 && path[0] == '.';
    const bool is_up = length == 2 && path[0] == '.' && path[1] == '.';
    if (length == 0 || is_dot || is_up) return false;
    if (path[length] == 0) return true;
    path += length + 1;
  }
}

static bool is_absolute(const char *path) {
  return path[0] == '/' && (path[1] == 0 || is_plain(path + 1));
}

static enum setup_parsed parse_base(struct setup *into, struct reader *reader) {
  const char *path = read_text(reader);
  if (!read_done(reader) || !is_absolute(path)) return wrong(EPROTO);
  if (into->base_count == bases_max) return wrong(E2BIG);
  char *copy = strdup(path);
  if (copy == NULL) return wrong(ENOMEM);
  into->bases[into->base_count++] = copy;
  return setup_more;
}

static enum setup_parsed parse_pin(struct setup *into, struct reader *reader) {
  const uint8_t action = read_u8(reader);
  const char *path = read_text(reader);
  if (!read_done(reader) || !is_plain(path) || into->base_count == 0) return wrong(EPROTO);
  if (action != pin_read_only && action != pin_masked) return wrong(EPROTO);
  if (into->pin_count == pins_max) return wrong(E2BIG);
  if (into->pins == NULL) into->pins = calloc(pins_max, sizeof *into->pins);
  char *copy = strdup(path);
  if (into->pins == NULL || copy == NULL) {
    free(copy);
    return wrong(ENOMEM);
  }
  into->pins[into->pin_count++] = (struct pin){into->bases[into->base_count - 1], copy, action};
  return setup_more;
}

static enum setup_parsed parse_overlay(struct setup *into, struct reader *reader) {
  const uint8_t mode = read_u8(reader);
  const char *path = read_text(reader);
  if (!read_done(reader) || !is_absolute(path) || path[1] == 0) return wrong(EPROTO);
  if (mode != overlay_read_only && mode != overlay_draft) return wrong(EPROTO);
  if (into->overlay.path != NULL) return wrong(EEXIST);
  into->overlay.mode = mode;
  into->overlay.path = strdup(path);
  return into->overlay.path == NULL ? wrong(ENOMEM) : setup_more;
}

static enum setup_parsed parse_mask(struct setup *into, struct reader *reader) {
  struct overlay_request *overlay = &into->overlay;
  const char *path = read_text(reader);
  // A mask without an overlay would hide nothing.
  if (!read_done(reader) || !is_plain(path) || overlay->path == NULL) return wrong(EPROTO);
  if (overlay->mask_count == masks_max) return wrong(E2BIG);
  if (overlay->masks == NULL) overlay->masks = calloc(masks_max, sizeof *overlay->masks);
  char *copy = strdup(path);
  if (overlay->masks == NULL || copy == NULL) {
    free(copy);
    return wrong(ENOMEM);
  }
  overlay->masks[overlay->mask_count++] = copy;
  return setup_more;
}

static enum setup_parsed parse_emptied(struct setup *into, struct reader *reader) {
  const uint32_t bytes_max = read_u32(reader);
  const char *path = read_text(reader);
  // Never the top of everything, whatever the owner believes.
  if (!read_done(reader) || !is_absolute(path) || path[1] == 0) return wrong(EPROTO);
  if (into->emptied_count == emptied_max) return wrong(E2BIG);
  char *copy = strdup(path);
  if (copy == NULL) return wrong(ENOMEM);
  into->emptied[into->emptied_count++] = (struct emptied){bytes_max, copy};
  return setup_more;
}

static enum setup_parsed parse_network(struct setup *into, struct reader *reader) {
  struct network_request *network = &into->network;
  const uint8_t transparent = read_u8(reader);
  const uint16_t count = read_u16(reader);
  const uint16_t loopback = read_u16(reader);
  if (reader->failed || transparent > 1 || read_left(reader) != ((size_t)count + loopback) * 2) return wrong(EPROTO);
  if (network->asked) return wrong(EEXIST);
  if (count > ports_max || loopback > loopback_max) return wrong(E2BIG);
  for (size_t at = 0; at < count; at++) {
    network->ports[at] = read_u16(reader);
    if (network->ports[at] == 0) return wrong(EPROTO);
  }
  for (size_t at = 0; at < loopback; at++) {
    network->loopback[at] = read_u16(reader);
    if (network->loopback[at] == 0) return wrong(EPROTO);
  }
  network->loopback_count = loopback;
  network->asked = true;
  network->transparent = transparent == 1;
  network->count = count;
  return setup_more;
}

static enum setup_parsed parse_terminals(struct setup *into, struct reader *reader) {
  const uint32_t terminals_max = read_u32(reader);
  if (!read_done(reader) || terminals_max == 0) return wrong(EPROTO);
  if (into->terminals_max != 0) return wrong(EEXIST);
  into->terminals_max = terminals_max;
  return setup_more;
}

static enum setup_parsed parse_sockets(struct setup *into, struct reader *reader) {
  const char *path = read_text(reader);
  if (reader->failed || !is_absolute(path) || path[1] == 0) return wrong(EPROTO);
  if (into->sockets.path != NULL) return wrong(EEXIST);
  if (seccomp_parse(reader, &into->sockets.program, &into->sockets.program_count) != 0) return setup_wrong;
  into->sockets.path = strdup(path);
  return into->sockets.path == NULL ? wrong(ENOMEM) : setup_more;
}

enum setup_parsed setup_parse(struct setup *into, const struct frame *frame, const char **stage) {
  struct reader reader = reader_of(frame);
  switch (frame->kind) {
    case 'T':
      *stage = "base";
      return parse_base(into, &reader);
    case 'P':
      *stage = "pin";
      return parse_pin(into, &reader);
    case 'V':
      *stage = "overlay";
      return parse_overlay(into, &reader);
    case 'M':
      *stage = "mask";
      return parse_mask(into, &reader);
    case 'D':
      *stage = "emptied folder";
      return parse_emptied(into, &reader);
    case 'N':
      *stage = "network";
      return parse_network(into, &reader);
    case 'Y':
      *stage = "terminals";
      return parse_terminals(into, &reader);
    case 'Q':
      *stage = "sockets";
      return parse_sockets(into, &reader);
    case 'G':
      *stage = "go";
      return read_done(&reader) ? setup_go : wrong(EPROTO);
    default:
      break;
  }
  *stage = "restrictions";
  const int taken = restrictions_parse(&into->restrictions, frame);
  if (taken > 0) return setup_more;
  if (taken < 0) return setup_wrong;
  *stage = "unknown frame";
  return wrong(EPROTO);
}

void setup_free(struct setup *setup) {
  for (size_t at = 0; at < setup->base_count; at++) free(setup->bases[at]);
  for (size_t at = 0; at < setup->pin_count; at++) free(setup->pins[at].path);
  for (size_t at = 0; at < setup->emptied_count; at++) free(setup->emptied[at].path);
  for (size_t at = 0; at < setup->overlay.mask_count; at++) free(setup->overlay.masks[at]);
  free(setup->overlay.masks);
  free(setup->overlay.path);
  free(setup->pins);
  free(setup->sockets.path);
  free(setup->sockets.program);
  restrictions_free(&setup->restrictions);
  *setup = (struct setup){0};
}
