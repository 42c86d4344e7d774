// A hostile client: a program in `ambit run`, with a terminal and a live root, that makes every attempt of the table, acts on
// the person's terminal, floods, leaves processes behind, and looks for the key that is kept for it outside.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onTerminal, type TerminalRan } from "../e2e/terminal.ts";
import type { Ambit } from "./ambit.ts";
import { type Attempt, type Outcome, outcomesIn } from "./attempt.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { rowsFor } from "./rows.ts";
import type { Scene } from "./scene.ts";
import { processesOf, survivorsOf } from "./survivors.ts";

/** Attempts of one start: a terminal is waited for a minute at most. */
const batchMax = 60;
/** What every machine can try; fewer means that rows were lost. */
const triedMin = 250;

const KEY = "sk-kept-outside-4f1c9a7702b3e8d5";
const RECORD =
  "---\nsandbox: .\ncapabilities:\n  - proc.exec: { root: live }\n  - model.use: { providers: [anthropic], models: ['*'] }\n---\n";

/** Programs with privileges are for the other tests; the rest is tried where the machine has it. */
function isTried({ word }: Attempt): boolean {
  const [, path] = /^(?:device|proc-read|proc-write)=(.+)$/.exec(word) ?? [];
  return !word.startsWith("carries=") && (path === undefined || existsSync(path));
}

