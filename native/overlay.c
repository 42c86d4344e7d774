// An overlay is mounted from fixed private paths, because a project's path may hold characters that mean something in
// the options of a mount. Afterwards those paths are unmounted: nothing inside reaches a layer but through the overlay.
#include "overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

// bubblewrap makes the first as a tmpfs of its own and binds the next two below it.
#define LAYERS "/run/ambit/layers"
#define LOWER LAYERS "/lower"
#define DRAFT LAYERS "/draft"
#define UPPER DRAFT "/upper"
#define WORK DRAFT "/work"
#define MASK LAYERS "/mask"

enum { clock_waits_max = 500, clock_wait_nanoseconds = 1000000 };

static int close_keeping(int descriptor) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static int open_folder(const char *path) {
  return kernel_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, resolve_no_links | resolve_no_magic_links);
}

static int whiteout(int folder, const char *name) {
  // No capability is asked for: a device 0:0 is no device, only a mark of the overlay.
  if (mknodat(folder, name, S_IFCHR, makedev(0, 0)) == 0) return 0;
  struct stat found;
  if (errno != EEXIST || fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (S_ISCHR(found.st_mode)) return 0;
  errno = EEXIST;
  return -1;
}

enum step { step_failed = -1, step_ends, step_down };

// One folder on the way to a masked name. Where the real root has none, the whiteout stands there already: nothing is
// hidden that exists, and what appears later stays hidden. A link or a file is left alone: the owner names the place a
// link leads to, and below a file there is nothing.
static enum step mask_folder(int lower, const char *prefix, int folder, const char *name) {
  const uint64_t resolve = resolve_beneath | resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(lower, prefix, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, resolve);
  if (place < 0) {
    if (errno == ELOOP || errno == ENOTDIR) return step_ends;
    if (errno != ENOENT && errno != EACCES) return step_failed;
    return whiteout(folder, name) == 0 ? step_ends : step_failed;
  }
  struct stat found;
  const int known = fstat(place, &found);
  close_keeping(place);
  if (known != 0) return step_failed;
  if (!S_ISDIR(found.st_mode)) return step_ends;
  if (mkdirat(folder, name, 0700) != 0) return errno == EEXIST ? step_down : step_failed;
  // A program sees the mode of the topmost folder: it must not be wider than the real one.
  return fchmodat(folder, name, found.st_mode & 0777, 0) == 0 ? step_down : step_failed;
}

static int mask_name(int lower, int mask, const char *path) {
  char prefix[path_bytes_max + 1];
  strcpy(prefix, path);  // Its length was looked at when it was parsed.
  int folder = fcntl(mask, F_DUPFD_CLOEXEC, 3);
  char *name = prefix;
  for (char *slash; folder >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
    *slash = 0;
    const enum step step = mask_folder(lower, prefix, folder, name);
    if (step != step_down) {
      close_keeping(folder);
      return step == step_ends ? 0 : -1;
    }
    const int next = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close_keeping(folder);
    // A whiteout there hides this name, too.
    if (next < 0) return errno == ENOTDIR ? 0 : -1;
    folder = next;
    *slash = '/';
  }
  if (folder < 0) return -1;
  const int result = whiteout(folder, name);
  close_keeping(folder);
  return result;
}

// The top of an overlay has the mode of its topmost layer.
static int copy_mode(int lower, const char *path) {
  struct stat found;
  return fstat(lower, &found) != 0 ? -1 : chmod(path, found.st_mode & 0777);
}

static int make_mask(const struct overlay_request *request, int lower) {
  if (request->mask_count == 0) return 0;
  if (mkdir(MASK, 0700) != 0 || copy_mode(lower, MASK) != 0) return -1;
  const int mask = open_folder(MASK);
  if (mask < 0) return -1;
  int result = 0;
  for (size_t at = 0; result == 0 && at < request->mask_count; at++)
    result = mask_name(lower, mask, request->masks[at]);
  close_keeping(mask);
  return result;
}

// Without user attributes an overlay could not say which folders replace those below them.
static int try_attributes(void) {
  static const char name[] = "user.ambit";
  if (setxattr(DRAFT, name, "", 0, 0) != 0) return -1;
  return removexattr(DRAFT, name);
}

static int configure(int context, const struct overlay_request *request) {
  const char *lower = request->mask_count > 0 ? MASK ":" LOWER : LOWER;
  if (kernel_fsconfig(context, fs_set_string, "lowerdir", lower) != 0) return -1;
  if (request->mode == overlay_draft) {
    if (kernel_fsconfig(context, fs_set_string, "upperdir", UPPER) != 0) return -1;
    if (kernel_fsconfig(context, fs_set_string, "workdir", WORK) != 0) return -1;
    // No flush of the whole file system below when it is unmounted, and none for a program: the lander flushes what it
    // lands or keeps. A kernel without the option flushes more, and nothing else is different.
    (void)kernel_fsconfig(context, fs_set_flag, "volatile", NULL);
  }
  if (kernel_fsconfig(context, fs_set_flag, "userxattr", NULL) != 0) return -1;
  return kernel_fsconfig(context, fs_create, NULL, NULL);
}

static int make_overlay(const struct overlay_request *request) {
  const int context = kernel_fsopen("overlay");
  if (context < 0) return -1;
  const unsigned read_only = request->mode == overlay_draft ? 0 : mount_read_only;
  int tree = -1;
  if (configure(context, request) == 0)
    tree = kernel_fsmount(context, read_only | mount_no_setuid | mount_no_devices);
  close_keeping(context);
  return tree;
}

// Privileged (SYS_ADMIN over this sandbox's own mounts), and safe: the mount point is opened without links, and what is
// mounted on it is the owner's root with less in it.
static int put_in_place(const struct overlay_request *request) {
  const int tree = make_overlay(request);
  if (tree < 0) return -1;
  const int place = open_folder(request->path);
  if (place < 0) return close_keeping(tree);
  const int result = kernel_move_mount(tree, "", place, "", move_from_empty_path | move_to_empty_path);
  close_keeping(place);
  close_keeping(tree);
  return result;
}

// Not detached but unmounted: where something still uses a layer, the set-up fails.
static int remove_layers(const struct overlay_request *request) {
  if (umount2(LOWER, UMOUNT_NOFOLLOW) != 0) return -1;
  if (request->mode == overlay_draft && umount2(DRAFT, UMOUNT_NOFOLLOW) != 0) return -1;
  return umount2(LAYERS, UMOUNT_NOFOLLOW);
}

static uint64_t coarse_now(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int overlay_mount(const struct overlay_request *request, uint64_t *start, const char **stage) {
  *start = 0;
  if (request->path == NULL) return 0;
  *stage = "overlay lower";
  const int lower = open_folder(LOWER);
  if (lower < 0) return -1;
  *stage = "overlay attributes";
  int result = request->mode == overlay_draft ? try_attributes() : 0;
  if (result == 0 && request->mode == overlay_draft) {
    *stage = "overlay draft";
    result = copy_mode(lower, UPPER);
  }
  if (result == 0) {
    *stage = "overlay mask";
    result = make_mask(request, lower);
  }
  close_keeping(lower);
  if (result != 0) return -1;
  *start = coarse_now();
  *stage = "overlay mount";
  if (put_in_place(request) != 0) return -1;
  *stage = "overlay layers";
  return remove_layers(request);
}

int overlay_wait(uint64_t start) {
  if (start == 0) return 0;
  const struct timespec pause = {0, clock_wait_nanoseconds};
  for (int waits = 0; waits < clock_waits_max; waits++) {
    if (coarse_now() > start) return 0;
    nanosleep(&pause, NULL);
  }
  errno = ETIME;
  return -1;
}
