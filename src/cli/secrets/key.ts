// `ambit secrets key`, `lock` and `unlock`: where the key of all secrets comes from, and having it at hand or not.

import { resolve } from "node:path";
import type { KeyInput, KeyStatus, NewKey } from "../../core/ports/secret-key.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { reportChange } from "./secrets.ts";
import { readValue, type SecretsPorts, type ValueResult, variable } from "./value.ts";

export interface UnlockOptions extends JsonOption {
  readonly from?: string;
  readonly identity?: string;
}

export interface KeyOptions extends JsonOption {
  readonly passphrase: boolean;
  readonly file: boolean;
  readonly keychain: boolean;
  readonly age?: string;
  readonly identity?: string;
  readonly from?: string;
  /** The person who confirms the change, if confirmation is required. */
  readonly presence?: string;
}

const BUS = "DBUS_SESSION_BUS_ADDRESS";

export async function secretsLock(ports: SecretsPorts, options: JsonOption): Promise<ExitCode> {
  return reportChange(ports, options, await askOnce(ports, "secrets.lock", {}), "locked", "secrets");
}

export async function secretsUnlock(ports: SecretsPorts, options: UnlockOptions): Promise<ExitCode> {
  if (options.from !== undefined && options.identity !== undefined)
    return fail(ports, options, EXIT.usage, "use either --from or --identity", null);
  const source = await askOnce(ports, "secrets.source", {});
  if (!source.ok) return tellRefusal(ports, source, options.json);
  const given = await givenFor(ports, source.value, options);
  if ("ok" in given) return notRead(ports, options, given);
  return reportChange(ports, options, await askOnce(ports, "secrets.unlock", given), "unlocked", "secrets");
}

/** What this kind of key needs of a person: a passphrase, a file's name, a variable of theirs, or nothing. */
async function givenFor(
  ports: SecretsPorts,
  { source, where }: KeyStatus,
  { from, identity }: UnlockOptions,
): Promise<KeyInput | (ValueResult & { readonly ok: false })> {
  const nothing: KeyInput = { passphrase: null, identity: null, bus: variable(ports, BUS) };
  if (identity !== undefined) return { ...nothing, identity: wholePath(identity) };
  const isVariable = source === "reference" && where?.startsWith("env:") === true;
  if (from === undefined && source !== "passphrase" && !isVariable) return nothing;
  const read = await readValue(
    ports,
    from ?? (isVariable ? (where ?? "") : undefined),
    "Passphrase of the secret store",
    null,
  );
  return read.ok ? { ...nothing, passphrase: read.value } : read;
}

export async function secretsKey(ports: SecretsPorts, options: KeyOptions): Promise<ExitCode> {
  const { passphrase, file, keychain, age, identity, from } = options;
  const kinds = [passphrase, file, keychain, age !== undefined, from !== undefined && !passphrase];
  const count = kinds.filter(Boolean).length;
  if (count === 0 && identity === undefined) return secretsSource(ports, options);
  if (count !== 1)
    return fail(ports, options, EXIT.usage, "choose exactly one source of the key", "ambit secrets key --help");
  if (identity !== undefined && age === undefined)
    return fail(
      ports,
      options,
      EXIT.usage,
      "--identity requires --age",
      "ambit secrets key --age RECIPIENT --identity FILE",
    );
  const key = await wantedKey(ports, options);
  if ("ok" in key) return notRead(ports, options, key);
  const answer = await askWidening(ports, "secrets.key", { key }, options);
  if (typeof answer === "number") return answer;
  const exit = reportChange(ports, options, answer, "re-encrypted", "secrets");
  if (answer.ok && key.source === "age" && key.identity === null && !options.json)
    ports.printError(
      `${ports.paint.warn("warning")}: only the identity of ${visibleText(key.recipient)} can unlock the store, and it was not tested\n  fix: ambit secrets lock && ambit secrets unlock --identity FILE`,
    );
  return exit;
}

async function wantedKey(
  ports: SecretsPorts,
  { passphrase, file, keychain, age, identity, from }: KeyOptions,
): Promise<NewKey | (ValueResult & { readonly ok: false })> {
  if (file) return { source: "file" };
  if (keychain) return { source: "keychain", bus: variable(ports, BUS) };
  if (age !== undefined)
    return { source: "age", recipient: age, identity: identity === undefined ? null : wholePath(identity) };
  if (passphrase) {
    const read = await readValue(ports, from, "New passphrase of the secret store", "Repeat it");
    return read.ok ? { source: "passphrase", passphrase: read.value } : read;
  }
  const [, kind, rest] = /^(env|file|cmd):(.+)$/s.exec(from ?? "") ?? [];
  if (kind === undefined || rest === undefined)
    return {
      ok: false,
      message: "--from must be env:NAME, file:PATH or cmd:PROGRAM with its arguments",
      isUsage: true,
    };
  if (kind === "file") return { source: "reference", reference: `file:${wholePath(rest)}`, value: null };
  if (kind === "cmd") return { source: "reference", reference: `cmd:${rest}`, value: null };
  const read = await readValue(ports, `env:${rest}`, "", null);
  return read.ok ? { source: "reference", reference: `env:${rest}`, value: read.value } : read;
}

/** Where the key comes from now. */
async function secretsSource(ports: SecretsPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "secrets.source", {});
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { paint } = ports;
  const { keyId, isLocked, problem, fix } = answer.value;
  if (options.json) ports.print(jsonLine(answer.value));
  else {
    const state = problem === null ? paint.good("available") : paint.warn(isLocked ? "locked" : "unavailable");
    const why = (problem ?? "").replace(/^the store is locked(?:: )?/, "");
    ports.print(`key    ${placeText(answer.value)}`);
    if (keyId !== null) ports.print(`id     ${visibleText(keyId)}`);
    ports.print(
      `state  ${state}${why === "" ? "" : `: ${visibleText(why)}`}${fix === null ? "" : `\n  fix: ${visibleText(fix)}`}`,
    );
  }
  return EXIT.ok;
}

function placeText({ source, where, recipient }: KeyStatus): string {
  const at = visibleText(where ?? "");
  switch (source) {
    case "file":
      return `in a file that only you can read: ${at}`;
    case "passphrase":
      return "from a passphrase";
    case "keychain":
      return "in the keychain of your desktop";
    case "age":
      return `encrypted for ${visibleText(recipient ?? "")}, ${where === null ? "unlocked with an identity named each time" : `unlocked with ${at}`}`;
    case "reference":
      return `from ${at}`;
    case "unknown":
      return "unknown";
    default:
      return source satisfies never;
  }
}

/** The daemon stands elsewhere; the home folder is for it to know. */
function wholePath(path: string): string {
  return path.startsWith("~/") ? path : resolve(path);
}

function notRead(
  ports: SecretsPorts,
  options: JsonOption,
  { isUsage, message }: ValueResult & { ok: false },
): ExitCode {
  return fail(ports, options, isUsage ? EXIT.usage : EXIT.error, message, null);
}
