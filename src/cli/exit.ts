// Exit codes, the same for every command.

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  invalidPolicy: 3,
  deny: 10,
  ask: 11,
  expired: 12,
  widened: 13,
  notTrusted: 14,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
