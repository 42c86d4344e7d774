// Landlock by its three system calls. The numbers are written out because headers of current systems stop at older
// versions; which rights are asked for is the owner's business, and one the kernel does not know is an error.
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

enum { ask_for_version = 1, rule_path_beneath = 1 };

// What a rule on a plain file may name: execute, write, read, truncate, ioctl on a device.
static const uint64_t rights_of_a_file = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 14 | 1u << 15;

struct ruleset_attributes {
  uint64_t files, network, scopes;
};

struct path_beneath {
  uint64_t rights;
  int32_t folder;
} __attribute__((packed));

int landlock_abi(void) {
  const long version = syscall(number_landlock_create_ruleset, NULL, 0, ask_for_version);
  return version < 0 ? 0 : (int)version;
}

int landlock_add(int ruleset, const struct landlock_rule *rule) {
  // A descriptor for the name alone: nothing is read, and no device is opened. Links are not followed: a
  // program that can plant one would otherwise choose what the rule is about.
  const uint64_t resolve = resolve_no_links | resolve_no_magic_links;
  const int place = kernel_openat2(AT_FDCWD, rule->path, O_PATH | O_CLOEXEC, 0, resolve);
  if (place < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
  struct stat found;
  int result = fstat(place, &found);
  if (result == 0) {
    const uint64_t rights = S_ISDIR(found.st_mode) ? rule->rights : rule->rights & rights_of_a_file;
    const struct path_beneath beneath = {rights, place};
    // No rights left means nothing is given back, which is what having no rule means too.
    if (rights != 0) result = (int)syscall(number_landlock_add_rule, ruleset, rule_path_beneath, &beneath, 0);
  }
  const int error = errno;
  close(place);
  errno = error;
  return result;
}

int landlock_make(const struct landlock_request *request) {
  const struct ruleset_attributes handled = {request->files, request->network, request->scopes};
  // Older kernels know a shorter structure; the rest may be given only where it is not zero.
  const size_t size = request->scopes != 0 ? 24 : request->network != 0 ? 16 : 8;
  const int ruleset = (int)syscall(number_landlock_create_ruleset, &handled, size, 0);
  if (ruleset < 0) return -1;
  int result = 0;
  for (size_t at = 0; result == 0 && at < request->count; at++) result = landlock_add(ruleset, &request->rules[at]);
  if (result == 0) return ruleset;
  const int error = errno;
  close(ruleset);
  errno = error;
  return -1;
}

int landlock_enter(int ruleset) {
  // Safe at any privilege: it only ever takes rights away from ourselves and from those we start.
  return (int)syscall(number_landlock_restrict_self, ruleset, 0);
}

int landlock_restrict(const struct landlock_request *request) {
  const int ruleset = landlock_make(request);
  if (ruleset < 0) return -1;
  const int result = landlock_enter(ruleset);
  const int error = errno;
  close(ruleset);
  errno = error;
  return result;
}
