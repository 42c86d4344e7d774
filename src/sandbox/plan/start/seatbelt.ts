// The plan as a profile of the macOS sandbox: only what is named is allowed, and the later of two rules counts.
import type { Plan, PlanPath } from "../plan.ts";

/** macOS has no private mounts: these folders and this port are the host's. */
export interface SeatbeltPaths {
  /** A private folder, created for this sandbox. */
  readonly temporary: PlanPath;
  /** Our native program. */
  readonly program: PlanPath;
  /** The broker's loopback port; null without a network. */
  readonly brokerPort: number | null;
}

/** Null where a path cannot be expressed in a profile, and for a draft, which macOS has no mechanism for. */
export function seatbeltProfile(plan: Plan, places: SeatbeltPaths): string | null {
  const { root, runtime, masked, links = [] } = plan;
  const names = links.map(({ path }) => path);
  const trees = [...(root === null ? [] : [root.path]), ...runtime, places.temporary];
  // There is no overlay here, so there is no draft.
  if (root?.mode === "draft" || root?.mode === "live") return null;
  if (![...trees, places.program, ...masked, ...names].every(isPlain)) return null;
  const lines = [
    ...START,
    `(allow file-read-metadata ${[...foldersAbove([...trees, places.program, ...names]), ...names]
      .map(literal)
      .join(" ")})`,
    `(allow file-read* ${[...trees.map(subpath), literal(places.program)].join(" ")})`,
    `(allow process-exec* ${[...trees.map(subpath), literal(places.program)].join(" ")})`,
    `(allow file-write* ${[...(root?.mode === "direct" ? [root.path] : []), places.temporary].map(subpath).join(" ")})`,
    // Whether it exists or not: a hidden name cannot be created either.
    ...masked.map((path) => `(deny file-read* file-write* process-exec* ${subpath(path)})`),
    ...(plan.network === null || places.brokerPort === null
      ? []
      : [`(allow network-outbound (remote ip "localhost:${Math.trunc(places.brokerPort)}"))`]),
  ];
  return `${lines.join("\n")}\n`;
}

const SYSTEM: readonly string[] = [
  "/usr/lib",
  "/usr/bin",
  "/usr/sbin",
  "/usr/libexec",
  "/usr/share",
  "/bin",
  "/sbin",
  "/System/Library",
  "/System/Volumes/Preboot/Cryptexes",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/private/etc/ssl",
  "/private/var/db/timezone",
];
const FILES: readonly string[] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/private/etc/localtime"];
const systemTrees = SYSTEM.map((path) => `(subpath ${quoted(path)})`).join(" ");

const START: readonly string[] = [
  "(version 1)",
  "(deny default)",
  "(allow process-fork)",
  "(allow signal (target same-sandbox))",
  "(allow process-info* (target same-sandbox))",
  "(allow sysctl-read)",
  // No program starts without these.
  `(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger"))`,
  `(allow file-read* ${systemTrees} ${FILES.map((path) => `(literal ${quoted(path)})`).join(" ")} (literal "/"))`,
  `(allow process-exec* ${systemTrees})`,
  `(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))`,
];

function foldersAbove(paths: readonly PlanPath[]): readonly PlanPath[] {
  const folders = new Map<string, PlanPath>();
  for (const path of paths)
    for (let length = 0; length < path.length; length++) {
      const folder = path.slice(0, length);
      folders.set(folder.join("/"), folder);
    }
  return [...folders.values()];
}

/** No control characters: the only special characters inside quotes are then the two that are escaped. */
function isPlain(path: PlanPath): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  return path.length > 0 && path.every((name) => name !== "" && !/[\u0000-\u001f\u007f/]/.test(name));
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

function literal(path: PlanPath): string {
  return `(literal ${quoted(`/${path.join("/")}`)})`;
}

function subpath(path: PlanPath): string {
  return `(subpath ${quoted(`/${path.join("/")}`)})`;
}
