// A lock on a file descriptor that the parent process handed to us: it stays with the parent and ends when the parent exits.
#ifndef AMBIT_LOCK_H
#define AMBIT_LOCK_H

// Exit status: 0 taken, 1 another process has it.
int lock_main(int file);
// The same, and the parent process dumps no core from now on.
int own_main(int file);

#endif
