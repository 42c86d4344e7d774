// The network: the host's loopback, addresses without a name, unlisted ports, and the traffic on listed ones.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "network.h"

// address and port as "address/port"; both families.
static socklen_t parse(const char *words, struct sockaddr_storage *place) {
  char address[64];
  int port;
  if (sscanf(words, "%63[^/]/%d", address, &port) != 2) untried("address/port");
  memset(place, 0, sizeof *place);
  struct sockaddr_in *four = (struct sockaddr_in *)place;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)place;
  if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, address, &six->sin6_addr) != 1) untried("no address: %s", address);
  six->sin6_family = AF_INET6;
  six->sin6_port = htons((uint16_t)port);
  return sizeof *six;
}

// The connected socket, or -1 with errno; never blocks longer than the limit.
int reach(const struct sockaddr_storage *place, socklen_t length) {
  int fd = socket(place->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, (const struct sockaddr *)place, length) == 0) return fd;
  if (errno != EINPROGRESS) return -1;
  struct pollfd wait = {fd, POLLOUT, 0};
  int problem = ETIMEDOUT;
  socklen_t size = sizeof problem;
  if (poll(&wait, 1, patience_milliseconds) > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size);
  errno = problem;
  if (problem == 0) return fd;
  close(fd);
  errno = problem;
  return -1;
}

// A broker accepts the connection before it knows its destination; what counts is whether a server behind it answers.
_Noreturn void say_and_judge(int fd, const void *words, size_t length, const char *what) {
  struct pollfd wait = {fd, POLLIN, 0};
  char answer[128];
  if (length > 0 && send(fd, words, length, MSG_NOSIGNAL) < 0) refused(what);
  if (poll(&wait, 1, patience_milliseconds) <= 0) blocked("silence", "%s", what);
  long got = recv(fd, answer, sizeof answer - 1, 0);
  if (got < 0) refused(what);
  if (got == 0) blocked("closed", "%s", what);
  answer[got] = 0;
  // TLS alerts and refusals as text are not the canary's answer.
  if (memmem(answer, (size_t)got, "CANARY", 6) != NULL) open_way("answered", "%s: %.60s", what, answer);
  blocked("refused", "%s: %d bytes that are not the canary's", what, (int)got);
}

static void tcp(const char *words) {
  struct sockaddr_storage place;
  socklen_t length = parse(words, &place);
  int fd = reach(&place, length);
  if (fd < 0) refused(words);
  say_and_judge(fd, "GET / HTTP/1.0\r\n\r\n", 18, words);
}

// A port of the scene on an address: "127.0.0.1/tcp4".
static void tcp_scene(const char *words) {
  char address[64], key[32], place[128];
  if (sscanf(words, "%63[^/]/%31s", address, key) != 2) untried("address/key");
  snprintf(place, sizeof place, "%s/%s", address, scene(key));
  tcp(place);
}

static void udp(const char *words) {
  struct sockaddr_storage place;
  socklen_t length = parse(words, &place);
  int fd = socket(place.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&place, length) < 0) refused(words);
  if (send(fd, "attempt", 7, MSG_NOSIGNAL) < 0) refused(words);
  struct pollfd wait = {fd, POLLIN, 0};
  char answer[64];
  if (poll(&wait, 1, 1000) <= 0) blocked("silence", "%s", words);
  long got = recv(fd, answer, sizeof answer, 0);
  if (got < 0) refused(words);
  open_way("answered", "%s", words);
}

static void udp_scene(const char *words) {
  char address[64], key[32], place[128];
  if (sscanf(words, "%63[^/]/%31s", address, key) != 2) untried("address/key");
  snprintf(place, sizeof place, "%s/%s", address, scene(key));
  udp(place);
}

// A first packet with data in it, sent before the connection is accepted.
static void fast_open(const char *words) {
  char address[64], key[32], where[128];
  if (sscanf(words, "%63[^/]/%31s", address, key) != 2) untried("address/key");
  snprintf(where, sizeof where, "%s/%s", address, scene(key));
  struct sockaddr_storage place;
  socklen_t length = parse(where, &place);
  int fd = socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) refused("socket");
  if (sendto(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&place, length) < 0) refused(where);
  say_and_judge(fd, "", 0, where);
}

// Only the sandbox's own loopback exists, shared with no other network.
static void interfaces(const char *argument) {
  (void)argument;
  char text[4096];
  if (take("/proc/net/dev", text, sizeof text) < 0) refused("/proc/net/dev");
  int line = 0;
  for (char *at = strtok(text, "\n"); at != NULL; at = strtok(NULL, "\n"))
    if (++line > 2 && strstr(at, " lo:") == NULL) open_way("seen", "%.40s", at);
  blocked("none", "no interface but loopback");
}

const struct attempt network_attempts[] = {
    {"tcp", tcp},           {"tcp-scene", tcp_scene}, {"udp", udp},   {"udp-scene", udp_scene},
    {"fast-open", fast_open}, {"interfaces", interfaces}, {NULL, NULL},
};
