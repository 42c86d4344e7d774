// A script as the requests of one call: `proc.exec` for every command, `fs.read` and `fs.write` for what redirections open.
import { parseArgv } from "../../core/authority/axes/argv.ts";
import { type PathSettings, parsePath } from "../../core/authority/axes/path.ts";
import type { Value } from "../../core/authority/axes/scope.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Segments } from "../../core/authority/patterns/sequence.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { CommandNeeds } from "./needs.ts";

export interface ScriptRoot {
  /** The root: a folder, and everything below it. */
  readonly in: string;
  readonly root: "ro" | "rw";
}

/** INVARIANT: at least one request for every command and every file; one that cannot be made refuses them all. */
export function requestsFor(
  commands: readonly CommandNeeds[],
  place: ScriptRoot,
  pathSettings: PathSettings,
): Result<readonly Request[]> {
  const root = parsePath(place.in, pathSettings);
  if (!root.ok) return root;
  // A relative target is resolved in the folder that the command runs in.
  const inside: PathSettings = { ...pathSettings, base: root.value.segments };
  const requests: Request[] = [];
  for (const { argv, reads, writes } of commands) {
    const asked = [
      request("proc.exec", { root, argv: parseArgv(argv), mode: done(place.root) }),
      ...reads.map((path) => request("fs.read", { path: targetPath(path, inside) })),
      ...writes.map((path) => request("fs.write", { path: targetPath(path, inside) })),
    ];
    for (const one of asked) {
      if (!one.ok) return one;
      requests.push(one.value);
    }
  }
  return done(requests);
}

/** A quoted tilde is a name, as in a shell. */
export function targetPath(text: string, inside: PathSettings): Result<Segments> {
  return parsePath(text.startsWith("/") ? text : `./${text}`, inside);
}

/** The values in the order of the verb's axes. */
export function request(name: string, axes: Readonly<Record<string, Result<Value>>>): Result<Request> {
  const verb = verbEntry(name);
  if (verb === null) return refuse("bad_value", `there is no verb ${name}`);
  const values: Value[] = [];
  for (const axis of verb.axes) {
    const value = axes[axis.name];
    if (value === undefined) return refuse("bad_value", `${name} has an axis ${axis.name} that scripts do not support`);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return done({ verb, values });
}
