// The same calls with another architecture's numbers, which mean something else to a filter.
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include "probe.h"

#ifdef __x86_64__
static long int80(long number, long first, long second, long third) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

static _Noreturn void judge_raw(long result, const char *what) {
  if (result < 0 && result > -4096) {
    errno = (int)-result;
    refused(what);
  }
  open_way("done", "%s: %ld", what, result);
}

// getpid: harmless, and refused by nothing but the architecture.
static void i386_harmless(const char *argument) {
  (void)argument;
  judge_raw(int80(20, 0, 0, 0), "getpid by int 0x80");
}

// socketcall(SOCKET, {AF_UNIX, SOCK_STREAM, 0}); its arguments must be in low memory.
static void i386_socket(const char *argument) {
  (void)argument;
  uint32_t *words = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (words == MAP_FAILED) untried("no low memory");
  words[0] = AF_UNIX;
  words[1] = SOCK_STREAM;
  words[2] = 0;
  judge_raw(int80(102, 1, (long)words, 0), "socketcall by int 0x80");
}

static void i386_unshare(const char *argument) {
  (void)argument;
  judge_raw(int80(310, 0x10000000, 0, 0), "unshare(CLONE_NEWUSER) by int 0x80");
}

static void x32_call(const char *argument) {
  (void)argument;
  judge(syscall(0x40000000 + SYS_getpid), "getpid by x32");
}

static void x32_unshare(const char *argument) {
  (void)argument;
  judge(syscall(0x40000000 + SYS_unshare, 0x10000000), "unshare(CLONE_NEWUSER) by x32");
}

// Execute-only at most; three harmless calls, emulated. The attempt checks that it returns the time and nothing else.
static void vsyscall_page(const char *argument) {
  (void)argument;
  long (*getcpu)(unsigned *, void *, void *) = (long (*)(unsigned *, void *, void *))0xffffffffff600800UL;
  unsigned processor = 0;
  long result = getcpu(&processor, NULL, NULL);
  blocked("harmless", "getcpu through the page gave %ld", result);
}

static void unknown_call(const char *argument) {
  (void)argument;
  judge(syscall(1 << 20, 0, 0, 0), "an unknown number");
}
#else
static void not_here(const char *argument) {
  (void)argument;
  untried("only x86-64 speaks i386 and x32");
}
#define i386_harmless not_here
#define i386_socket not_here
#define i386_unshare not_here
#define x32_call not_here
#define x32_unshare not_here
#define vsyscall_page not_here
static void unknown_call(const char *argument) {
  (void)argument;
  judge(syscall(1 << 20, 0, 0, 0), "an unknown number");
}
#endif

const struct attempt foreign_attempts[] = {
    {"i386", i386_harmless},    {"i386-socket", i386_socket},  {"i386-unshare", i386_unshare}, {"x32", x32_call},
    {"x32-unshare", x32_unshare}, {"vsyscall", vsyscall_page}, {"call-unknown", unknown_call}, {NULL, NULL},
};
