// Maps bubblewrap's error output to a cause and a command that fixes it.
import type { RunRefusal } from "../../core/ports/process.ts";
import { unavailable } from "./refusal.ts";

interface Cause {
  readonly pattern: RegExp;
  readonly message: string;
  readonly fix: string | null;
}

const APPARMOR = [
  "sudo apt-get install apparmor-profiles",
  "sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
  "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict",
].join(" && ");

const NAMESPACES = "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";

/** The first match counts. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /RTM_NEWADDR|loopback: .*not permitted|setting up uid map: Permission denied/i,
    message: "AppArmor allows user namespaces only to programs with a profile",
    fix: APPARMOR,
  },
  {
    pattern:
      /No permissions to creat\w* (a )?new namespace|new namespace failed|namespaces? .*not (enabled|supported)|setting up uid map/i,
    message: "user namespaces are switched off",
    fix: NAMESPACES,
  },
  {
    pattern: /Failed to make \/ slave|Failed to mount tmpfs|pivot_root/i,
    message: "this container forbids mounts",
    fix: "allow namespaces and mounts where this container is started, or run outside it",
  },
  { pattern: /Can't mount proc/i, message: "this container forbids a /proc of its own", fix: "run outside it" },
  {
    pattern: /Unknown option/i,
    message: "this bubblewrap is too old",
    fix: "install bubblewrap 0.8 or later",
  },
  {
    pattern: /Can't find source path/i,
    message: "a folder that the sandbox is to show is gone",
    fix: null,
  },
  {
    pattern: /Function not implemented|Invalid argument/i,
    message: "this kernel is too old",
    fix: "a kernel of 5.12 or later",
  },
  {
    pattern: /Resource temporarily unavailable|Cannot allocate memory|No space left/i,
    message: "this machine has no processes, memory or namespaces left",
    fix: null,
  },
];

const complaintCharactersMax = 300;

/** `text`: what it printed before it exited; only the first line is used. */
export function complaintRefusal(text: string): RunRefusal {
  const line = (text.split("\n", 1)[0] ?? "").trim().slice(0, complaintCharactersMax);
  if (line === "") return unavailable("the sandbox ended before it was ready", null);
  const cause = CAUSES.find(({ pattern }) => pattern.test(line));
  return unavailable(
    cause === undefined ? `bubblewrap cannot start: ${line}` : `${cause.message} (${line})`,
    cause?.fix ?? null,
  );
}
