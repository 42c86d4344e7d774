// `X` to a value: one block of memory holds the texts and the two lists that point to them.
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { input_none, input_pipe, input_terminal };

static int wrong(int error) {
  errno = error;
  return -1;
}

// A list of texts, ended by a null in the room it was given. One too long is read to its end all the same: it parses,
// it just cannot be run.
static void parse_texts(struct reader *reader, char **into, uint32_t max, bool *too_many) {
  const uint32_t count = read_u32(reader);
  for (uint32_t at = 0; at < count && !reader->failed; at++) {
    const char *text = read_text(reader);
    if (at < max) into[at] = (char *)(uintptr_t)text;
  }
  into[count < max ? count : max] = NULL;
  if (count > max) *too_many = true;
}

int command_parse(struct command *into, const struct frame *frame) {
  const size_t lists = (arguments_max + 1 + environment_max + 1) * sizeof(char *);
  char **memory = malloc(lists + frame->length);
  if (memory == NULL) return wrong(ENOMEM);
  uint8_t *copy = (uint8_t *)memory + lists;
  if (frame->length > 0) memcpy(copy, frame->payload, frame->length);
  struct reader reader = {copy, copy + frame->length, false};
  *into = (struct command){.memory = memory, .arguments = memory, .environment = memory + arguments_max + 1};
  into->milliseconds_max = read_u32(&reader);
  into->output_bytes_max = read_u64(&reader);
  const uint8_t input = read_u8(&reader);
  into->input = input == input_pipe;
  into->has_terminal = input == input_terminal;
  if (into->has_terminal) {
    into->size.columns = read_u16(&reader);
    into->size.rows = read_u16(&reader);
  }
  into->directory = read_text(&reader);
  bool too_many = false;
  parse_texts(&reader, into->arguments, arguments_max, &too_many);
  parse_texts(&reader, into->environment, environment_max, &too_many);
  int result = too_many ? wrong(E2BIG) : 0;
  if (!read_done(&reader) || input > input_terminal || into->directory[0] != '/' || into->arguments[0] == NULL)
    result = wrong(EPROTO);
  if (result != 0) command_free(into);
  return result;
}

void command_free(struct command *command) {
  const int error = errno;
  free(command->memory);
  *command = (struct command){0};
  errno = error;
}
