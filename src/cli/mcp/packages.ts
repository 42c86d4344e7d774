// Packages that servers are from: `ambit mcp add NAME -- npx ...`, `fetch` and `update` resolve and fetch one, show what it is, and
// pin it in the entry. Nothing is pinned before a yes, and a package that no entry names is removed again.
import type { LoadedServer } from "../../agents/disk/server-files.ts";
import { npmRegistry, type RegistryChoice } from "../../clients/servers/npm-registry.ts";
import { pipIndex } from "../../clients/servers/pip-index.ts";
import { type PackageCommand, packageCommand } from "../../core/notation/servers/package-command.ts";
import {
  type PackageKind,
  packageRequest,
  requestText,
  versionSpec,
} from "../../core/notation/servers/package-request.ts";
import { isPackageProgram, type PinnedPackage, packageText } from "../../core/notation/servers/server-package.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { FetchedPackage } from "../../core/ports/daemon/server-messages.ts";
import { ownProgram } from "../../gateway/resolved-package.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { change, type ServerEditOptions } from "./edit.ts";
import type { ServersPorts } from "./ports.ts";

export interface PackageOptions extends JsonOption {
  readonly registry?: string;
  readonly runScripts?: boolean;
  /** Other hosts that the registry has its files at. */
  readonly host?: readonly string[];
}

/** A package that is stored and not named by any entry yet. */
export interface NewPackage {
  readonly pin: PinnedPackage;
  readonly fetched: FetchedPackage;
  /** As the entry has it. */
  readonly command: readonly string[];
  readonly registry: string;
  /** What was asked for. */
  readonly asked: string;
}

export async function fetchPackage(
  ports: ServersPorts,
  { package: request, program, rest }: PackageCommand,
  options: PackageOptions & { readonly expected?: PinnedPackage },
): Promise<Answer<NewPackage>> {
  const { kind, name } = request;
  const found = await registryOf(ports, request, options.registry ?? null);
  if (!found.ok) return refusal("invalid_input", found.message, found.fix);
  const { registry } = found;
  const asked = requestText(request);
  if (!options.json) ports.printError(ports.paint.dim(`fetching ${visibleText(asked)} from ${visibleText(registry)}`));
  const { expected = null } = options;
  const answer = await askOnce(ports, "packages.fetch", {
    ...{ cwd: ports.cwd, ...request, registry, hosts: options.host ?? [] },
    runScripts: expected?.hasScripts ?? options.runScripts === true,
    expected: expected === null ? null : { integrity: expected.integrity, lock: expected.lock },
  });
  if (!answer.ok) return answer;
  const { version, integrity, lock, hasScripts, programs } = answer.value;
  const pin: PinnedPackage = { kind, name, version, integrity, lock, hasScripts };
  const chosen = program ?? ownProgram(request, programs);
  if (chosen === null || !programs.includes(chosen) || !isPackageProgram(chosen)) {
    await releasePackage(ports, pin);
    const list = programs.length === 0 ? "it has no programs" : `it has ${programs.join(", ")}`;
    const called = chosen === null ? "name one of its programs" : `it has no program ${chosen}`;
    const fix = programs.length === 0 ? null : `${NAMING[kind]} ${packageText(pin)} ${programs[0] ?? ""}`;
    return refusal("invalid_input", `${packageText(pin)}: ${called}: ${list}`, fix);
  }
  return { ok: true, value: { pin, fetched: answer.value, command: [chosen, ...rest], registry, asked } };
}

/** How a command names a package and one of its programs. */
const NAMING: Readonly<Record<PackageKind, string>> = { npm: "npx -y -p", pypi: "uvx --from" };

async function registryOf(
  ports: ServersPorts,
  { kind, name }: PackageCommand["package"],
  option: string | null,
): Promise<RegistryChoice> {
  return kind === "npm"
    ? npmRegistry(name, { ...ports.npmSettings(), option })
    : pipIndex({ ...(await ports.pipSettings()), option });
}

export async function releasePackage(ports: ServersPorts, { lock, hasScripts }: PinnedPackage): Promise<void> {
  await askOnce(ports, "packages.release", { cwd: ports.cwd, lock, hasScripts });
}

const MEBIBYTE = 1_048_576;
const namesMax = 8;

/** What a person is shown before the yes. */
export function packageLines({ fetched, registry, asked }: NewPackage, paint: Paint): readonly string[] {
  const { kind, integrity, packages, scripts, hasScripts, bytes } = fetched;
  const named = scripts.slice(0, namesMax).map(visibleText).join(", ");
  const more = scripts.length > namesMax ? ` and ${scripts.length - namesMax} more` : "";
  const text = packageText(fetched);
  return [
    `  fetched  ${visibleText(text)}${asked === text ? "" : ` (${visibleText(asked)})`} from ${visibleText(registry)}`,
    `           ${paint.dim(visibleText(integrity))}`,
    `           ${packages} package${packages === 1 ? "" : "s"}, ${(bytes / MEBIBYTE).toFixed(1)} MiB`,
    kind === "pypi"
      ? "           wheels alone: nothing was built"
      : scripts.length === 0
        ? "           no install scripts"
        : hasScripts
          ? `           ${paint.warn(`ran install scripts, without network: ${named}${more}`)}`
          : `           ${paint.warn(`install scripts that did not run: ${named}${more}`)} (--run-scripts)`,
  ];
}

export interface FetchOptions extends ServerEditOptions, PackageOptions {}

