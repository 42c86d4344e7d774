// Names: the answers of the name server inside, and what is reached through the addresses it returns.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "network.h"

enum { PACKET_MAX = 1024, A = 1, AAAA = 28 };

// Labels between dots; \xx is a byte by its two hexadecimal digits, so that a label may hold a dot or a zero.
static size_t encode_name(unsigned char *wire, const char *name) {
  size_t at = 0;
  while (*name != 0) {
    size_t start = at++;
    while (*name != 0 && *name != '.') {
      unsigned byte = (unsigned char)*name;
      if (*name == '\\' && sscanf(name + 1, "%2x", &byte) == 1) name += 2;
      wire[at++] = (unsigned char)byte;
      name++;
      if (at > PACKET_MAX - 32) untried("the name is too long for a packet");
    }
    wire[start] = (unsigned char)(at - start - 1);
    if (*name == '.') name++;
  }
  wire[at++] = 0;
  return at;
}

static size_t encode_query(unsigned char *packet, const char *name, int type) {
  static const unsigned char HEAD[12] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
  memcpy(packet, HEAD, 12);
  size_t at = 12 + encode_name(packet + 12, name);
  unsigned char tail[4] = {(unsigned char)(type >> 8), (unsigned char)type, 0, 1};
  memcpy(packet + at, tail, 4);
  return at + 4;
}

static struct sockaddr_in name_server(void) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(53)};
  char text[1024];
  char address[64] = "";
  // Without namespaces the machine's is not readable, and whatever address is asked is our name server. INVARIANT: the sandbox
  // that answers so has no other socket for datagrams.
  if (take("/etc/resolv.conf", text, sizeof text) < 0) {
    if (scene_or("unreadable", NULL) == NULL) refused("/etc/resolv.conf");
    inet_pton(AF_INET, scene("nameserver"), &place.sin_addr);
    return place;
  }
  char *line = strstr(text, "nameserver");
  if (line == NULL || sscanf(line, "nameserver %63s", address) != 1) blocked("none", "no name server");
  // INVARIANT: no query is sent outside a network namespace of the test.
  if (strncmp(address, scene("nameserver"), strlen(scene("nameserver"))) != 0) untried("the name server is %s", address);
  inet_pton(AF_INET, address, &place.sin_addr);
  return place;
}

static long exchange(struct sockaddr_in place, const void *query, size_t size, unsigned char *answer) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&place, sizeof place) < 0 || send(fd, query, size, 0) < 0) refused("asking");
  struct pollfd wait = {fd, POLLIN, 0};
  if (poll(&wait, 1, 3000) <= 0) blocked("silence", "no answer");
  long got = recv(fd, answer, PACKET_MAX, 0);
  if (got < 0) refused("asking");
  close(fd);
  return got;
}

static const char *code_of(const unsigned char *answer) {
  static const char *const CODES[16] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"};
  const char *code = CODES[answer[3] & 15];
  return code == NULL ? "OTHER" : code;
}

// The first address in an answer of type A, or false.
static bool address_in(const unsigned char *answer, long size, size_t question, struct in_addr *address) {
  if (size < 12 || (answer[6] << 8 | answer[7]) == 0) return false;
  size_t at = question;
  // A pointer or a whole name; ours are pointers.
  while (at < (size_t)size && answer[at] != 0 && answer[at] < 0xc0) at += answer[at] + 1u;
  at += at < (size_t)size && answer[at] >= 0xc0 ? 2 : 1;
  if (at + 14 > (size_t)size || answer[at + 1] != A) return false;
  memcpy(address, answer + at + 10, 4);
  return true;
}

static bool resolve(const char *name, struct in_addr *address, const char **code) {
  unsigned char query[PACKET_MAX], answer[PACKET_MAX];
  size_t size = encode_query(query, name, A);
  long got = exchange(name_server(), query, size, answer);
  if (got < 12) blocked("short", "%ld bytes", got);
  *code = code_of(answer);
  return address_in(answer, got, size, address);
}

static void ask(const char *name) {
  struct in_addr address;
  const char *code;
  if (resolve(name, &address, &code)) open_way("answered", "%s is %s", name, inet_ntoa(address));
  blocked(code, "%s", name);
}

// type:name, where any record in the answer would be a way for data.
static void ask_type(const char *words) {
  char name[512];
  int type;
  unsigned char query[PACKET_MAX], answer[PACKET_MAX];
  if (sscanf(words, "%d:%511s", &type, name) != 2) untried("type:name");
  long got = exchange(name_server(), query, encode_query(query, name, type), answer);
  if (got < 12) blocked("short", "%ld bytes", got);
  if ((answer[6] << 8 | answer[7]) > 0) open_way("answered", "%s has %d records", words, answer[6] << 8 | answer[7]);
  blocked(code_of(answer), "%s", words);
}

