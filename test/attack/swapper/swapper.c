// Exchanges two names over and over, as an attacker does between check and use.
//   swapper FIRST SECOND
// It exits at the end of its standard input, or after a minute, and prints the number of exchanges.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MAX = 60, TURNS_BETWEEN_LOOKS = 16 };

int main(int count, char **words) {
  if (count != 3) return 2;
  struct pollfd wait = {0, POLLIN, 0};
  const time_t start = time(NULL);
  long turns = 0;
  while (time(NULL) - start < SECONDS_MAX && poll(&wait, 1, 0) == 0)
    for (int at = 0; at < TURNS_BETWEEN_LOOKS; at++) {
      // The process under attack may have moved one of them aside.
      if (renameat2(AT_FDCWD, words[1], AT_FDCWD, words[2], RENAME_EXCHANGE) == 0) turns++;
      // Long enough for a check, short enough for many exchanges in one start.
      usleep(at % 3 == 0 ? 200 : 1500);
    }
  printf("%ld\n", turns);
  return 0;
}
