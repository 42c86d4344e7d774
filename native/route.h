// Routes that make addresses of the world lead to loopback.
#ifndef AMBIT_ROUTE_H
#define AMBIT_ROUTE_H

#include <stdint.h>

// `family` AF_INET or AF_INET6; everything below the prefix is delivered here. 0, or -1 with errno.
int route_to_loopback(int family, const uint8_t *prefix, uint8_t bits);

#endif
