// Emptying a folder that something hostile filled: any shape, any modes, any names. One descriptor at a time walks down
// and comes back up, nothing is ever followed, and both depth and number of entries have an end. Everything that could
// interfere is dead by then; should something be left that cannot be removed, the owner is told and ends the sandbox.
#include "empty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kernel.h"

// Landlock looks at every folder above a name for every step, so depth costs its square: what lies deeper goes with the
// whole sandbox, which costs nothing.
enum { entries_max = 4194304, depth_max = 256, entries_between_questions = 1024 };

// The largest number is "no limit" here as it is elsewhere; zero asks for nothing.
static bool is_bounded(uint32_t bytes_max) {
  return bytes_max != 0 && bytes_max != UINT32_MAX;
}

static int fits(const struct emptied *folder, int place) {
  if (!is_bounded(folder->bytes_max)) return 0;
  struct statvfs file_system;
  if (fstatvfs(place, &file_system) != 0) return -1;
  const uint64_t page = file_system.f_frsize == 0 ? 1 : file_system.f_frsize;
  const uint64_t pages = (folder->bytes_max + page - 1) / page;
  // A file system without blocks is one without a limit.
  if (file_system.f_blocks != 0 && file_system.f_blocks <= pages) return 0;
  errno = EFBIG;
  return -1;
}

// Takes a descriptor of the name alone and gives one to read from. The program that made the folder may have left us no
// permission to do so; the folder is ours, so we may set its mode.
static int open_listing(int place) {
  int folder = openat(place, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 && errno == EACCES) {
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", place);
    if (chmod(self, 0700) == 0) folder = openat(place, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  const int error = errno;
  close(place);
  errno = error;
  return folder;
}

// Never into another mount: what is mounted there is not part of the folder that is emptied.
static int open_below(int parent, const char *name) {
  const uint64_t resolve = resolve_no_mounts | resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, resolve);
  return place < 0 ? -1 : open_listing(place);
}

static int open_emptied(const struct emptied *folder) {
  const uint64_t resolve = resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(AT_FDCWD, folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, resolve);
  return place < 0 ? -1 : open_listing(place);
}

// Only the last name is made, in a folder reached without a link.
static int make_name(const char *path) {
  char parent[path_bytes_max + 1];
  const char *slash = strrchr(path, '/');
  const size_t length = slash == path ? 1 : (size_t)(slash - path);
  memcpy(parent, path, length);
  parent[length] = 0;
  const uint64_t links = resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, links);
  if (place < 0) return -1;
  const int result = mkdirat(place, slash + 1, 0700);
  const int error = errno;
  close(place);
  errno = error;
  return result == 0 || error == EEXIST ? 0 : -1;
}

static int make(const struct emptied *folder) {
  if (make_name(folder->path) != 0) return -1;
  const int place = open_emptied(folder);
  if (place < 0) return -1;
  const int result = fchmod(place, 0700) != 0 || fits(folder, place) != 0 ? -1 : 0;
  const int error = errno;
  close(place);
  errno = error;
  return result;
}

int emptied_make(const struct emptied *folders, size_t count) {
  for (size_t at = 0; at < count; at++)
    if (make(&folders[at]) != 0) return -1;
  return 0;
}

struct walk {
  int folder;
  size_t depth, entries;
  bool (*interrupted)(void *);
  void *about;
};

struct directory_entry {
  uint64_t number;
  int64_t offset;
  uint16_t length;
  uint8_t kind;
  char name[];
};

static bool is_itself(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

enum removal { removed, goes_down, not_removable };

static enum removal remove_entry(struct walk *walk, const struct directory_entry *entry) {
  if (entry->kind != DT_DIR && unlinkat(walk->folder, entry->name, 0) == 0) return removed;
  if (unlinkat(walk->folder, entry->name, AT_REMOVEDIR) == 0) return removed;
  if (errno == EACCES) {
    // The folder itself may have lost its write bit.
    if (fchmod(walk->folder, 0700) != 0) return not_removable;
    if (entry->kind != DT_DIR && unlinkat(walk->folder, entry->name, 0) == 0) return removed;
    if (unlinkat(walk->folder, entry->name, AT_REMOVEDIR) == 0) return removed;
  }
  if ((errno != ENOTEMPTY && errno != EEXIST) || walk->depth == depth_max) return not_removable;
  const int below = open_below(walk->folder, entry->name);
  if (below < 0) return not_removable;
  close(walk->folder);
  walk->folder = below;
  walk->depth++;
  return goes_down;
}

enum listing { listing_empty, listing_again, listing_failed };

// Removes what it can of the current folder; goes down as soon as something is not empty.
static enum listing remove_listed(struct walk *walk) {
  _Alignas(struct directory_entry) char buffer[16384];
  if (lseek(walk->folder, 0, SEEK_SET) != 0) return listing_failed;
  bool any = false;
  for (;;) {
    const long count = syscall(SYS_getdents64, walk->folder, buffer, sizeof buffer);
    if (count < 0) return listing_failed;
    // What is removed while listing can make a listing skip: only a look that finds nothing is the end.
    if (count == 0) return any ? listing_again : listing_empty;
    for (long at = 0; at < count;) {
      const struct directory_entry *entry = (const struct directory_entry *)(const void *)(buffer + at);
      at += entry->length;
      if (is_itself(entry->name)) continue;
      any = true;
      if (++walk->entries > entries_max) return listing_failed;
      if (walk->entries % entries_between_questions == 0 && walk->interrupted(walk->about)) return listing_failed;
      const enum removal outcome = remove_entry(walk, entry);
      if (outcome == not_removable) return listing_failed;
      if (outcome == goes_down) return listing_again;
    }
  }
}

// Takes the descriptor over.
static bool empty_one(int folder, bool (*interrupted)(void *), void *about) {
  struct walk walk = {folder, 0, 0, interrupted, about};
  enum listing outcome;
  for (;;) {
    outcome = remove_listed(&walk);
    if (outcome == listing_failed || (outcome == listing_empty && walk.depth == 0)) break;
    if (outcome == listing_again) continue;
    const int above = openat(walk.folder, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (above < 0) {
      outcome = listing_failed;
      break;
    }
    close(walk.folder);
    walk.folder = above;
    walk.depth--;
  }
  close(walk.folder);
  return outcome == listing_empty;
}

bool emptied_again(const struct emptied *folders, size_t count, bool (*interrupted)(void *), void *about) {
  for (size_t at = 0; at < count; at++) {
    const int folder = open_emptied(&folders[at]);
    if (folder >= 0 && !empty_one(folder, interrupted, about)) return false;
    // One that is gone, or that a command put something else in place of, lies in another one that is emptied, or else
    // cannot be made again below.
    if (folder < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return false;
  }
  return emptied_make(folders, count) == 0;
}
