// Seeing every TCP connection of a sandbox, to whatever address and port, at one listener.
#ifndef AMBIT_TPROXY_H
#define AMBIT_TPROXY_H

// One rule of nf_tables for this family (AF_INET or AF_INET6). 0, or -1 with errno: the kernel does not offer it.
int tproxy_install(int family);

#endif
