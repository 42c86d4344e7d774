// What this kernel offers. Whatever needs a namespace is tried in one of its own, in a child that ends with it.
#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "connect.h"
#include "drop.h"
#include "frame.h"
#include "kernel.h"
#include "landlock.h"
#include "scope.h"
#include "tproxy.h"

enum { memfd_noexec_seal = 8 };

static bool tried(bool (*attempt)(void)) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(attempt() ? 0 : 1);
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Some systems allow the first and take away what it is good for: a network namespace in it shows which.
static bool enter_namespaces(void) {
  return unshare(CLONE_NEWUSER) == 0 && unshare(CLONE_NEWNET | CLONE_NEWNS) == 0;
}

static bool has_tproxy(void) {
  return enter_namespaces() && tproxy_install(AF_INET) == 0;
}

// Without layers nothing is made; a kernel that allows it to an ordinary user complains of the layers alone.
static bool has_overlay(void) {
  if (!enter_namespaces()) return false;
  const int context = kernel_fsopen("overlay");
  return context >= 0 && kernel_fsconfig(context, fs_create, NULL, NULL) != 0 && errno == EINVAL;
}

static bool has_seccomp(void) {
  const unsigned action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// Both are called with arguments that cannot do anything; only a kernel that does not know the call says so.
static bool has_open_tree(void) {
  return kernel_open_tree(-1, "", 0) >= 0 || errno != ENOSYS;
}

static bool has_mount_setattr(void) {
  return kernel_mount_setattr(-1, "", 0, 0) == 0 || errno != ENOSYS;
}

static bool has_memfd_noexec(void) {
  const int file = (int)syscall(SYS_memfd_create, "", memfd_noexec_seal);
  if (file < 0) return false;
  close(file);
  return true;
}

// Everything a sandbox without namespaces stands on, in a process that ends with it.
static bool has_supervised(void) {
  struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
  if (drop_new_privileges() != 0 || scope_enter(getppid()) != 0 || !calls_are_offered()) return false;
  return connect_hand_over(&allow, 1) >= 0;
}

static const char *word(bool value) {
  return value ? "true" : "false";
}

int facts_main(void) {
  struct utsname name;
  if (uname(&name) != 0) return exit_failed;
  const int written = dprintf(
      1,
      "{\"protocol\":%d,\"arch\":\"%s\",\"landlockAbi\":%d,\"seccomp\":%s,\"openTree\":%s,\"mountSetattr\":%s,"
      "\"memfdNoexec\":%s,\"tproxy\":%s,\"userNamespaces\":%s,\"overlay\":%s,\"supervised\":%s}\n",
      protocol_version, name.machine, landlock_abi(), word(has_seccomp()), word(has_open_tree()),
      word(has_mount_setattr()), word(has_memfd_noexec()), word(tried(has_tproxy)), word(tried(enter_namespaces)),
      word(tried(has_overlay)), word(tried(has_supervised)));
  return written > 0 ? 0 : exit_failed;
}
