// Settings of the sanitizers for a program that runs without an environment and as pid 1 of a sandbox.
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void) {
  // Leaks are looked for with ptrace, which no sandbox of ours allows. A program that shares memory with its child
  // until it runs something else has no stack a sanitizer could know.
  return "detect_leaks=0:exitcode=99:abort_on_error=0:handle_segv=1:detect_stack_use_after_return=0";
}

const char *__ubsan_default_options(void) {
  return "print_stacktrace=1:exitcode=99";
}
