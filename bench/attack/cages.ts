// Sandboxes side by side: the same probe, the same root, each set up as its own documentation says.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallerFacts } from "../../test/attack/callers.ts";
import type { Scene } from "../../test/attack/scene.ts";
import { benchFolder } from "../place.ts";

export interface Cage {
  readonly name: string;
  readonly note: string;
  command(scene: Scene, who: CallerFacts, argv: readonly string[]): readonly string[];
}

/** As in most examples: everything readable, the project writable. */
const OPEN: Cage = {
  name: "bwrap --ro-bind /",
  note: "--ro-bind / / --dev /dev --proc /proc --bind ROOT ROOT --unshare-pid --unshare-net --die-with-parent",
  command: ({ root }, { prefix }, argv) => [
    ...prefix,
    ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", root, root, "--chdir", root],
    ...["--unshare-pid", "--unshare-net", "--die-with-parent", "--"],
    ...argv,
  ],
};

/** As strict as options alone allow. */
const LISTED: Cage = {
  name: "bwrap, allow-list",
  note: "--unshare-all --new-session --clearenv --cap-drop ALL, /usr and ROOT only, .git/hooks and .git/config --ro-bind",
  command: ({ root }, { prefix }, argv) => [
    ...prefix,
    ...["bwrap", "--unshare-all", "--new-session", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"],
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"],
    ...["--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...["--bind", root, root, "--chdir", root],
    ...[".git/hooks", ".git/config"].flatMap((name) => ["--ro-bind", join(root, name), join(root, name)]),
    "--",
    ...argv,
  ],
};

const RUNTIME: Cage = {
  name: "sandbox-runtime 0.0.78",
  note: "no domains; allowWrite ROOT; denyRead the folders beside it (its default reads everything)",
  command: ({ root, folder }, { prefix }, argv) => {
    const settings = join(folder, "srt.json");
    const denied = ["outside", "state", "config"].map((name) => join(folder, name));
    writeFileSync(
      settings,
      JSON.stringify({
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: { denyRead: denied, allowRead: [], allowWrite: [root], denyWrite: [] },
      }),
    );
    const cli = join(benchFolder, "node_modules", "@anthropic-ai", "sandbox-runtime", "dist", "cli.js");
    return [...prefix, process.execPath, cli, "--settings", settings, ...argv];
  },
};

export const PEERS: readonly Cage[] = [OPEN, LISTED, RUNTIME];

export function ambitCage(start: string): Cage {
  return {
    name: "ambit exec",
    note: "a record with `sandbox: .` and `proc.exec`, nothing else",
    command: (_scene, { prefix }, argv) => [...prefix, process.execPath, start, "exec", "probe", "--", ...argv],
  };
}
