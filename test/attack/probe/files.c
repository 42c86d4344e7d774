// Reading and writing files that are not granted, by every name a file can have.
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "probe.h"

static _Noreturn void read_path(const char *path) {
  char bytes[256];
  if (take(path, bytes, sizeof bytes) < 0) refused(path);
  if (bytes[0] == 0) blocked("empty", "%s is there and says nothing", path);
  open_way("read", "%s: %.40s", path, bytes);
}

static _Noreturn void write_path(const char *path) {
  int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) refused(path);
  open_way("opened", "%s is open for writing", path);
}

// A path of the scene, directly.
static void read_direct(const char *key) { read_path(scene(key)); }
static void write_direct(const char *key) { write_path(scene(key)); }
static void read_absolute(const char *path) { read_path(path); }
static void write_absolute(const char *path) { write_path(path); }

static void list_direct(const char *key) {
  int fd = open(scene(key), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  judge(fd, scene(key));
}

static void read_link(const char *key) {
  const char *link = below("attempt-link");
  unlink(link);
  if (symlink(scene(key), link) < 0) untried("no symbolic link: %s", strerror(errno));
  read_path(link);
}

static void read_planted_link(const char *name) { read_path(below("%s", name)); }

static void read_through(const char *prefix) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", prefix, scene("secret"));
  read_path(path);
}

// Up from the root of the sandbox by `..`, as often as there are folders, and down again.
static void up_and_down(char *path, size_t size, const char *target) {
  int depth = 0;
  for (const char *at = scene("root"); *at != 0; at++) depth += *at == '/';
  size_t length = (size_t)snprintf(path, size, "%s", scene("root"));
  for (int at = 0; at < depth; at++) length += (size_t)snprintf(path + length, size - length, "/..");
  snprintf(path + length, size - length, "%s", target);
}

static void read_dots(const char *argument) {
  (void)argument;
  char path[4096];
  up_and_down(path, sizeof path, scene("secret"));
  read_path(path);
}

static void write_dots(const char *argument) {
  (void)argument;
  char path[4096];
  up_and_down(path, sizeof path, scene("canary"));
  write_path(path);
}

static void write_beside(const char *argument) {
  (void)argument;
  write_path(below("../attempt-beside"));
}

static void write_through_link(const char *argument) {
  (void)argument;
  const char *link = below("attempt-write-link");
  unlink(link);
  if (symlink(scene("canary"), link) < 0) untried("no symbolic link: %s", strerror(errno));
  write_path(link);
}

static void hardlink_in(const char *from) {
  const char *to = below("attempt-hardlink");
  unlink(to);
  judge(link(strcmp(from, "secret") == 0 ? scene("secret") : from, to), from);
}

// By descriptor, and by the name a descriptor has in /proc.
static void hardlink_descriptor(const char *from) {
  int fd = open(from, O_PATH | O_CLOEXEC);
  if (fd < 0) refused(from);
  const char *to = below("attempt-hardlink-fd");
  unlink(to);
  if (linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH) == 0) open_way("linked", "AT_EMPTY_PATH");
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  judge(linkat(AT_FDCWD, name, AT_FDCWD, to, AT_SYMLINK_FOLLOW), "linkat of /proc/self/fd");
}

static void hardlink_out(const char *argument) {
  (void)argument;
  judge(link(own_file("attempt-own"), "/tmp/attempt-hardlink"), "/tmp/attempt-hardlink");
}

static void rename_out(const char *key) { judge(rename(own_file("attempt-own"), scene(key)), scene(key)); }

static void rename_root(const char *argument) {
  (void)argument;
  char other[4096];
  snprintf(other, sizeof other, "%s-moved", scene("root"));
  judge(rename(scene("root"), other), "the root itself");
}

// What a working directory from before the start would reveal: the parent by `..`.
static void escape_working_directory(const char *argument) {
  (void)argument;
  char bytes[64];
  for (int at = 0; at < 64; at++)
    if (chdir("..") < 0) refused("chdir ..");
  if (take(scene("secret") + 1, bytes, sizeof bytes) < 0) refused("the secret, relative to the top");
  open_way("read", "%.40s", bytes);
}

static void write_read_only_fd(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) refused(path);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  judge(open(name, O_RDWR | O_CLOEXEC), name);
}

const struct attempt file_attempts[] = {
    {"read", read_direct},
    {"read-path", read_absolute},
    {"list", list_direct},
    {"read-link", read_link},
    {"read-planted-link", read_planted_link},
    {"read-through", read_through},
    {"read-dots", read_dots},
    {"write", write_direct},
    {"write-path", write_absolute},
    {"write-dots", write_dots},
    {"write-beside", write_beside},
    {"write-through-link", write_through_link},
    {"hardlink-in", hardlink_in},
    {"hardlink-descriptor", hardlink_descriptor},
    {"hardlink-out", hardlink_out},
    {"rename-out", rename_out},
    {"rename-root", rename_root},
    {"escape-cwd", escape_working_directory},
    {"reopen-writable", write_read_only_fd},
    {NULL, NULL},
};
