// The program's words. What it is to be is said on its command line and nowhere else; of the environment only `ambit`
// inside a sandbox reads a variable, for where to ask.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "credential.h"
#include "listener.h"
#include "facts.h"
#include "files.h"
#include "frame.h"
#include "hook.h"
#include "land.h"
#include "lock.h"
#include "sandbox.h"
#include "supervised.h"
#include "whiteouts.h"

// A descriptor of the owner's: digits alone, and never one of the first three.
static bool descriptor_of(const char *text, int *descriptor) {
  if (text[0] < '1' || text[0] > '9' || strlen(text) > 5 || text[strspn(text, "0123456789")] != 0) return false;
  *descriptor = (int)strtol(text, NULL, 10);
  return *descriptor >= 3;
}

static int usage(void) {
  dprintf(2, "%s",
          "usage: ambit-native sandbox <control-fd> <handles-fd | ->\n"
          "       ambit-native supervised <control-fd> <handles-fd | ->\n"
          "       ambit-native files <control-fd>\n"
          "       ambit-native land <control-fd>\n"
          "       ambit-native whiteouts <folder-fd>\n"
          "       ambit-native listen <channel-fd> <folder-fd>\n"
          "       ambit-native lock <file-fd>\n"
          "       ambit-native own <file-fd>\n"
          "       ambit-native credential <get | store | erase>\n"
          "       ambit-native hook <folder> <milliseconds> <client> <agent> [word ...]\n"
          "       ambit-native facts\n");
  return exit_failed;
}

int main(int count, char **words) {
  int control = -1, handles = -1;
  const char *slash = count > 0 ? strrchr(words[0], '/') : NULL;
  if (slash != NULL && strcmp(slash, "/ambit") == 0) return ask_main(count, words);
  if (count > 0 && strcmp(words[0], "ambit") == 0) return ask_main(count, words);
  if (count == 4 && strcmp(words[1], "sandbox") == 0 && descriptor_of(words[2], &control) &&
      (strcmp(words[3], "-") == 0 || (descriptor_of(words[3], &handles) && handles != control)))
    sandbox_main(control, handles);
  if (count == 4 && strcmp(words[1], "supervised") == 0 && descriptor_of(words[2], &control) &&
      (strcmp(words[3], "-") == 0 || (descriptor_of(words[3], &handles) && handles != control)))
    supervised_main(control, handles);
  if (count == 3 && strcmp(words[1], "files") == 0 && descriptor_of(words[2], &control)) return files_main(control);
  if (count == 3 && strcmp(words[1], "land") == 0 && descriptor_of(words[2], &control)) return land_main(control);
  if (count == 4 && strcmp(words[1], "listen") == 0 && descriptor_of(words[2], &control) &&
      descriptor_of(words[3], &handles) && handles != control)
    return listener_main(control, handles);
  if (count == 3 && strcmp(words[1], "whiteouts") == 0 && descriptor_of(words[2], &control)) return whiteouts_main(control);
  if (count == 3 && strcmp(words[1], "lock") == 0 && descriptor_of(words[2], &control)) return lock_main(control);
  if (count == 3 && strcmp(words[1], "own") == 0 && descriptor_of(words[2], &control)) return own_main(control);
  if (count == 3 && strcmp(words[1], "credential") == 0) return credential_main(words[2]);
  if (count >= 6 && strcmp(words[1], "hook") == 0) return hook_main(words[2], words[3], words + 4);
  if (count == 2 && strcmp(words[1], "facts") == 0) return facts_main();
  return usage();
}
