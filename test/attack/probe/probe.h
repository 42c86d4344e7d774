// Shared by all attempts: how to report a result, and where the test put things.
#ifndef PROBE_H
#define PROBE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// An attempt is a name and a function; the text after `=` on the command line is its argument, or NULL.
struct attempt {
  const char *name;
  void (*run)(const char *argument);
};

extern const struct attempt file_attempts[];
extern const struct attempt pin_attempts[];
extern const struct attempt device_attempts[];
extern const struct attempt process_attempts[];
extern const struct attempt namespace_attempts[];
extern const struct attempt kernel_attempts[];
extern const struct attempt proc_attempts[];
extern const struct attempt socket_attempts[];
extern const struct attempt connect_attempts[];
extern const struct attempt network_attempts[];
extern const struct attempt name_attempts[];
extern const struct attempt limit_attempts[];
extern const struct attempt state_attempts[];
extern const struct attempt foreign_attempts[];
extern const struct attempt metadata_attempts[];

// Timeout for an answer.
extern int patience_milliseconds;

// The three endings of an attempt. None of them returns.
_Noreturn void blocked(const char *how, const char *format, ...);
_Noreturn void open_way(const char *how, const char *format, ...);
_Noreturn void untried(const char *format, ...);
// Blocked, with the current errno.
_Noreturn void refused(const char *what);
// Open if the result is not negative, otherwise blocked with errno.
_Noreturn void judge(long result, const char *what);

// A fact of the test: a path, a port, a number. Ends the attempt as untried if the test did not provide it.
const char *scene(const char *key);
const char *scene_or(const char *key, const char *otherwise);
// A path below the root of the sandbox; from a ring of buffers, so that several may be held at once.
const char *below(const char *format, ...);
// Copies a file's beginning into memory; the length or -1.
long take(const char *path, char *bytes, size_t size);
// Makes a small file that may be moved over others.
const char *own_file(const char *name);
const char *own_folder(const char *name);
// A set of our own by its name in a status file, such as CapEff.
uint64_t held_capabilities(const char *set);

#endif
