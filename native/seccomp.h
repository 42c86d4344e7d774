// Installing the seccomp program the owner made.
#ifndef AMBIT_SECCOMP_H
#define AMBIT_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>

#include "frame.h"

enum { seccomp_instructions_max = 4096 };

// The rest of a payload as a program of the caller's to free. 0, or -1 with errno.
int seccomp_parse(struct reader *reader, struct sock_filter **program, size_t *count);

// Needs no_new_privs. 0, or -1 with errno.
int seccomp_install(const struct sock_filter *program, size_t count);

#endif
