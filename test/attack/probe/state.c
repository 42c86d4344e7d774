// Leftovers: variables, descriptors, shared memory, programs with privileges, earlier processes.
#include <dirent.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "probe.h"

extern char **environ;

static void variables(const char *argument) {
  (void)argument;
  int count = 0;
  for (char **at = environ; *at != NULL; at++, count++)
    if (strstr(*at, scene("token")) != NULL) open_way("read", "%.40s", *at);
  blocked("absent", "%d variables, none with the secret", count);
}

static void descriptors(const char *argument) {
  (void)argument;
  for (int fd = 3; fd < 4096; fd++)
    if (fcntl(fd, F_GETFD) >= 0) {
      char name[64], target[256] = "";
      snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
      if (readlink(name, target, sizeof target - 1) < 0) target[0] = 0;
      open_way("inherited", "%d is %s", fd, target);
    }
  blocked("EBADF", "no descriptor beyond standard error");
}

// Standard streams must be private pipes: a socket or a file there would be an escape.
static void streams(const char *argument) {
  (void)argument;
  for (int fd = 0; fd < 3; fd++) {
    struct stat facts;
    if (fstat(fd, &facts) < 0) continue;
    if (S_ISFIFO(facts.st_mode) || (S_ISCHR(facts.st_mode) && facts.st_rdev == 0x103)) continue;
    open_way("found", "descriptor %d has mode %o", fd, facts.st_mode);
  }
  blocked("pipes", "pipes and /dev/null");
}

static void shared_memory(const char *argument) {
  (void)argument;
  judge(shmget(atoi(scene("ipc_key")), 0, 0), "shmget of the host's");
}
static void messages(const char *argument) {
  (void)argument;
  judge(msgget(atoi(scene("ipc_key")), 0), "msgget of the host's");
}
static void semaphores(const char *argument) {
  (void)argument;
  judge(semget(atoi(scene("ipc_key")), 0, 0), "semget of the host's");
}
static void queue(const char *argument) {
  (void)argument;
  judge(mq_open(scene("mq_name"), O_RDONLY), scene("mq_name"));
}
static void named_memory(const char *argument) {
  (void)argument;
  judge(open(scene("shm_path"), O_RDONLY | O_CLOEXEC), scene("shm_path"));
}

// Runs a copy of this program with a privilege, and reads what it reports.
static void carries(const char *name) {
  int pipes[2];
  char said[64] = "", own[64];
  if (pipe(pipes) < 0) untried("pipe");
  const char *path = below("%s", name);
  if (access(path, X_OK) < 0) untried("%s: %s", name, strerror(errno));
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], 1);
    execl(path, path, "whoami", NULL);
    _exit(errno);
  }
  close(pipes[1]);
  if (read(pipes[0], said, sizeof said - 1) < 0) said[0] = 0;
  int status;
  waitpid(child, &status, 0);
  if (said[0] == 0) {
    errno = WEXITSTATUS(status);
    refused(name);
  }
  snprintf(own, sizeof own, "%d %d 0\n", geteuid(), getegid());
  if (strcmp(said, own) == 0) blocked("ignored", "%s", said);
  open_way("gained", "%s instead of %s", said, own);
}

static _Noreturn void run_descriptor(int fd, const char *what) {
  char *words[] = {"probe", "whoami", NULL};
  pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), 1);
    syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH);
    _exit(errno);
  }
  int status;
  waitpid(child, &status, 0);
  errno = WEXITSTATUS(status);
  if (errno != 0) refused(what);
  open_way("ran", "%s", what);
}

static void copy_self(int to) {
  static char block[1 << 16];
  int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (from < 0) untried("/proc/self/exe: %s", strerror(errno));
  for (long got; (got = read(from, block, sizeof block)) > 0;)
    if (write(to, block, (size_t)got) != got) untried("no copy: %s", strerror(errno));
}

static void run_memory(const char *flags) {
  int fd = memfd_create("attempt", (unsigned)atoi(flags));
  if (fd < 0) refused("memfd_create");
  copy_self(fd);
  run_descriptor(fd, "a program in memory");
}

static void run_written(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/attempt-program", folder[0] == '/' ? folder : below("%s", folder));
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
  if (fd < 0) refused(path);
  copy_self(fd);
  close(fd);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) refused(path);
  run_descriptor(fd, path);
}

// A process that leaves its parents and its session and keeps writing.
static void leave_behind(const char *name) {
  int fd = open(below("%s", name), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) refused(name);
  if (fork() == 0) {
    setsid();
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    if (fork() != 0) _exit(0);
    for (int at = 0; at < 3000; at++) {
      if (write(fd, ".", 1) < 0) _exit(0);
      usleep(10000);
    }
    _exit(0);
  }
  usleep(50000);
  open_way("left", "a process of its own session");
}

// A process that is hard to find: every process forks and exits.
static void churn(const char *name) {
  int fd = open(below("%s", name), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) refused(name);
  if (fork() == 0) {
    setsid();
    for (int at = 0; at < 20000; at++) {
      pid_t child = fork();
      if (child < 0) continue;
      if (child > 0) _exit(0);
      if (write(fd, ".", 1) < 0) _exit(0);
    }
    _exit(0);
  }
  usleep(50000);
  open_way("left", "a chain of processes");
}

static void others(const char *argument) {
  (void)argument;
  DIR *folder = opendir("/proc");
  if (folder == NULL) refused("/proc");
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    int pid = atoi(entry->d_name);
    if (pid <= 1 || pid == getpid() || pid == getppid()) continue;
    open_way("seen", "process %d", pid);
  }
  blocked("none", "only pid 1 and us");
}

static void leave_files(const char *argument) {
  (void)argument;
  const char *home = getenv("TMPDIR");
  if (chdir(home == NULL ? "/tmp" : home) < 0) refused("the temporary folder");
  // An unreadable folder, a fifo, a link out, and a chain of folders far deeper than a path is long.
  mkdir("closed", 0700);
  close(open("closed/inside", O_CREAT | O_WRONLY, 0600));
  chmod("closed", 0000);
  mkfifo("fifo", 0600);
  if (symlink(scene("root"), "link") < 0) untried("symlink: %s", strerror(errno));
  for (int at = 0; at < 400; at++)
    if (mkdir("deep-deep-deep", 0700) < 0 || chdir("deep-deep-deep") < 0) break;
  open_way("left", "files that are hard to remove");
}

static void files_left(const char *argument) {
  (void)argument;
  const char *home = getenv("TMPDIR");
  DIR *folder = opendir(home == NULL ? "/tmp" : home);
  if (folder == NULL) refused("the temporary folder");
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL)
    if (entry->d_name[0] != '.' && strcmp(entry->d_name, "home") != 0) open_way("found", "%s", entry->d_name);
  blocked("none", "nothing of before");
}

const struct attempt state_attempts[] = {
    {"variables", variables},
    {"descriptors", descriptors},
    {"streams", streams},
    {"ipc-memory", shared_memory},
    {"ipc-messages", messages},
    {"ipc-semaphores", semaphores},
    {"ipc-queue", queue},
    {"ipc-named-memory", named_memory},
    {"carries", carries},
    {"run-memory", run_memory},
    {"run-written", run_written},
    {"leave-process", leave_behind},
    {"leave-churn", churn},
    {"leave-files", leave_files},
    {"others", others},
    {"files-left", files_left},
    {NULL, NULL},
};
