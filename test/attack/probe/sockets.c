// Sockets that bypass the network: the host's own Unix sockets, and families that no namespace or broker filters.
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe.h"

static int family(const char *name) {
  static const struct {
    const char *name;
    int number;
  } FAMILIES[] = {{"unix", AF_UNIX}, {"inet", AF_INET}, {"inet6", AF_INET6}, {"packet", AF_PACKET}, {"vsock", AF_VSOCK}, {"alg", AF_ALG}, {"netlink", AF_NETLINK}};
  for (size_t at = 0; at < sizeof FAMILIES / sizeof *FAMILIES; at++)
    if (strcmp(FAMILIES[at].name, name) == 0) return FAMILIES[at].number;
  untried("no family %s", name);
}

// family:type:protocol
static void make(const char *words) {
  char name[16];
  int type, protocol;
  if (sscanf(words, "%15[^:]:%d:%d", name, &type, &protocol) != 3) untried("family:type:protocol");
  judge(socket(family(name), type, protocol), words);
}

// Every address family except IPv4, IPv6, netlink and Unix streams and packets.
static void every_family(const char *argument) {
  (void)argument;
  char opened[200] = "";
  for (int number = 0; number < 64; number++)
    for (int type = 1; type <= 5; type++) {
      if (number == AF_INET || number == AF_INET6 || number == AF_NETLINK) continue;
      if (number == AF_UNIX && (type == SOCK_STREAM || type == SOCK_SEQPACKET)) continue;
      int fd = socket(number, type, 0);
      if (fd < 0) continue;
      close(fd);
      size_t length = strlen(opened);
      snprintf(opened + length, sizeof opened - length, " %d/%d", number, type);
    }
  if (opened[0] != 0) open_way("opened", "family/type%s", opened);
  errno = EAFNOSUPPORT;
  refused("every other family");
}

// Netlink protocols beyond routes: device events, audit, netfilter, socket diagnosis, generic.
static void every_netlink(const char *argument) {
  (void)argument;
  char opened[200] = "";
  for (int number = 1; number < 32; number++) {
    int fd = socket(AF_NETLINK, SOCK_RAW, number);
    if (fd < 0) continue;
    close(fd);
    size_t length = strlen(opened);
    snprintf(opened + length, sizeof opened - length, " %d", number);
  }
  if (opened[0] != 0) open_way("opened", "netlink%s", opened);
  refused("every netlink but routes");
}

static socklen_t unix_address(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  // A name that begins with @ is abstract.
  if (strlen(name) >= sizeof address->sun_path) untried("the path is too long for a socket");
  memcpy(address->sun_path, name, strlen(name));
  if (name[0] == '@') address->sun_path[0] = 0;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (name[0] == '@' ? 0 : 1));
}

// type:key, the key of a socket that the test listens on.
static void connect_unix(const char *key) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, scene(key));
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) refused("socket(AF_UNIX)");
  judge(connect(fd, (struct sockaddr *)&address, length), scene(key));
}

// A socket pair is allowed; as datagram sockets it could still send to any name.
static void send_from_pair(const char *key) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, scene(key));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0) refused("socketpair(SOCK_DGRAM)");
  judge(sendto(pair[0], "attempt", 7, 0, (struct sockaddr *)&address, length), scene(key));
}

// A stream of a socket pair, disconnected if possible, connected to another socket.
static void redirect_pair(const char *key) {
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, scene(key));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) refused("socketpair(SOCK_STREAM)");
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  connect(pair[0], &none, sizeof none);
  close(pair[1]);
  judge(connect(pair[0], (struct sockaddr *)&address, length), scene(key));
}

// A listening socket of ours where a process of the host might look for one.
static void bind_unix(const char *argument) {
  (void)argument;
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, below("attempt.sock"));
  unlink(address.sun_path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) refused("socket(AF_UNIX)");
  judge(bind(fd, (struct sockaddr *)&address, length), "a socket in the root");
}

static void bind_from_pair(const char *argument) {
  (void)argument;
  struct sockaddr_un address;
  socklen_t length = unix_address(&address, below("attempt-pair.sock"));
  unlink(address.sun_path);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0) refused("socketpair");
  judge(bind(pair[0], (struct sockaddr *)&address, length), "a pair bound in the root");
}

static void connect_vsock(const char *argument) {
  (void)argument;
  // Only the socket: connecting would leave this machine.
  judge(socket(AF_VSOCK, SOCK_STREAM, 0), "AF_VSOCK");
}

const struct attempt socket_attempts[] = {
    {"socket", make},
    {"socket-families", every_family},
    {"socket-netlinks", every_netlink},
    {"unix-connect", connect_unix},
    {"unix-send-from-pair", send_from_pair},
    {"unix-redirect-pair", redirect_pair},
    {"unix-bind", bind_unix},
    {"unix-bind-pair", bind_from_pair},
    {"vsock", connect_vsock},
    {NULL, NULL},
};
