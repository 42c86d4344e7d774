// Packages of MCP servers for a person: fetching one, and removing one that no entry names any more.
import { flagIn, objectIn, textIn, textsIn } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type PackageKind, packageRequest, requestText } from "../../core/notation/servers/package-request.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { PackageFetcher } from "../packages/fetch-package.ts";
import type { PackageStore } from "../packages/package-store.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

const pathCharactersMax = 4_096;
const addressCharactersMax = 2_048;
const hostsMax = 8;
const LOCK = /^sha256-[0-9a-f]{64}$/;

export interface PackageAnswersOptions {
  readonly fetcher: PackageFetcher;
  readonly store: PackageStore;
  workspaceOf(cwd: string): string | null;
}

export function packageAnswers(
  { fetcher, store, workspaceOf }: PackageAnswersOptions,
  admission: Admission,
): readonly (readonly [string, MessageHandler])[] {
  return [
    [
      "packages.fetch",
      async (exchange) => {
        const { value, signal } = exchange;
        const cwd = textIn(value, "cwd", pathCharactersMax);
        const registry = textIn(value, "registry", addressCharactersMax);
        const kind: PackageKind = textIn(value, "kind", 8) === "pypi" ? "pypi" : "npm";
        const [name, range] = [textIn(value, "name", 512) ?? "", textIn(value, "range", 128) ?? ""];
        const request = packageRequest(kind, requestText({ kind, name, range }));
        const hosts = textsIn(value, "hosts", hostsMax);
        if (cwd === null || registry === null || hosts === null)
          return refusal("invalid_input", "needs a folder, a registry and hosts");
        if (!request.ok) return refusal("invalid_input", request.message, request.fix);
        // It asks the network for a person: a session's client does not do so by this.
        const admitted = admission.handling(exchange);
        if (!admitted.ok) return admitted;
        const pinned = objectIn(value, "expected");
        const expected =
          pinned === null
            ? null
            : { integrity: textIn(pinned, "integrity", 128) ?? "", lock: textIn(pinned, "lock", 128) ?? "" };
        return fetcher.fetch(
          {
            ...{ cwd, registry, hosts, expected, package: request.value, runScripts: flagIn(value, "runScripts") },
            workspace: workspaceOf(cwd),
            by: { ...admitted.value },
          },
          signal,
        );
      },
    ],
    [
      "packages.check",
      async ({ value }) => {
        const pin = keyIn(value);
        return pin === null ? BAD : { ok: true, value: { state: await store.stateOf(pin) } };
      },
    ],
    [
      "packages.release",
      async (exchange) => {
        const pin = keyIn(exchange.value);
        const cwd = textIn(exchange.value, "cwd", pathCharactersMax);
        if (pin === null || cwd === null) return BAD;
        const admitted = admission.narrowing(exchange);
        if (!admitted.ok) return admitted;
        return { ok: true, value: { isRemoved: await store.release(pin, workspaceOf(cwd)) } };
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "needs a package by its lock");

function keyIn(value: JsonObject): { readonly lock: string; readonly hasScripts: boolean } | null {
  const lock = textIn(value, "lock", 128);
  return lock === null || !LOCK.test(lock) ? null : { lock, hasScripts: flagIn(value, "hasScripts") };
}
