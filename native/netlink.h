// Requests to the kernel's network settings: messages of nested attributes, built in memory, answered at once.
#ifndef AMBIT_NETLINK_H
#define AMBIT_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { netlink_bytes_max = 4096 };

// Zeroed, it is empty. Several messages may follow each other in one request.
struct netlink {
  _Alignas(8) uint8_t bytes[netlink_bytes_max];
  size_t length, message;
  bool failed;
};

// Opens a message with its fixed part; it ends where the next one begins or the request is sent.
void netlink_message(struct netlink *netlink, uint16_t type, uint16_t flags, const void *head, size_t size);
void netlink_attribute(struct netlink *netlink, uint16_t type, const void *value, size_t size);
void netlink_text(struct netlink *netlink, uint16_t type, const char *text);
// A number in network order, as nf_tables wants them.
void netlink_number(struct netlink *netlink, uint16_t type, uint32_t value);
// Opens an attribute that holds others; the value is what netlink_close needs.
size_t netlink_open(struct netlink *netlink, uint16_t type);
void netlink_close(struct netlink *netlink, size_t opened);

// Sends it all and reads every answer. 0 when each of them is "done", or -1 with the errno of the first that is not.
int netlink_ask(struct netlink *netlink, int protocol);

#endif
