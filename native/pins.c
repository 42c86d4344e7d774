// Pins are mounts onto descriptors. A path is opened once, beneath its base and without a single link, and from then on
// only the descriptor is used: whatever the tree's owner plants or renames meanwhile, nothing outside it is touched.
#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

enum { attribute_mount_root = 0x2000 };

static int close_keeping(int descriptor) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

// Opened anew for every pin: an earlier pin may have put a mount over the base or above it.
static int open_base(const struct pin *pin) {
  const uint64_t resolve = resolve_no_links | resolve_no_magic_links;
  return kernel_openat2(AT_FDCWD, pin->base, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, resolve);
}

// Mounts are crossed on purpose, our own among them; links and ways upward never are.
static int open_beneath(int base, const char *path) {
  return kernel_openat2(base, path, O_PATH | O_CLOEXEC, 0, resolve_beneath | resolve_no_links | resolve_no_magic_links);
}

static bool is_absent(int error) {
  return error == ENOENT || error == ENOTDIR;
}

static size_t depth_of(const struct pin *pin) {
  size_t depth = 0;
  for (const char *at = pin->base; *at != 0; at++) depth += *at == '/' && at[1] != 0;
  for (const char *at = pin->path; *at != 0; at++) depth += *at == '/';
  return depth + 1;
}

// The folder a pin lies in, and its name there.
static int open_parent(int base, const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  *name = slash == NULL ? path : slash + 1;
  if (slash == NULL) return fcntl(base, F_DUPFD_CLOEXEC, 3);
  char parent[path_bytes_max + 1];
  memcpy(parent, path, (size_t)(slash - path));
  parent[slash - path] = 0;
  return open_beneath(base, parent);
}

// Whether the folder refuses us as it refuses every command, which has our user and groups. Not where it is our own:
// then a command could change its mode and write.
static bool is_closed_to_us(int folder, int error) {
  struct stat found;
  return (error == EACCES || error == EPERM) && fstat(folder, &found) == 0 && found.st_uid != geteuid();
}

// 1: made. 0: it is there already, or cannot be here (its folder is missing, a link, or a place nobody writes to).
static int make_one(int base, const struct pin *pin) {
  const char *name;
  const int parent = open_parent(base, pin->path, &name);
  if (parent < 0) return is_absent(errno) || errno == ELOOP ? 0 : -1;
  int result;
  if (pin->absent == pin_make_folder) {
    result = mkdirat(parent, name, 0755);
  } else {
    // O_EXCL: a name that exists in any form, a dangling link too, is not touched.
    const int file = openat(parent, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0644);
    result = file < 0 ? -1 : close(file);
  }
  if (result != 0) {
    const int error = errno;
    const bool closed = is_closed_to_us(parent, error);
    close(parent);
    errno = error;
    return closed || error == EEXIST || error == EROFS || is_absent(error) ? 0 : -1;
  }
  close(parent);
  return 1;
}

// Everything mounted below comes along, so that what was hidden or held there stays so.
static int clone_of(int place, uint64_t attributes) {
  const int tree = kernel_open_tree(place, "", open_tree_clone | open_tree_cloexec | at_empty_path | at_recursive);
  if (tree < 0) return -1;
  if (kernel_mount_setattr(tree, "", at_empty_path | at_recursive, attributes) != 0) return close_keeping(tree);
  return tree;
}

// A file system of its own with nothing in it and room for nothing.
static int empty_folder(void) {
  const int context = kernel_fsopen("tmpfs");
  if (context < 0) return -1;
  int tree = -1;
  if (kernel_fsconfig(context, fs_set_string, "mode", "0555") == 0 &&
      kernel_fsconfig(context, fs_set_string, "nr_inodes", "1") == 0 &&
      kernel_fsconfig(context, fs_set_string, "size", "4096") == 0 &&
      kernel_fsconfig(context, fs_create, NULL, NULL) == 0)
    tree = kernel_fsmount(context, mount_read_only | mount_no_setuid | mount_no_devices | mount_no_programs);
  close_keeping(context);
  return tree;
}

