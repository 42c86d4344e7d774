// Named Unix sockets: those of the sandbox's own programs work, and no trick with names, descriptors or memory leads the
// connection to one of the machine.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

enum { rounds = 800, wait_milliseconds = 10000 };

static socklen_t address_of(struct sockaddr_un *address, const char *name) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(name) >= sizeof address->sun_path) untried("the path is too long for a socket");
  memcpy(address->sun_path, name, strlen(name));
  return sizeof *address;
}

static const char *private_folder(void) {
  const char *folder = getenv("TMPDIR");
  return folder == NULL ? "/tmp" : folder;
}

static const char *own_name(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", private_folder(), name);
  return path;
}

static int listen_at(const char *name, int type) {
  struct sockaddr_un address;
  const socklen_t length = address_of(&address, name);
  unlink(name);
  const int listener = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (listener < 0) refused("socket(AF_UNIX)");
  if (bind(listener, (struct sockaddr *)&address, length) != 0) refused(name);
  if (listen(listener, 64) != 0) refused("listen");
  return listener;
}

static int connect_to(const char *name, int type) {
  struct sockaddr_un address;
  const socklen_t length = address_of(&address, name);
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, length) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static void send_descriptor(int to, int descriptor) {
  char byte = 'd';
  struct iovec bytes = {&byte, 1};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof descriptor)];
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(to, &message, 0) != 1) refused("SCM_RIGHTS");
}

static int receive_descriptor(int from) {
  char byte;
  int descriptor = -1;
  struct iovec bytes = {&byte, 1};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof descriptor)];
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(from, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == NULL) refused("recvmsg");
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

// By its whole name, from its folder, and through a link: each time a descriptor comes over.
static void own_sockets(const char *argument) {
  const int type = strcmp(argument, "seqpacket") == 0 ? SOCK_SEQPACKET : SOCK_STREAM;
  char link[4096];
  snprintf(link, sizeof link, "%s/own-link", private_folder());
  unlink(link);
  const char *name = own_name("own.sock");
  const int listener = listen_at(name, type);
  if (symlink("own.sock", link) != 0 || chdir(private_folder()) != 0) refused("symlink");
  const char *names[] = {name, "own.sock", "./own-link", link};
  for (size_t at = 0; at < 4; at++) {
    const pid_t child = fork();
    if (child == 0) {
      const int fd = connect_to(names[at], type);
      const int file = open("/etc/hostname", O_RDONLY);
      if (fd < 0) _exit(1);
      send_descriptor(fd, file < 0 ? 0 : file);
      _exit(0);
    }
    int status = 0;
    struct pollfd waiting = {listener, POLLIN, 0};
    if (poll(&waiting, 1, wait_milliseconds) != 1) refused(names[at]);
    const int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const int taken = receive_descriptor(accepted);
    waitpid(child, &status, 0);
    if (status != 0 || fcntl(taken, F_GETFD) < 0) refused(names[at]);
    close(taken);
    close(accepted);
  }
  open_way("served", "four names");
}

// A listener whose queue is full: the call waits and a later accept lets it through; a caller that dies leaves no process.
static void own_queue(const char *argument) {
  (void)argument;
  const char *name = own_name("queue.sock");
  const int listener = listen_at(name, SOCK_STREAM);
  if (listen(listener, 0) != 0) refused("listen");
  pid_t children[4];
  for (size_t at = 0; at < 4; at++) {
    children[at] = fork();
    if (children[at] == 0) _exit(connect_to(name, SOCK_STREAM) < 0 ? 1 : 0);
  }
  kill(children[3], SIGKILL);
  for (size_t at = 0; at < 3; at++) {
    struct pollfd waiting = {listener, POLLIN, 0};
    if (poll(&waiting, 1, wait_milliseconds) != 1 || accept4(listener, NULL, NULL, SOCK_CLOEXEC) < 0) refused("accept");
  }
  for (size_t at = 0; at < 4; at++) waitpid(children[at], NULL, 0);
  open_way("served", "three of four");
}

// There is no accept, so the callers block forever.
static void stuck(const char *argument) {
  (void)argument;
  const char *name = own_name("stuck.sock");
  const int listener = listen_at(name, SOCK_STREAM);
  if (listen(listener, 0) != 0) refused("listen");
  for (int at = 0; at < 60; at++)
    if (fork() == 0) _exit(connect_to(name, SOCK_STREAM) < 0 ? 1 : 0);
  while (waitpid(-1, NULL, 0) > 0) continue;
  open_way("served", "all");
}

static struct sockaddr_un shared_address;
static atomic_bool over;
static const char *own, *theirs;
static int swapped_fd = -1, unix_fd = -1;