// Bytes that are not a query, in hexadecimal digits; the server must still answer afterwards.
static void ask_nonsense(const char *digits) {
  unsigned char query[PACKET_MAX], answer[PACKET_MAX];
  size_t size = 0;
  for (unsigned byte; size < PACKET_MAX && sscanf(digits + 2 * size, "%2x", &byte) == 1;) query[size++] = (unsigned char)byte;
  struct sockaddr_in place = name_server();
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&place, sizeof place) < 0 || send(fd, query, size, 0) < 0) refused("asking");
  struct pollfd wait = {fd, POLLIN, 0};
  const char *first = "silence";
  if (poll(&wait, 1, 300) > 0) {
    long got = recv(fd, answer, sizeof answer, 0);
    first = got >= 12 ? code_of(answer) : "short";
    if (got >= 12 && (answer[6] << 8 | answer[7]) > 0) open_way("answered", "%d records", answer[6] << 8 | answer[7]);
  }
  struct in_addr address;
  const char *code;
  if (!resolve(scene("allowed"), &address, &code)) open_way("broken", "%s, and afterwards %s for an allowed name", first, code);
  blocked(first, "and an allowed name is still answered");
}

static void ask_by_tcp(const char *name) {
  unsigned char query[PACKET_MAX + 2], answer[PACKET_MAX];
  size_t size = encode_query(query + 2, name, A);
  query[0] = (unsigned char)(size >> 8);
  query[1] = (unsigned char)size;
  struct sockaddr_in server = name_server();
  struct sockaddr_storage place = {0};
  memcpy(&place, &server, sizeof server);
  int fd = reach(&place, sizeof server);
  if (fd < 0) refused("port 53 by TCP");
  if (send(fd, query, size + 2, MSG_NOSIGNAL) < 0) refused("port 53 by TCP");
  struct pollfd wait = {fd, POLLIN, 0};
  if (poll(&wait, 1, 3000) <= 0) blocked("silence", "no answer by TCP");
  long got = recv(fd, answer, sizeof answer, 0);
  struct in_addr address;
  if (got < 14) blocked("closed", "%ld bytes", got);
  if (address_in(answer + 2, got - 2, size, &address)) open_way("answered", "%s is %s", name, inet_ntoa(address));
  blocked(code_of(answer + 2), "%s", name);
}

// address:name, another name server.
static void ask_elsewhere(const char *words) {
  char address[64], name[512];
  unsigned char query[PACKET_MAX], answer[PACKET_MAX];
  if (sscanf(words, "%63[^:]:%511s", address, name) != 2) untried("address:name");
  name_server();
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(53)};
  inet_pton(AF_INET, address, &place.sin_addr);
  long got = exchange(place, query, encode_query(query, name, A), answer);
  if (got >= 12 && (answer[6] << 8 | answer[7]) > 0) open_way("answered", "%s", words);
  blocked(got >= 12 ? code_of(answer) : "short", "%s", words);
}

// The given number of names below an allowed one; addresses must run out, never be reused.
static void ask_many(const char *words) {
  int count;
  char zone[256];
  if (sscanf(words, "%d:%255s", &count, zone) != 2) untried("count:zone");
  static uint32_t seen[70000];
  int given = 0;
  for (int at = 0; at < count && at < 70000; at++) {
    char name[300];
    struct in_addr address;
    const char *code;
    snprintf(name, sizeof name, "n%d.%s", at, zone);
    if (!resolve(name, &address, &code)) blocked(code, "after %d names", given);
    for (int before = 0; before < given; before++)
      if (seen[before] == address.s_addr) open_way("reused", "%s after %d names", inet_ntoa(address), given);
    seen[given++] = address.s_addr;
  }
  open_way("answered", "%d names", given);
}

// A first TLS message with the given server name, or with none.
static size_t hello(unsigned char *bytes, const char *name) {
  size_t length = strlen(name);
  unsigned char extension[300], *at = extension;
  if (length > 0) {
    unsigned char head[9] = {0, 0, 0, (unsigned char)(length + 5), 0, (unsigned char)(length + 3), 0, 0, (unsigned char)length};
    memcpy(at, head, 9);
    memcpy(at + 9, name, length);
    at += 9 + length;
  }
  static const unsigned char VERSIONS[7] = {0, 43, 0, 3, 2, 3, 4};
  memcpy(at, VERSIONS, 7);
  at += 7;
  size_t extensions = (size_t)(at - extension);
  size_t body = 2 + 32 + 1 + 4 + 2 + 2 + extensions;
  unsigned char *out = bytes;
  unsigned char record[9] = {22, 3, 1, (unsigned char)((body + 4) >> 8), (unsigned char)(body + 4), 1, 0, (unsigned char)(body >> 8), (unsigned char)body};
  memcpy(out, record, 9);
  out += 9;
  *out++ = 3;
  *out++ = 3;
  memset(out, 7, 32);
  out += 32;
  static const unsigned char SUITES[7] = {0, 0, 2, 0x13, 1, 1, 0};
  memcpy(out, SUITES, 7);
  out += 7;
  *out++ = (unsigned char)(extensions >> 8);
  *out++ = (unsigned char)extensions;
  memcpy(out, extension, extensions);
  return (size_t)(out - bytes) + extensions;
}

