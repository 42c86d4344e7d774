// What the owner sent for a command's standard input and the command has not read yet.
#ifndef AMBIT_FEED_H
#define AMBIT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { feed_bytes_max = 4194304 };

struct feed {
  int pipe;  // -1: there is no reader; what is added is dropped
  bool ends;
  uint8_t *bytes;
  size_t capacity, start, end;
};

struct feed feed_into(int pipe);
// Whether so many bytes more may be added. When not, the owner is not listened to until the command has read some.
bool feed_has_room(const struct feed *feed, size_t count);
// False when there is no memory.
bool feed_add(struct feed *feed, const uint8_t *bytes, size_t count);
// The command sees the end once everything before it is read.
void feed_end(struct feed *feed);
static inline bool feed_is_waiting(const struct feed *feed) {
  return feed->pipe >= 0 && feed->start != feed->end;
}
// Writes what the pipe takes without waiting.
void feed_write(struct feed *feed);
void feed_close(struct feed *feed);

#endif
