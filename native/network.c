// The sandbox's side of its network. A socket stays in the network namespace it was made in, so the broker outside
// accepts the sandbox's connections itself: there is no proxy inside, and nothing inside that could be talked into one.
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "handles.h"
#include "route.h"
#include "tproxy.h"

enum { backlog = 511 };

struct listener {
  int family;
  const uint8_t *address;
  uint16_t port;
  bool transparent;
};

static socklen_t address_of(const struct listener *listener, struct sockaddr_storage *storage) {
  memset(storage, 0, sizeof *storage);
  if (listener->family == AF_INET) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(listener->port)};
    memcpy(&address.sin_addr, listener->address, sizeof address.sin_addr);
    memcpy(storage, &address, sizeof address);
    return sizeof address;
  }
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(listener->port)};
  memcpy(&address.sin6_addr, listener->address, sizeof address.sin6_addr);
  memcpy(storage, &address, sizeof address);
  return sizeof address;
}

// Two ports are listened to at addresses of our own and may be wanted at every other address as well. No command can
// join them there: ports as low as these take a capability it does not have.
static bool is_shared(uint16_t port) {
  return port == dns_port || port == broker_port;
}

static int set_options(int opened, const struct listener *listener) {
  const int on = 1;
  if (is_shared(listener->port) && setsockopt(opened, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) return -1;
  if (listener->family == AF_INET6 && setsockopt(opened, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) return -1;
  if (!listener->transparent) return 0;
  // Privileged (NET_ADMIN over this sandbox's own network namespace), and safe: it lets the socket answer for addresses
  // that are not ours, inside a network that ends at this sandbox's loopback.
  if (listener->family == AF_INET) return setsockopt(opened, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on);
  return setsockopt(opened, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof on);
}

static int open_socket(const struct listener *listener, int type) {
  const int opened = socket(listener->family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (opened < 0) return -1;
  struct sockaddr_storage address;
  const socklen_t size = address_of(listener, &address);
  // Low ports take NET_BIND_SERVICE, over this sandbox's own network namespace and no other.
  if (set_options(opened, listener) == 0 && bind(opened, (const struct sockaddr *)&address, size) == 0 &&
      (type != SOCK_STREAM || listen(opened, backlog) == 0))
    return opened;
  const int error = errno;
  close(opened);
  errno = error;
  return -1;
}

static int give_listener(struct handles *handles, const struct listener *listener, const char *message) {
  const int opened = open_socket(listener, SOCK_STREAM);
  return opened < 0 ? -1 : handles_give(handles, opened, handle_listener, message);
}

static int give_own(struct handles *handles, const char **stage) {
  const struct listener dns = {AF_INET, dns_address, dns_port, false};
  const struct listener broker = {AF_INET, broker_address, broker_port, false};
  *stage = "network: names";
  const int datagrams = open_socket(&dns, SOCK_DGRAM);
  if (datagrams < 0 || handles_give(handles, datagrams, handle_datagram, "{\"kind\":\"dns\"}") != 0) return -1;
  if (give_listener(handles, &dns, "{\"kind\":\"dns-tcp\"}") != 0) return -1;
  *stage = "network: broker";
  return give_listener(handles, &broker, "{\"kind\":\"broker\"}");
}

static int give_ports(struct handles *handles, const struct network_request *request) {
  static const uint8_t every[4] = {0};
  for (size_t at = 0; at < request->count; at++) {
    const struct listener listener = {AF_INET, every, request->ports[at], false};
    char message[48];
    snprintf(message, sizeof message, "{\"kind\":\"tcp\",\"port\":%u}", (unsigned)request->ports[at]);
    if (give_listener(handles, &listener, message) != 0) return -1;
  }
  return 0;
}

static bool is_listed(const struct network_request *request, uint16_t port) {
  for (size_t at = 0; at < request->count; at++)
    if (request->ports[at] == port) return true;
  return false;
}

// Ports of 127.0.0.1 that were granted by that address. Only these: whatever else a program listens to on its own
// loopback stays there. A listener on every address has the port already where the ports were opened one by one.
static int give_loopback(struct handles *handles, const struct network_request *request, bool transparent) {
  static const uint8_t loopback[4] = {127, 0, 0, 1};
  for (size_t at = 0; at < request->loopback_count; at++) {
    const uint16_t port = request->loopback[at];
    if (!transparent && is_listed(request, port)) continue;
    const struct listener listener = {AF_INET, loopback, port, false};
    char message[48];
    snprintf(message, sizeof message, "{\"kind\":\"tcp\",\"port\":%u}", (unsigned)port);
    if (give_listener(handles, &listener, message) != 0) return -1;
  }
  return 0;
}

// Everything of one family leads to one listener, or nothing of it does: the rule comes first, since only it may be
// missing in the kernel, and without a route it catches nothing.
static int make_transparent(const struct listener *listener, int *opened) {
  static const uint8_t all[16] = {0};
  if (tproxy_install(listener->family) != 0) return -1;
  *opened = open_socket(listener, SOCK_STREAM);
  if (*opened < 0) return -1;
  if (route_to_loopback(listener->family, all, 0) == 0) return 0;
  const int error = errno;
  close(*opened);
  *opened = -1;
  errno = error;
  return -1;
}

// 1 when every connection comes to us, 0 when the kernel does not offer it, -1 when the sockets could not be given.
static int give_transparent(struct handles *handles) {
  const struct listener four = {AF_INET, listener_address, transparent_port, true};
  const struct listener six = {AF_INET6, listener_address_6, transparent_port, true};
  int opened = -1;
  if (make_transparent(&four, &opened) != 0) return 0;
  if (handles_give(handles, opened, handle_listener, "{\"kind\":\"transparent\"}") != 0) return -1;
  // Without the newer protocol in the kernel there is nowhere for it to lead: the older one is enough then.
  if (make_transparent(&six, &opened) != 0) return 1;
  return handles_give(handles, opened, handle_listener, "{\"kind\":\"transparent\"}") == 0 ? 1 : -1;
}

int network_open(const struct network_request *request, int channel, enum network_mode *mode, const char **stage) {
  struct handles handles = {.channel = channel};
  *stage = "network: route";
  if (route_to_loopback(AF_INET, fake_range, fake_range_bits) != 0) return -1;
  if (give_own(&handles, stage) != 0) return -1;
  *stage = "network: listeners";
  const int transparent = request->transparent ? give_transparent(&handles) : 0;
  if (transparent < 0 || (transparent == 0 && give_ports(&handles, request) != 0)) return -1;
  if (give_loopback(&handles, request, transparent > 0) != 0) return -1;
  *mode = transparent > 0 ? network_transparent : network_ports;
  *stage = "network: handles";
  return handles_arrived(&handles);
}
