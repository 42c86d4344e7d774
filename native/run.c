// One command from its start to its end.
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

uint64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void run_end(struct run *run, enum run_how how) {
  if (run->ending) return;
  if (run->process > 0) run->how = how;
  run->ending = true;
  // Everything in this pid namespace but ourselves, in one step that no fork can slip through: the kernel holds new
  // processes back while it looks for those to kill. Outside the namespace, or the domain that signals do not leave, there is
  // no process we could reach.
  kill(-1, SIGKILL);
}

static uint64_t microseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void count_usage(struct run *run, const struct rusage *usage) {
  run->user += microseconds(usage->ru_utime);
  run->system += microseconds(usage->ru_stime);
  if ((uint64_t)usage->ru_maxrss > run->memory) run->memory = (uint64_t)usage->ru_maxrss;
}

static void take_status(struct run *run, int status) {
  run->process = 0;
  run->wall = clock_now() - run->begun;
  if (run->how != run_exited) return;  // We ended it ourselves, and know why.
  run->how = WIFSIGNALED(status) ? run_signalled : run_exited;
  run->value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

// Ours, not left by the command.
static bool forget_connecting(struct run *run, pid_t process) {
  for (size_t at = 0; at < run->connecting_count; at++) {
    if (run->connecting[at] != process) continue;
    run->connecting[at] = run->connecting[--run->connecting_count];
    return true;
  }
  return false;
}

bool run_reap(struct run *run) {
  for (;;) {
    int status;
    struct rusage usage;
    const int options = WNOHANG | __WALL | (run->is_job ? WUNTRACED : 0);
    const pid_t process = wait4(-1, &status, options, &usage);
    if (process < 0) return errno == ECHILD;
    if (process == 0) {
      // The command has exited and a process it started has not.
      if (run->process != 0 || run->ending) return false;
      run_end(run, run->how);
      continue;
    }
    if (WIFSTOPPED(status)) {
      if (process == run->process) run->halted = true;
      continue;
    }
    count_usage(run, &usage);
    if (forget_connecting(run, process)) continue;
    if (process == run->process) take_status(run, status);
    else if (run->ending && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) run->leftovers++;
  }
}

int run_time_left(const struct run *run) {
  if (run->deadline == 0 || run->ending) return -1;
  const uint64_t now = clock_now();
  if (now >= run->deadline) return 0;
  const uint64_t left = (run->deadline - now + 999) / 1000;
  return left > 1000000000 ? 1000000000 : (int)left;
}

void run_write(const struct run *run, bool clean, struct writer *writer) {
  const bool plain = run->how == run_exited || run->how == run_signalled;
  // A command that wrote too much and ended before we saw it did write too much.
  const enum run_how how = plain && run->output_dropped > 0 ? run_output_over : run->how;
  write_u8(writer, (uint8_t)how);
  write_u32(writer, how == run->how ? (uint32_t)run->value : 0);
  write_u64(writer, run->wall);
  write_u64(writer, run->user);
  write_u64(writer, run->system);
  write_u64(writer, run->memory);
  write_u64(writer, run->output_dropped);
  write_u32(writer, run->leftovers);
  write_u8(writer, clean ? 1 : 0);
}
