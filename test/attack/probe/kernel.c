// Calls into parts of the kernel that ordinary programs do not use, with harmless arguments.
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <linux/reboot.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include "probe.h"

// By name; every argument is zero or meaningless, so that a kernel that accepts the call answers EINVAL, EBADF or EFAULT.
static const struct {
  const char *name;
  long number;
  long arguments[5];
} CALLS[] = {
    {"keyctl", SYS_keyctl, {0, -3, 0, 0, 0}},
    {"add_key", SYS_add_key, {(long)"user", (long)"attempt", (long)"x", 1, -3}},
    {"request_key", SYS_request_key, {(long)"user", (long)"attempt", 0, -3, 0}},
    {"userfaultfd", SYS_userfaultfd, {UFFD_USER_MODE_ONLY, 0, 0, 0, 0}},
    {"io_uring_enter", SYS_io_uring_enter, {-1, 0, 0, 0, 0}},
    {"io_uring_register", SYS_io_uring_register, {-1, 0, 0, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, {AT_FDCWD, 0, 0, 0, 0}},
    {"kexec_load", SYS_kexec_load, {0, 0, 0, 0, 0}},
    {"init_module", SYS_init_module, {0, 0, 0, 0, 0}},
    {"finit_module", SYS_finit_module, {-1, 0, 0, 0, 0}},
    {"delete_module", SYS_delete_module, {(long)"attempt", O_NONBLOCK, 0, 0, 0}},
    {"swapon", SYS_swapon, {(long)"/attempt", 0, 0, 0, 0}},
    {"swapoff", SYS_swapoff, {(long)"/attempt", 0, 0, 0, 0}},
    {"acct", SYS_acct, {(long)"/attempt", 0, 0, 0, 0}},
    {"syslog", SYS_syslog, {3, 0, 0, 0, 0}},
    {"quotactl", SYS_quotactl, {0, 0, 0, 0, 0}},
    {"fanotify_init", SYS_fanotify_init, {0, 0, 0, 0, 0}},
    {"vhangup", SYS_vhangup, {0, 0, 0, 0, 0}},
    {"memfd_secret", SYS_memfd_secret, {0, 0, 0, 0, 0}},
    {"move_pages", SYS_move_pages, {1, 0, 0, 0, 0}},
    {"migrate_pages", SYS_migrate_pages, {1, 0, 0, 0, 0}},
    {"process_madvise", SYS_process_madvise, {-1, 0, 0, 0, 0}},
    {"lookup_dcookie", 212, {0, 0, 0, 0, 0}},
    {"set_mempolicy", SYS_set_mempolicy, {0, 0, 0, 0, 0}},
    {"remap_file_pages", SYS_remap_file_pages, {0, 0, 0, 0, 0}},
#ifdef __x86_64__
    {"iopl", SYS_iopl, {3, 0, 0, 0, 0}},
    {"ioperm", SYS_ioperm, {0x80, 1, 1, 0, 0}},
    {"modify_ldt", SYS_modify_ldt, {0, 0, 0, 0, 0}},
#endif
};

// These show that the kernel checked the arguments: the call itself was allowed.
static bool is_reached(int problem) {
  return problem == EINVAL || problem == EBADF || problem == EFAULT || problem == ENOENT || problem == ESRCH || problem == ENOKEY;
}

static void call(const char *name) {
  for (size_t at = 0; at < sizeof CALLS / sizeof *CALLS; at++) {
    if (strcmp(CALLS[at].name, name) != 0) continue;
    const long *a = CALLS[at].arguments;
    long result = syscall(CALLS[at].number, a[0], a[1], a[2], a[3], a[4]);
    if (result < 0 && is_reached(errno)) open_way("reached", "%s: %s", name, strerrorname_np(errno));
    judge(result, name);
  }
  untried("not a call of this architecture");
}

static void ring(const char *argument) {
  (void)argument;
  struct io_uring_params parameters = {0};
  judge(syscall(SYS_io_uring_setup, 2, &parameters), "io_uring_setup");
}

static void bpf_program(const char *argument) {
  (void)argument;
  struct bpf_insn code[] = {{.code = 0xb7}, {.code = 0x95}};
  union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2};
  attributes.insns = (uint64_t)(uintptr_t)code;
  attributes.license = (uint64_t)(uintptr_t) "GPL";
  judge(syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes), "BPF_PROG_LOAD");
}

static void performance(const char *argument) {
  (void)argument;
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_DUMMY};
  attributes.exclude_kernel = 1;
  judge(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0), "perf_event_open");
}

static void handle(const char *argument) {
  (void)argument;
  char room[sizeof(struct file_handle) + 128];
  struct file_handle *file = (struct file_handle *)room;
  file->handle_bytes = 128;
  int mount = 0;
  judge(name_to_handle_at(AT_FDCWD, scene("root"), file, &mount, 0), "name_to_handle_at");
}

// Set to its current value: if it is accepted, nothing changes.
static void clock_set(const char *argument) {
  (void)argument;
  struct timex now = {0};
  if (adjtimex(&now) < 0) refused("adjtimex, reading");
  now.modes = ADJ_FREQUENCY;
  judge(adjtimex(&now), "adjtimex");
}

static void name_machine(const char *argument) {
  (void)argument;
  struct utsname names;
  uname(&names);
  judge(sethostname(names.nodename, strlen(names.nodename)), "sethostname to what it is");
}

static void restart(const char *argument) {
  (void)argument;
  judge(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, 0), "reboot");
}

// An own filter that allows everything, in front of ours.
static int wave_through(unsigned flags) {
  struct sock_filter code[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  struct sock_fprog program = {1, code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void loosen(const char *argument) {
  (void)argument;
  if (wave_through(0) < 0) refused("seccomp");
  int fd = socket(AF_VSOCK, SOCK_STREAM, 0);
  judge(fd, "socket(AF_VSOCK) behind a filter that allows all");
}

// A listener that answers for the kernel: our refusal comes first.
static void answer_for_kernel(const char *argument) {
  (void)argument;
  struct sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                               {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_socket},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  struct sock_fprog program = {4, code};
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0) refused("seccomp listener");
  alarm(3);  // If it is not refused, the call waits for an answer that never comes.
  signal(SIGALRM, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    alarm(2);
    signal(SIGALRM, SIG_DFL);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    _exit(fd >= 0 ? 99 : errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 99) {
    errno = WEXITSTATUS(status);
    refused("socket(AF_UNIX) under a listener of one's own");
  }
  open_way("asked", "the call waited for the program's own answer");
}

static void privileges_again(const char *argument) {
  (void)argument;
  judge(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), "PR_SET_NO_NEW_PRIVS 0");
}

static void personality_of(const char *argument) {
  (void)argument;
  judge(syscall(SYS_personality, 0x0400000), "personality READ_IMPLIES_EXEC");
}

const struct attempt kernel_attempts[] = {
    {"call", call},
    {"io-uring", ring},
    {"bpf", bpf_program},
    {"perf", performance},
    {"file-handle", handle},
    {"clock", clock_set},
    {"sethostname", name_machine},
    {"reboot", restart},
    {"seccomp-loosen", loosen},
    {"seccomp-listener", answer_for_kernel},
    {"new-privileges", privileges_again},
    {"personality", personality_of},
    {NULL, NULL},
};
