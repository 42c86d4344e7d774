// One system call that waits for an answer of ours: its arguments, its caller's memory and descriptors.
#ifndef AMBIT_NOTICE_H
#define AMBIT_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call {
  int listener, memory;  // memory: of the caller as it was when the call was taken; -1
  uint64_t id;
  pid_t thread;
  int number;
  uint64_t arguments[6];
};

struct descriptor_facts {
  bool is_socket, is_nonblocking, closes_on_exec;
  ino_t inode;
};

// The kernel hands calls over in a size that we know.
bool notice_is_offered(void);
// Does not wait: -1 where its caller ended since it was announced.
int notice_take(int listener, struct call *call);
// The caller still waits, so everything that was read by its number was its own.
bool notice_is_valid(const struct call *call);
// Copies exactly so many bytes of the caller's memory: 0, or -1 with errno EFAULT.
int notice_copy(const struct call *call, uint64_t address, void *into, size_t length);
// A text of the caller's with the zero at its end, in a buffer of this size: 0, or -1 with errno.
int notice_text(const struct call *call, uint64_t address, char *into, size_t size);
// What a descriptor of the caller's is: 0, or -1 with errno.
int notice_descriptor(const struct call *call, uint64_t number, struct descriptor_facts *into);
// Puts a copy of a descriptor of ours into the caller, at this number or, for -1, at a free one, which is returned; -1 with
// errno.
int notice_put(const struct call *call, int descriptor, int number, bool closes_on_exec);
void notice_answer(struct call *call, int64_t value, int error);

#endif