// The null device reads as an empty file. It stays a device, so the mount must allow one.
static int empty_file(void) {
  const int tree = kernel_open_tree(AT_FDCWD, "/dev/null", open_tree_clone | open_tree_cloexec);
  if (tree < 0) return -1;
  if (kernel_mount_setattr(tree, "", at_empty_path, mount_read_only | mount_no_setuid | mount_no_programs) != 0)
    return close_keeping(tree);
  return tree;
}

static int cover_for(const struct pin *pin, int place, bool is_folder) {
  switch ((enum pin_action)pin->action) {
    case pin_read_only:
      return clone_of(place, mount_read_only | mount_no_setuid | mount_no_devices);
    case pin_held:
      return clone_of(place, mount_no_setuid | mount_no_devices);
    case pin_masked:
      return is_folder ? empty_folder() : empty_file();
  }
  errno = EINVAL;
  return -1;
}

// Whether the name leads to a mount now. If the tree's owner renamed the place while we mounted on it, it does not.
static int look_again(const struct pin *pin) {
  const int base = open_base(pin);
  if (base < 0) return -1;
  const int place = open_beneath(base, pin->path);
  close_keeping(base);
  if (place < 0) return -1;
  struct statx found;
  const int result = statx(place, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &found);
  close_keeping(place);
  if (result != 0) return -1;
  if ((found.stx_attributes & found.stx_attributes_mask & attribute_mount_root) != 0) return 0;
  errno = ESTALE;
  return -1;
}

static int hold_one(const struct pin *pin, uint8_t *outcome) {
  const int base = open_base(pin);
  // A base that is missing or reached through a link is the owner's mistake: nothing below it would be held.
  if (base < 0) return -1;
  const int place = open_beneath(base, pin->path);
  close_keeping(base);
  if (place < 0) {
    *outcome = errno == ELOOP ? pin_is_link : pin_left_absent;
    return errno == ELOOP || is_absent(errno) ? 0 : -1;
  }
  struct stat found;
  if (fstat(place, &found) != 0) return close_keeping(place);
  const int cover = cover_for(pin, place, S_ISDIR(found.st_mode));
  if (cover < 0) return close_keeping(place);
  // Privileged (SYS_ADMIN over this sandbox's own mounts), and safe: both ends are descriptors opened without links,
  // the mount is seen in this mount namespace only, and it shows either the same place with fewer rights or nothing at
  // all.
  const int result = kernel_move_mount(cover, "", place, "", move_from_empty_path | move_to_empty_path);
  close_keeping(cover);
  close_keeping(place);
  if (result != 0 || look_again(pin) != 0) return -1;
  if (*outcome != pin_made_and_held) *outcome = pin_is_held;
  return 0;
}

static int make_absent(const struct pin *pin, uint8_t *outcome) {
  if (pin->absent == pin_leave) return 0;
  const int base = open_base(pin);
  if (base < 0) return -1;
  const int made = make_one(base, pin);
  close_keeping(base);
  if (made > 0) *outcome = pin_made_and_held;
  return made < 0 ? -1 : 0;
}

// Order of depth, and of arrival among equals: what lies deeper is mounted later and so ends up on top.
static size_t *by_depth(const struct pin *pins, size_t count) {
  size_t *order = calloc(2 * count, sizeof *order);
  if (order == NULL) return NULL;
  size_t *depths = order + count;
  for (size_t at = 0; at < count; at++) {
    const size_t depth = depth_of(&pins[at]);
    size_t place = at;
    for (; place > 0 && depths[place - 1] > depth; place--) {
      order[place] = order[place - 1];
      depths[place] = depths[place - 1];
    }
    order[place] = at;
    depths[place] = depth;
  }
  return order;
}

int pins_hold(const struct pin *pins, size_t count, uint8_t *outcomes, size_t *at_fault) {
  if (count == 0) return 0;
  size_t *order = by_depth(pins, count);
  if (order == NULL) return -1;
  int result = 0;
  // All that is to be made is made before anything is mounted: a parent held read-only cannot be written to any more.
  for (size_t at = 0; result == 0 && at < count; at++)
    result = make_absent(&pins[*at_fault = order[at]], &outcomes[order[at]]);
  for (size_t at = 0; result == 0 && at < count; at++)
    result = hold_one(&pins[*at_fault = order[at]], &outcomes[order[at]]);
  const int error = errno;
  free(order);
  errno = error;
  return result;
}
