// Makes whiteouts, devices 0:0, below a folder: the marks by which a draft says that a name is deleted. The names come from
// standard input, each ended by a zero byte; all but the last part of each is a folder that is there.
#include "whiteouts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "frame.h"
#include "kernel.h"

enum { path_bytes_max = 4096 };

// No link is followed on the way, and nothing that exists is replaced.
static bool make_whiteout(int folder, char *path) {
  char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  if (name[0] == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
    errno = EINVAL;
    return false;
  }
  int parent = folder;
  if (slash != NULL) {
    *slash = 0;
    parent = kernel_openat2(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                            resolve_beneath | resolve_no_links | resolve_no_magic_links);
    if (parent < 0) return false;
  }
  // No capability is asked for: a device 0:0 is no device.
  const bool made = mknodat(parent, name, S_IFCHR | 0600, makedev(0, 0)) == 0;
  const int error = errno;
  if (parent != folder) close(parent);
  errno = error;
  return made;
}

static int failed(const char *what) {
  dprintf(2, "%s: %s\n", what, strerror(errno));
  return exit_failed;
}

int whiteouts_main(int folder) {
  static char input[1 << 16];
  char path[path_bytes_max];
  size_t length = 0;
  for (;;) {
    const ssize_t count = read(0, input, sizeof input);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("input");
    if (count == 0) break;
    for (ssize_t at = 0; at < count; at++) {
      if (length == sizeof path) {
        errno = ENAMETOOLONG;
        return failed("name");
      }
      path[length++] = input[at];
      if (input[at] != 0) continue;
      if (!make_whiteout(folder, path)) return failed("whiteout");
      length = 0;
    }
  }
  if (length == 0) return 0;
  errno = EPROTO;
  return failed("input");
}
