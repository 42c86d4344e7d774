// Our own files in /etc: the user, name resolution, the name server, git's settings.

import type { Plan, PlanPath } from "../plan.ts";
import { gitLines } from "./git-settings.ts";
import type { SystemFacts } from "./system.ts";

/** The name server in a sandbox with a network. */
export const NAME_SERVER = "198.18.0.53";

/** The host name of a sandbox. */
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
    gitconfig: gitLines(name, plan.network?.git ?? []),
    // Without a network there is no name server: fails at once instead of after a timeout.
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

/** The owner that the kernel shows in a user namespace for files of other users. */
const OVERFLOW = 65_534;

/** A name with a colon or a newline would add a line to the file. */
function accountName(name: string): string {
  return /^[a-z_][a-z0-9_.-]{0,31}$/i.test(name) && name !== "nobody" ? name : "user";
}
