// `ambit upgrade` and `ambit uninstall`: this installation beside the daemon, the state and the clients that use it.
import type { Command } from "commander";
import { isOlderVersion } from "../../core/base/version.ts";
import type { DaemonStatus } from "../../core/ports/daemon/daemon-control.ts";
import { type ConnectPorts, disconnect } from "../connect/connect.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { type DaemonPorts, daemonStop } from "../daemon/daemon.ts";
import { visibleText } from "../terminal/cells.ts";
import { quoteWord } from "../terminal/command-text.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation } from "../terminal/problems.ts";
import { notAdmitted } from "../trust/admit.ts";

export interface InstallPorts extends DaemonPorts, ConnectPorts {
  readonly version: string;
  readonly installation: Installation;
}

export interface Installation {
  /** The folder of our package. */
  readonly package: string;
  /** Whether the package manager put it there; else it is a checkout. */
  readonly isInstalled: boolean;
  /** When the daemon's program was built; null where a package manager put it there, with times of its own. */
  builtAt(): number | null;
  /** Folders of this user that exist. */
  folders(): { readonly state: string | null; readonly config: string | null };
  /** Copies of the state that were made before its format changed, by name. */
  backups(): readonly string[];
}

interface UpgradeOptions {
  readonly json: boolean;
  readonly check: boolean;
}

/** Versions of a checkout often are the same: then the times say whether the daemon runs what was built. */
type DaemonState = "not running" | "current" | "replaceable" | "busy" | "newer";

export async function upgrade(ports: InstallPorts, { json, check }: UpgradeOptions): Promise<ExitCode> {
  const { version, paint } = ports;
  const running = await ports.running();
  if (!running.ok) return tellRefusal(ports, running, json);
  const daemon = running.value;
  const sessions = daemon?.sessions.length ?? 0;
  const isOlderBuild = daemon?.version === version && daemon.started < (ports.installation.builtAt() ?? 0);
  const state = stateOf(version, daemon, isOlderBuild);
  const isReplaced = state === "replaceable" && !check;
  if (isReplaced) {
    if (isOlderBuild) {
      const told = await askOnce(ports, "daemon.stop", { ifIdle: true });
      if (!told.ok) return tellRefusal(ports, told, json);
      if (told.value.isStopping !== false) await ports.awaitDaemonEnd(daemon.pid);
    }
    // Connecting replaces an older daemon that has no sessions.
    const control = await ports.control();
    if (!control.ok) return tellRefusal(ports, control, json);
    control.value.close();
  }
  const backups = ports.installation.backups();
  if (json) ports.print(jsonLine({ version, daemon: daemon?.version ?? null, state, sessions, isReplaced, backups }));
  else {
    ports.print(`program  ${version}  ${paint.dim(visibleText(ports.installation.package))}`);
    const found = `${visibleText(daemon?.version ?? "")}, ${isOlderBuild ? "started before this build" : "older"}`;
    ports.print(`daemon   ${isReplaced ? `${found}; it was replaced` : daemonText(state, found, daemon)}`);
    for (const name of backups) ports.print(`backup   ${visibleText(name)}`);
  }
  return state === "newer" || state === "busy" || (state === "replaceable" && check) ? EXIT.error : EXIT.ok;
}

function stateOf(program: string, daemon: DaemonStatus | null, isOlderBuild: boolean): DaemonState {
  if (daemon === null) return "not running";
  if (isOlderVersion(program, daemon.version)) return "newer";
  if (!isOlderVersion(daemon.version, program) && !isOlderBuild) return "current";
  return daemon.sessions.length === 0 ? "replaceable" : "busy";
}

/** `found`: the version of one that is to be replaced, and why. */
function daemonText(state: DaemonState, found: string, daemon: DaemonStatus | null): string {
  const version = visibleText(daemon?.version ?? "");
  const sessions = countText(daemon?.sessions.length ?? 0, "session uses", "sessions use");
  return {
    "not running": "not running; the next one is this version",
    current: `${version}, the same version`,
    replaceable: `${found}; replace it with: ambit upgrade`,
    busy: `${found}; ${sessions} it; it is replaced once they end, or by: ambit daemon stop`,
    newer: `${version}, newer than this program; use that installation, or upgrade this one`,
  }[state];
}

interface UninstallOptions {
  readonly json: boolean;
  readonly yes: boolean;
}

