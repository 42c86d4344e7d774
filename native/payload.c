// Reading and writing payloads, number by number. Nothing here looks at a byte it was not given.
#include <string.h>

#include "frame.h"

struct reader reader_of(const struct frame *frame) {
  return (struct reader){frame->payload, frame->payload + frame->length, false};
}

size_t read_left(const struct reader *reader) {
  return (size_t)(reader->end - reader->at);
}

const uint8_t *read_bytes(struct reader *reader, size_t count) {
  if (reader->failed || read_left(reader) < count) {
    reader->failed = true;
    return NULL;
  }
  const uint8_t *bytes = reader->at;
  reader->at += count;
  return bytes;
}

static uint64_t read_number(struct reader *reader, size_t size) {
  const uint8_t *bytes = read_bytes(reader, size);
  if (bytes == NULL) return 0;
  uint64_t value = 0;
  for (size_t at = size; at-- > 0;) value = value << 8 | bytes[at];
  return value;
}

uint8_t read_u8(struct reader *reader) {
  return (uint8_t)read_number(reader, 1);
}

uint16_t read_u16(struct reader *reader) {
  return (uint16_t)read_number(reader, 2);
}

uint32_t read_u32(struct reader *reader) {
  return (uint32_t)read_number(reader, 4);
}

uint64_t read_u64(struct reader *reader) {
  return read_number(reader, 8);
}

const char *read_text(struct reader *reader) {
  const uint8_t *zero = reader->failed || reader->at == reader->end ? NULL : memchr(reader->at, 0, read_left(reader));
  if (zero == NULL) {
    reader->failed = true;
    return "";
  }
  const char *text = (const char *)reader->at;
  reader->at = zero + 1;
  return text;
}

bool read_done(const struct reader *reader) {
  return !reader->failed && reader->at == reader->end;
}

void write_bytes(struct writer *writer, const void *bytes, size_t count) {
  if (writer->failed || writer->capacity - writer->length < count) {
    writer->failed = true;
    return;
  }
  if (count > 0) memcpy(writer->bytes + writer->length, bytes, count);
  writer->length += count;
}

static void write_number(struct writer *writer, uint64_t value, size_t size) {
  uint8_t bytes[8];
  for (size_t at = 0; at < size; at++) bytes[at] = (uint8_t)(value >> (8 * at));
  write_bytes(writer, bytes, size);
}

void write_u8(struct writer *writer, uint8_t value) {
  write_number(writer, value, 1);
}

void write_u16(struct writer *writer, uint16_t value) {
  write_number(writer, value, 2);
}

void write_u32(struct writer *writer, uint32_t value) {
  write_number(writer, value, 4);
}

void write_u64(struct writer *writer, uint64_t value) {
  write_number(writer, value, 8);
}

void write_text(struct writer *writer, const char *text) {
  write_bytes(writer, text, strlen(text) + 1);
}
