// Where a remote leads, by the addresses git has for it: to a host, whose connections are decided, or elsewhere, which
// this tool refuses. git accepts a folder of a remote's name as one, and starts programs for some addresses: neither is
// a network remote.
import type { JsonObject } from "../../core/base/json.ts";
import { type Refusal, refuse } from "../../core/base/result.ts";
import type { GitInput } from "./command-line.ts";

/** The command that prints a remote's addresses; null for a call without one. It only reads settings. */
export function addressesLine(input: JsonObject): readonly ["git", ...string[]] | null {
  const { command, remote = "origin" } = input as unknown as GitInput;
  if (command !== "push" && command !== "fetch") return null;
  return ["git", "remote", "get-url", ...(command === "push" ? ["--push"] : []), "--all", remote];
}

/** git's exit status for an unknown remote. */
export const noRemoteStatus = 2;

export function noRemote({ remote = "origin" }: GitInput): Refusal {
  return refuse("bad_value", `this repository has no remote ${shown(remote)}; folders are not used as remotes`);
}

/** Null if all of them are hosts. `addresses`: one a line. */
export function remoteRefusal({ remote = "origin" }: GitInput, addresses: string): Refusal | null {
  const all = addresses.split("\n").filter((one) => one !== "");
  if (all.length === 0) return refuse("bad_value", `the remote ${shown(remote)} has no address`);
  if (all.every(isHost)) return null;
  return refuse(
    "bad_value",
    `the remote ${shown(remote)} is not on a host: folders and programs are not supported as remotes`,
  );
}

/** As git parses an address: by its scheme, or a host before a colon without a slash before it. */
function isHost(address: string): boolean {
  const scheme = /^([A-Za-z0-9][A-Za-z0-9+.-]*):\/\//.exec(address)?.[1];
  if (scheme !== undefined) return SCHEMES.has(scheme);
  return /^[^/:]+:(?!:)/.test(address) || /^[^/:@]+@\[[^/]*\]:/.test(address);
}

const SCHEMES: ReadonlySet<string> = new Set(["https", "http", "ssh", "git", "git+ssh", "ssh+git"]);

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
