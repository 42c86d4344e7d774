// The machine's settings and its own state, as /proc and /sys show them.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "probe.h"

// Opened, never written.
static void open_for_writing(const char *path) { judge(open(path, O_WRONLY | O_CLOEXEC), path); }
static void open_for_reading(const char *path) {
  char text[64];
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) refused(path);
  long length = read(fd, text, sizeof text);
  if (length < 0) refused(path);
  if (length == 0) blocked("empty", "%s", path);
  open_way("read", "%s: %ld bytes", path, length);
}

// Asked from the kernel: without namespaces a program does not read its own status file.
uint64_t held_capabilities(const char *set) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0}, {0}};
  if (syscall(SYS_capget, &header, data) < 0) return ~0UL;
  uint64_t held = 0;
  for (int at = 0; at < 64; at++) {
    const uint32_t bit = 1U << (at % 32);
    const struct __user_cap_data_struct *half = &data[at / 32];
    bool is_held = false;
    if (strcmp(set, "CapInh") == 0) is_held = (half->inheritable & bit) != 0;
    else if (strcmp(set, "CapPrm") == 0) is_held = (half->permitted & bit) != 0;
    else if (strcmp(set, "CapEff") == 0) is_held = (half->effective & bit) != 0;
    else if (strcmp(set, "CapBnd") == 0) is_held = prctl(PR_CAPBSET_READ, at, 0, 0, 0) == 1;
    else is_held = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, at, 0, 0) == 1;
    if (is_held) held |= 1UL << at;
  }
  return held;
}

static void capabilities(const char *set) {
  const uint64_t held = held_capabilities(set);
  if (held == 0) blocked("none", "%s", set);
  open_way("held", "%s %lx", set, (unsigned long)held);
}

static void privileges(const char *argument) {
  (void)argument;
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) blocked("set", "NoNewPrivs 1");
  open_way("unset", "NoNewPrivs 0");
}

static void filter(const char *argument) {
  (void)argument;
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2) blocked("set", "Seccomp 2");
  open_way("unset", "no filter");
}

static void groups(const char *argument) {
  (void)argument;
  gid_t held[64];
  int count = getgroups(64, held);
  for (int at = 0; at < count; at++)
    if (held[at] != getgid() && held[at] != 65534) open_way("held", "group %u", held[at]);
  blocked("none", "%d groups, none beside our own", count);
}

static void raise_capability(const char *argument) {
  (void)argument;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{1u << CAP_NET_ADMIN, 1u << CAP_NET_ADMIN, 0}, {0, 0, 0}};
  judge(syscall(SYS_capset, &header, data), "capset");
}

static void raise_ambient(const char *argument) {
  (void)argument;
  judge(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0), "PR_CAP_AMBIENT_RAISE");
}

static void other_user(const char *argument) {
  (void)argument;
  if (setresuid(54321, 54321, 54321) < 0) refused("setresuid");
  open_way("changed", "another user");
}

static void write_id_map(const char *argument) {
  (void)argument;
  int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
  if (fd < 0) refused("/proc/self/uid_map");
  judge(write(fd, "0 0 1\n", 6), "/proc/self/uid_map");
}

static void save_from_killer(const char *argument) {
  (void)argument;
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) refused("/proc/self/oom_score_adj");
  judge(write(fd, "-1000", 5), "/proc/self/oom_score_adj");
}

static void raise_limit(const char *argument) {
  (void)argument;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max == RLIM_INFINITY) open_way("unset", "no limit");
  limit.rlim_max++;
  judge(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit beyond the hard limit");
}

static void raise_priority(const char *argument) {
  (void)argument;
  judge(setpriority(PRIO_PROCESS, 0, -20), "setpriority -20");
}

const struct attempt proc_attempts[] = {
    {"proc-write", open_for_writing},
    {"proc-read", open_for_reading},
    {"capabilities", capabilities},
    {"no-new-privileges", privileges},
    {"filter", filter},
    {"groups", groups},
    {"capset", raise_capability},
    {"ambient", raise_ambient},
    {"setresuid", other_user},
    {"uid-map", write_id_map},
    {"oom-score", save_from_killer},
    {"raise-limit", raise_limit},
    {"raise-priority", raise_priority},
    {NULL, NULL},
};