/** What the entries name and what is not here, or what npx and the like would fetch. */
export async function mcpFetch(
  ports: ServersPorts,
  names: readonly string[],
  options: FetchOptions,
): Promise<ExitCode> {
  const { servers } = ports.servers.load();
  const missing = names.find((name) => servers.every(({ server }) => server.name !== name));
  if (missing !== undefined) return fail(ports, options, EXIT.error, `there is no server ${missing}`, "ambit mcp list");
  const wanted = servers.filter(({ server }) => names.length === 0 || names.includes(server.name));
  const results: object[] = [];
  for (const one of wanted) {
    const done = await fetchOne(ports, one, options);
    if (typeof done === "number") return done;
    if (done !== null) results.push(done);
  }
  if (options.json) ports.print(jsonLine({ packages: results }));
  else if (results.length === 0) ports.print("nothing to fetch");
  return EXIT.ok;
}

async function fetchOne(
  ports: ServersPorts,
  { server, waits }: LoadedServer,
  options: FetchOptions,
): Promise<ExitCode | object | null> {
  const { endpoint, name, level } = server;
  if (endpoint.kind !== "program") return null;
  const pinned = endpoint.package;
  if (pinned === null) {
    const fetching = packageCommand(endpoint.command);
    if (fetching === null) return null;
    if (!fetching.ok) return fail(ports, options, EXIT.error, `${name}: ${fetching.message}`, fetching.fix);
    if (waits !== null) return fail(ports, options, EXIT.error, `${name}: ${waits}`, "ambit trust");
    return repin(ports, one(name, level), fetching.value, null, options);
  }
  const checked = await askOnce(ports, "packages.check", pinned);
  if (!checked.ok) return tellRefusal(ports, checked, options.json);
  if (checked.value.state === "stored") return null;
  if (waits !== null) return fail(ports, options, EXIT.error, `${name}: ${waits}`, "ambit trust");
  const [program, ...rest] = endpoint.command;
  const exact = packageRequest(pinned.kind, packageText(pinned));
  if (!exact.ok) return fail(ports, options, EXIT.error, `${name}: ${exact.message}`, exact.fix);
  const request = { package: exact.value, program, rest };
  const fetched = await fetchPackage(ports, request, { ...options, expected: pinned });
  if (!fetched.ok) {
    const fix = fetched.code === "pin_changed" ? `ambit mcp update ${name} --to ${pinned.version}` : fetched.fix;
    return tellRefusal(ports, { ...fetched, fix }, options.json);
  }
  if (!options.json)
    ports.print(`${ports.paint.good("fetched")} ${visibleText(packageText(pinned))} for ${visibleText(name)}`);
  return { name, package: packageText(pinned), lock: pinned.lock };
}

export interface UpdateOptions extends FetchOptions {
  readonly to?: string;
}

/** Another version of a server's package: shown beside the one before, and pinned after a yes. */
export async function mcpUpdate(ports: ServersPorts, name: string, options: UpdateOptions): Promise<ExitCode> {
  const found = ports.servers.load().servers.find(({ server }) => server.name === name);
  const endpoint = found?.server.endpoint;
  if (found === undefined) return fail(ports, options, EXIT.error, `there is no server ${name}`, "ambit mcp list");
  if (endpoint?.kind !== "program" || endpoint.package === null)
    return fail(ports, options, EXIT.error, `${name} has no pinned package`, `ambit mcp fetch ${name}`);
  const { package: before, command } = endpoint;
  const request = packageRequest(before.kind, versionSpec(before, options.to ?? null));
  if (!request.ok) return fail(ports, options, EXIT.usage, request.message, "--to 1.2.3");
  const [program, ...rest] = command;
  const runScripts = options.runScripts === true || before.hasScripts;
  const wanted = { package: request.value, program, rest };
  const done = await repin(ports, one(name, found.server.level), wanted, before, { ...options, runScripts });
  if (typeof done === "number") return done;
  if (options.json) ports.print(jsonLine(done));
  else if (!("isSame" in done)) {
    const note = "its description is compared with its pin at the next use";
    ports.print(ports.paint.dim(`  ${note}: ambit mcp show ${name}`));
  }
  return EXIT.ok;
}

interface Entry {
  readonly name: string;
  readonly user: boolean;
}

function one(name: string, level: "user" | "project"): Entry {
  return { name, user: level === "user" };
}

/** Fetches, shows, asks, and writes the pin into the entry. */
async function repin(
  ports: ServersPorts,
  { name, user }: Entry,
  wanted: PackageCommand,
  before: PinnedPackage | null,
  options: FetchOptions,
): Promise<ExitCode | object> {
  const fetched = await fetchPackage(ports, wanted, options);
  if (!fetched.ok) return tellRefusal(ports, fetched, options.json);
  const { pin, command } = fetched.value;
  if (before?.lock === pin.lock && before.integrity === pin.integrity && before.hasScripts === pin.hasScripts) {
    if (!options.json)
      ports.print(
        `${visibleText(name)} has ${visibleText(packageText(pin))} already pinned, with the same dependencies`,
      );
    return { name, package: packageText(pin), isSame: true };
  }
  const versions =
    before === null ? [] : [`  package  ${visibleText(packageText(before))} -> ${visibleText(packageText(pin))}`];
  const lines = [...versions, ...packageLines(fetched.value, ports.paint)];
  const edit = { kind: "package" as const, name, command, package: pin };
  const done = await change(ports, edit, { ...options, user, isQuiet: options.json }, lines);
  if (done !== EXIT.ok) {
    await releasePackage(ports, pin);
    return done;
  }
  if (before !== null) await releasePackage(ports, before);
  return { name, before: before === null ? null : packageText(before), package: packageText(pin), lock: pin.lock };
}
