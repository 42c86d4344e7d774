// Handing sockets to a Node process, in the words of its own child-process channel.
#ifndef AMBIT_HANDLES_H
#define AMBIT_HANDLES_H

#include <stdbool.h>
#include <stddef.h>

struct handles {
  int channel;
  size_t unanswered;
  size_t matched;  // how much of the expected answer has arrived
};

enum handle_kind { handle_datagram, handle_listener };

// Takes the socket over; `message` is a JSON object. 0, or -1 with errno.
int handles_give(struct handles *handles, int socket, enum handle_kind kind, const char *message);
// Waits until each of them has arrived. 0, or -1 with errno.
int handles_arrived(struct handles *handles);
// Takes the answers that are there, without waiting: 0, or -1 with errno where the channel is at its end or not ours.
int handles_look(struct handles *handles);
// As many are unanswered as may be: giving another one would wait.
bool handles_are_full(const struct handles *handles);
// One line as it is, with a descriptor beside it, which stays the caller's. 0, or -1 with errno.
int handles_send_line(int channel, char *line, size_t length, int passed);

#endif
