// Keys on disk: created once, private, and rotated so that never two of them are current.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeCheckpoint, parseCheckpoint } from "../chain/checkpoint.ts";
import { signatureCheck } from "./key-text.ts";
import { type AuditKeys, openAuditKeys } from "./keys.ts";

let state = "";
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ambit-keys-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function opened(): AuditKeys {
  const keys = openAuditKeys(state);
  if (!keys.ok) throw new Error(keys.message);
  return keys.value;
}

const folder = (): string => join(state, "keys");
const files = (end: string): readonly string[] => readdirSync(folder()).filter((name) => name.endsWith(end));
const modeOf = (name: string): number => lstatSync(join(folder(), name)).mode & 0o777;
const hash = "0".repeat(64);
const note = (keys: AuditKeys, next: string | null): string =>
  makeCheckpoint({ node: "n", size: 1, hash, at: 1, next }, keys.signer);

function prepared(keys: AuditKeys): string {
  const next = keys.prepare();
  if (!next.ok) throw new Error(next.message);
  return next.value;
}

describe("the first key", () => {
  test("is created once, private to its owner, and loaded again", () => {
    const before = process.umask(0);
    const keys = opened();
    process.umask(before);
    expect(keys.first).toMatch(/^ambit-audit-key\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);
    expect(keys.keys).toEqual([keys.first]);
    expect(opened().first).toBe(keys.first);
    expect([files(".key").length, files(".draft").length]).toEqual([1, 0]);
    expect(files(".key").map(modeOf)).toEqual([0o600]);
    expect(modeOf("first")).toBe(0o644);
    expect(modeOf("")).toBe(0o700);
    expect(readFileSync(join(folder(), "first"), "utf8")).toBe(`${keys.first}\n`);
  });

  test("has no second copy of its public half that could be edited unnoticed", () => {
    const keys = opened();
    const copy = join(folder(), (files(".key")[0] as string).replace(".key", ".pub"));
    writeFileSync(copy, `${keys.first.replace(/[0-9a-f]{8}/, "00000000")}\n`);
    expect(opened().first).toBe(keys.first);
    expect(files(".pub")).toEqual([]);
  });

  test("signs what only it can have signed", () => {
    const keys = opened();
    const check = signatureCheck();
    const read = parseCheckpoint(note(keys, null));
    expect(read !== null && check(keys.first, read.signed, read.signature)).toBe(true);
    for (const key of ["", "x", keys.first.replace(/[0-9a-f]{8}/, "00000000"), `${keys.first}x`])
      expect(read !== null && check(key, read.signed, read.signature)).toBe(false);
    expect(read !== null && check(keys.first, read.signed, new Uint8Array(0))).toBe(false);
  });

  test("is created again if creating it was interrupted", () => {
    opened();
    rmSync(join(folder(), "first"));
    const keys = opened();
    expect(keys.keys).toEqual([keys.first]);
  });
});

describe("invalid keys are refused, and never repaired automatically", () => {
  const key = (): string => join(folder(), files(".key")[0] as string);
  test.each<[string, () => void]>([
    ["a folder that others may enter", () => chmodSync(folder(), 0o755)],
    [
      "a folder that is a link",
      () => {
        renameSync(folder(), join(state, "elsewhere"));
        symlinkSync(join(state, "elsewhere"), folder());
      },
    ],
    ["a private key that others may read", () => chmodSync(key(), 0o640)],
    [
      "a private key that is a link",
      () => {
        const path = key();
        renameSync(path, join(state, "k"));
        symlinkSync(join(state, "k"), path);
      },
    ],
    ["a missing private key", () => rmSync(key())],
    [
      "a private key that is a folder",
      () => {
        const path = key();
        rmSync(path);
        mkdirSync(path);
      },
    ],
    ["an invalid private key", () => writeFileSync(key(), "-----BEGIN")],
    ["a private key that is too large", () => writeFileSync(key(), "x".repeat(100_000))],
    ["an invalid first key", () => writeFileSync(join(folder(), "first"), "../../etc/passwd")],
    ["a first key that others may write", () => chmodSync(join(folder(), "first"), 0o666)],
    [
      "a note that names no key",
      () => writeFileSync(join(folder(), files(".key")[0]?.replace(".key", ".next") as string), "next"),
    ],
  ])("%s", (_what, spoil) => {
    opened();
    spoil();
    expect(openAuditKeys(state)).toMatchObject({ ok: false, code: "audit_unavailable" });
  });

  test("the private half of another key", () => {
    const path = join(folder(), "x");
    opened();
    const other = mkdtempSync(join(tmpdir(), "ambit-keys-"));
    try {
      openAuditKeys(other);
      const name = readdirSync(join(other, "keys")).find((each) => each.endsWith(".key")) as string;
      writeFileSync(path.replace(/x$/, files(".key")[0] as string), readFileSync(join(other, "keys", name)));
      expect(openAuditKeys(state)).toMatchObject({ ok: false });
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  test("a state folder that does not exist and cannot be created", () => {
    writeFileSync(join(state, "file"), "");
    expect(openAuditKeys(join(state, "file"))).toMatchObject({ ok: false, code: "audit_unavailable" });
  });
});

describe("a new key", () => {
  test("follows by a note under the old one, whose private half is then deleted", () => {
    const keys = opened();
    const next = prepared(keys);
    expect(opened().keys).toEqual([keys.first]);
    const text = note(keys, next);
    const rotated = keys.rotate(next, text);
    expect(rotated).toMatchObject({
      ok: true,
      value: { first: keys.first, keys: [keys.first, next], rotations: [text] },
    });
    for (const now of [rotated.ok ? rotated.value : keys, opened()]) expect(now.signer.key).toBe(next);
    expect(files(".key")).toEqual([`${next.split("+")[1]}.key`]);
  });

  test("follows again and again", () => {
    let keys = opened();
    for (let at = 0; at < 4; at++) {
      const next = prepared(keys);
      const rotated = keys.rotate(next, note(keys, next));
      if (!rotated.ok) throw new Error(rotated.message);
      keys = rotated.value;
    }
    expect(opened().keys).toEqual(keys.keys);
    expect(keys.keys.length).toBe(5);
    expect(files(".key").length).toBe(1);
  });

  test("that was prepared and never used is dropped by the next one", () => {
    const keys = opened();
    prepared(keys);
    const next = prepared(keys);
    expect(files(".key").length).toBe(2);
    expect(keys.rotate(next, note(keys, next)).ok).toBe(true);
  });

  test("is current although the old private key could not be deleted", () => {
    const keys = opened();
    const [old] = files(".key") as [string];
    const kept = readFileSync(join(folder(), old));
    const next = prepared(keys);
    keys.rotate(next, note(keys, next));
    writeFileSync(join(folder(), old), kept, { mode: 0o600 });
    expect(opened().signer.key).toBe(next);
    expect(existsSync(join(folder(), old))).toBe(false);
  });

  test("does not follow by a note that names another, or twice, or without its private half", () => {
    const keys = opened();
    const next = prepared(keys);
    expect(keys.rotate(next, note(keys, null)).ok).toBe(false);
    expect(keys.rotate(keys.first, note(keys, keys.first)).ok).toBe(false);
    const other = prepared(keys);
    expect(keys.rotate(next, note(keys, next)).ok).toBe(false);
    expect(keys.rotate(other, note(keys, other)).ok).toBe(true);
    const late = prepared(opened());
    expect(keys.rotate(late, note(keys, late)).ok).toBe(false);
    expect(opened().signer.key).toBe(other);
  });
});
