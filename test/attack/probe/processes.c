// Other processes: pid 1 of the sandbox, and those of the machine.
#include <dirent.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "probe.h"

static pid_t target(const char *who) {
  return who != NULL && strcmp(who, "host") == 0 ? atoi(scene("pid")) : 1;
}

static void attach(const char *who) {
  pid_t pid = target(who);
  if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0) refused("PTRACE_ATTACH");
  // Detach again, or no process could end the sandbox.
  waitpid(pid, NULL, __WALL);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  open_way("attached", "PTRACE_ATTACH");
}

static void seize(const char *who) { judge(ptrace(PTRACE_SEIZE, target(who), 0, 0), "PTRACE_SEIZE"); }
static void trace_me(const char *argument) {
  (void)argument;
  judge(ptrace(PTRACE_TRACEME, 0, 0, 0), "PTRACE_TRACEME");
}

// A child of our own, so that only the filter can refuse.
static void trace_child(const char *argument) {
  (void)argument;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  long result = ptrace(PTRACE_SEIZE, child, 0, 0);
  int problem = errno;
  kill(child, SIGKILL);
  errno = problem;
  judge(result, "PTRACE_SEIZE of a child");
}

static void vm(pid_t pid, bool writes) {
  char byte = 0;
  struct iovec mine = {&byte, 1};
  struct iovec theirs = {(void *)0x400000, 1};
  long result = writes ? process_vm_writev(pid, &mine, 1, &theirs, 1, 0) : process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
  // Nothing is mapped at that address, which only a permitted reader finds out.
  if (result < 0 && errno == EFAULT) open_way("reached", "its memory");
  judge(result, writes ? "process_vm_writev" : "process_vm_readv");
}
static void vm_read(const char *who) { vm(target(who), false); }
static void vm_write(const char *who) { vm(target(who), true); }

static void vm_read_child(const char *argument) {
  (void)argument;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  char byte = 0;
  struct iovec mine = {&byte, 1};
  struct iovec theirs = {&mine, 1};
  long result = process_vm_readv(child, &mine, 1, &theirs, 1, 0);
  int problem = errno;
  kill(child, SIGKILL);
  errno = problem;
  judge(result, "process_vm_readv of a child");
}

static void take_descriptor(const char *argument) {
  (void)argument;
  int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (pidfd < 0) refused("pidfd_open");
  for (int fd = 0; fd < 16; fd++) {
    if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) open_way("taken", "descriptor %d of pid 1", fd);
    if (errno != EBADF) refused("pidfd_getfd of pid 1");
  }
  refused("pidfd_getfd of pid 1");
}

static void open_of(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) fd = open(path, O_RDONLY | O_CLOEXEC);
  judge(fd, path);
}

static void read_link_of(const char *path) {
  char target[256] = "";
  if (readlink(path, target, sizeof target - 1) < 0) refused(path);
  open_way("read", "%s is %s", path, target);
}

static void list_of(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) refused(path);
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL)
    if (entry->d_name[0] != '.') open_way("listed", "%s/%s", path, entry->d_name);
  refused(path);
}

// The machine's process ids must identify no process here.
static void kill_host(const char *argument) {
  (void)argument;
  judge(kill(atoi(scene("pid")), 0), "kill(host, 0)");
}

static void see_host(const char *argument) {
  (void)argument;
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%s/comm", scene("pid"));
  if (take(path, text, sizeof text) < 0) refused(path);
  open_way("seen", "%s: %s", path, text);
}

// To pid 1: the kernel drops signals that would end the init of a namespace. The next command checks that it is alive.
static void kill_init(const char *number) {
  int sent = kill(1, atoi(number));
  if (sent < 0) refused("kill(1)");
  usleep(20000);
  if (kill(1, 0) < 0) open_way("ended", "pid 1 is gone");
  blocked("ignored", "signal %s to pid 1 did nothing", number);
}

static void queue_init(const char *argument) {
  (void)argument;
  union sigval value = {.sival_int = 1};
  if (sigqueue(1, SIGRTMIN + 3, value) < 0) refused("sigqueue(1)");
  usleep(20000);
  if (kill(1, 0) < 0) open_way("ended", "pid 1 is gone");
  blocked("ignored", "a real-time signal to pid 1 did nothing");
}

static void limit_init(const char *argument) {
  (void)argument;
  struct rlimit old, new;
  if (syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, NULL, &old) < 0) refused("prlimit of pid 1");
  new = old;
  judge(syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, &new, NULL), "prlimit of pid 1 set to what it was");
}

static void schedule_init(const char *argument) {
  (void)argument;
  cpu_set_t processors;
  if (sched_getaffinity(1, sizeof processors, &processors) < 0) untried("sched_getaffinity: %s", strerror(errno));
  judge(sched_setaffinity(1, sizeof processors, &processors), "sched_setaffinity of pid 1 to what it was");
}

static void compare_init(const char *argument) {
  (void)argument;
  judge(syscall(SYS_kcmp, 1, getpid(), KCMP_VM, 0, 0), "kcmp with pid 1");
}

static void priority_init(const char *argument) {
  (void)argument;
  judge(setpriority(PRIO_PROCESS, 1, getpriority(PRIO_PROCESS, 1)), "setpriority of pid 1 to what it was");
}

static void become_dumpable(const char *argument) {
  (void)argument;
  // Only our own process is dumpable; the aim is to reach pid 1, which never was.
  prctl(PR_SET_DUMPABLE, 1);
  judge(open("/proc/1/mem", O_RDWR | O_CLOEXEC), "/proc/1/mem after PR_SET_DUMPABLE");
}

static void environments(const char *argument) {
  (void)argument;
  DIR *folder = opendir("/proc");
  if (folder == NULL) refused("/proc");
  struct dirent *entry;
  int seen = 0;
  while ((entry = readdir(folder)) != NULL) {
    char path[300], text[4096];
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
    long length = take(path, text, sizeof text);
    seen++;
    for (long at = 0; at < length; at++)
      if (strncmp(text + at, scene("token"), strlen(scene("token"))) == 0) open_way("read", "%s", path);
  }
  blocked("absent", "%d processes, none has the secret", seen);
}

const struct attempt process_attempts[] = {
    {"ptrace-attach", attach},
    {"ptrace-seize", seize},
    {"ptrace-me", trace_me},
    {"ptrace-child", trace_child},
    {"vm-read", vm_read},
    {"vm-write", vm_write},
    {"vm-read-child", vm_read_child},
    {"pidfd-getfd", take_descriptor},
    {"open-of", open_of},
    {"list-of", list_of},
    {"read-link-of", read_link_of},
    {"kill-host", kill_host},
    {"see-host", see_host},
    {"kill-init", kill_init},
    {"queue-init", queue_init},
    {"prlimit-init", limit_init},
    {"schedule-init", schedule_init},
    {"kcmp-init", compare_init},
    {"priority-init", priority_init},
    {"dumpable", become_dumpable},
    {"environments", environments},
    {NULL, NULL},
};
