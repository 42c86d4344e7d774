// git's credential helper, as a program inside a sandbox: it knows no secret and gets none.
#ifndef AMBIT_CREDENTIAL_H
#define AMBIT_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>

enum { credential_bytes_max = 65536 };

struct credential_text {
  size_t length;
  char bytes[credential_bytes_max];
};

// Adds the lines with these keys (ended by a null), up to an empty line or the end. False when one of them is not
// plain.
bool credential_keep_lines(const struct credential_text *from, const char *const *keys, struct credential_text *into);
// The value is the program's exit status.
int credential_main(const char *action);

#endif
