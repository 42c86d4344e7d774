// Feeds every parser of the program with frames that are nearly right, for so many seconds or rounds. Parsing is apart
// from doing all through the program, so nothing is done here: no mount, no socket, no process, no file.
// What is looked for is what the sanitizers find, and that a stream means the same however it is cut into pieces.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../command.h"
#include "../credential.h"
#include "../files.h"
#include "../frame.h"
#include "../land.h"
#include "../setup.h"
#include "random.h"
#include "seeds.h"

enum { payload_bytes_max = 8192, stream_bytes_max = 32768, rounds_between_looks = 512, kinds_max = 256 };

struct payload {
  uint8_t kind;
  size_t length;
  uint8_t bytes[payload_bytes_max];
};

static struct tally {
  uint64_t rounds, accepted, refused;
  uint64_t accepted_of[kinds_max];
} tally;

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "fuzz: broken: %s\n", what);
  abort();
}

static const uint64_t numbers[] = {
    0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 4095, 4096, 4097, 65535, 1048576, 1048577, UINT32_MAX, UINT64_MAX,
};

static void put_number(struct random *random, struct payload *payload, size_t at) {
  const uint64_t number = numbers[random_below(random, sizeof numbers / sizeof numbers[0])];
  const size_t size = (size_t)1 << random_below(random, 4);
  for (size_t byte = 0; byte < size && at + byte < payload->length; byte++)
    payload->bytes[at + byte] = (uint8_t)(number >> (8 * byte));
}

static void repeat_part(struct random *random, struct payload *payload, size_t at) {
  const size_t part = 1 + random_below(random, payload->length - at);
  for (size_t times = 1 + random_below(random, 64); times > 0 && payload->length + part <= payload_bytes_max; times--) {
    memmove(payload->bytes + at + part, payload->bytes + at, payload->length - at);
    payload->length += part;
  }
}

static void mutate_once(struct random *random, struct payload *payload) {
  static const char *const words[] = {"..", "/", "//", ".", "./", "../..", "/etc/passwd", "\n\n", "=", "password="};
  if (payload->length == 0) {
    payload->bytes[payload->length++] = (uint8_t)random_next(random);
    return;
  }
  const size_t at = random_below(random, payload->length);
  switch (random_below(random, 8)) {
    case 0:
      payload->bytes[at] ^= (uint8_t)(1u << random_below(random, 8));
      return;
    case 1:
      payload->bytes[at] = (uint8_t)random_next(random);
      return;
    case 2:
      put_number(random, payload, at);
      return;
    case 3:
      payload->length = at;
      return;
    case 4:
      memmove(payload->bytes + at, payload->bytes + at + 1, payload->length - at - 1);
      payload->length--;
      return;
    case 5:
      repeat_part(random, payload, at);
      return;
    case 6: {
      const char *word = words[random_below(random, sizeof words / sizeof words[0])];
      for (size_t byte = 0; word[byte] != 0 && at + byte < payload->length; byte++)
        payload->bytes[at + byte] = (uint8_t)word[byte];
      return;
    }
    default:
      if (payload->length < payload_bytes_max) payload->bytes[payload->length++] = (uint8_t)random_next(random);
  }
}

static void make_payload(struct random *random, struct payload *payload) {
  const struct seed *seed = &seeds[random_below(random, seed_count)];
  payload->kind = seed->kind;
  payload->length = seed->length;
  memcpy(payload->bytes, seed->payload, seed->length);
  // One in eight stays as it is, so that what comes after something good is reached as well.
  for (size_t times = random_below(random, 8); times > 0; times--) mutate_once(random, payload);
  if (random_below(random, 32) == 0) payload->kind = (uint8_t)random_next(random);
}

static void count(uint8_t kind, bool accepted) {
  if (accepted) tally.accepted_of[kind]++;
  if (accepted) tally.accepted++;
  else tally.refused++;
}

