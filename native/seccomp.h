// Installing the seccomp program the owner made.
#ifndef AMBIT_SECCOMP_H
#define AMBIT_SECCOMP_H

#include <linux/filter.h>
#include <stddef.h>

enum { seccomp_instructions_max = 4096 };

// Needs no_new_privs. 0, or -1 with errno.
int seccomp_install(const struct sock_filter *program, size_t count);

#endif
