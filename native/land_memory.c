// Memory of the lander: blocks that a request takes and gives back together, a map from paths to numbers, and lists of
// paths for answers.
#include <stdlib.h>
#include <string.h>

#include "land.h"

enum { block_bytes = 1048576, report_bytes_max = 450000 };

struct arena_block {
  struct arena_block *next;
  size_t capacity;
  _Alignas(16) uint8_t bytes[];
};

void *arena_take(struct arena *arena, size_t count) {
  if (count > (size_t)1 << 30) return NULL;
  count = (count + 15) & ~(size_t)15;
  if (arena->first == NULL || arena->first->capacity - arena->used < count) {
    const size_t capacity = count > block_bytes ? count : block_bytes;
    struct arena_block *block = malloc(sizeof *block + capacity);
    if (block == NULL) return NULL;
    block->next = arena->first;
    block->capacity = capacity;
    arena->first = block;
    arena->used = 0;
  }
  void *taken = arena->first->bytes + arena->used;
  arena->used += count;
  return taken;
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
  char *copy = arena_take(arena, length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

void arena_free(struct arena *arena) {
  while (arena->first != NULL) {
    struct arena_block *next = arena->first->next;
    free(arena->first);
    arena->first = next;
  }
  arena->used = 0;
}

struct path_entry {
  const char *path;  // NULL: free
  size_t length;
  uint32_t value;
};

static size_t hash_of(const char *path, size_t length) {
  uint64_t hash = 1469598103934665603u;
  for (size_t at = 0; at < length; at++) hash = (hash ^ (uint8_t)path[at]) * 1099511628211u;
  return (size_t)(hash ^ hash >> 29);
}

// The entry of a path, or the free one where it belongs.
static struct path_entry *entry_of(const struct path_map *map, const char *path, size_t length) {
  for (size_t at = hash_of(path, length);; at++) {
    struct path_entry *entry = &map->entries[at & (map->capacity - 1)];
    if (entry->path == NULL || (entry->length == length && memcmp(entry->path, path, length) == 0)) return entry;
  }
}

bool path_map_put(struct path_map *map, const char *path, size_t length, uint32_t value) {
  if (map->count * 2 >= map->capacity) {
    struct path_map larger = {NULL, map->capacity == 0 ? 1024 : map->capacity * 2, map->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL) return false;
    for (size_t at = 0; at < map->capacity; at++)
      if (map->entries[at].path != NULL)
        *entry_of(&larger, map->entries[at].path, map->entries[at].length) = map->entries[at];
    free(map->entries);
    *map = larger;
  }
  struct path_entry *entry = entry_of(map, path, length);
  if (entry->path == NULL) map->count++;
  *entry = (struct path_entry){path, length, value};
  return true;
}

bool path_map_get(const struct path_map *map, const char *path, size_t length, uint32_t *value) {
  if (map->capacity == 0) return false;
  const struct path_entry *entry = entry_of(map, path, length);
  if (entry->path == NULL) return false;
  *value = entry->value;
  return true;
}

void path_map_free(struct path_map *map) {
  free(map->entries);
  *map = (struct path_map){0};
}

void report_add(struct report *report, const char *path, enum report_reason reason, int error) {
  if (report->bytes == NULL) {
    report->bytes = malloc(report_bytes_max);
    report->writer = (struct writer){report->bytes, report->bytes == NULL ? 0 : report_bytes_max, 0, false};
  }
  report->count++;
  // Beyond a frame the paths are left out and the count still says how many there are.
  if (report->writer.capacity - report->writer.length < strlen(path) + 6) return;
  write_u8(&report->writer, (uint8_t)reason);
  write_u32(&report->writer, (uint32_t)error);
  write_text(&report->writer, path);
}