/** Answers that only a client gets: it has a terminal and pseudo-terminals of its own, a copy of the root, and the broker. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["streams", "open found"],
  ["terminal", "open terminal"],
  ["terminals-of-others", "open terminal"],
  ["terminal-own", "open done"],
  ["unix-connect=unix_inside", "blocked ENOENT"],
  ["unix-redirect-pair=unix_inside", "blocked ENOENT"],
  ["tcp=192.0.2.1/443", "blocked ECONNRESET"],
  ["tcp=2001:db8::1/443", "blocked ECONNRESET"],
  ["tcp=169.254.169.254/80", "blocked ECONNRESET"],
  ["tcp=198.18.0.1/15001", "blocked ECONNRESET"],
  ["tcp=198.18.0.2/1", "blocked ECONNRESET"],
  ["udp=192.0.2.1/53", "blocked ECONNREFUSED"],
  ["udp=192.0.2.1/443", "blocked ECONNREFUSED"],
]);

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  const rows = rowsFor(who.caller).filter(isTried);
  const outcomes = new Map<string, Outcome>();
  let scene: Scene;
  let ambit: Ambit;

  const typed = (words: readonly string[]): Promise<TerminalRan> =>
    onTerminal(scene.root, words, [], scene.environment);
  const run = (...words: readonly string[]): Promise<TerminalRan> =>
    typed(ambit.command(["run", "client", "--", ...words]));
  const lines = (raw: string): readonly string[] => raw.split(/\r?\n/);

  beforeAll(async () => {
    ({ scene, ambit } = await fixture.scene(who));
    const record = join(scene.root, ".ambit", "agents", "client.md");
    writeFileSync(record, RECORD);
    fixture.give(record, who);
    await ambit.trust();
    const set = ambit.command(["secrets", "set", "model-key", "--tool", "model", "--host", "api.anthropic.com"]);
    const kept = await typed(["sh", "-c", `printf %s ${KEY} | "$@"`, "sh", ...set]);
    expect({ status: kept.status, raw: kept.status === 0 ? "" : kept.raw }).toEqual({ status: 0, raw: "" });
    for (let at = 0; at < rows.length; at += batchMax) {
      const batch = rows.slice(at, at + batchMax).map(({ word }) => word);
      const { raw } = await run(join(scene.root, "probe"), join(scene.root, "scene"), ...batch);
      const told = lines(raw).filter((line) => line.startsWith('{"attempt"'));
      for (const outcome of outcomesIn(told.join("\n"))) outcomes.set(outcome.attempt, outcome);
    }
  }, 600_000);

  test("every attempt was made, and had the answer that any program in a sandbox gets", () => {
    expect(outcomes.size).toBeGreaterThanOrEqual(triedMin);
    const other = rows.flatMap(({ word, by, how }) => {
      const found = outcomes.get(word);
      const isSame = found?.outcome === (by === "unblocked" ? "open" : "blocked") && how.includes(found.how);
      return isSame ? [] : [[word, `${found?.outcome} ${found?.how}`]];
    });
    expect(new Map(other as [string, string][])).toEqual(OTHERWISE);
  });

  test("the hosts that it tried are in the log, each with a code", async () => {
    const { raw } = await typed(ambit.command(["log", "--refused", "--agent", "client", "--json"]));
    const refused = lines(raw).flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Refused] : []));
    const hosts = ["192.0.2.1:443", "169.254.169.254:80"];
    for (const host of hosts)
      expect(refused.find(({ request }) => request.includes(host))).toMatchObject({
        code: expect.stringMatching(/^\w+$/),
      });
  });

  test("nothing that it prints acts on the person's terminal or comes back as input", async () => {
    const escapes = [
      ...["\\033]52;c;aGk=\\007", "\\033]52;c;?\\007", "\\033]0;planted\\007", "\\033[21t", "\\033[c", "\\005"],
      ...["\\033P+q544e\\033\\\\", "\\033]8;;file:///etc/passwd\\007", "\\033[?1049h\\033[?1000h", "\\033]50;?\\007"],
    ].join("");
    const script = `printf '${escapes}shown\\n'; stty -icanon -echo min 0 time 5; dd bs=64 count=1 2>/dev/null | od -An -c`;
    const { raw } = await run("sh", "-c", script);
    expect(raw).toContain("shown");
    for (const planted of ["]52;", "planted", "[21t", "\u001b[c", "+q544e", "file:///", "]50;"])
      expect(raw).not.toContain(planted);
  });

  test("it floods the terminal: all of it is shown, or it is ended at the limit of output", async () => {
    const flood = (bytes: number): string => `yes flood | head -c ${bytes}; echo; echo over; exit 7`;
    const shown = await run("sh", "-c", flood(2_000_000));
    expect({ status: shown.status, isOver: shown.raw.includes("over") }).toEqual({ status: 7, isOver: true });
    const ended = await run("sh", "-c", flood(8_000_000));
    expect({ status: ended.status, isOver: ended.raw.includes("over") }).toEqual({ status: 125, isOver: false });
  });

  test("processes that it detaches end with it", async () => {
    const script = `cd ${scene.root}; setsid sleep 300 & (setsid sh -c 'trap "" HUP TERM; while :; do sleep 1; done' &) ; nohup sleep 301 >/dev/null & echo left`;
    // The machine's own sockets are kept open by one of them.
    const known = processesOf(scene.folder);
    expect((await run("sh", "-c", script)).raw).toContain("left");
    expect(await survivorsOf(scene.folder, known)).toEqual([]);
  });

  test("the key is in no environment and no file that it can read", async () => {
    const script = [
      "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'",
      // A pattern that does not contain the key itself.
      `grep -rsalE 'sk-kept-outside-[0-9a-f]{16}' --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr / | sed 's/^/found in /'`,
      "echo looked",
    ].join("; ");
    // The name decides about the profile, and so about the relay and the placeholder.
    const client = join(scene.root, "claude");
    writeFileSync(client, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    fixture.give(client, who);
    const { raw } = await run("./claude");
    expect(raw).toContain("looked");
    expect(raw).toContain("sk-ambit-placeholder");
    expect(raw).not.toContain(KEY);
    expect(raw).not.toContain("found in");
  });

  test("no connection reached the machine's sockets, and the file beside the root is unchanged", async () => {
    expect(readFileSync(join(scene.folder, "outside", "canary"), "utf8")).toBe("as it was\n");
    const visits = await scene.end();
    expect(Object.entries(visits).filter(([, count]) => count > 0)).toEqual([]);
    expect(Object.keys(visits).length).toBeGreaterThanOrEqual(8);
  });
});

interface Refused {
  readonly request: string;
  readonly code: string;
}
