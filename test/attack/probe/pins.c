// Changing a protected name: in place, by moving it, by moving its folder, by replacing it.
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include "probe.h"

static void overwrite(const char *name) {
  int fd = open(below("%s", name), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd >= 0 && write(fd, "planted\n", 8) == 8) open_way("written", "%s", name);
  refused(name);
}

static void append(const char *name) { judge(open(below("%s", name), O_WRONLY | O_APPEND | O_CLOEXEC), name); }

static void truncate_it(const char *name) { judge(truncate(below("%s", name), 0), name); }

static void unlink_it(const char *name) {
  if (unlink(below("%s", name)) == 0) open_way("unlinked", "%s", name);
  if (errno == EISDIR) judge(rmdir(below("%s", name)), name);
  refused(name);
}

static void rename_away(const char *name) { judge(rename(below("%s", name), below("attempt-away")), name); }

static void rename_over(const char *name) {
  struct stat facts;
  if (stat(below("%s", name), &facts) < 0) refused("stat");
  const char *own = S_ISDIR(facts.st_mode) ? own_folder("attempt-own-folder") : own_file("attempt-own");
  judge(rename(own, below("%s", name)), name);
}

static void exchange(const char *name) {
  struct stat facts;
  if (stat(below("%s", name), &facts) < 0) refused("stat");
  const char *own = S_ISDIR(facts.st_mode) ? own_folder("attempt-own-folder") : own_file("attempt-own");
  judge(renameat2(AT_FDCWD, own, AT_FDCWD, below("%s", name), RENAME_EXCHANGE), name);
}

static void exchange_back(const char *name) {
  judge(renameat2(AT_FDCWD, below("%s", name), AT_FDCWD, own_file("attempt-own"), RENAME_EXCHANGE), name);
}

static void replace_by_link(const char *name) {
  const char *link = below("attempt-replacement");
  unlink(link);
  if (symlink("/tmp", link) < 0) untried("no symbolic link: %s", strerror(errno));
  judge(rename(link, below("%s", name)), name);
}

// Where the name does not exist: it must not be created.
static void create(const char *name) {
  int fd = open(below("%s", name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
  if (fd >= 0 && write(fd, "planted\n", 8) == 8) open_way("created", "%s", name);
  refused(name);
}

static void create_folder(const char *name) { judge(mkdir(below("%s", name), 0755), name); }

static void create_link(const char *name) { judge(symlink("/tmp", below("%s", name)), name); }

static void create_by_rename(const char *name) { judge(rename(own_file("attempt-own"), below("%s", name)), name); }

static void create_folder_by_rename(const char *name) {
  judge(rename(own_folder("attempt-own-folder"), below("%s", name)), name);
}

static void create_by_hardlink(const char *name) { judge(link(own_file("attempt-own"), below("%s", name)), name); }

// Another name for the same file, which no mount covers.
static void alias(const char *name) {
  const char *other = below("attempt-alias");
  unlink(other);
  if (link(below("%s", name), other) < 0) refused(name);
  judge(open(other, O_WRONLY | O_CLOEXEC), "the alias for writing");
}

static void alias_by_descriptor(const char *name) {
  int fd = open(below("%s", name), O_PATH | O_CLOEXEC);
  if (fd < 0) refused(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const char *other = below("attempt-alias-fd");
  unlink(other);
  judge(linkat(AT_FDCWD, path, AT_FDCWD, other, AT_SYMLINK_FOLLOW), name);
}

static void reopen(const char *name) {
  int fd = open(below("%s", name), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refused(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  judge(open(path, O_RDWR | O_CLOEXEC), path);
}

static void map_shared(const char *name) {
  int fd = open(below("%s", name), O_RDWR | O_CLOEXEC);
  if (fd < 0) refused(name);
  judge(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, name);
}

static void change_mode(const char *name) { judge(chmod(below("%s", name), 0777), name); }
static void change_owner(const char *name) { judge(chown(below("%s", name), getuid(), getgid()), name); }
static void change_times(const char *name) { judge(utimes(below("%s", name), NULL), name); }
static void change_xattr(const char *name) { judge(setxattr(below("%s", name), "user.planted", "1", 1, 0), name); }

static void change_flags(const char *name) {
  int fd = open(below("%s", name), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refused(name);
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0) refused("FS_IOC_GETFLAGS");
  judge(ioctl(fd, FS_IOC_SETFLAGS, &flags), name);
}

static void temporary_file(const char *folder) {
  int fd = open(below("%s", folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);
  if (fd < 0) refused(folder);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  judge(linkat(AT_FDCWD, path, AT_FDCWD, below("%s/planted", folder), AT_SYMLINK_FOLLOW), folder);
}

// Through an earlier descriptor of the folder, such as a leftover helper would hold.
static void by_folder_descriptor(const char *name) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", below("%s", name));
  char *slash = strrchr(folder, '/');
  *slash = 0;
  int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) refused(folder);
  judge(renameat(fd, slash + 1, fd, "attempt-away"), name);
}

static void remove_root_entry(const char *name) { judge(unlinkat(AT_FDCWD, below("%s", name), AT_REMOVEDIR), name); }

const struct attempt pin_attempts[] = {
    {"pin-overwrite", overwrite},
    {"pin-append", append},
    {"pin-truncate", truncate_it},
    {"pin-unlink", unlink_it},
    {"pin-rmdir", remove_root_entry},
    {"pin-rename", rename_away},
    {"pin-rename-over", rename_over},
    {"pin-exchange", exchange},
    {"pin-exchange-back", exchange_back},
    {"pin-replace-by-link", replace_by_link},
    {"pin-create", create},
    {"pin-create-folder", create_folder},
    {"pin-create-link", create_link},
    {"pin-create-by-rename", create_by_rename},
    {"pin-create-folder-by-rename", create_folder_by_rename},
    {"pin-create-by-hardlink", create_by_hardlink},
    {"pin-alias", alias},
    {"pin-alias-descriptor", alias_by_descriptor},
    {"pin-reopen", reopen},
    {"pin-map", map_shared},
    {"pin-chmod", change_mode},
    {"pin-chown", change_owner},
    {"pin-utimes", change_times},
    {"pin-xattr", change_xattr},
    {"pin-flags", change_flags},
    {"pin-tmpfile", temporary_file},
    {"pin-descriptor", by_folder_descriptor},
    {NULL, NULL},
};
