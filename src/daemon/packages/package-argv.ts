// How a program of a stored package is started: it is looked for in the package alone.
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { pathText } from "../../core/authority/axes/path.ts";
import type { PackageKind } from "../../core/notation/servers/package-request.ts";
import type { ServerProgram } from "../../core/notation/servers/server-endpoint.ts";
import { PACKAGE_FOLDER } from "../../sandbox/plan/plan-path.ts";

const headBytes = 512;
/** What pip writes above a script: the environment as it was when it was installed, at another place. */
const SCRIPT = /^#!(?:\/bin\/sh\n'''exec' )?[^\n]*\/package\/bin\/python[\d.]*\b/;

/** `folder`: where the package is stored. */
export function packageArgv(
  kind: PackageKind,
  folder: string,
  [program, ...rest]: ServerProgram["command"],
): ServerProgram["command"] {
  const inside = pathText(PACKAGE_FOLDER);
  if (kind === "npm") return [`${inside}/node_modules/.bin/${program}`, ...rest];
  const path = `${inside}/bin/${program}`;
  return SCRIPT.test(headOf(join(folder, "bin", program))) ? [`${inside}/bin/python3`, path, ...rest] : [path, ...rest];
}

function headOf(path: string): string {
  const head = Buffer.alloc(headBytes);
  try {
    const file = openSync(path, "r");
    try {
      return head.toString("latin1", 0, readSync(file, head));
    } finally {
      closeSync(file);
    }
  } catch {
    // It is not there: its start says so.
    return "";
  }
}
