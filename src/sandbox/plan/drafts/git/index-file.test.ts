// The index is read as git writes it in each version, and refused where a byte is not as git writes it.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { indexChanges, indexInfo } from "./index-changes.ts";
import { type ByteText, type GitIndex, parseIndex } from "./index-file.ts";

const TEXT: ByteText = {
  latin: (bytes, from, to) => Buffer.from(bytes).toString("latin1", from, to),
  hex: (bytes, from, to) => Buffer.from(bytes).toString("hex", from, to),
};
const ID = "12".repeat(20);

interface Row {
  readonly path: string;
  readonly mode?: number;
  readonly stage?: number;
  readonly flags?: number;
  readonly more?: number;
  readonly id?: string;
}

function entryBytes(
  { path, mode = 0o100644, stage = 0, flags = 0, more = 0, id = ID }: Row,
  version: number,
  before: string,
): Buffer {
  const fixed = Buffer.alloc(62);
  fixed.writeUInt32BE(mode, 24);
  Buffer.from(id, "hex").copy(fixed, 40);
  fixed.writeUInt16BE(flags | (more === 0 ? 0 : 0x4000) | (stage << 12) | Math.min(path.length, 0xfff), 60);
  const extended = Buffer.from(more === 0 ? [] : [more >> 8, more & 0xff]);
  if (version === 4) {
    let common = 0;
    while (common < before.length && before[common] === path[common]) common += 1;
    const rest = Buffer.from(`${path.slice(common)}\0`, "latin1");
    return Buffer.concat([fixed, extended, Buffer.from([before.length - common]), rest]);
  }
  const entry = Buffer.concat([fixed, extended, Buffer.from(path, "latin1")]);
  return Buffer.concat([entry, Buffer.alloc(8 - (entry.length % 8))]);
}

function indexBytes(rows: readonly Row[], version = 2, tail: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.from("DIRC\0\0\0\0\0\0\0\0", "latin1");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(rows.length, 8);
  const entries = rows.map((row, at) => entryBytes(row, version, rows[at - 1]?.path ?? ""));
  const body = Buffer.concat([header, ...entries, tail]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function extension(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(8 + bytes);
  head.write(name, "latin1");
  head.writeUInt32BE(bytes, 4);
  return head;
}

function parsed(bytes: Uint8Array): GitIndex {
  const result = parseIndex(bytes, "sha1", TEXT);
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}

function refusal(bytes: Uint8Array): string {
  const result = parseIndex(bytes, "sha1", TEXT);
  return result.ok ? "parsed" : `${result.refusal.code}: ${result.refusal.message}`;
}

describe("what git writes", () => {
  test.each([2, 3, 4])("version %i", (version) => {
    const rows = [
      { path: "a" },
      { path: "a/long/path", mode: 0o100755 },
      { path: "a/long/q\xe9", stage: 1 },
      { path: "a/long/q\xe9", stage: 2 },
    ];
    expect(parsed(indexBytes(rows, version)).entries.map(({ path, stage }) => `${stage} ${path}`)).toEqual([
      "0 a",
      "0 a/long/path",
      "1 a/long/q\xe9",
      "2 a/long/q\xe9",
    ]);
  });

  test("flags are told apart from entries", () => {
    const rows = [
      { path: "a", flags: 0x8000 },
      { path: "b", more: 0x4000 },
      { path: "c", more: 0x2000 },
      { path: "d" },
    ];
    expect(parsed(indexBytes(rows, 3)).flagged).toEqual([
      { path: "a", flag: "assume-unchanged" },
      { path: "b", flag: "skip-worktree" },
      { path: "c", flag: "intent-to-add" },
    ]);
  });

  test("optional extensions are skipped", () => {
    expect(parsed(indexBytes([{ path: "a" }], 2, extension("TREE", 5))).entries).toHaveLength(1);
  });
});

describe("what git does not write", () => {
  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(), "malformed"],
    ["an unknown version", indexBytes([], 5), "unsupported"],
    ["more entries than bytes", indexBytes([{ path: "a" }]).fill(9, 11, 12), "malformed"],
    ["a million entries", indexBytes([]).fill(0xff, 9, 12), "too_large"],
    ["a folder's mode", indexBytes([{ path: "a", mode: 0o40000 }]), "unsupported"],
    ["a path into a git folder", indexBytes([{ path: ".git/config" }]), "bad_name"],
    ["no object", indexBytes([{ path: "a", id: "0".repeat(40) }]), "malformed"],
    ["the wrong order", indexBytes([{ path: "b" }, { path: "a" }]), "malformed"],
    ["one path twice", indexBytes([{ path: "a" }, { path: "a" }]), "malformed"],
    ["extended flags in version 2", indexBytes([{ path: "a", more: 0x4000 }], 2), "malformed"],
    ["unknown extended flags", indexBytes([{ path: "a", more: 0x8000 }], 3), "unsupported"],
    ["a split index", indexBytes([{ path: "a" }], 2, extension("link", 20)), "unsupported"],
    ["a sparse index", indexBytes([{ path: "a" }], 2, extension("sdir", 0)), "unsupported"],
    ["an unterminated extension", indexBytes([], 2, extension("TREE", 4).subarray(0, 10)), "malformed"],
  ])("%s", (_, bytes, code) => expect(refusal(bytes)).toMatch(new RegExp(`^${code}: `)));

  test("a small file of version 4 whose paths need more memory than any index has", () => {
    // Each entry keeps the whole path before it, and adds one letter.
    const [first, next] = ["x".repeat(1_048_576), "a"].map((path) => entryBytes({ path }, 4, "")) as [Buffer, Buffer];
    const bytes = indexBytes([], 4, Buffer.concat([first, ...Array<Buffer>(130).fill(next)]));
    bytes.writeUInt32BE(131, 8);
    expect([refusal(bytes), bytes.length < 2_000_000]).toEqual([expect.stringMatching(/^too_large: /), true]);
  });

  test("every byte string truncated or changed at one place is parsed or refused, never thrown", () => {
    const whole = indexBytes(
      [{ path: "a" }, { path: "a/b", more: 0x4000 }, { path: "c", stage: 1 }],
      4,
      extension("TREE", 3),
    );
    for (let at = 0; at < whole.length; at += 1) {
      refusal(whole.subarray(0, at));
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) refusal(Buffer.from(whole).fill(byte, at, at + 1));
    }
    expect(parsed(whole).entries).toHaveLength(3);
  });
});

describe("from one index to another", () => {
  const before = parsed(indexBytes([{ path: "a" }, { path: "b" }, { path: "c", flags: 0x8000 }]));
  const after = parsed(
    indexBytes([{ path: "a", mode: 0o100755 }, { path: "c" }, { path: "d", stage: 2 }, { path: "e", more: 0x2000 }], 3),
  );

  test("only differences in meaning are changes; flags and intents are not", () => {
    expect(indexChanges(before, after).map(({ path }) => path)).toEqual(["a", "d", "b"]);
    expect(indexChanges(before, before)).toEqual([]);
  });

  test("removals come before additions", () => {
    const none = "0".repeat(40);
    expect(indexInfo(indexChanges(before, after), "sha1").split("\0")).toEqual([
      `0 ${none}\ta`,
      `0 ${none}\td`,
      `0 ${none}\tb`,
      `100755 ${ID} 0\ta`,
      `100644 ${ID} 2\td`,
      "",
    ]);
  });
});
