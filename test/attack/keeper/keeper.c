// The host's side of the attacks: sockets, shared memory and queues that no sandbox may reach. It runs as the
// same user, so that ordinary permissions do not interfere, and prints lines `key=value` with the paths and numbers.
//   keeper FOLDER NAME NUMBER
// At the end of its standard input it removes everything, prints who connected, and exits.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PLACES_MAX = 24 };

static struct place {
  int fd;
  int type;
  const char *key;
  int visits;
  char path[108];
} places[PLACES_MAX];
static int count;

static void fail(const char *what) {
  fprintf(stderr, "keeper: %s: %s\n", what, strerror(errno));
  exit(1);
}

static struct place *add(const char *key, int family, int type, const struct sockaddr *address, socklen_t length) {
  int fd = socket(family, type, 0);
  if (fd < 0) return NULL;
  // A machine without IPv6 has no such loopback: its line is left out, and the attempt counts as untried.
  if (bind(fd, address, length) < 0) {
    close(fd);
    return NULL;
  }
  if (type == SOCK_STREAM && listen(fd, 64) < 0) fail("listen");
  places[count] = (struct place){.fd = fd, .type = type, .key = key};
  return &places[count++];
}

static void add_unix(const char *key, int type, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) fail("a path too long for a socket");
  memcpy(address.sun_path, path, strlen(path));
  if (path[0] == '@') address.sun_path[0] = 0;
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (path[0] == '@' ? 0 : 1));
  struct place *place = add(key, AF_UNIX, type, (struct sockaddr *)&address, length);
  if (place == NULL) fail(path);
  snprintf(place->path, sizeof place->path, "%s", path);
  printf("%s=%s\n", key, path);
}

static void add_internet(const char *key, int family, int type) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  socklen_t length = family == AF_INET ? sizeof four : sizeof six;
  struct place *place = add(key, family, type, family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six, length);
  if (place == NULL) return;
  if (getsockname(place->fd, family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six, &length) < 0) fail("getsockname");
  printf("%s=%d\n", key, ntohs(family == AF_INET ? four.sin_port : six.sin6_port));
}

static void answer(struct place *place) {
  char bytes[512];
  struct sockaddr_storage from;
  socklen_t length = sizeof from;
  place->visits++;
  if (place->type == SOCK_STREAM) {
    int fd = accept(place->fd, NULL, NULL);
    if (fd < 0) return;
    if (write(fd, "CANARY\n", 7) < 0) place->visits++;
    close(fd);
  } else if (recvfrom(place->fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length) >= 0 && length > sizeof(sa_family_t))
    sendto(place->fd, "CANARY\n", 7, 0, (struct sockaddr *)&from, length);
}

int main(int words, char **word) {
  if (words != 4) return 2;
  // A client that disconnected without reading must not prevent the cleanup.
  signal(SIGPIPE, SIG_IGN);
  const char *folder = word[1], *name = word[2];
  int key = atoi(word[3]);
  char path[200];

  snprintf(path, sizeof path, "%s/outside/s", folder);
  add_unix("unix_outside", SOCK_STREAM, path);
  snprintf(path, sizeof path, "%s/state/ambit/s", folder);
  add_unix("unix_state", SOCK_STREAM, path);
  snprintf(path, sizeof path, "%s/root/s", folder);
  add_unix("unix_inside", SOCK_STREAM, path);
  snprintf(path, sizeof path, "%s/root/d", folder);
  add_unix("unix_datagram", SOCK_DGRAM, path);
  snprintf(path, sizeof path, "@%s", name);
  add_unix("unix_abstract", SOCK_STREAM, path);
  snprintf(path, sizeof path, "@%s-d", name);
  add_unix("unix_abstract_datagram", SOCK_DGRAM, path);
  add_internet("tcp4", AF_INET, SOCK_STREAM);
  add_internet("tcp6", AF_INET6, SOCK_STREAM);
  add_internet("udp4", AF_INET, SOCK_DGRAM);
  add_internet("udp6", AF_INET6, SOCK_DGRAM);

  int memory = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  int messages = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
  int semaphores = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
  if (memory < 0 || messages < 0 || semaphores < 0) fail("System V");
  printf("ipc_key=%d\n", key);
  char queue[64], shared[64];
  snprintf(queue, sizeof queue, "/%s", name);
  if (mq_open(queue, O_CREAT | O_EXCL | O_RDWR, 0666, NULL) >= 0) printf("mq_name=%s\n", queue);
  snprintf(shared, sizeof shared, "/dev/shm/%s", name);
  if (open(shared, O_CREAT | O_EXCL | O_RDWR, 0666) >= 0) printf("shm_path=%s\n", shared);
  printf("pid=%d\n.\n", getpid());
  fflush(stdout);

  for (;;) {
    struct pollfd waits[PLACES_MAX + 1] = {{0, POLLIN, 0}};
    for (int at = 0; at < count; at++) waits[at + 1] = (struct pollfd){places[at].fd, POLLIN, 0};
    if (poll(waits, (nfds_t)count + 1, -1) < 0) break;
    for (int at = 0; at < count; at++)
      if (waits[at + 1].revents & POLLIN) answer(&places[at]);
    char byte;
    if (waits[0].revents && read(0, &byte, 1) <= 0) break;
  }

  shmctl(memory, IPC_RMID, NULL);
  msgctl(messages, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
  mq_unlink(queue);
  unlink(shared);
  for (int at = 0; at < count; at++) {
    if (places[at].path[0] == '/') unlink(places[at].path);
    printf("%s=%d\n", places[at].key, places[at].visits);
  }
  return 0;
}