static void check_setup(const struct setup *setup) {
  must(setup->pin_count <= pins_max && setup->base_count <= bases_max, "pins have a bound");
  must(setup->network.count <= ports_max && setup->emptied_count <= emptied_max, "ports and folders have a bound");
  must(setup->restrictions.landlock.count <= landlock_rules_max, "rules have a bound");
  for (size_t at = 0; at < setup->pin_count; at++) {
    const char *path = setup->pins[at].path;
    must(path[0] != 0 && path[0] != '/' && strstr(path, "//") == NULL, "a pin lies below its base");
    const bool goes_up = strncmp(path, "../", 3) == 0 || strcmp(path, "..") == 0 || strstr(path, "/../") != NULL;
    must(!goes_up, "a pin does not go up");
  }
}

static void feed_setup(struct setup *setup, const struct frame *frame) {
  const char *stage = "";
  const enum setup_parsed parsed = setup_parse(setup, frame, &stage);
  must(stage[0] != 0, "every answer has a stage");
  if (parsed == setup_wrong) must(errno != 0, "what is wrong has an errno");
  count(frame->kind, parsed != setup_wrong);
}

// Counts a list and reads every byte of it.
static size_t length_of(char *const *list) {
  static volatile size_t bytes;
  size_t words = 0;
  for (; list[words] != NULL; words++) bytes = bytes + strlen(list[words]);
  return words;
}

static void feed_command(const struct frame *frame) {
  struct command command;
  if (command_parse(&command, frame) != 0) {
    must(command.memory == NULL && (errno == EPROTO || errno == E2BIG), "a command that is refused leaves nothing");
    count('X', false);
    return;
  }
  const size_t words = length_of(command.arguments);
  must(words > 0 && words <= arguments_max && command.directory[0] == '/', "a command has words and a place");
  must(length_of(command.environment) <= environment_max, "an environment has a bound");
  command_free(&command);
  count('X', true);
}

// No tree behind it: whatever parses is answered with an error, and nothing is opened.
static void feed_files(const struct frame *frame) {
  static uint8_t bytes[files_answer_bytes_max];
  static files_operation *const operations[] = {files_read,   files_write, files_append, files_delete,
                                                files_list,   files_stat,  files_below,  files_find};
  static const char kinds[] = "rwadlskf";
  const char *kind = memchr(kinds, frame->kind, sizeof kinds - 1);
  const struct files_tree nowhere = {-1, true};
  struct files_request request = {.tree = &nowhere, .rest = reader_of(frame)};
  struct writer answer = {bytes, sizeof bytes, 0, false};
  request.number = read_u32(&request.rest);
  read_u32(&request.rest);
  request.path = read_text(&request.rest);
  const bool parsed = kind != NULL && !request.rest.failed && files_is_plain_path(request.path);
  count(frame->kind, parsed && operations[kind - kinds](&request, &answer));
}

// The lander's frames and its journal; no folder behind them, and nothing is opened.
static void feed_land(const struct frame *frame) {
  static struct landing landing;
  struct reader reader = reader_of(frame);
  landing = (struct landing){0};
  const bool parsed = land_parse_steps(&landing, &reader);
  for (uint32_t at = 0; parsed && at < landing.count; at++) {
    const char *path = landing.steps[at].path;
    must(path[0] != 0 && files_is_plain_path(path), "a step lies below the root");
    must(landing.steps[at].kind <= step_delete, "a step has a kind");
  }
  arena_free(&landing.arena);
  if (frame->kind == 'p') count('p', parsed);
  reader = reader_of(frame);
  if (journal_parse(&landing, &reader)) {
    for (uint32_t at = 0; at < landing.count; at++)
      must(landing.steps[at].slot_folder <= strlen(landing.steps[at].path), "a slot lies above its name");
    if (frame->kind == 'j') count('j', true);
  }
  arena_free(&landing.arena);
  reader = reader_of(frame);
  read_u32(&reader);
  const char *id = read_text(&reader);
  if (!reader.failed && is_draft_id(id)) must(strchr(id, '/') == NULL && id[0] != '.', "an id is one name");
  if (frame->length > 0) is_text((const char *)frame->payload, frame->length);
}

static void feed_credential(const struct payload *payload) {
  static const char *const keys[] = {"protocol", "host", "path", "username", "password", NULL};
  static struct credential_text from, into;
  from.length = payload->length;
  into.length = 0;
  memcpy(from.bytes, payload->bytes, payload->length);
  const bool kept = credential_keep_lines(&from, keys, &into);
  must(into.length <= from.length + 1, "lines do not grow");
  count('c', kept);
}

