// What this kernel offers, tried and not guessed.
#ifndef AMBIT_FACTS_H
#define AMBIT_FACTS_H

// One line of JSON on standard output. The value is the program's exit status.
int facts_main(void);

#endif
