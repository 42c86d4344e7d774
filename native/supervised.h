// A sandbox where namespaces are not available: Landlock, a filter of system calls and a process outside of both.
#ifndef AMBIT_SUPERVISED_H
#define AMBIT_SUPERVISED_H

_Noreturn void supervised_main(int control, int handles);

#endif
