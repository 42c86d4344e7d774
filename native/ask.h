// `ambit` inside a sandbox.
#ifndef AMBIT_ASK_H
#define AMBIT_ASK_H

// `ambit can REQUEST...`, `ambit why ID`, `ambit mcp serve`. The exit status of the same command outside.
int ask_main(int count, char **words);

#endif
