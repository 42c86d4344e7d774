// Giving up what a command must not have.
#include "drop.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

enum { kept_max = 8, capabilities_max = 64 };

int drop_descriptors(const int *kept, size_t count) {
  int sorted[kept_max];
  if (count > kept_max) {
    errno = EINVAL;
    return -1;
  }
  for (size_t at = 0; at < count; at++) {
    size_t place = at;
    for (; place > 0 && sorted[place - 1] > kept[at]; place--) sorted[place] = sorted[place - 1];
    sorted[place] = kept[at];
  }
  unsigned first = 3;
  for (size_t at = 0; at < count; at++) {
    const unsigned keep = (unsigned)sorted[at];
    if (keep > first && kernel_close_range(first, keep - 1, 0) != 0) return -1;
    if (keep >= first) first = keep + 1;
  }
  return kernel_close_range(first, ~0u, 0);
}

int drop_dumpable(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int drop_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Every capability the kernel knows leaves the bounding set, so that no later exec can bring one back.
static int drop_bounding_set(void) {
  for (unsigned long capability = 0; capability < capabilities_max; capability++) {
    const int held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) return 0;  // Past the last one.
    if (held == 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      // Without SETPCAP it stays: the owner gives it to a sandbox, and a file worker never had capabilities to lose.
      return -1;
    }
  }
  return 0;
}

int drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
  memset(data, 0, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  // SETPCAP is what emptying the bounding set takes, so it goes first and the capabilities themselves after it. Who has
  // no SETPCAP cannot; with no_new_privs set and nothing permitted, an exec by an ordinary user gains nothing anyway.
  const unsigned right = 1u << CAP_SETPCAP;
  if ((data[0].effective & right) != 0 && drop_bounding_set() != 0) return -1;
  memset(data, 0, sizeof data);
  if (syscall(SYS_capset, &header, data) != 0) return -1;
  memset(data, 0xff, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  for (size_t at = 0; at < 2; at++) {
    if ((data[at].effective | data[at].permitted | data[at].inheritable) != 0) {
      errno = EPERM;
      return -1;
    }
  }
  return 0;
}