// The granted name is requested and answered first; the other one follows on the same connection.
static size_t after(int fd, char *bytes, size_t size, const char *host, const char *said) {
  int length = snprintf(bytes, size, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
  struct pollfd wait = {fd, POLLIN, 0};
  if (send(fd, bytes, (size_t)length, MSG_NOSIGNAL) < 0 || poll(&wait, 1, patience_milliseconds) <= 0 || recv(fd, bytes, size, 0) <= 0)
    untried("the first question was not answered");
  return (size_t)snprintf(bytes, size, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", said);
}

// host/port/kind/said: opened for one name, then another name is sent on it.
static void named(const char *words) {
  char host[256], kind[16], said[256] = "";
  int port;
  if (sscanf(words, "%255[^/]/%d/%15[^/]/%255s", host, &port, kind, said) < 3) untried("host/port/kind/said");
  struct sockaddr_storage place = {0};
  struct sockaddr_in *four = (struct sockaddr_in *)&place;
  const char *code;
  if (!resolve(host, &four->sin_addr, &code)) blocked(code, "%s", host);
  four->sin_family = AF_INET;
  four->sin_port = htons((uint16_t)port);
  int fd = reach(&place, sizeof *four);
  if (fd < 0) refused(words);
  char bytes[1024];
  size_t length = 0;
  if (strcmp(kind, "http") == 0) length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", said);
  else if (strcmp(kind, "http2") == 0) length = (size_t)snprintf(bytes, sizeof bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  else if (strcmp(kind, "twice") == 0)
    length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: %s\r\nHost: %s\r\n\r\n", host, said);
  else if (strcmp(kind, "absolute") == 0)
    length = (size_t)snprintf(bytes, sizeof bytes, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", said, host);
  else if (strcmp(kind, "connect") == 0)
    length = (size_t)snprintf(bytes, sizeof bytes, "CONNECT %s:443 HTTP/1.1\r\nHost: %s\r\n\r\n", said, said);
  else if (strcmp(kind, "later") == 0)
    length = (size_t)snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: %s\r\n\r\nGET / HTTP/1.1\r\nHost: %s\r\n\r\n", host, said);
  else if (strcmp(kind, "after") == 0) length = after(fd, bytes, sizeof bytes, host, said);
  else if (strcmp(kind, "tls") == 0) length = hello((unsigned char *)bytes, said);
  else if (strcmp(kind, "ssh") == 0) length = (size_t)snprintf(bytes, sizeof bytes, "SSH-2.0-attempt\r\n");
  else if (strcmp(kind, "silent") != 0) untried("no such kind");
  say_and_judge(fd, bytes, length, words);
}

// host/port/bytes in hexadecimal digits: text that a parser might read differently from the server behind it.
static void says(const char *words) {
  char host[256], bytes[1024];
  int port, digits = 0;
  if (sscanf(words, "%255[^/]/%d/%n", host, &port, &digits) < 2 || digits == 0) untried("host/port/bytes");
  struct sockaddr_storage place = {0};
  struct sockaddr_in *four = (struct sockaddr_in *)&place;
  const char *code;
  if (!resolve(host, &four->sin_addr, &code)) blocked(code, "%s", host);
  four->sin_family = AF_INET;
  four->sin_port = htons((uint16_t)port);
  int fd = reach(&place, sizeof *four);
  if (fd < 0) refused(words);
  size_t length = 0;
  for (unsigned byte; length < sizeof bytes && sscanf(words + digits + 2 * length, "%2x", &byte) == 1;) bytes[length++] = (char)byte;
  say_and_judge(fd, bytes, length, words);
}

const struct attempt name_attempts[] = {
    {"dns", ask},           {"dns-type", ask_type},          {"dns-nonsense", ask_nonsense}, {"dns-tcp", ask_by_tcp},
    {"dns-elsewhere", ask_elsewhere}, {"dns-many", ask_many}, {"named", named},               {"says", says},               {NULL, NULL},
};
