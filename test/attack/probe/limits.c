// Exceeding resource limits: processes, memory, disk, files. Every attempt stops by itself soon after the limit.
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "probe.h"

static long bound(const char *key) { return atol(scene(key)); }

// Children that only wait. They are killed whatever the answer is.
static void fork_bomb(const char *argument) {
  (void)argument;
  long most = bound("processes_tried"), count = 0;
  pid_t *children = calloc((size_t)most, sizeof *children);
  int problem = 0;
  while (count < most) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      pause();
      _exit(0);
    }
    if (child < 0) {
      problem = errno;
      break;
    }
    children[count++] = child;
  }
  for (long at = 0; at < count; at++) kill(children[at], SIGKILL);
  for (long at = 0; at < count; at++) waitpid(children[at], NULL, 0);
  if (problem == 0) open_way("forked", "%ld processes at once", count);
  errno = problem;
  blocked(strerrorname_np(problem), "after %ld processes", count);
}

// Touches pages until the kernel refuses, which may be by a signal.
static void memory(const char *argument) {
  (void)argument;
  long most = bound("memory_tried_mib");
  for (long at = 0; at < most / 16; at++) {
    char *part = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) blocked(strerrorname_np(errno), "after %ld MiB", at * 16);
    for (long page = 0; page < 16 << 20; page += 4096) part[page] = 1;
  }
  open_way("held", "%ld MiB", most);
}

// Memory in a file: it uses no address space, so that limit does not apply.
static void memory_files(const char *argument) {
  (void)argument;
  long most = bound("memory_tried_mib");
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  long written = 0;
  while (written < most) {
    int fd = memfd_create("attempt", 0x0008 /* MFD_NOEXEC_SEAL */);
    if (fd < 0) blocked(strerrorname_np(errno), "memfd after %ld MiB", written);
    for (int at = 0; at < 64 && written < most; at++, written++)
      if (write(fd, block, sizeof block) < 0) blocked(strerrorname_np(errno), "after %ld MiB", written);
  }
  open_way("held", "%ld MiB in files of memory", written);
}

static void fill(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/attempt-fill", folder);
  int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) refused(path);
  static char block[1 << 20];
  long most = bound("disk_tried_mib");
  signal(SIGXFSZ, SIG_IGN);
  for (long at = 0; at < most; at++)
    if (write(fd, block, sizeof block) < 0) {
      int problem = errno;
      unlink(path);
      blocked(strerrorname_np(problem), "after %ld MiB", at);
    }
  unlink(path);
  open_way("written", "%ld MiB", most);
}

static void fill_temporary(const char *argument) {
  (void)argument;
  const char *folder = getenv("TMPDIR");
  fill(folder == NULL ? "/tmp" : folder);
}

// Sparse: a length, no blocks.
static void huge_file(const char *argument) {
  (void)argument;
  const char *path = below("attempt-huge");
  int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) refused(path);
  unlink(path);
  signal(SIGXFSZ, SIG_IGN);
  judge(pwrite(fd, "x", 1, bound("file_tried_mib") << 20), "a byte beyond the limit");
}

static void open_files(const char *argument) {
  (void)argument;
  long count = 0;
  for (; count < bound("files_tried"); count++)
    if (open("/dev/null", O_RDONLY) < 0) blocked(strerrorname_np(errno), "after %ld", count);
  open_way("opened", "%ld files", count);
}

static void core_dump(const char *argument) {
  (void)argument;
  if (chdir(scene("root")) < 0) refused("chdir");
  pid_t child = fork();
  if (child == 0) abort();
  int status = 0;
  waitpid(child, &status, 0);
  if (WCOREDUMP(status)) open_way("dumped", "a core was written");
  blocked("none", "no core was written");
}

static void core_limit(const char *argument) {
  (void)argument;
  struct rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  if (limit.rlim_max > 1) open_way("unset", "RLIMIT_CORE can be raised");
  blocked("set", "RLIMIT_CORE %ld", (long)limit.rlim_max);
}

// Zero makes the kernel start the machine's own core dump handler.
static void core_lower(const char *argument) {
  (void)argument;
  struct rlimit limit = {0, 0};
  setrlimit(RLIMIT_CORE, &limit);
  getrlimit(RLIMIT_CORE, &limit);
  if (limit.rlim_cur == 0) open_way("lowered", "RLIMIT_CORE is nought");
  blocked("kept", "RLIMIT_CORE %ld", (long)limit.rlim_cur);
}

static void spin(const char *argument) {
  (void)argument;
  time_t start = time(NULL);
  while (time(NULL) - start < 60) continue;
  open_way("ran", "a minute of nothing");
}

static void lock_memory(const char *argument) {
  (void)argument;
  void *part = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (part == MAP_FAILED) refused("mmap");
  judge(mlock(part, 64 << 20), "mlock of 64 MiB");
}

const struct attempt limit_attempts[] = {
    {"fork-bomb", fork_bomb}, {"memory", memory},           {"memory-files", memory_files}, {"fill-tmp", fill_temporary},
    {"huge-file", huge_file}, {"open-files", open_files},   {"core-dump", core_dump},       {"core-limit", core_limit},
    {"core-lower", core_lower},
    {"spin", spin},           {"lock-memory", lock_memory}, {NULL, NULL},
};