// Cuts a stream into frames, whole or piece by piece, and says what it saw as one number.
static uint64_t cut(struct random *random, const uint8_t *stream, size_t length, bool in_pieces) {
  struct frame_input input = {0};
  struct frame frame;
  uint64_t seen = 1469598103934665603u;
  for (size_t at = 0; at < length;) {
    const size_t piece = in_pieces ? 1 + random_below(random, 64) : length;
    const size_t size = piece < length - at ? piece : length - at;
    must(frame_append(&input, stream + at, size), "there is memory");
    at += size;
    enum frame_state state;
    while ((state = frame_next(&input, &frame)) == frame_whole) {
      seen = (seen ^ frame.kind ^ (uint64_t)frame.length << 8) * 1099511628211u;
      for (uint32_t byte = 0; byte < frame.length; byte++) seen = (seen ^ frame.payload[byte]) * 1099511628211u;
    }
    if (state == frame_wrong) {
      seen ^= 1;
      break;
    }
    frame_rest(&input);
  }
  free(input.bytes);
  return seen;
}

static void feed_stream(struct random *random, const struct payload *payload) {
  static uint8_t stream[stream_bytes_max];
  size_t length = 0;
  for (size_t frames = 1 + random_below(random, 4); frames > 0; frames--) {
    struct writer writer = {stream + length, sizeof stream - length, 0, false};
    const bool honest = random_below(random, 8) != 0;
    write_u32(&writer, honest ? (uint32_t)payload->length : (uint32_t)random_next(random));
    write_u8(&writer, payload->kind);
    write_bytes(&writer, payload->bytes, payload->length);
    if (writer.failed) break;
    length += writer.length;
  }
  must(cut(random, stream, length, false) == cut(random, stream, length, true), "a stream means the same in pieces");
}

static void round_of(struct random *random, struct setup *setup) {
  static struct payload payload;
  make_payload(random, &payload);
  // Memory of its own, so that a byte too far is seen.
  uint8_t *bytes = malloc(payload.length == 0 ? 1 : payload.length);
  must(bytes != NULL, "there is memory");
  memcpy(bytes, payload.bytes, payload.length);
  const struct frame frame = {payload.kind, (uint32_t)payload.length, bytes};
  feed_setup(setup, &frame);
  feed_command(&frame);
  feed_files(&frame);
  feed_land(&frame);
  feed_credential(&payload);
  if (random_below(random, 4) == 0) feed_stream(random, &payload);
  free(bytes);
  check_setup(setup);
  if (random_below(random, 64) == 0) setup_free(setup);
  tally.rounds++;
}

static uint64_t seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec;
}

static uint64_t option(int word_count, char **words, const char *name, uint64_t otherwise) {
  for (int at = 1; at + 1 < word_count; at += 2)
    if (strcmp(words[at], name) == 0) return strtoull(words[at + 1], NULL, 10);
  return otherwise;
}

int main(int word_count, char **words) {
  static struct setup setup;
  const uint64_t seed = option(word_count, words, "--seed", 1);
  const uint64_t rounds_max = option(word_count, words, "--rounds", UINT64_MAX);
  const uint64_t end = seconds_now() + option(word_count, words, "--seconds", 60);
  struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
  while (tally.rounds < rounds_max && (tally.rounds % rounds_between_looks != 0 || seconds_now() < end))
    round_of(&random, &setup);
  setup_free(&setup);
  printf("{\"seed\":%llu,\"rounds\":%llu,\"accepted\":%llu,\"refused\":%llu,\"kinds\":\"", (unsigned long long)seed,
         (unsigned long long)tally.rounds, (unsigned long long)tally.accepted, (unsigned long long)tally.refused);
  for (int kind = 0; kind < kinds_max; kind++)
    if (tally.accepted_of[kind] > 0 && kind > ' ' && kind < 0x7f && kind != '"' && kind != '\\') putchar(kind);
  printf("\"}\n");
  return 0;
}