/** Ends what runs and takes our hooks out of clients. Files that people wrote, the log and the secrets stay. */
export async function uninstall(ports: InstallPorts, options: UninstallOptions): Promise<ExitCode> {
  const hooks = ports.clientSettings.hooks();
  const places = hooks.map(({ client, scope, path }) => ({ client, scope, path }));
  if (!options.json)
    for (const { client, path } of places) ports.print(`removes the hook of ${client} from ${visibleText(path)}`);
  const question = "End the daemon and every session, and disconnect these clients?";
  const unconfirmed = await confirmation(ports, options, question, "ambit uninstall --yes");
  if (unconfirmed !== null) return unconfirmed;
  // Without the hook a client decides alone, and without the daemon nothing checks this: that widens.
  const refused = await notAdmitted(ports, "uninstall", `disconnect ${places.length} clients and end`, options);
  if (refused !== null) return refused;
  const quiet = { ...ports, print: () => undefined };
  for (const { client, scope } of new Map(places.map((place) => [`${place.client} ${place.scope}`, place])).values()) {
    const exit = await disconnect(quiet, client, { json: false, sandbox: true, verify: false, [scope]: true });
    if (exit !== EXIT.ok) return exit;
  }
  const stopped = await daemonStop(options.json ? quiet : ports, { json: false });
  if (stopped !== EXIT.ok) return stopped;
  const left = leftovers(ports.installation);
  if (options.json) ports.print(jsonLine({ disconnected: places, left }));
  else {
    ports.print(ports.paint.strong("left in place:"));
    for (const { what, remove } of left)
      ports.print(`  ${what}${remove === null ? "" : `\n    ${ports.paint.dim(remove)}`}`);
  }
  return EXIT.ok;
}

function leftovers(installation: Installation): readonly { readonly what: string; readonly remove: string | null }[] {
  const { isInstalled } = installation;
  const { state, config } = installation.folders();
  return [
    ...(state === null
      ? []
      : [
          {
            what: "log, secrets, trust, approvals, drafts that have not landed",
            // Packages of MCP servers are read-only.
            remove: `chmod -R u+w ${quoteWord(visibleText(state))} && rm -r ${quoteWord(visibleText(state))}`,
          },
        ]),
    ...(config === null ? [] : [{ what: "your own configuration", remove: `rm -r ${quoteWord(visibleText(config))}` }]),
    { what: "`.ambit` in your projects: files that you and your team wrote", remove: null },
    {
      what: "hooks of clients in other projects: they block every call until you remove them there",
      remove: "ambit disconnect CLIENT",
    },
    {
      what: "the program",
      remove: isInstalled ? "npm uninstall -g ambit" : `rm -rf ${quoteWord(visibleText(installation.package))}`,
    },
  ];
}

export function addInstall(program: Command, ports: InstallPorts, end: (exit: ExitCode) => void): void {
  program
    .command("upgrade")
    .description("replace the daemon of an older version, and show which versions are in use")
    .option("--check", "change nothing", false)
    .option("--json", "print one JSON object", false)
    .addHelpText("after", UPGRADE_EXAMPLES)
    .action(async (options: UpgradeOptions) => end(await upgrade(ports, options)));
  program
    .command("uninstall")
    .description("end the daemon, disconnect clients, and list what is left on this machine")
    .option("-y, --yes", "do not ask for confirmation", false)
    .option("--json", "print one JSON object; requires --yes", false)
    .addHelpText("after", UNINSTALL_EXAMPLES)
    .action(async (options: UninstallOptions) => end(await uninstall(ports, options)));
}

const UPGRADE_EXAMPLES = `
Examples:
  ambit upgrade --check
  ambit upgrade
  ambit upgrade --check --json

Install the new version first, as you installed this one: the new archive, or git pull and npm start in a checkout. A command that
needs the daemon replaces one of an older version that has no sessions; ambit upgrade also replaces one of the same version that
started before the checkout was built. The first daemon of a new version copies the state, then changes its format; an older program
refuses the new format.

Exit status: 0 nothing to do now, 1 an older daemon can be replaced or has sessions, or a newer one runs; 4 the daemon does not
respond, 2 usage.`;

const UNINSTALL_EXAMPLES = `
Examples:
  ambit uninstall
  ambit uninstall --yes --json

It deletes nothing: log, secrets, configuration and records stay, and the commands that remove them are printed.

Exit status: 0 done, 1 error, 4 no daemon, or it refused the request; 2 usage.`;
