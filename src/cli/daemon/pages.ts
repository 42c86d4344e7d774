// A page for every code the daemon itself answers with, besides denials.
import type { Page } from "../explain/pages.ts";

export const DAEMON_CODES: Readonly<Record<string, Page>> = {
  control_refused: {
    means:
      "The calling process belongs to an agent's session, or its parent processes cannot be inspected. Agents cannot widen their own grants.",
    doThis: "Run the command in a terminal of your own.",
    example: "ambit approve",
  },
  presence_required: {
    means:
      "Presence must be confirmed: the grant requires it, several people must approve, or your configuration has `control: presence`.",
    doThis: "Set a passphrase once with `ambit presence set NAME`, and enter it when asked.",
    example: "ambit approve --presence ann",
  },
  wrong_protocol: {
    means: "The running daemon uses another protocol version than this program.",
    doThis: "Stop the daemon; the next command starts the matching version. No acknowledged entry is lost.",
    example: "ambit daemon stop",
  },
  no_daemon: {
    means: "No daemon serves this state folder, it could not be started, or it exited during the call.",
    doThis: "Start it, and read its log if it does not stay.",
    example: "ambit daemon start",
  },
  unknown_session: {
    means: "The session of this call has ended: the daemon restarted, or a person ran `ambit stop`.",
    doThis: "Open a new session.",
    example: "ambit status",
  },
  unknown_draft: {
    means:
      "No draft has this id, and no call with this id made one. Landed and discarded drafts are removed over time.",
    doThis: "List the drafts; `--all` includes those that have landed.",
    example: "ambit changes list --all",
  },
  no_answer: {
    means: "The daemon is running but did not respond in time.",
    doThis: "Read its log, and stop it if it does not recover.",
    example: "ambit daemon logs",
  },
  folder_refused: {
    means:
      "The daemon's folder is not private: it has another owner, is writable by others, is a link, or is not a folder.",
    doThis: "Inspect it. It must be a folder that you own, with mode 0700.",
    example: "ls -ld ~/.local/state/ambit/daemon",
  },
  owned: {
    means: "Another daemon owns this state folder.",
    doThis: "Wait until it exits, or stop it.",
    example: "ambit daemon status",
  },
};
