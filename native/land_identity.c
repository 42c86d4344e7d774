// Recognising files, and opening folders of the root: always from its descriptor, never through a link, never onto
// another mount.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

struct identity identity_of(const struct stat *facts) {
  return (struct identity){
      .kind = files_kind(facts->st_mode),
      .device = facts->st_dev,
      .inode = facts->st_ino,
      .bytes = (uint64_t)facts->st_size,
      .modified = nanoseconds(&facts->st_mtim),
      .changed = nanoseconds(&facts->st_ctim),
      .mode = facts->st_mode & 07777,
      .owner = facts->st_uid,
      .group = facts->st_gid,
      .links = facts->st_nlink,
  };
}

int identity_at(int folder, const char *name, struct identity *into) {
  struct stat facts;
  if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    *into = identity_of(&facts);
    return 0;
  }
  *into = (struct identity){.kind = kind_none};
  return errno == ENOENT ? 0 : -1;
}

bool identity_same(const struct identity *left, const struct identity *right) {
  if (left->kind != right->kind || left->device != right->device || left->inode != right->inode) return false;
  if (left->kind == kind_folder || left->kind == kind_none) return true;
  return left->bytes == right->bytes && left->modified == right->modified && left->mode == right->mode &&
         left->owner == right->owner && left->group == right->group;
}

void identity_write(struct writer *writer, const struct identity *identity) {
  write_u8(writer, identity->kind);
  if (identity->kind == kind_none) return;
  write_u64(writer, identity->device);
  write_u64(writer, identity->inode);
  write_u64(writer, identity->bytes);
  write_u64(writer, identity->modified);
  write_u64(writer, identity->changed);
  write_u32(writer, identity->mode);
  write_u32(writer, identity->owner);
  write_u32(writer, identity->group);
  write_u64(writer, identity->links);
}

struct identity identity_read(struct reader *reader) {
  struct identity identity = {.kind = read_u8(reader)};
  if (identity.kind == kind_none) return identity;
  if (identity.kind > kind_other) reader->failed = true;
  identity.device = read_u64(reader);
  identity.inode = read_u64(reader);
  identity.bytes = read_u64(reader);
  identity.modified = read_u64(reader);
  identity.changed = read_u64(reader);
  identity.mode = read_u32(reader);
  identity.owner = read_u32(reader);
  identity.group = read_u32(reader);
  identity.links = read_u64(reader);
  return identity;
}

int folder_open(struct folder_cache *cache, const char *path, size_t length) {
  if (length == 0) return cache->base;
  if (cache->descriptor >= 0 && cache->length == length && memcmp(cache->path, path, length) == 0)
    return cache->descriptor;
  folder_close(cache);
  if (length >= sizeof cache->path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(cache->path, path, length);
  cache->path[length] = 0;
  cache->length = length;
  cache->descriptor = files_open_here(cache->base, cache->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return cache->descriptor;
}

void folder_close(struct folder_cache *cache) {
  if (cache->descriptor >= 0) close(cache->descriptor);
  cache->descriptor = -1;
}

size_t parent_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path);
}

const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}
