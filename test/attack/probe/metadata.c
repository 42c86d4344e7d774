// What is known about a file without its content, and what changes it: mode, owner, times, attributes. Then the same calls while
// a thread exchanges what they are about.
#include <linux/fs.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "probe.h"

enum { number_fchmodat2 = 452, races_min = 500, races_max = 2000000 };

static void see(const char *key) {
  struct stat facts;
  if (stat(scene(key), &facts) < 0) refused(scene(key));
  open_way("seen", "%s has %ld bytes", scene(key), (long)facts.st_size);
}

static void see_target(const char *argument) {
  (void)argument;
  char text[4096], path[4096];
  snprintf(path, sizeof path, "%s/link", scene("outside"));
  judge(readlink(path, text, sizeof text), path);
}

static void change_mode(const char *key) { judge(chmod(scene(key), 0666), scene(key)); }
static void change_owner(const char *key) { judge(lchown(scene(key), getuid(), getgid()), scene(key)); }

static void change_times(const char *key) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  judge(utimensat(AT_FDCWD, scene(key), times, 0), scene(key));
}

static void add_attribute(const char *key) { judge(setxattr(scene(key), "user.attempt", "x", 1, 0), scene(key)); }

// That there is none is an answer too.
static void read_attribute(const char *key) {
  char text[64];
  if (getxattr(scene(key), "user.attempt", text, sizeof text) < 0 && errno != ENODATA) refused(scene(key));
  open_way("seen", "attributes of %s", scene(key));
}

static void watch(const char *key) {
  const int fd = inotify_init1(IN_CLOEXEC);
  if (fd < 0) refused("inotify_init1");
  judge(inotify_add_watch(fd, scene(key), IN_ALL_EVENTS), scene(key));
}

// By a descriptor for reading, of a file that programs may read.
static void change_by_control(const char *name) {
  const int fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
  if (fd < 0) untried("/usr/bin/env: %s", strerror(errno));
  int value = 0;
  if (strcmp(name, "version") == 0) judge(ioctl(fd, _IOW('v', 2, long), &value), "FS_IOC_SETVERSION");
  if (ioctl(fd, FS_IOC_GETFLAGS, &value) < 0) value = 0;
  if (strcmp(name, "flags") == 0) judge(ioctl(fd, FS_IOC_SETFLAGS, &value), "FS_IOC_SETFLAGS");
  char volume[4096] = {0};
  const int folder = open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (strcmp(name, "volume") == 0) judge(ioctl(folder, _IOW(0x94, 14, volume), volume), "BTRFS_IOC_SUBVOL_CREATE");
  untried("no such control: %s", name);
}

// A race: one thread exchanges the file of this user's own for one outside, another makes the call.
enum exchange { exchange_memory, exchange_link, exchange_folder, exchange_descriptor };

struct race {
  enum exchange exchange;
  char *path;           // the argument of the call
  char own[4096], outside[4096];
  char links[2][4096];  // renamed over the last name of the path, or of its folder
  int folder;           // the descriptor of the call
  int folders[2];
  volatile bool over;
};

static void *exchange(void *about) {
  struct race *race = about;
  for (unsigned turn = 0; !race->over; turn++) {
    const char *to = turn % 2 == 0 ? race->outside : race->own;
    switch (race->exchange) {
      case exchange_memory:
        memcpy(race->path, to, strlen(to) + 1);
        break;
      case exchange_descriptor:
        dup2(race->folders[turn % 2], race->folder);
        break;
      default:
        // Both names always exist: one is exchanged for the other in one step.
        syscall(SYS_renameat2, AT_FDCWD, race->links[0], AT_FDCWD, race->links[1], 2);
    }
  }
  return NULL;
}

static long call_once(const char *call, struct race *race, const char *path) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  const int folder = race->exchange == exchange_descriptor ? race->folder : AT_FDCWD;
  if (strcmp(call, "fchmodat") == 0) return syscall(SYS_fchmodat, folder, path, 0600);
  if (strcmp(call, "fchmodat2") == 0) return syscall(number_fchmodat2, folder, path, 0600, 0);
  if (strcmp(call, "fchownat") == 0) return syscall(SYS_fchownat, folder, path, getuid(), getgid(), 0);
  if (strcmp(call, "utimensat") == 0) return syscall(SYS_utimensat, folder, path, times, 0);
