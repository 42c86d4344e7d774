// Node cannot ask the kernel who is on the other side of a socket. So this program listens, asks, and hands each socket
// over with the answer, in the words of Node's own child-process channel. It never reads from what it hands over.
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "drop.h"
#include "frame.h"
#include "handles.h"

enum {
  socket_count = 2,
  backlog = 4096,
  // Sockets on their way: the kernel bounds them, and Node answers each.
  unanswered_max = 16,
  rest_milliseconds = 50,
  line_bytes_max = 512,
  stat_bytes_max = 1024,
  start_digits_max = 20,
  peer_pidfd_option = 77,
};

static const char *const socket_names[socket_count] = {"call", "control"};

struct listener {
  int channel;
  int listeners[socket_count];
  size_t unanswered;
  char line[line_bytes_max];
  size_t line_length;
};

static int fail(const char *what) {
  dprintf(2, "%s: %s\n", what, strerror(errno));
  return exit_failed;
}

// The daemon that starts us holds the state's lock, so no process serves a socket that is there. Other files are not ours.
static int remove_stale(const char *name) {
  struct stat found;
  if (fstatat(AT_FDCWD, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : -1;
  if (!S_ISSOCK(found.st_mode)) {
    errno = EEXIST;
    return -1;
  }
  return unlink(name);
}

// By a name alone, in the folder we stand in: a socket's address has room for a hundred bytes, and a path may be longer.
static int open_listener(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", name);
  if (remove_stale(address.sun_path) != 0) return -1;
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  if (bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 && listen(listener, backlog) == 0)
    return listener;
  const int error = errno;
  close(listener);
  errno = error;
  return -1;
}

// When a process started, as digits. False where it has ended or does not show.
static bool read_start(pid_t pid, char start[start_digits_max + 1]) {
  char path[32], text[stat_bytes_max + 1];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t count = read(file, text, stat_bytes_max);
  close(file);
  if (count <= 0) return false;
  text[count] = 0;
  // The name stands in parentheses and may hold anything; what follows the last one is numbers.
  const char *at = strrchr(text, ')');
  if (at == NULL || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X') return false;
  at += 2;
  for (int field = 0; field < 19; field++) {
    at = strchr(at, ' ');
    if (at == NULL) return false;
    at++;
  }
  const size_t digits = strspn(at, "0123456789");
  if (digits == 0 || digits > start_digits_max) return false;
  memcpy(start, at, digits);
  start[digits] = 0;
  return true;
}

// A number is given out again when its process has ended. Where the kernel offers it, a descriptor of the very process
// that connected says afterwards whether what was read was read of that one.
static bool is_still(int process) {
  struct pollfd ended = {.fd = process, .events = POLLIN};
  return poll(&ended, 1, 0) == 0;
}

static bool identify(int connection, pid_t pid, char start[start_digits_max + 1]) {
  int process = -1;
  socklen_t length = sizeof process;
  if (getsockopt(connection, SOL_SOCKET, peer_pidfd_option, &process, &length) != 0) {
    if (errno != ENOPROTOOPT) return false;
    process = -1;
  }
  bool known = pid > 0 && read_start(pid, start);
  if (process >= 0) {
    known = known && is_still(process);
    close(process);
  }
  return known;
}

static int hand_over(struct listener *listener, const char *name, int connection) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  // The folder is closed to other users; root walks through, and gets no answer either unless the daemon is root's.
  if (peer.uid != geteuid()) return 0;
  char start[start_digits_max + 1] = "";
  char line[line_bytes_max];
  if (!identify(connection, peer.pid, start)) start[0] = 0;
  static const char form[] =
      "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Native\",\"msg\":{\"socketName\":\"%s\",\"pid\":%d,\"uid\":%u,\"start\":\"%s\"}}\n";
  const int written = snprintf(line, sizeof line, form, name, (int)peer.pid, (unsigned)peer.uid, start);
  if (written < 0 || (size_t)written >= sizeof line) return -1;
  if (handles_send_line(listener->channel, line, (size_t)written, connection) != 0) return -1;
  listener->unanswered++;
  return 0;
}

enum coming { coming_done, coming_rest, coming_over };

static enum coming take_one(struct listener *listener, size_t socket_at) {
  const int connection = accept4(listener->listeners[socket_at], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return coming_done;
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS ? coming_rest : coming_over;
  }
  const int result = hand_over(listener, socket_names[socket_at], connection);
  close(connection);
  return result == 0 ? coming_done : coming_over;
}

// Taken, or not taken for want of descriptors: either way it is not on its way any more. Nothing else is ever said to us.
static bool is_answer(const char *line, size_t length) {
  static const char taken[] = "{\"cmd\":\"NODE_HANDLE_ACK\"}", not_taken[] = "{\"cmd\":\"NODE_HANDLE_NACK\"}";
  return (length == sizeof taken - 1 && memcmp(line, taken, length) == 0) ||
         (length == sizeof not_taken - 1 && memcmp(line, not_taken, length) == 0);
}

static bool take_answers(struct listener *listener) {
  char bytes[line_bytes_max];
  const ssize_t count = recv(listener->channel, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  for (ssize_t at = 0; at < count; at++) {
    if (bytes[at] != '\n') {
      if (listener->line_length == sizeof listener->line) return false;
      listener->line[listener->line_length++] = bytes[at];
      continue;
    }
    if (listener->unanswered == 0 || !is_answer(listener->line, listener->line_length)) return false;
    listener->unanswered--;
    listener->line_length = 0;
  }
  return true;
}

// Ends when the daemon does: its end of the channel is closed by the kernel, whatever it died of.
static int serve(struct listener *listener) {
  bool resting = false;
  for (;;) {
    const bool open = listener->unanswered < unanswered_max && !resting;
    struct pollfd waiting[1 + socket_count] = {{.fd = listener->channel, .events = POLLIN}};
    for (size_t socket_at = 0; socket_at < socket_count; socket_at++)
      waiting[1 + socket_at] = (struct pollfd){.fd = open ? listener->listeners[socket_at] : -1, .events = POLLIN};
    if (poll(waiting, 1 + socket_count, resting ? rest_milliseconds : -1) < 0 && errno != EINTR) return fail("poll");
    resting = false;
    if (waiting[0].revents != 0 && !take_answers(listener)) return 0;
    for (size_t socket_at = 0; socket_at < socket_count; socket_at++) {
      if (waiting[1 + socket_at].revents == 0 || listener->unanswered >= unanswered_max) continue;
      const enum coming coming = take_one(listener, socket_at);
      if (coming == coming_over) return fail("a connection cannot be passed on");
      if (coming == coming_rest) resting = true;
    }
  }
}

int listener_main(int channel, int folder) {
  struct listener listener = {.channel = channel};
  const int kept[] = {channel, folder};
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail("prctl");
  // A key pressed in the daemon's terminal is the daemon's to answer.
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  if (drop_descriptors(kept, 2) != 0 || drop_new_privileges() != 0) return fail("descriptors");
  if (fchdir(folder) != 0) return fail("the folder");
  close(folder);
  umask(0177);
  for (size_t socket_at = 0; socket_at < socket_count; socket_at++) {
    listener.listeners[socket_at] = open_listener(socket_names[socket_at]);
    if (listener.listeners[socket_at] < 0) return fail(socket_names[socket_at]);
  }
  if (dprintf(1, "ready\n") != 6) return exit_failed;
  return serve(&listener);
}
