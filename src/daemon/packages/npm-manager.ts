// npm as a package manager: it resolves and unpacks a package into `node_modules`, with install scripts off.
import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../core/notation/json-reader.ts";
import { requestText } from "../../core/notation/servers/package-request.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { readNpmLock } from "../../gateway/npm-lock.ts";
import type { ResolvedPackage } from "../../gateway/resolved-package.ts";
import { type PackageManager, type PackageStage, STAGE_HOME } from "./package-manager.ts";
import { PACKAGE } from "./package-store.ts";

const lockBytesMax = 16_777_216;
const linesMax = 8;

const ENVIRONMENT = [["npm_config_update_notifier", "false"]] as const;

/** Of npm's own settings none is the person's or the machine's: the sandbox has no such files. */
const COMMON: readonly string[] = [
  ...[`--prefix=${STAGE_HOME}/${PACKAGE}`, `--cache=${STAGE_HOME}/cache`],
  ...[`--userconfig=${STAGE_HOME}/none`, `--globalconfig=${STAGE_HOME}/none-either`],
  ...["--no-audit", "--no-fund", "--loglevel=error", "--no-progress", "--color=false"],
];
const INSTALL: readonly string[] = [
  ...["install", ...COMMON, "--ignore-scripts", "--omit=dev", "--save-exact"],
  ...["--install-strategy=hoisted", "--omit-lockfile-registry-resolved", "--package-lock", "--lockfile-version=3"],
  ...["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000", "--fetch-timeout=60000"],
];
const REBUILD: readonly string[] = ["rebuild", ...COMMON, "--foreground-scripts", "--offline"];

/** What npm says with its errors for people who install by hand; some of it is not true of a fetch here. */
const ADVICE =
  /^(?:network|notarget|404)(?:$| +(?:This is a problem related|In most cases|If you are behind|'proxy' config|Note that you can|tarball, folder))/;

export const NPM: PackageManager = {
  missing: { message: "npm is not installed where the daemon's Node is", fix: "install npm, and try again" },
  others: "its dependencies resolve to different versions",
  async resolve(stage) {
    const { folder, package: request, registry } = stage;
    writeFileSync(join(folder, PACKAGE, "package.json"), '{ "private": true }\n');
    const argv = ["npm", ...INSTALL, `--registry=${registry}`, requestText(request)] as const;
    const installed = await stage.run({ argv, reachesRegistry: true, environment: ENVIRONMENT });
    return installed.ok ? resolvedIn(stage) : installed;
  },
  runScripts: (stage) => stage.run({ argv: ["npm", ...REBUILD], reachesRegistry: false, environment: ENVIRONMENT }),
  problem(said) {
    const lines = said.split("\n").flatMap((line) => {
      const text = line.replace(/^npm (?:error|ERR!)/, "").trim();
      return text === "" || /^npm warn|A complete log of this run|^at /i.test(text) || ADVICE.test(text) ? [] : [text];
    });
    if (lines.length === 0) return null;
    return { message: `npm could not fetch it: ${lines.slice(0, linesMax).join("; ")}`, fix: null };
  },
};

function resolvedIn({ folder, package: { name }, registry }: PackageStage): Answer<ResolvedPackage> {
  const path = join(folder, PACKAGE, "package-lock.json");
  if (statSync(path).size > lockBytesMax) return refusal("too_large", "npm's lock is too large");
  const read = parseJson(readFileSync(path, "utf8"));
  const isThere = (at: string): boolean =>
    lstatSync(join(folder, PACKAGE, at), { throwIfNoEntry: false }) !== undefined;
  const resolved = read.ok ? readNpmLock(read.value, name, registry, isThere) : null;
  if (resolved === null) return refusal("not_available", "npm wrote no lock that can be read");
  return resolved.ok ? resolved : refusal("not_available", resolved.message);
}
