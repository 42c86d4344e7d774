// Executable memory descriptors: switched off by a setting of the pid namespace, where the kernel has one and the
// caller may change it, or by the owner's seccomp program. What counts is what can be done at the end.
#include "memfd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

enum { memfd_cloexec = 1, memfd_exec = 0x10 };

void memfd_forbid(void) {
  // Privileged (SYS_ADMIN), and safe: the setting belongs to this sandbox's own pid namespace and can only be made
  // stricter. bubblewrap covers /proc/sys with a read-only mount; a copy of /proc without what is mounted on it is
  // not covered; no other process sees the copy, and it ends with the descriptor.
  const int tree = kernel_open_tree(AT_FDCWD, "/proc", open_tree_clone | open_tree_cloexec);
  if (tree < 0) return;
  const int setting = openat(tree, "sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (setting >= 0) {
    // 2: none can be executed, and asking for one that can is refused. A kernel that refuses leaves it as it was.
    const ssize_t written = write(setting, "2", 1);
    (void)written;
    close(setting);
  }
  close(tree);
}

static bool is_executable(unsigned flags) {
  const int file = (int)syscall(SYS_memfd_create, "", flags);
  if (file < 0) return false;
  struct stat found;
  const bool executable = fstat(file, &found) != 0 || (found.st_mode & 0111) != 0;
  close(file);
  return executable;
}

bool memfd_is_held(void) {
  return !is_executable(memfd_cloexec) && !is_executable(memfd_cloexec | memfd_exec);
}
