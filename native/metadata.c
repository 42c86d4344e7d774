// The name of a file is resolved once, to a descriptor of ours; whether it lies in a tree and what is done to it are about
// that descriptor. A command can move files among its trees only, so a file that is in one stays in one of them.
#include "metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

enum { number_fchmodat2 = 452 };

enum change { change_mode, change_owner, change_times };

// One call in the terms of the newest of its kind.
struct wish {
  enum change change;
  int folder;          // AT_FDCWD or a descriptor of the caller's
  bool has_path;       // false: the folder itself is meant
  uint64_t path;
  bool follows, allows_empty;
  uint64_t first, second;  // mode; user and group; address of the times
};

static int wrong(int error) {
  errno = error;
  return -1;
}

static int read_flags(struct wish *wish, uint64_t flags) {
  const unsigned known = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  if (((uint32_t)flags & ~known) != 0) return wrong(EINVAL);
  wish->follows = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  wish->allows_empty = (flags & AT_EMPTY_PATH) != 0;
  return 0;
}

static int read_wish(const struct call *call, struct wish *wish) {
  const uint64_t *given = call->arguments;
  *wish = (struct wish){.folder = AT_FDCWD, .has_path = true, .path = given[0], .follows = true};
  switch (call->number) {
#ifdef SYS_chmod
    case SYS_chmod:
      wish->first = given[1];
      return 0;
    case SYS_lchown:
      wish->follows = false;
      // fall through
    case SYS_chown:
      wish->change = change_owner;
      wish->first = given[1];
      wish->second = given[2];
      return 0;
#endif
    case SYS_fchmod:
      wish->has_path = false;
      wish->folder = (int)given[0];
      wish->first = given[1];
      return 0;
    case SYS_fchown:
      wish->change = change_owner;
      wish->has_path = false;
      wish->folder = (int)given[0];
      wish->first = given[1];
      wish->second = given[2];
      return 0;
    default:
      break;
  }
  wish->folder = (int)given[0];
  wish->path = given[1];
  switch (call->number) {
    case SYS_fchmodat:
      wish->first = given[2];
      return 0;
    case number_fchmodat2:
      wish->first = given[2];
      return read_flags(wish, given[3]);
    case SYS_fchownat:
      wish->change = change_owner;
      wish->first = given[2];
      wish->second = given[3];
      return read_flags(wish, given[4]);
    case SYS_utimensat:
      wish->change = change_times;
      wish->has_path = given[1] != 0;
      wish->first = given[2];
      return read_flags(wish, given[3]);
    default:
      return wrong(ENOSYS);
  }
}

static int open_descriptor(const struct call *call, int number) {
  char name[48];
  if (number == AT_FDCWD) snprintf(name, sizeof name, "/proc/%d/cwd", (int)call->thread);
  else if (number < 0) return wrong(EBADF);
  else snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)call->thread, number);
  const int found = open(name, O_PATH | O_CLOEXEC);
  return found < 0 && errno == ENOENT ? wrong(EBADF) : found;
}

// C libraries change the mode of a descriptor by this path.
static bool is_own_descriptor(const char *path, int *number) {
  static const char start[] = "/proc/self/fd/";
  if (strncmp(path, start, sizeof start - 1) != 0) return false;
  const char *digits = path + sizeof start - 1;
  const size_t length = strspn(digits, "0123456789");
  if (length == 0 || length > 9 || digits[length] != 0) return false;
  *number = (int)strtol(digits, NULL, 10);
  return true;
}

static int open_target(const struct call *call, const struct wish *wish) {
  char path[PATH_MAX];
  if (!wish->has_path) return open_descriptor(call, wish->folder);
  if (notice_text(call, wish->path, path, sizeof path) != 0) return -1;
  if (path[0] == 0) return wish->allows_empty ? open_descriptor(call, wish->folder) : wrong(ENOENT);
  int number = -1;
  if (is_own_descriptor(path, &number)) return open_descriptor(call, number);
  const int base = path[0] == '/' ? AT_FDCWD : open_descriptor(call, wish->folder);
  if (base < 0 && base != AT_FDCWD) return -1;
  const uint64_t flags = O_PATH | O_CLOEXEC | (wish->follows ? 0 : O_NOFOLLOW);
  const int found = kernel_openat2(base, path, flags, 0, resolve_no_magic_links);
  const int error = errno;
  if (base >= 0) close(base);
  errno = error;
  return found;
}

static bool is_within(const char *path, const char *tree) {
  const size_t length = strlen(tree);
  return strncmp(path, tree, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int check_place(int target, const char *const *trees, size_t count) {
  char name[40], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", target);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return -1;
  path[length] = 0;
  for (size_t at = 0; at < count; at++)
    if (is_within(path, trees[at])) return 0;
  return wrong(EPERM);
}

static int apply(const struct call *call, const struct wish *wish, int target) {
  char name[40];
  struct timespec times[2];
  snprintf(name, sizeof name, "/proc/self/fd/%d", target);
  switch (wish->change) {
    case change_mode: {
      struct stat status;
      if (fstat(target, &status) != 0) return -1;
      // The kernel refuses it for links too; by this name it would change what the link leads to.
      if (S_ISLNK(status.st_mode)) return wrong(EOPNOTSUPP);
      return chmod(name, (mode_t)wish->first & 07777);
    }
    case change_owner:
      return fchownat(target, "", (uid_t)wish->first, (gid_t)wish->second, AT_EMPTY_PATH);
    case change_times:
      if (wish->first != 0 && notice_copy(call, wish->first, times, sizeof times) != 0) return -1;
      return utimensat(target, "", wish->first == 0 ? NULL : times, AT_EMPTY_PATH);
  }
  return wrong(ENOSYS);
}

int metadata_change(const struct call *call, const char *const *trees, size_t count) {
  struct wish wish;
  if (read_wish(call, &wish) != 0) return -1;
  const int target = open_target(call, &wish);
  if (target < 0) return -1;
  int result = notice_is_valid(call) ? 0 : wrong(ESRCH);
  if (result == 0) result = check_place(target, trees, count);
  if (result == 0) result = apply(call, &wish, target);
  const int error = errno;
  close(target);
  errno = error;
  return result;
}
