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

// One line of our own status file, unchanged.
static const char *status_line(const char *name) {
  static char text[8192];
  if (take("/proc/self/status", text, sizeof text) < 0) untried("/proc/self/status: %s", strerror(errno));
  char *at = strstr(text, name);
  if (at == NULL) untried("no %s", name);
  at += strlen(name);
  at += strspn(at, ":\t ");
  at[strcspn(at, "\n")] = 0;
  return at;
}

static void capabilities(const char *set) {
  const char *held = status_line(set);
  if (strspn(held, "0") == strlen(held)) blocked("none", "%s %s", set, held);
  open_way("held", "%s %s", set, held);
}

static void privileges(const char *argument) {
  (void)argument;
  if (strcmp(status_line("NoNewPrivs"), "1") == 0) blocked("set", "NoNewPrivs 1");
  open_way("unset", "NoNewPrivs 0");
}

static void filter(const char *argument) {
  (void)argument;
  if (strcmp(status_line("Seccomp"), "2") == 0) blocked("set", "Seccomp 2");
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
