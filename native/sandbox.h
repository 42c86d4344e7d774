// Pid 1 of a sandbox, from hello to its end.
#ifndef AMBIT_SANDBOX_H
#define AMBIT_SANDBOX_H

// `handles` is -1 where the sandbox has no network.
_Noreturn void sandbox_main(int control, int handles);

#endif
