// Calls of a command that wait for us. INVARIANT: arguments in memory are copied once, and what is executed is the copy; no
// call is ever continued (SECCOMP_USER_NOTIF_FLAG_CONTINUE), since another thread could have changed them by then. Nothing
// here needs ptrace or pidfd_getfd, which container engines refuse: memory and descriptors are read by /proc.
#include "calls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drop.h"
#include "frame.h"
#include "metadata.h"
#include "notice.h"
#include "pair.h"

enum { name_port = 53 };

static int wrong(int error) {
  errno = error;
  return -1;
}

bool calls_are_offered(void) {
  return notice_is_offered();
}

static bool is_known(const struct known_sockets *known, ino_t inode) {
  for (size_t at = 0; at < sockets_known_max; at++)
    if (known->inodes[at] == inode) return true;
  return false;
}

static int remember(struct known_sockets *known, int socket) {
  struct stat status;
  if (fstat(socket, &status) != 0) return -1;
  known->inodes[known->next] = status.st_ino;
  known->next = (known->next + 1) % sockets_known_max;
  return 0;
}

struct destination {
  char address[INET6_ADDRSTRLEN];
  uint16_t port;
};

static int read_destination(const struct call *call, struct destination *into) {
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_storage whole;
  } address;
  const uint32_t length = (uint32_t)call->arguments[2];
  if (length > sizeof address) return wrong(EINVAL);
  memset(&address, 0, sizeof address);
  if (notice_copy(call, call->arguments[1], &address, length) != 0) return -1;
  if (length < sizeof address.any.sa_family) return wrong(EINVAL);
  if (address.any.sa_family == AF_INET && length >= sizeof address.four) {
    into->port = ntohs(address.four.sin_port);
    return inet_ntop(AF_INET, &address.four.sin_addr, into->address, sizeof into->address) == NULL ? -1 : 0;
  }
  if (address.any.sa_family != AF_INET6) return wrong(EAFNOSUPPORT);
  // Without its last field, as the kernel takes it.
  if (length < offsetof(struct sockaddr_in6, sin6_scope_id)) return wrong(EINVAL);
  into->port = ntohs(address.six.sin6_port);
  const uint8_t *bytes = address.six.sin6_addr.s6_addr;
  const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address.six.sin6_addr);
  const void *written = is_mapped ? bytes + 12 : bytes;
  return inet_ntop(is_mapped ? AF_INET : AF_INET6, written, into->address, sizeof into->address) == NULL ? -1 : 0;
}

static int give(const struct calls_ground *ground, int socket, const struct destination *to) {
  char message[128];
  snprintf(message, sizeof message, "{\"kind\":\"connection\",\"address\":\"%s\",\"port\":%u}", to->address, (unsigned)to->port);
  return handles_give(ground->handles, socket, handle_listener, message);
}

// The program's socket is replaced by another one: its own may have options, such as a source route, that lead elsewhere.
static int answer_connect(struct call *call, struct calls_ground *ground) {
  struct destination to;
  struct descriptor_facts socket;
  if (notice_descriptor(call, call->arguments[0], &socket) != 0) return -1;
  if (!socket.is_socket) return wrong(ENOTSOCK);
  if (read_destination(call, &to) != 0) return -1;
  if (is_known(&ground->connected, socket.inode)) return wrong(EISCONN);
  // Such a socket leads to the name server, and nowhere else.
  if (is_known(&ground->datagrams, socket.inode)) return to.port == name_port ? 0 : wrong(ENETUNREACH);
  if (to.port == 0) return wrong(EADDRNOTAVAIL);
  if (!notice_is_valid(call)) return wrong(ESRCH);
  struct pair pair;
  if (pair_make(&pair) != 0) return -1;
  int result = socket.is_nonblocking ? fcntl(pair.program, F_SETFL, O_NONBLOCK) : 0;
  if (result == 0) result = remember(&ground->connected, pair.program);
  if (result == 0 && notice_put(call, pair.program, (int)call->arguments[0], socket.closes_on_exec) < 0) result = -1;
  const int error = errno;
  close(pair.program);
  if (result == 0) return give(ground, pair.broker, &to);
  close(pair.broker);
  return wrong(error);
}

// Datagrams: one end of a pair of ours that keeps messages apart and ignores addresses. Whatever is sent goes to the broker's
// name server.
static int answer_socket(struct call *call, struct calls_ground *ground, pid_t *relay) {
  // Whatever name server a program believes in.
  static const struct destination names = {"198.18.0.53", name_port};
  int ends[2];
  struct pair pair;
  const int type = (int)call->arguments[1];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  int result = (type & SOCK_NONBLOCK) != 0 ? fcntl(ends[0], F_SETFL, O_NONBLOCK) : 0;
  if (result == 0) result = remember(&ground->datagrams, ends[0]);
  if (result == 0) result = pair_make(&pair);
  if (result == 0) {
    result = give(ground, pair.broker, &names);
    const pid_t process = result == 0 ? fork() : -1;
    if (process == 0) {
      const int kept[] = {ends[1], pair.program};
      if (drop_descriptors(kept, 2) != 0) _exit(exit_failed);
      pair_relay_names(ends[1], pair.program);
    }
    if (process > 0) *relay = process;
    else result = -1;
    close(pair.program);
  }
  if (result == 0) result = notice_put(call, ends[0], -1, (type & SOCK_CLOEXEC) != 0);
  const int error = errno;
  close(ends[0]);
  close(ends[1]);
  errno = error;
  return result;
}

static int execute(struct call *call, struct calls_ground *ground, pid_t *relay) {
  switch (call->number) {
    case SYS_connect:
      return ground->handles == NULL ? wrong(ENETUNREACH) : answer_connect(call, ground);
    case SYS_socket:
      return ground->handles == NULL ? wrong(EAFNOSUPPORT) : answer_socket(call, ground, relay);
    default:
      return metadata_change(call, ground->trees, ground->tree_count);
  }
}

pid_t calls_answer(int listener, struct calls_ground *ground) {
  struct call call;
  pid_t relay = 0;
  if (notice_take(listener, &call) != 0) return 0;
  const int value = execute(&call, ground, &relay);
  notice_answer(&call, value, value < 0 ? errno : 0);
  return relay;
}
