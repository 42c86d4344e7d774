// An export verifies anywhere with the first key, and only if every line of it is present.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NODE, newSigner, PORTS, WrittenLog } from "../../../test/audit/written-log.ts";
import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import { type ExportLine, exportLine, readExportLine } from "./export.ts";
import { exportStore } from "./export-store.ts";
import { ExportVerifier } from "./verify-export.ts";
import type { VerifyStorePorts } from "./verify-store.ts";
import { verifyStore } from "./verify-store.ts";

function exported(log: WrittenLog): readonly string[] {
  const lines: ExportLine[] = [
    { kind: "header", node: NODE, first: 1, keys: [log.first.key], at: 7 },
    ...log.rotations.map((text) => ({ kind: "rotation", text }) as const),
  ];
  for (const row of log.rows) {
    lines.push({ kind: "entry", ...row });
    for (const note of log.notes) if (note.place === row.place) lines.push({ kind: "checkpoint", ...note });
  }
  return [...lines, { kind: "head" as const, ...log.head }].map(exportLine);
}

function verified(lines: readonly string[], key: string, head: WrittenLog["head"] | null = null): VerifyReport {
  const verifier = new ExportVerifier(PORTS, { key, head });
  for (const line of lines) verifier.line(line);
  return verifier.end();
}

describe("an export", () => {
  const log = new WrittenLog().fill(5).sign().rotate().fill(4).sign().fill(2);
  const lines = exported(log);

  test("is intact, with the key its log began with", () => {
    expect(verified(lines, log.first.key, log.head)).toMatchObject({
      isIntact: true,
      problems: [],
      entries: 12,
      checkpoints: 3,
    });
  });

  test("is not verified by any other key, including the ones it names", () => {
    for (const key of [newSigner().key, log.signer.key, "", "no key"])
      expect(verified(lines, key).isIntact).toBe(false);
  });

  test.each<[string, readonly string[]]>([
    ["nothing at all", []],
    ["not a header", lines.slice(1)],
    ["no end", lines.slice(0, -1)],
    ["a second header", [lines[0] as string, ...lines]],
    ["something after the end", [...lines, lines[3] as string]],
    ["an unknown line", [...lines.slice(0, 4), "{}", ...lines.slice(4)]],
    ["an empty line", [...lines.slice(0, 4), "", ...lines.slice(4)]],
    ["a line too long", [...lines.slice(0, 4), `"${"x".repeat(300_000)}"`, ...lines.slice(4)]],
    ["another first position", [(lines[0] as string).replace('"first":1', '"first":2'), ...lines.slice(1)]],
    ["another head", [...lines.slice(0, -1), exportLine({ kind: "head", place: 11, hash: "0".repeat(64) })]],
    [
      "truncated with a matching head",
      [
        ...lines.slice(0, 6),
        exportLine({ kind: "head", ...(log.rows[3] as never as { place: number; hash: string }) }),
      ],
    ],
  ])("is not intact with %s", (_what, changed) => {
    expect(verified(changed, log.first.key).isIntact).toBe(false);
  });

  test("without any one of its lines is not intact, except for a note that others cover", () => {
    for (const at of lines.keys()) {
      const without = lines.filter((_line, place) => place !== at);
      const isNote = ["checkpoint", "rotation"].includes(readExportLine(lines[at] as string)?.kind ?? "");
      if (!isNote) expect(verified(without, log.first.key).isIntact).toBe(false);
    }
  });

  test("of any bytes is parsed without harm", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom(...lines)), { maxLength: 12 }), (odd) => {
        expect(verified(odd, log.first.key).isIntact).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test("has lines that parse back", () => {
    for (const line of lines) expect(exportLine(readExportLine(line) as ExportLine)).toBe(line);
  });
});

describe("a store", () => {
  test("is exported completely, and the export verifies", async () => {
    const log = new WrittenLog();
    for (let at = 0; at < 9; at++) log.fill(2).sign();
    log.rotate().fill(5).sign().fill(1);
    const found: string[] = [];
    const line = async (text: string): Promise<void> => {
      found.push(text);
    };
    const asked = { node: NODE, keys: [log.first.key], rotations: log.rotations, at: 7, from: 1 };
    expect(await exportStore({ chain: chain(log), line }, asked)).toEqual({ ok: true, value: log.head });
    expect(found).toEqual(exported(log));
    expect(verified(found, log.first.key, log.head)).toMatchObject({ isIntact: true, checkpoints: 11 });
  });

  /** Returns this many at a time. */
  function chain(log: WrittenLog, most = 3): VerifyStorePorts["chain"] {
    const kept = <T>(value: T) => Promise.resolve({ ok: true as const, value });
    return {
      rows: (from, count) => kept(log.rows.filter(({ place }) => place >= from).slice(0, Math.min(count, most))),
      checkpoints: (from) => kept(log.notes.filter(({ place }) => place >= from).slice(0, most)),
      head: () => kept(log.head),
      first: () => kept(1),
      unindexed: () => kept(null),
    };
  }
  const given = (log: WrittenLog) => ({ key: log.first.key, rotations: log.rotations, node: NODE, head: null });
  const pause = () => Promise.resolve();

  test("is verified in batches", async () => {
    const log = new WrittenLog();
    for (let at = 0; at < 9; at++) log.fill(2).sign();
    log.rotate().fill(5).sign();
    const answer = await verifyStore({ ...PORTS, chain: chain(log), pause }, given(log));
    expect(answer).toMatchObject({
      ok: true,
      value: { isIntact: true, problems: [], entries: 24, checkpoints: 11, head: log.head },
    });
  });

  test("that grows meanwhile is verified up to its size at the start", async () => {
    const log = new WrittenLog().fill(10).sign();
    const grow = async (): Promise<void> => {
      log.fill(3).sign();
    };
    const answer = await verifyStore({ ...PORTS, chain: chain(log), pause: grow }, given(log));
    expect(answer).toMatchObject({ ok: true, value: { isIntact: true, problems: [], entries: 10 } });
  });

  test("that lost its end, its middle or its notes' entries is reported", async () => {
    for (const spoil of [
      (log: WrittenLog) => log.rows.splice(6),
      (log: WrittenLog) => log.rows.splice(3, 1),
      (log: WrittenLog) => log.rows.splice(0),
    ]) {
      const log = new WrittenLog().fill(5).sign().fill(5).sign();
      spoil(log);
      const answer = await verifyStore({ ...PORTS, chain: chain(log), pause }, given(log));
      expect(answer).toMatchObject({ ok: true, value: { isIntact: false } });
    }
  });

  test("whose index hides an entry is reported", async () => {
    const log = new WrittenLog().fill(5).sign();
    const unindexed = async () => ({ ok: true as const, value: 4 });
    const answer = await verifyStore({ ...PORTS, chain: { ...chain(log), unindexed }, pause }, given(log));
    expect(answer).toMatchObject({ ok: true, value: { isIntact: false, problems: [{ place: 4 }, { place: 4 }] } });
  });

  test("that cannot be read is reported", async () => {
    const log = new WrittenLog().fill(5).sign();
    const gone = { ok: false, code: "audit_unavailable", message: "the disk is gone" } as const;
    for (const part of ["rows", "checkpoints", "head", "first", "unindexed"]) {
      const ports = { ...PORTS, chain: { ...chain(log), [part]: async () => gone }, pause };
      expect(await verifyStore(ports, given(log))).toEqual(gone);
    }
  });
});
