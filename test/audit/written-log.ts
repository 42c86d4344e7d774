// A log as the state owner writes it, in memory, with real keys: for tests that verify, export or show one.
import { generateKeyPairSync } from "node:crypto";
import type { VerifyReport } from "../../src/core/ports/daemon/daemon-control.ts";
import type { ChainRow, CheckpointRow } from "../../src/core/ports/stores/chain-rows.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import type { Signer } from "../../src/core/ports/stores/signing.ts";
import { chainHash, ZERO_HASH } from "../../src/log/chain/chain.ts";
import { KEY_ROTATED, rotationDetails } from "../../src/log/chain/chain-events.ts";
import { makeCheckpoint } from "../../src/log/chain/checkpoint.ts";
import { entryBody } from "../../src/log/chain/entry-body.ts";
import { signatureCheck, signerOf } from "../../src/log/keys/key-text.ts";
import { Verifier, type VerifyOptions, type VerifyPorts } from "../../src/log/verify/verify.ts";
import { sha256 } from "../../src/platform/digest.ts";

export const PORTS: VerifyPorts = { digest: sha256, check: signatureCheck() };
export const NODE = "node-1";

/** Making a key is slow, and no log has many: they are reused, never twice in sixteen. */
const signers: Signer[] = [];
let taken = 0;

export function newSigner(): Signer {
  const at = taken++ % 16;
  signers[at] ??= signerOf(generateKeyPairSync("ed25519").privateKey);
  return signers[at];
}

export function entryOf(number: number, more: Partial<LogEntry> = {}): LogEntry {
  return {
    id: `c${String(number).padStart(6, "0")}`,
    kind: "decision",
    at: 1_700_000_000_000 + number,
    user: "ann",
    agent: "scout",
    workspace: "/w",
    chain: [],
    session: "s1",
    trace: null,
    tool: "read_file",
    verbs: ["fs.read"],
    outcome: "allow",
    code: null,
    of: null,
    more: { requests: [`fs.read /w/${number}`] },
    ...more,
  };
}

export class WrittenLog {
  readonly rows: ChainRow[] = [];
  readonly notes: CheckpointRow[] = [];
  readonly rotations: string[] = [];
  readonly first: Signer = newSigner();
  signer: Signer = this.first;

  get head(): { readonly place: number; readonly hash: string } {
    const last = this.rows.at(-1);
    return { place: last?.place ?? 0, hash: last?.hash ?? ZERO_HASH };
  }

  write(...entries: readonly LogEntry[]): this {
    for (const entry of entries) {
      const { place, hash } = this.head;
      const body = entryBody(entry);
      this.rows.push({ place: place + 1, body, hash: chainHash(sha256, hash, body) });
    }
    return this;
  }

  fill(count: number): this {
    for (let at = 0; at < count; at++) this.write(entryOf(this.rows.length + 1));
    return this;
  }

  sign(next: string | null = null): this {
    const { place: size, hash } = this.head;
    this.notes.push({ place: size, text: makeCheckpoint({ node: NODE, size, hash, at: 5, next }, this.signer) });
    return this;
  }

  /** As written by a version that signs every commit. */
  signCommit(): this {
    const { place: size, hash } = this.head;
    const checkpoint = { node: NODE, size, hash, at: 5, next: null, isEveryCommitSigned: true } as const;
    this.notes.push({ place: size, text: makeCheckpoint(checkpoint, this.signer) });
    return this;
  }

  rotate(next: Signer = newSigner()): this {
    const more = rotationDetails(this.signer.key, next.key);
    this.write(entryOf(this.rows.length + 1, { kind: "daemon", outcome: KEY_ROTATED, more })).sign(next.key);
    this.rotations.push((this.notes.at(-1) as CheckpointRow).text);
    this.signer = next;
    return this;
  }

  /** Rows and notes as they are, or after tampering. */
  verify(
    given: Partial<VerifyOptions> = {},
    rows: readonly ChainRow[] = this.rows,
    notes: readonly CheckpointRow[] = this.notes,
  ): VerifyReport {
    const all = { key: this.first.key, rotations: [], node: NODE, first: 1, head: null, ...given };
    const verifier = new Verifier(PORTS, all);
    let at = 0;
    const feed = (place: number): void => {
      // Rows of a damaged log may contain anything in place of a number: those are fed at once.
      const isDue = (note: CheckpointRow): boolean => typeof note.place !== "number" || note.place <= place;
      for (let note = notes[at]; note !== undefined && isDue(note); note = notes[at]) {
        verifier.checkpoint(note);
        at++;
      }
    };
    feed(all.first - 1);
    for (const row of rows) {
      feed(row.place);
      verifier.row(row);
    }
    feed(Number.POSITIVE_INFINITY);
    return verifier.end(null);
  }
}