#ifdef SYS_chmod
  if (strcmp(call, "chmod") == 0) return syscall(SYS_chmod, path, 0600);
  if (strcmp(call, "chown") == 0) return syscall(SYS_chown, path, getuid(), getgid());
  if (strcmp(call, "lchown") == 0) return syscall(SYS_lchown, path, getuid(), getgid());
#endif
  if (strcmp(call, "fchmod") == 0) return syscall(SYS_fchmod, race->folder, 0600);
  if (strcmp(call, "fchown") == 0) return syscall(SYS_fchown, race->folder, getuid(), getgid());
  untried("no such call: %s", call);
}

static void prepare(struct race *race, const char *how) {
  const char *outside = scene("canary"), *folder = scene("outside");
  static char buffer[4096];
  race->path = buffer;
  snprintf(race->own, sizeof race->own, "%s", own_file("canary"));
  snprintf(race->outside, sizeof race->outside, "%s", outside);
  snprintf(race->links[0], sizeof race->links[0], "%s-own", own_file("attempt-race"));
  snprintf(race->links[1], sizeof race->links[1], "%s-outside", below("attempt-race"));
  for (int at = 0; at < 2; at++) unlink(race->links[at]);
  snprintf(buffer, sizeof buffer, "%s", race->own);
  if (strcmp(how, "memory") == 0) {
    race->exchange = exchange_memory;
  } else if (strcmp(how, "link") == 0 || strcmp(how, "folder") == 0) {
    const bool is_link = how[0] == 'l';
    race->exchange = is_link ? exchange_link : exchange_folder;
    if (symlink(is_link ? race->own : scene("root"), race->links[0]) < 0) untried("no link: %s", strerror(errno));
    if (symlink(is_link ? outside : folder, race->links[1]) < 0) untried("no link: %s", strerror(errno));
    snprintf(buffer, sizeof buffer, "%s%s", race->links[0], is_link ? "" : "/canary");
  } else {
    race->exchange = exchange_descriptor;
    // A file outside can be named by a descriptor without being opened.
    const bool is_file = strcmp(how, "file") == 0;
    race->folders[0] = open(is_file ? outside : folder, O_PATH | O_CLOEXEC);
    race->folders[1] = open(is_file ? race->own : scene("root"), is_file ? O_RDONLY : O_PATH | O_CLOEXEC);
    if (race->folders[0] < 0) refused(folder);
    race->folder = dup(race->folders[1]);
    snprintf(buffer, sizeof buffer, "canary");
  }
}

// How often the call was answered in each way shows that both files were named; that the one outside is as it was shows that
// none of them was changed by mistake.
static void race_metadata(const char *argument) {
  static struct race race;
  char call[32];
  const char *how = strchr(argument, ':') + 1;
  snprintf(call, sizeof call, "%.*s", (int)(how - argument - 1), argument);
  prepare(&race, how);
  struct stat before = {0}, after = {0};
  const int is_seen = stat(race.outside, &before);
  pthread_t thread;
  if (pthread_create(&thread, NULL, exchange, &race) != 0) untried("no thread");
  int done = 0, denied = 0;
  for (int at = 0; at < races_max && (at < races_min || done == 0 || denied == 0); at++) {
    if (call_once(call, &race, race.path) == 0) done++;
    else denied++;
  }
  race.over = true;
  pthread_join(thread, NULL);
  // Links that lead out do not land.
  for (int at = 0; at < 2; at++) unlink(race.links[at]);
  if (is_seen == 0 && (stat(race.outside, &after) != 0 || memcmp(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim) != 0))
    open_way("changed", "%s, after %d", race.outside, done);
  if (done == 0 || denied == 0) untried("%d done, %d denied", done, denied);
  blocked("unchanged", "%d done, %d denied", done, denied);
}

const struct attempt metadata_attempts[] = {
    {"see", see},
    {"see-target", see_target},
    {"change-mode", change_mode},
    {"change-owner", change_owner},
    {"change-times", change_times},
    {"add-attribute", add_attribute},
    {"read-attribute", read_attribute},
    {"watch", watch},
    {"control", change_by_control},
    {"race", race_metadata},
    {NULL, NULL},
};
