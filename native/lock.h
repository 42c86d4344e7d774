// A lock on a file that somebody else holds open: it is theirs, and is gone when they are.
#ifndef AMBIT_LOCK_H
#define AMBIT_LOCK_H

// Exit status: 0 taken, 1 somebody else has it.
int lock_main(int file);
// The same, and whoever started us dumps no core from now on.
int own_main(int file);

#endif
