// What pip downloaded: wheels, each with its digest. INVARIANT: one wheel for each package, all of them pinned, and the one that was
// asked for is among them.
import type { Failure, Result } from "../core/base/result.ts";
import { bareName, normalName, type PackageRequest } from "../core/notation/servers/package-request.ts";
import type { ResolvedPackage } from "./resolved-package.ts";

export interface Wheel {
  readonly file: string;
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string;
  /** The same as an integrity. */
  readonly integrity: string;
}

export interface ReadWheels extends Omit<ResolvedPackage, "programs"> {
  /** Of the wheel that was asked for: where its files are named. */
  readonly record: string;
  /** For pip: each wheel with its digest. */
  readonly requirements: string;
}

/** name-version(-build)-python-abi-platform.whl */
const FILE = /^([A-Za-z0-9][\w.]*)-([0-9][\w.!+]*)(?:-\d[\w.]*)?-[\w.]+-[\w.]+-[\w.]+\.whl$/;
const wheelsMax = 2_000;

/** `python`: the version of Python that they are for, which decides which wheels fit. */
export function readWheels(
  wheels: readonly Wheel[],
  request: Pick<PackageRequest, "kind" | "name">,
  python: string,
): Result<ReadWheels, Failure> {
  if (wheels.length > wheelsMax) return refuse(`it needs more than ${wheelsMax} packages`);
  const lines: string[] = [];
  const requirements: string[] = [];
  const seen = new Set<string>();
  let own: Pick<ReadWheels, "version" | "integrity" | "record"> | null = null;
  for (const { file, digest, integrity } of wheels.toSorted((left, right) => (left.file < right.file ? -1 : 1))) {
    const [, written, version] = FILE.exec(file) ?? [];
    if (written === undefined || version === undefined)
      return refuse(
        `${JSON.stringify(file.slice(0, 200))} is no wheel: only wheels are installed, because a build runs code`,
      );
    const name = normalName(written);
    if (seen.has(name)) return refuse(`pip downloaded ${name} twice`);
    seen.add(name);
    lines.push(`${name} ${version} ${integrity}`);
    requirements.push(`${name}==${version} --hash=sha256:${digest}`);
    if (name === bareName(request)) own = { version, integrity, record: `${written}-${version}.dist-info/RECORD` };
  }
  if (own === null) return refuse(`pip did not download ${bareName(request)}`);
  const all = { lines: `${python}\n${lines.join("\n")}\n`, requirements: `${requirements.join("\n")}\n` };
  return { ok: true, value: { ...own, ...all, packages: wheels.length, scripts: [] } };
}

const BIN = "../../../bin/";

/** Programs that a package installed, by the record of its files. */
export function wheelPrograms(record: string): readonly string[] {
  return record
    .split("\n")
    .flatMap((line) => {
      const [path = ""] = line.split(",", 1);
      return path.startsWith(BIN) ? [path.slice(BIN.length)] : [];
    })
    .toSorted();
}

function refuse(message: string): Extract<ReturnType<typeof readWheels>, { ok: false }> {
  return { ok: false, message };
}
