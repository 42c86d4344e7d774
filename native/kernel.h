// System calls and numbers newer than the C library and headers of the oldest system we build on.
// Thin on purpose: each is the call itself, with its errno, and nothing else. The numbers are the same on every
// architecture, since all of them are younger than the common table.
#ifndef AMBIT_KERNEL_H
#define AMBIT_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  number_open_tree = 428,
  number_move_mount = 429,
  number_fsopen = 430,
  number_fsconfig = 431,
  number_fsmount = 432,
  number_pidfd_open = 434,
  number_close_range = 436,
  number_openat2 = 437,
  number_pidfd_getfd = 438,
  number_mount_setattr = 442,
  number_landlock_create_ruleset = 444,
  number_landlock_add_rule = 445,
  number_landlock_restrict_self = 446,
};

struct kernel_how {
  uint64_t flags, mode, resolve;
};
enum {
  resolve_no_mounts = 0x01,
  resolve_no_magic_links = 0x02,
  resolve_no_links = 0x04,
  resolve_beneath = 0x08,
};

struct kernel_mount_attributes {
  uint64_t set, clear, propagation, user_namespace;
};
enum {
  mount_read_only = 0x1,
  mount_no_setuid = 0x2,
  mount_no_devices = 0x4,
  mount_no_programs = 0x8,
};

enum {
  at_empty_path = 0x1000,
  at_recursive = 0x8000,
  open_tree_clone = 0x1,
  open_tree_cloexec = 02000000,
  move_from_empty_path = 0x4,
  move_to_empty_path = 0x40,
  fs_cloexec = 0x1,
  fs_set_flag = 0,
  fs_set_string = 1,
  fs_create = 6,
  close_range_cloexec = 0x4,
  pidfd_thread = 0200,
  rename_no_replace = 0x1,
  rename_exchange = 0x2,
};

// Old enough, but musl has had it only since 1.2.6.
static inline int kernel_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
  return (int)syscall(SYS_renameat2, from, name, to, new_name, flags);
}

static inline int kernel_openat2(int folder, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
  const struct kernel_how how = {flags, mode, resolve};
  return (int)syscall(number_openat2, folder, path, &how, sizeof how);
}

static inline int kernel_open_tree(int folder, const char *path, unsigned flags) {
  return (int)syscall(number_open_tree, folder, path, flags);
}

static inline int kernel_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags) {
  return (int)syscall(number_move_mount, from, from_path, to, to_path, flags);
}

static inline int kernel_mount_setattr(int folder, const char *path, unsigned flags, uint64_t set) {
  const struct kernel_mount_attributes attributes = {.set = set};
  return (int)syscall(number_mount_setattr, folder, path, flags, &attributes, sizeof attributes);
}

static inline int kernel_fsopen(const char *name) {
  return (int)syscall(number_fsopen, name, fs_cloexec);
}

static inline int kernel_fsconfig(int context, unsigned command, const char *key, const char *value) {
  return (int)syscall(number_fsconfig, context, command, key, value, 0);
}

static inline int kernel_fsmount(int context, unsigned attributes) {
  return (int)syscall(number_fsmount, context, fs_cloexec, attributes);
}

static inline int kernel_close_range(unsigned first, unsigned last, unsigned flags) {
  return (int)syscall(number_close_range, first, last, flags);
}

#endif