static void *swap_memory(void *about) {
  (void)about;
  while (!atomic_load(&over)) {
    memcpy(shared_address.sun_path, theirs, strlen(theirs) + 1);
    memcpy(shared_address.sun_path, own, strlen(own) + 1);
  }
  return NULL;
}

static void *swap_link(void *about) {
  const char *link = about;
  char next[4200];
  snprintf(next, sizeof next, "%s.next", link);
  for (unsigned turn = 0; !atomic_load(&over); turn++) {
    unlink(next);
    if (symlink(turn % 2 == 0 ? theirs : own, next) == 0) rename(next, link);
  }
  return NULL;
}

static void *swap_descriptor(void *about) {
  (void)about;
  const int plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  while (!atomic_load(&over)) {
    dup2(unix_fd, swapped_fd);
    dup2(plain, swapped_fd);
  }
  return NULL;
}

// Reads what the server says: ours says "o", the machine's keeper nothing.
static bool is_theirs(int fd) {
  char byte = 0;
  struct pollfd waiting = {fd, POLLIN, 0};
  return poll(&waiting, 1, wait_milliseconds) != 1 || recv(fd, &byte, 1, 0) != 1 || byte != 'o';
}

static void serve(int listener) {
  for (;;) {
    const int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (accepted < 0) _exit(0);
    send(accepted, "o", 1, MSG_NOSIGNAL);
    close(accepted);
  }
}

// how:key — the address in memory, the link, or the descriptor changes while the call is looked at.
static void race(const char *argument) {
  const char *key = strchr(argument, ':');
  if (key == NULL) untried("how:key");
  theirs = scene(key + 1);
  own = strdup(own_name("race.sock"));
  const int listener = listen_at(own, SOCK_STREAM);
  const pid_t server = fork();
  if (server == 0) serve(listener);
  char *link = strdup(own_name("race-link"));
  pthread_t thread;
  const bool by_memory = argument[0] == 'm', by_link = argument[0] == 'l';
  const socklen_t length = address_of(&shared_address, own);
  swapped_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unix_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  pthread_create(&thread, NULL, by_memory ? swap_memory : by_link ? swap_link : swap_descriptor, link);
  int reached = 0, served = 0;
  for (int round = 0; round < rounds; round++) {
    struct sockaddr_un address;
    const bool own_fd = by_memory || by_link;
    const int fd = own_fd ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : swapped_fd;
    const socklen_t whole = address_of(&address, by_link ? link : theirs);
    const struct sockaddr *to = by_memory ? (struct sockaddr *)&shared_address : (struct sockaddr *)&address;
    if (connect(fd, to, by_memory ? length : whole) == 0) {
      if (is_theirs(fd)) reached++;
      else served++;
    }
    if (own_fd) close(fd);
  }
  atomic_store(&over, true);
  pthread_join(thread, NULL);
  kill(server, SIGKILL);
  if (reached > 0) open_way("reached", "%d of %d", reached, rounds);
  // A race that never met our own server either tried nothing.
  if ((by_memory || by_link) && served == 0) untried("no connection at all");
  errno = EACCES;
  refused("every round");
}

// A socket that is made while the program runs.
static void late(const char *path) {
  for (int turn = 0; turn < wait_milliseconds / 10; turn++) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISSOCK(status.st_mode)) judge(connect_to(path, SOCK_STREAM), path);
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  }
  untried(path);
}

static void by_folder(const char *path) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash == NULL) untried(path);
  *slash = 0;
  if (chdir(folder) != 0) refused(folder);
  judge(connect_to(slash + 1, SOCK_STREAM), path);
}

static void by_proc(const char *path) {
  char name[4096];
  const int folder = open("/", O_PATH | O_DIRECTORY);
  snprintf(name, sizeof name, "/proc/self/fd/%d%s", folder, path);
  judge(connect_to(name, SOCK_STREAM), name);
}

// A name that a link of ours in the private folder leads to.
static void by_link(const char *path) {
  const char *link = own_name("link.sock");
  unlink(link);
  if (symlink(path, link) != 0) refused("symlink");
  judge(connect_to(link, SOCK_STREAM), path);
}

// A process whose memory pid 1 may not read is connected to nothing.
static void not_dumpable(const char *path) {
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) refused("prctl");
  judge(connect_to(path, SOCK_STREAM), path);
}

const struct attempt connect_attempts[] = {
    {"unix-own", own_sockets},
    {"unix-queue", own_queue},
    {"unix-stuck", stuck},
    {"unix-race", race},
    {"unix-late", late},
    {"unix-by-folder", by_folder},
    {"unix-by-proc", by_proc},
    {"unix-by-link", by_link},
    {"unix-not-dumpable", not_dumpable},
    {NULL, NULL},
};
