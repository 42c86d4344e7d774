// The files of /etc that are ours: who the user is, what a name means, where names are asked for, how git is set up.

import type { Plan, PlanPath } from "../plan.ts";
import { gitLines } from "./git-settings.ts";
import type { SystemFacts } from "./system.ts";

/** Where names are answered inside a sandbox that has a network. */
export const NAME_SERVER = "198.18.0.53";

/** What a sandbox calls itself. */
export const HOSTNAME = "ambit";

export interface OwnFile {
  readonly path: PlanPath;
  readonly text: string;
}

export function ownFiles(plan: Plan, { user }: SystemFacts, home: PlanPath): readonly OwnFile[] {
  const name = accountName(user.name);
  const files: Readonly<Record<string, readonly string[]>> = {
    passwd: [
      `${name}:x:${user.user}:${user.group}::/${home.join("/")}:/bin/sh`,
      ...(user.user === OVERFLOW ? [] : [`nobody:x:${OVERFLOW}:${OVERFLOW}::/:/bin/false`]),
    ],
    group: [`${name}:x:${user.group}:`, ...(user.group === OVERFLOW ? [] : [`nogroup:x:${OVERFLOW}:`])],
    hosts: [`127.0.0.1 localhost ${HOSTNAME}`, "::1 localhost"],
    gitconfig: gitLines(name),
    // Without a network nobody answers, so nobody is asked: "no such name" at once instead of after a while.
    "nsswitch.conf": [
      "passwd: files",
      "group: files",
      plan.network === null ? "hosts: files" : "hosts: files dns",
      "services: files",
      "protocols: files",
    ],
    "resolv.conf": plan.network === null ? [] : [`nameserver ${NAME_SERVER}`],
  };
  return Object.entries(files).map(([file, lines]) => ({
    path: ["etc", file],
    text: lines.map((line) => `${line}\n`).join(""),
  }));
}

/** Files of everybody else belong to this one, as the kernel shows them in a user namespace. */
const OVERFLOW = 65_534;

/** A name with a colon or a newline in it would be another line of the file. */
function accountName(name: string): string {
  return /^[a-z_][a-z0-9_.-]{0,31}$/i.test(name) && name !== "nobody" ? name : "user";
}
