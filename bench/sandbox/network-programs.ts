// A server and a client in C, compiled for the run: the path between them is measured, not a runtime.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const downloadBytes: number = 256 * 1_048_576;

/** The client is placed where the sandbox sees it. */
export function compilePrograms(folder: string, project: string): { readonly server: string; readonly client: string } {
  const [server, client] = [join(folder, "server"), join(project, "client")];
  for (const [path, text] of [
    [server, SERVER],
    [client, CLIENT],
  ] as const) {
    const source = join(folder, "source.c");
    writeFileSync(source, text);
    execFileSync("cc", ["-O2", "-pthread", "-D_GNU_SOURCE", "-o", path, source]);
  }
  return { server, client };
}

/** The first byte selects the response: e, everything back; d, all the bytes; G, the same as a page of HTTP. */
const SERVER = `
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static char block[1 << 17];
static void give(int to, const char *bytes, size_t length) {
  while (length > 0) {
    const ssize_t count = write(to, bytes, length);
    if (count <= 0) return;
    bytes += count;
    length -= (size_t)count;
  }
}
static void give_all(int to) {
  for (size_t sent = 0; sent < ${downloadBytes}u; sent += sizeof block) give(to, block, sizeof block);
}
static void *serve(void *given) {
  const int to = (int)(long)given, yes = 1;
  setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  char said[4096];
  ssize_t count = read(to, said, sizeof said - 1);
  if (count > 0 && said[0] == 'e')
    for (; count > 0; count = read(to, said, sizeof said - 1)) give(to, said, (size_t)count);
  else if (count > 0 && said[0] == 'd')
    give_all(to);
  else if (count > 0) {
    said[count] = 0;
    const int large = strstr(said, "/large") != NULL;
    char head[128];
    const int length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n",
                                large ? ${downloadBytes} : 6);
    give(to, head, (size_t)length);
    if (large) give_all(to);
    else give(to, "hello\\n", 6);
  }
  close(to);
  return NULL;
}
int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  memset(block, 'a', sizeof block);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof here;
  if (bind(listener, (struct sockaddr *)&here, length) != 0 || listen(listener, 128) != 0) return 1;
  getsockname(listener, (struct sockaddr *)&here, &length);
  printf("%d\\n", ntohs(here.sin_port));
  fflush(stdout);
  for (;;) {
    const int one = accept(listener, NULL, NULL);
    pthread_t thread;
    if (one >= 0 && pthread_create(&thread, NULL, serve, (void *)(long)one) == 0) pthread_detach(thread);
  }
}
`;

/** Prints the nanoseconds of each turn; the name is resolved once, before. */
const CLIENT = `
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static int reach(const struct addrinfo *to) {
  const int yes = 1, one = socket(to->ai_family, SOCK_STREAM, 0);
  setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connect(one, to->ai_addr, to->ai_addrlen) == 0 ? one : -1;
}
static int echo(int to) {
  char byte = 'e';
  return write(to, &byte, 1) == 1 && read(to, &byte, 1) == 1 && byte == 'e';
}
int main(int count, char **words) {
  struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
  if (count != 5 || getaddrinfo(words[1], words[2], &wanted, &found) != 0) return 1;
  const int turns = atoi(words[4]);
  if (strcmp(words[3], "connect") == 0) {
    for (int turn = 0; turn < turns; turn++) {
      const long long before = now();
      const int one = reach(found);
      if (one < 0 || !echo(one)) return 2;
      printf("%lld\\n", now() - before);
      close(one);
    }
    return 0;
  }
  const int one = reach(found);
  if (one < 0) return 2;
  if (strcmp(words[3], "keep") == 0) {
    if (!echo(one)) return 3;
    for (int turn = 0; turn < turns; turn++) {
      const long long before = now();
      if (!echo(one)) return 3;
      printf("%lld\\n", now() - before);
    }
    return 0;
  }
  static char block[1 << 18];
  long long bytes = 0;
  const long long before = now();
  if (write(one, "d", 1) != 1) return 4;
  for (ssize_t got = read(one, block, sizeof block); got > 0; got = read(one, block, sizeof block)) bytes += got;
  if (bytes != ${downloadBytes}LL) return 5;
  printf("%lld\\n", now() - before);
  return 0;
}
`;
