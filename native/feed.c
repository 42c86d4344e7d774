// A bounded queue towards a command's standard input.
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct feed feed_into(int pipe) {
  return (struct feed){.pipe = pipe};
}

bool feed_has_room(const struct feed *feed, size_t count) {
  return feed->pipe < 0 || feed->start == feed->end || feed->end - feed->start + count <= feed_bytes_max;
}

bool feed_add(struct feed *feed, const uint8_t *bytes, size_t count) {
  if (feed->pipe < 0 || feed->ends || count == 0) return true;
  const size_t held = feed->end - feed->start;
  if (feed->capacity - feed->end < count) {
    if (held > 0) memmove(feed->bytes, feed->bytes + feed->start, held);
    feed->start = 0;
    feed->end = held;
  }
  if (feed->capacity - held < count) {
    uint8_t *more = realloc(feed->bytes, held + count);
    if (more == NULL) return false;
    feed->bytes = more;
    feed->capacity = held + count;
  }
  memcpy(feed->bytes + feed->end, bytes, count);
  feed->end += count;
  feed_write(feed);
  return true;
}

void feed_end(struct feed *feed) {
  feed->ends = true;
  feed_write(feed);
}

void feed_write(struct feed *feed) {
  while (feed_is_waiting(feed)) {
    const ssize_t written = write(feed->pipe, feed->bytes + feed->start, feed->end - feed->start);
    if (written >= 0) {
      feed->start += (size_t)written;
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      // The reader has closed its end: not a failure; the rest of the bytes are dropped.
      feed_close(feed);
    }
  }
  if (feed->ends) feed_close(feed);
}

void feed_close(struct feed *feed) {
  if (feed->pipe >= 0) close(feed->pipe);
  free(feed->bytes);
  *feed = feed_into(-1);
}
