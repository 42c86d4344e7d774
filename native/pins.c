// Pins are mounts onto descriptors. A path is opened once, beneath its base and without a single link, and from then on
// only the descriptor is used. They are for trees whose names cannot be renamed or replaced, such as /proc.
#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

static int close_keeping(int descriptor) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

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
    case pin_masked:
      return is_folder ? empty_folder() : empty_file();
  }
  errno = EINVAL;
  return -1;
}

static int hold_one(const struct pin *pin, uint8_t *outcome) {
  const int base = open_base(pin);
  // A base that is missing or reached through a link is the owner's mistake: nothing below it would be held.
  if (base < 0) return -1;
  const int place = open_beneath(base, pin->path);
  close_keeping(base);
  if (place < 0) {
    *outcome = pin_left_absent;
    return is_absent(errno) ? 0 : -1;
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
  if (result == 0) *outcome = pin_is_held;
  return result;
}

int pins_hold(const struct pin *pins, size_t count, uint8_t *outcomes, size_t *at_fault) {
  for (size_t at = 0; at < count; at++) {
    *at_fault = at;
    if (hold_one(&pins[at], &outcomes[at]) != 0) return -1;
  }
  return 0;
}
