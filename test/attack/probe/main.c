// Runs the attempts named on the command line, each in a process of its own, and prints one JSON line for each.
//   probe SCENE name[=argument] ...
#include <sys/mman.h>
#include <time.h>

#include "probe.h"

enum { SECONDS_MAX = 20, LINES_MAX = 256, DETAIL_MAX = 400 };

struct outcome {
  char word[16];
  char how[40];
  char detail[DETAIL_MAX];
};

int patience_milliseconds = 5000;
static struct outcome *shared;
static char *lines[LINES_MAX];

static const struct attempt *const TABLES[] = {
    file_attempts,   pin_attempts,     device_attempts,  process_attempts, namespace_attempts, kernel_attempts, proc_attempts,
    socket_attempts, connect_attempts, network_attempts, name_attempts,    limit_attempts,     state_attempts,  foreign_attempts,
    metadata_attempts,
};

static _Noreturn void end(const char *word, const char *how, const char *format, va_list list) {
  snprintf(shared->how, sizeof shared->how, "%s", how);
  vsnprintf(shared->detail, sizeof shared->detail, format, list);
  snprintf(shared->word, sizeof shared->word, "%s", word);
  _exit(0);
}

void blocked(const char *how, const char *format, ...) {
  va_list list;
  va_start(list, format);
  end("blocked", how, format, list);
}

void open_way(const char *how, const char *format, ...) {
  va_list list;
  va_start(list, format);
  end("open", how, format, list);
}

void untried(const char *format, ...) {
  va_list list;
  va_start(list, format);
  end("untried", "", format, list);
}

void refused(const char *what) {
  const char *name = strerrorname_np(errno);
  blocked(name == NULL ? "unknown" : name, "%s", what);
}

void judge(long result, const char *what) {
  if (result < 0) refused(what);
  open_way("done", "%s: %ld", what, result);
}

const char *scene_or(const char *key, const char *otherwise) {
  size_t length = strlen(key);
  for (int at = 0; at < LINES_MAX && lines[at] != NULL; at++)
    if (strncmp(lines[at], key, length) == 0 && lines[at][length] == '=') return lines[at] + length + 1;
  return otherwise;
}

const char *scene(const char *key) {
  const char *value = scene_or(key, NULL);
  if (value == NULL) untried("the test gave no %s", key);
  return value;
}

const char *below(const char *format, ...) {
  static char ring[8][4096];
  static int next;
  char *path = ring[next++ % 8];
  int length = snprintf(path, 4096, "%s/", scene("root"));
  va_list list;
  va_start(list, format);
  vsnprintf(path + length, 4096 - (size_t)length, format, list);
  va_end(list);
  return path;
}

long take(const char *path, char *bytes, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  long length = read(fd, bytes, size - 1);
  int problem = errno;
  close(fd);
  errno = problem;
  if (length >= 0) bytes[length] = 0;
  return length;
}

const char *own_file(const char *name) {
  const char *path = below("%s", name);
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
  if (fd < 0 || write(fd, "planted\n", 8) != 8) untried("no file of one's own: %s", strerror(errno));
  close(fd);
  return path;
}

const char *own_folder(const char *name) {
  const char *path = below("%s", name);
  if (mkdir(path, 0755) < 0 && errno != EEXIST) untried("no folder of one's own: %s", strerror(errno));
  return path;
}

static void print_text(const char *text) {
  putchar('"');
  for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
    if (*at == '"' || *at == '\\') printf("\\%c", *at);
    else if (*at < 0x20 || *at > 0x7e) printf("\\u%04x", *at);
    else putchar(*at);
  }
  putchar('"');
}

static void print_outcome(const char *name) {
  printf("{\"attempt\":");
  print_text(name);
  printf(",\"outcome\":");
  print_text(shared->word);
  printf(",\"how\":");
  print_text(shared->how);
  printf(",\"detail\":");
  print_text(shared->detail);
  printf("}\n");
  fflush(stdout);
}

static void (*function_of(const char *word, const char **argument))(const char *) {
  const char *sign = strchr(word, '=');
  size_t length = sign == NULL ? strlen(word) : (size_t)(sign - word);
  *argument = sign == NULL ? NULL : sign + 1;
  for (size_t table = 0; table < sizeof TABLES / sizeof *TABLES; table++)
    for (const struct attempt *one = TABLES[table]; one->name != NULL; one++)
      if (strlen(one->name) == length && strncmp(one->name, word, length) == 0) return one->run;
  return NULL;
}

// A child that ended without a result was killed: the signal is the answer.
static void conclude(int status, bool late) {
  if (late) {
    snprintf(shared->word, sizeof shared->word, "untried");
    snprintf(shared->detail, sizeof shared->detail, "not done after %d s", SECONDS_MAX);
  } else if (shared->word[0] == 0 && WIFSIGNALED(status)) {
    snprintf(shared->word, sizeof shared->word, "blocked");
    snprintf(shared->how, sizeof shared->how, "SIG%s", sigabbrev_np(WTERMSIG(status)));
    snprintf(shared->detail, sizeof shared->detail, "the process was ended");
  } else if (shared->word[0] == 0) {
    snprintf(shared->word, sizeof shared->word, "untried");
    snprintf(shared->detail, sizeof shared->detail, "it ended without a word, status %d", status);
  }
}

// Not an attempt: the timeout of the following ones for an answer that may not come.
static bool is_patience(const char *word) {
  if (strncmp(word, "patience=", 9) != 0) return false;
  patience_milliseconds = atoi(word + 9);
  return true;
}

static void run(const char *word) {
  const char *argument;
  if (is_patience(word)) return;
  void (*function)(const char *) = function_of(word, &argument);
  memset(shared, 0, sizeof *shared);
  if (function == NULL) {
    snprintf(shared->word, sizeof shared->word, "untried");
    snprintf(shared->detail, sizeof shared->detail, "the probe has no such attempt");
    print_outcome(word);
    return;
  }
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  pid_t pid = fork();
  if (pid == 0) {
    sigprocmask(SIG_UNBLOCK, &child, NULL);
    function(argument);
    untried("it came to no conclusion");
  }
  if (pid < 0) {
    snprintf(shared->word, sizeof shared->word, "untried");
    snprintf(shared->detail, sizeof shared->detail, "fork: %s", strerror(errno));
    print_outcome(word);
    return;
  }
  int status = 0;
  bool late = false;
  struct timespec limit = {SECONDS_MAX, 0};
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (sigtimedwait(&child, NULL, &limit) >= 0 || errno == EINTR) continue;
    late = true;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    break;
  }
  conclude(status, late);
  print_outcome(word);
}

static void read_scene(const char *path) {
  static char text[65536];
  if (take(path, text, sizeof text) < 0) {
    fprintf(stderr, "probe: %s: %s\n", path, strerror(errno));
    exit(2);
  }
  int count = 0;
  for (char *line = strtok(text, "\n"); line != NULL && count < LINES_MAX - 1; line = strtok(NULL, "\n")) lines[count++] = line;
  // Where the root is a copy, its path is known inside alone.
  static char here[4200] = "root=";
  for (int at = 0; at < count; at++)
    if (strcmp(lines[at], "root=.") == 0 && getcwd(here + 5, sizeof here - 5) != NULL) lines[at] = here;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  // A set-user-id copy of this program prints its user and exits.
  if (strcmp(words[1], "whoami") == 0) return printf("%d %d %lx\n", geteuid(), getegid(), (unsigned long)held_capabilities("CapEff")) < 0;
  read_scene(words[1]);
  for (int at = 2; at < count; at++) run(words[at]);
  return 0;
}
