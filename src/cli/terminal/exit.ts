// Exit codes, the same for every command.

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  invalidPolicy: 3,
  /** No daemon runs, or it refuses this process. */
  daemon: 4,
  deny: 10,
  ask: 11,
  expired: 12,
  widened: 13,
  notTrusted: 14,
  /** `exec`, `run` and `call`: ambit refused or ended the program. Any other status is the program's own. */
  refused: 125,
} as const;

/** The status of a program is passed on unchanged. */
type PassedStatus = number & { readonly passed: true };

export type ExitCode = (typeof EXIT)[keyof typeof EXIT] | PassedStatus;

export function passedOn(status: number): ExitCode {
  return (status & 0xff) as PassedStatus;
}
