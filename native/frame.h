// Messages between the program and its owner: a length, a kind, a payload, every number little-endian.
// Reading a payload is strict: what is not there, and what is left over, are both failures.
#ifndef AMBIT_FRAME_H
#define AMBIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  protocol_version = 1,
  frame_header_bytes = 5,
  frame_payload_bytes_max = 1048576,
  output_chunk_bytes_max = 65536,
  exit_failed = 125,
};

// A whole frame. The payload lies in the buffer of the input it came from and dies with the next frame_next.
struct frame {
  uint8_t kind;
  uint32_t length;
  const uint8_t *payload;
};

// Bytes that arrived and are not yet frames. Zeroed, it is ready for use.
struct frame_input {
  uint8_t *bytes;
  size_t capacity, start, end;
};

enum frame_state {
  frame_whole,    // there is one
  frame_partial,  // more bytes are needed
  frame_wrong,    // the other side does not speak our language
};

// Cuts the next frame from what has arrived; touches no descriptor.
enum frame_state frame_next(struct frame_input *input, struct frame *frame);
// Adds bytes, growing the buffer as the frame under way needs it; false when there is no memory.
bool frame_append(struct frame_input *input, const void *bytes, size_t count);
// One read from the socket without waiting: bytes read, 0 at its end, -1 with errno (EAGAIN: nothing there now).
long frame_fill(struct frame_input *input, int control);
// Gives back memory that only a large frame needed; only between frames.
void frame_rest(struct frame_input *input);

// A whole frame if there is one now: 1 a frame, 0 the end of the stream between frames, -1 with errno (EAGAIN: not yet,
// EPROTO: not our language).
int frame_try(int control, struct frame_input *input, struct frame *frame);
// Waits until there is something to read, or the end of it: 0, or -1 with errno.
int frame_wait(int control);
// Waits for a whole frame: 1 a frame, 0 the end of the stream between frames, -1 with errno (EPROTO: not our language).
int frame_receive(int control, struct frame_input *input, struct frame *frame);
// Sends a whole frame, waiting as long as it takes: 0, or -1 with errno.
int frame_send(int control, uint8_t kind, const void *payload, size_t length);
// Says `F` as far as the owner still listens, then ends the program with exit_failed.
_Noreturn void frame_fail(int control, int error, const char *stage);

// Reads a payload from its start. After the first thing that is not there everything reads as zero and `failed` is set.
struct reader {
  const uint8_t *at, *end;
  bool failed;
};
struct reader reader_of(const struct frame *frame);
uint8_t read_u8(struct reader *reader);
uint16_t read_u16(struct reader *reader);
uint32_t read_u32(struct reader *reader);
uint64_t read_u64(struct reader *reader);
// Up to a zero byte; points into the payload. "" after a failure, so it can always be looked at.
const char *read_text(struct reader *reader);
// So many bytes; points into the payload. Null after a failure.
const uint8_t *read_bytes(struct reader *reader, size_t count);
size_t read_left(const struct reader *reader);
// True when all was there and nothing is left: the only way a payload is accepted.
bool read_done(const struct reader *reader);

// Puts a payload together in memory of the caller's. What does not fit sets `failed`.
struct writer {
  uint8_t *bytes;
  size_t capacity, length;
  bool failed;
};
void write_u8(struct writer *writer, uint8_t value);
void write_u16(struct writer *writer, uint16_t value);
void write_u32(struct writer *writer, uint32_t value);
void write_u64(struct writer *writer, uint64_t value);
void write_bytes(struct writer *writer, const void *bytes, size_t count);
void write_text(struct writer *writer, const char *text);

#endif
