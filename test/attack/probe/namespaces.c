// New namespaces, other namespaces, and mounts by the old and the new interface.
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <linux/mount.h>

#include "probe.h"

static long flag_of(const char *name) {
  static const struct {
    const char *name;
    long flag;
  } FLAGS[] = {{"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS},      {"net", CLONE_NEWNET}, {"pid", CLONE_NEWPID},
               {"ipc", CLONE_NEWIPC},   {"cgroup", CLONE_NEWCGROUP}, {"uts", CLONE_NEWUTS}, {"time", 0x80}};
  for (size_t at = 0; at < sizeof FLAGS / sizeof *FLAGS; at++)
    if (strcmp(FLAGS[at].name, name) == 0) return FLAGS[at].flag;
  untried("no such namespace");
}

static void unshare_it(const char *name) { judge(syscall(SYS_unshare, flag_of(name)), "unshare"); }

// A user namespace brings the capabilities that the others need.
static void unshare_with_user(const char *name) { judge(syscall(SYS_unshare, flag_of(name) | CLONE_NEWUSER), "unshare"); }

static void clone_it(const char *name) {
  long child = syscall(SYS_clone, flag_of(name) | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  judge(child, "clone");
}

static void clone3_it(const char *name) {
  struct clone_args arguments = {.flags = (uint64_t)flag_of(name), .exit_signal = SIGCHLD};
  long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) _exit(0);
  judge(child, "clone3");
}

static void enter(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) refused(path);
  judge(syscall(SYS_setns, fd, 0), path);
}

static void enter_pidfd(const char *argument) {
  (void)argument;
  int fd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (fd < 0) refused("pidfd_open");
  judge(syscall(SYS_setns, fd, CLONE_NEWNS), "setns of pid 1");
}

static void mount_memory(const char *argument) {
  (void)argument;
  judge(mount("none", own_folder("attempt-mount"), "tmpfs", 0, NULL), "mount tmpfs");
}

static void mount_bind(const char *name) {
  judge(mount(own_folder("attempt-own-folder"), below("%s", name), NULL, MS_BIND, NULL), "mount --bind over a pin");
}

static void remount_pin(const char *name) {
  judge(mount(NULL, below("%s", name), NULL, MS_REMOUNT | MS_BIND, NULL), "remount a pin writable");
}

static void unmount_pin(const char *name) { judge(umount2(below("%s", name), MNT_DETACH), "unmount a pin"); }

static void mount_proc(const char *argument) {
  (void)argument;
  judge(mount("proc", own_folder("attempt-mount"), "proc", 0, NULL), "mount proc");
}

static void new_open_tree(const char *name) {
  judge(syscall(SYS_open_tree, AT_FDCWD, below("%s", name), 1 /* OPEN_TREE_CLONE */), "open_tree");
}
static void new_fsopen(const char *argument) {
  (void)argument;
  judge(syscall(SYS_fsopen, "tmpfs", 0), "fsopen");
}
static void new_fspick(const char *name) { judge(syscall(SYS_fspick, AT_FDCWD, below("%s", name), 0), "fspick"); }
static void new_move(const char *name) {
  judge(syscall(SYS_move_mount, AT_FDCWD, below("%s", name), AT_FDCWD, own_folder("attempt-mount"), 0), "move_mount");
}
static void new_setattr(const char *name) {
  struct mount_attr attributes = {.attr_clr = 1 /* MOUNT_ATTR_RDONLY */};
  judge(syscall(442, AT_FDCWD, below("%s", name), 0, &attributes, sizeof attributes), "mount_setattr");
}
static void new_fsmount(const char *argument) {
  (void)argument;
  judge(syscall(SYS_fsmount, -1, 0, 0), "fsmount");
}

static void pivot(const char *argument) {
  (void)argument;
  judge(syscall(SYS_pivot_root, ".", "."), "pivot_root");
}
static void change_root(const char *argument) {
  (void)argument;
  judge(chroot(own_folder("attempt-own-folder")), "chroot");
}

const struct attempt namespace_attempts[] = {
    {"unshare", unshare_it},
    {"unshare-user-and", unshare_with_user},
    {"clone", clone_it},
    {"clone3", clone3_it},
    {"setns", enter},
    {"setns-pidfd", enter_pidfd},
    {"mount-tmpfs", mount_memory},
    {"mount-bind", mount_bind},
    {"mount-remount", remount_pin},
    {"mount-proc", mount_proc},
    {"umount", unmount_pin},
    {"open-tree", new_open_tree},
    {"fsopen", new_fsopen},
    {"fspick", new_fspick},
    {"fsmount", new_fsmount},
    {"move-mount", new_move},
    {"mount-setattr", new_setattr},
    {"pivot-root", pivot},
    {"chroot", change_root},
    {NULL, NULL},
};
