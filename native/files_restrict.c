// What the worker gives up before its first request. It differs from a sandbox in one thing: where the owner is root,
// the worker stays as able as root to read, write and keep the owner of files in its trees, and able to nothing else.
#include "files.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drop.h"

enum { capabilities_max = 64 };

static const uint32_t kept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER;

static int keep_few_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
  memset(data, 0, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  if ((data[0].effective & 1u << CAP_SETPCAP) != 0) {
    for (unsigned long capability = 0; capability < capabilities_max; capability++)
      if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return -1;
  }
  const uint32_t left = data[0].permitted & kept;
  memset(data, 0, sizeof data);
  data[0].effective = left;
  data[0].permitted = left;
  if (syscall(SYS_capset, &header, data) != 0) return -1;
  memset(data, 0xff, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  if (data[0].permitted == left && data[1].permitted == 0 && (data[0].inheritable | data[1].inheritable) == 0) return 0;
  errno = EPERM;
  return -1;
}

int files_restrict(const struct restrictions *restrictions, const char **stage) {
  *stage = "limits";
  if (limits_apply(restrictions->limits, restrictions->limit_count) != 0) return -1;
  *stage = "not dumpable";
  if (drop_dumpable() != 0) return -1;
  *stage = "no new privileges";
  if (drop_new_privileges() != 0) return -1;
  *stage = "landlock";
  if (!restrictions->landlock_asked && restrictions->landlock.count > 0) {
    errno = EINVAL;
    return -1;
  }
  if (restrictions->landlock_asked && landlock_restrict(&restrictions->landlock) != 0) return -1;
  *stage = "capabilities";
  if (keep_few_capabilities() != 0) return -1;
  *stage = "seccomp";
  if (restrictions->seccomp_asked && seccomp_install(restrictions->program, restrictions->program_count) != 0) return -1;
  return 0;
}
