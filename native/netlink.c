// Requests to the kernel's network settings.
#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { answers_max = 64 };

static void *room_for(struct netlink *netlink, size_t size) {
  const size_t aligned = (size + 3) & ~(size_t)3;
  if (netlink->failed || sizeof netlink->bytes - netlink->length < aligned) {
    netlink->failed = true;
    return NULL;
  }
  void *room = netlink->bytes + netlink->length;
  memset(room, 0, aligned);
  netlink->length += aligned;
  // The message under way is as long as it is by now.
  struct nlmsghdr *message = (struct nlmsghdr *)(void *)(netlink->bytes + netlink->message);
  message->nlmsg_len = (uint32_t)(netlink->length - netlink->message);
  return room;
}

void netlink_message(struct netlink *netlink, uint16_t type, uint16_t flags, const void *head, size_t size) {
  if (netlink->failed || sizeof netlink->bytes - netlink->length < sizeof(struct nlmsghdr)) {
    netlink->failed = true;
    return;
  }
  netlink->message = netlink->length;
  struct nlmsghdr *message = room_for(netlink, sizeof *message);
  if (message == NULL) return;
  message->nlmsg_type = type;
  message->nlmsg_flags = (uint16_t)(flags | NLM_F_REQUEST);
  void *room = room_for(netlink, size);
  if (room != NULL) memcpy(room, head, size);
}

void netlink_attribute(struct netlink *netlink, uint16_t type, const void *value, size_t size) {
  struct nlattr *attribute = room_for(netlink, sizeof *attribute + size);
  if (attribute == NULL) return;
  attribute->nla_len = (uint16_t)(sizeof *attribute + size);
  attribute->nla_type = type;
  if (size > 0) memcpy(attribute + 1, value, size);
}

void netlink_text(struct netlink *netlink, uint16_t type, const char *text) {
  netlink_attribute(netlink, type, text, strlen(text) + 1);
}

void netlink_number(struct netlink *netlink, uint16_t type, uint32_t value) {
  const uint32_t ordered = htonl(value);
  netlink_attribute(netlink, type, &ordered, sizeof ordered);
}

size_t netlink_open(struct netlink *netlink, uint16_t type) {
  const size_t opened = netlink->length;
  netlink_attribute(netlink, type | NLA_F_NESTED, NULL, 0);
  return opened;
}

void netlink_close(struct netlink *netlink, size_t opened) {
  if (netlink->failed) return;
  struct nlattr *attribute = (struct nlattr *)(void *)(netlink->bytes + opened);
  attribute->nla_len = (uint16_t)(netlink->length - opened);
}

// The kernel has answered by the time the request is sent: what is not there now will not come.
static int read_answers(int socket) {
  bool any = false;
  for (int answers = 0; answers < answers_max; answers++) {
    _Alignas(struct nlmsghdr) uint8_t bytes[8192];
    const ssize_t count = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN && any) return 0;
    if (count < 0) return -1;
    size_t left = (size_t)count;
    const struct nlmsghdr *message = (const void *)bytes;
    while (left >= sizeof *message && message->nlmsg_len >= sizeof *message && message->nlmsg_len <= left) {
      if (message->nlmsg_type == NLMSG_ERROR && message->nlmsg_len >= NLMSG_LENGTH(sizeof(int))) {
        int error;
        memcpy(&error, message + 1, sizeof error);
        if (error != 0) {
          errno = -error;
          return -1;
        }
        any = true;
      }
      const size_t step = NLMSG_ALIGN(message->nlmsg_len);
      if (step >= left) break;
      left -= step;
      message = (const void *)((const uint8_t *)message + step);
    }
  }
  errno = EPROTO;
  return -1;
}

int netlink_ask(struct netlink *netlink, int protocol) {
  if (netlink->failed) {
    errno = EMSGSIZE;
    return -1;
  }
  const int channel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (channel < 0) return -1;
  // Privileged (NET_ADMIN over this sandbox's own network namespace), and safe: a message reaches the namespace the
  // socket was made in, which no other process uses, and every message is one of ours, built from constants.
  int result = send(channel, netlink->bytes, netlink->length, 0) < 0 ? -1 : read_answers(channel);
  const int error = errno;
  close(channel);
  errno = error;
  return result;
}
