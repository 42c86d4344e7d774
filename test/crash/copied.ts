// A second copy of the log on a full disk: a call whose entry is not in it is not allowed, and its entries are complete.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CopiedLedger } from "../../src/daemon/log/copied-ledger.ts";
import { SecondCopy } from "../../src/daemon/log/second-copy.ts";
import { signatureCheck } from "../../src/log/keys/key-text.ts";
import { FileSink } from "../../src/log/sinks/sink-file.ts";
import { copyPosition, isTornHeader } from "../../src/log/verify/copy-position.ts";
import { exportLine } from "../../src/log/verify/export.ts";
import { ExportVerifier } from "../../src/log/verify/verify-export.ts";
import { openState } from "../../src/store/state.ts";
import { holdsWithin } from "../house/until.ts";
import { charge, decision, digest, entryOf } from "./entries.ts";
import type { Orders } from "./orders.ts";

const ballastBytes = 1024 * 1024;
const stepsMax = 20_000;
const caughtUpMillisecondsMax = 10_000;

/** `name`: the folder of the copy. */
export async function copyLog(orders: Orders, say: (line: string) => void): Promise<void> {
  const [file, ballast] = [join(orders.name, "copy.jsonl"), join(orders.name, "ballast")];
  writeFileSync(ballast, new Uint8Array(ballastBytes));
  const opened = openState(orders.folder, { digest, program: orders.program });
  if (!opened.ok) throw new Error(opened.message);
  const { value: state } = opened;
  const copy = new SecondCopy({
    target: file,
    sink: new FileSink(file, {
      standing: (header, tail, isAll) => copyPosition("here", header, tail, isAll),
      isTornHeader,
    }),
    chain: state.chain,
    digest,
    timeoutMilliseconds: 500,
    beginning: (first) => ({
      header: exportLine({ kind: "header", node: "here", first, keys: [], at: 0, isCopy: true }),
      rotations: [],
    }),
    changed: (isLate, problem) => say(isLate ? `problem ${problem}` : "caught up"),
    wentBack: (from, to) => say(`back ${from} ${to}`),
  });
  const copies = { copy, refusal: null, isPlain: false };
  const elapsed = (): number => performance.now();
  const unheard = ({ entry: { id } }: { readonly entry: { readonly id: string } }): void => {
    say(`unheard ${id}`);
    void state.ledger.append([entryOf(`outcome-${id}`, { kind: "outcome", of: id })]);
  };
  const ledger = new CopiedLedger({ ledger: state.ledger, copies, elapsed, unconfirmed: unheard });
  const kept: string[] = [];
  const decided = async (id: string): Promise<boolean> => {
    const written = await ledger.decide(decision(id, [charge("account", null)]));
    if (written.ok) kept.push(id);
    say(written.ok ? `kept decision ${id}` : `refused decision ${id} ${written.code}`);
    return written.ok;
  };
  let refused = 0;
  for (let step = 0; step < stepsMax && refused < orders.count; step++)
    if (!(await decided(`full-${step}-${"x".repeat(2000)}`))) refused++;
  say("full");
  rmSync(ballast);
  await holdsWithin(caughtUpMillisecondsMax, () => !copy.isLate);
  for (let step = 0; step < 5; step++) await decided(`room-${step}`);
  await copy.close();
  state.close();
  const text = readFileSync(file, "utf8");
  // Nothing in it is signed: any key does, and that is the only expected problem.
  const verifier = new ExportVerifier({ digest, check: signatureCheck() }, { key: "", head: null });
  for (const line of text.split("\n").slice(0, -1)) verifier.line(line);
  const problems = verifier.end().problems.filter(({ what }) => !what.startsWith("no entry is signed"));
  const missing = kept.filter((id) => !text.includes(`\\"id\\":\\"${id}\\"`));
  say(`copy ${JSON.stringify(problems)} ${missing.length}`);
}
