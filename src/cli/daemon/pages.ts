// A page for every code the daemon itself answers with, besides denials.
import type { Page } from "../explain/pages.ts";

export const DAEMON_CODES: Readonly<Record<string, Page>> = {
  control_refused: {
    means:
      "The process that asked belongs to an agent's session, or cannot be seen with its parents. No agent widens what it holds.",
    doThis: "Run the command in a terminal of your own.",
    example: "ambit approve",
  },
  presence_required: {
    means:
      "A person has to show to be there: the question asks for it, several people have to agree, or your configuration says `control: presence`.",
    doThis: "Set a passphrase once with `ambit presence set NAME`, and type it when you are asked.",
    example: "ambit approve --presence ann",
  },
  wrong_protocol: {
    means: "The daemon that runs speaks another version than this program.",
    doThis:
      "End it; the next command starts the one that belongs to this program. Nothing that was acknowledged is lost.",
    example: "ambit daemon stop",
  },
  no_answer: {
    means: "The daemon was there and did not answer in time.",
    doThis: "Look at what it says about itself, and end it if it does not come back.",
    example: "ambit daemon logs",
  },
  folder_refused: {
    means:
      "The daemon's folder is not only yours: another owner, other people may write it, a link, or no folder at all.",
    doThis: "Look at it. It has to be a folder of yours with mode 0700.",
    example: "ls -ld ~/.local/state/ambit/daemon",
  },
  owned: {
    means: "Another daemon has this state.",
    doThis: "Wait until it has ended, or end it.",
    example: "ambit daemon status",
  },
};
