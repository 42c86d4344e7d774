// Connections with a timeout, and the data received on them.
#ifndef NETWORK_H
#define NETWORK_H

#include <sys/socket.h>

#include "probe.h"

int reach(const struct sockaddr_storage *place, socklen_t length);
_Noreturn void say_and_judge(int fd, const void *words, size_t length, const char *what);

#endif
