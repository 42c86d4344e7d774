// Two ends of one TCP connection over the machine's loopback, both ours: a program gets one, the broker the other.
#ifndef AMBIT_PAIR_H
#define AMBIT_PAIR_H

struct pair {
  int program, broker;
};

// 0, or -1 with errno.
int pair_make(struct pair *pair);

// Carries datagrams of a program, as messages of a socket of ours, to a stream of questions and answers with their lengths,
// until either side ends. Never returns.
_Noreturn void pair_relay_names(int messages, int stream);

#endif
