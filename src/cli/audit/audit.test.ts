// Verification of the log with a fake daemon, and of real export files without any daemon.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NODE, newSigner, PORTS, WrittenLog } from "../../../test/audit/written-log.ts";
import type { ControlMessages, VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer, MessageClient, Refusal, RequestOptions } from "../../core/ports/daemon/exchange.ts";
import { type ExportLine, exportLine } from "../../log/verify/export.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";
import { addAudit } from "./command.ts";
import type { AuditPorts } from "./verify.ts";

const log: WrittenLog = new WrittenLog().fill(5).sign().rotate().fill(3).sign().fill(1);
const lines: readonly string[] = [
  { kind: "header", node: NODE, first: 1, keys: [log.first.key], at: 7 } as const,
  ...log.rotations.map((text) => ({ kind: "rotation", text }) as const),
  ...log.rows.flatMap((row): readonly ExportLine[] => [
    { kind: "entry", ...row },
    ...log.notes.filter(({ place }) => place === row.place).map((note) => ({ kind: "checkpoint", ...note }) as const),
  ]),
  { kind: "head", ...log.head } as const,
].map(exportLine);

const GONE: Refusal = { ok: false, code: "not_available", message: "the daemon went away", fix: null };
const INTACT: VerifyReport = {
  isIntact: true,
  entries: 10,
  from: 1,
  head: log.head,
  checkpoints: 3,
  unsigned: 1,
  problems: [],
};

interface Fake {
  readonly answers?: Readonly<Record<string, Answer<unknown> | ((value: never) => Answer<unknown>)>>;
  readonly lines?: readonly string[];
  readonly confirm?: boolean;
  readonly control?: Refusal;
}

interface AuditRun {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
  readonly asked: readonly { readonly name: string; readonly value: unknown }[];
}

async function run(fake: Fake, ...argv: readonly string[]): Promise<AuditRun> {
  const spoken = { out: "", err: "" };
  const asked: { name: string; value: unknown }[] = [];
  let exit: number | null = null;
  const ask = async (name: string, value: unknown, along?: RequestOptions): Promise<Answer<unknown>> => {
    asked.push({ name, value });
    if (name === "audit.export") along?.onEvent?.({ lines: [...(fake.lines ?? lines)] });
    const answer = fake.answers?.[name] ?? (name === "audit.export" ? { ok: true, value: log.head } : GONE);
    return typeof answer === "function" ? answer(value as never) : (answer as Answer<unknown>);
  };
  const ports: AuditPorts = {
    paint: PLAIN,
    terminal: {
      isInteractive: fake.confirm !== undefined,
      confirm: async () => fake.confirm ?? false,
      secret: async () => "a passphrase",
    } as unknown as AuditPorts["terminal"],
    verifying: PORTS,
    now: () => 0,
    control: async () =>
      fake.control ?? { ok: true, value: { ask, close: () => undefined } as unknown as MessageClient<ControlMessages> },
    running: async () => ({ ok: true, value: null }),
    print: (text) => {
      spoken.out += `${text}\n`;
    },
    printError: (text) => {
      spoken.err += `${text}\n`;
    },
  };
  const quiet = { writeOut: ports.print, writeErr: ports.printError };
  const program = new Command("ambit").exitOverride().configureOutput(quiet);
  addAudit(program, ports, (code: ExitCode) => {
    exit = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exit = error.exitCode === 0 ? 0 : 2;
  }
  return { exit, ...spoken, asked };
}

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const exported = (): string => file("log.jsonl", `${lines.join("\n")}\n`);
const head = `${log.head.place}:${log.head.hash}`;

describe("verify through the daemon", () => {
  test("reports that it is intact, and the head to store", async () => {
    const { exit, out, asked } = await run(
      { answers: { "audit.verify": { ok: true, value: INTACT } } },
      "audit",
      "verify",
    );
    expect(exit).toBe(0);
    expect(out).toContain("intact  10 entries from entry 1, 3 checkpoints, 1 not yet signed\n");
    expect(out).toContain(`head  ${head}\n`);
    expect(asked).toEqual([{ name: "audit.verify", value: { head: null } }]);
  });

  test("reports what is wrong, where, and exits with 1", async () => {
    const value = { ...INTACT, isIntact: false, problems: [{ place: 4, what: "the entry was\u001b[2J changed" }] };
    const fake = { answers: { "audit.verify": { ok: true, value } as const } };
    const told = await run(fake, "audit", "verify");
    expect(told).toMatchObject({ exit: 1 });
    expect(told.out).toContain("not intact");
    expect(told.out).toContain("✗ place 4: the entry was\\u{1b}[2J changed");
    expect(told.out).not.toContain("head  ");
    const json = await run(fake, "audit", "verify", "--json");
    expect(json.exit).toBe(1);
    expect(JSON.parse(json.out)).toEqual(value);
  });

  test.each<[string, () => string]>([
    ["place:hash", () => head],
    ["a file with it", () => file("head", `head  ${head}\n`)],
    ["the output of --json", () => file("head", `${JSON.stringify(INTACT)}\n`)],
    ["a signed note", () => file("head", log.notes.at(-1)?.text ?? "")],
  ])("accepts a head as %s", async (what, given) => {
    const { asked } = await run({}, "audit", "verify", "--head", given());
    const note = log.notes.at(-1)?.place as number;
    const { place, hash } = what === "a signed note" ? (log.rows[note - 1] as typeof log.head) : log.head;
    expect(asked[0]?.value).toEqual({ head: { place, hash } });
  });

  test.each(["", "5", "5:abc", `-1:${"0".repeat(64)}`, "/nowhere/at/all", "/dev/null", "/"])(
    "does not accept %j as a head",
    async (text) => {
      expect(await run({}, "audit", "verify", "--head", text)).toMatchObject({ exit: 2, asked: [] });
    },
  );

  test("exits with the daemon's status if it is unreachable", async () => {
    expect((await run({ control: GONE }, "audit", "verify")).exit).toBe(4);
    expect((await run({}, "audit", "verify")).exit).toBe(4);
  });
});

describe("verify with a key given by the user", () => {
  test("trusts the rows alone, not the daemon's result", async () => {
    const told = await run({}, "audit", "verify", "--key", log.first.key, "--head", head);
    expect(told).toMatchObject({ exit: 0, asked: [{ name: "audit.export" }] });
    const forged = lines.map((line) => line.replace("/w/2", "/w/X"));
    expect((await run({ lines: forged }, "audit", "verify", "--key", log.first.key)).exit).toBe(1);
    expect((await run({}, "audit", "verify", "--key", newSigner().key)).exit).toBe(1);
    const broken = { answers: { "audit.export": GONE } };
    expect((await run(broken, "audit", "verify", "--key", log.first.key)).exit).toBe(4);
  });

  test("needs no daemon for a file", async () => {
    const told = await run(
      { control: GONE },
      "audit",
      "verify",
      "--file",
      exported(),
      "--key",
      log.first.key,
      "--json",
    );
    expect(told).toMatchObject({ exit: 0, asked: [] });
    expect(JSON.parse(told.out)).toMatchObject({ isIntact: true, entries: 10, head: log.head });
    const key = file("ambit.pub", `${log.first.key}\n${log.signer.key}\n`);
    expect((await run({}, "audit", "verify", "--file", exported(), "--key", key)).exit).toBe(0);
  });

  test.each<[string, () => readonly string[], number]>([
    ["no key", () => ["--file", exported()], 2],
    ["an invalid key", () => ["--file", exported(), "--key", "ambit"], 2],
    ["another key", () => ["--file", exported(), "--key", newSigner().key], 1],
    ["no file", () => ["--file", join(folder, "none"), "--key", log.first.key], 1],
    ["a folder", () => ["--file", folder, "--key", log.first.key], 1],
    ["an empty file", () => ["--file", file("empty", ""), "--key", log.first.key], 1],
    ["a truncated file", () => ["--file", file("cut", lines.slice(0, 5).join("\n")), "--key", log.first.key], 1],
    ["one line without an end", () => ["--file", file("long", "x".repeat(2_000_000)), "--key", log.first.key], 1],
    [
      "an edited line",
      () => ["--file", file("edited", lines.join("\n").replace("/w/2", "/w/X")), "--key", log.first.key],
      1,
    ],
    ["a head from later", () => ["--file", exported(), "--key", log.first.key, "--head", `99:${"0".repeat(64)}`], 1],
  ])("is refused: %s", async (_what, options, exit) => {
    expect((await run({}, "audit", "verify", ...options())).exit).toBe(exit);
  });
});

describe("export", () => {
  test("prints lines if no file is named", async () => {
    expect(await run({}, "audit", "export")).toMatchObject({ exit: 0, out: `${lines.join("\n")}\n` });
  });

  test("writes a new private file that verifies", async () => {
    const path = join(folder, "out.jsonl");
    const told = await run({}, "audit", "export", path, "--json");
    expect(JSON.parse(told.out)).toEqual({ file: path, entries: 10, head: log.head });
    expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await run({}, "audit", "verify", "--file", path, "--key", log.first.key)).exit).toBe(0);
  });

  test("never overwrites another file, and leaves nothing if it fails", async () => {
    const path = file("there", "mine");
    expect((await run({}, "audit", "export", path)).exit).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("mine");
    const broken = { answers: { "audit.export": GONE } };
    expect((await run(broken, "audit", "export", join(folder, "half"))).exit).toBe(4);
    expect((await run({}, "audit", "export", join(folder, "no", "folder"))).exit).toBe(1);
    expect(existsSync(join(folder, "half"))).toBe(false);
    expect(readdirSync(folder)).toEqual(["there"]);
  });
});

describe("key, rotate and retain", () => {
  const done = {
    "audit.key": { ok: true, value: { keys: ["k1", "k2\u001b"] } },
    "audit.rotate": { ok: true, value: { key: "k3" } },
    "audit.retain": { ok: true, value: { removed: 7, first: 8 } },
  } as const;

  test("show the keys, the oldest first", async () => {
    expect((await run({ answers: done }, "audit", "key")).out).toBe("k1\nk2\\u{1b}\n");
    expect(JSON.parse((await run({ answers: done }, "audit", "key", "--json")).out)).toEqual({
      keys: ["k1", "k2\u001b"],
    });
  });

  test.each([
    [["rotate"], "audit.rotate", { presence: null }, /new key k3/],
    [["retain", "--days", "90"], "audit.retain", { days: 90, presence: null }, /removed 7 entries/],
  ])("%s prompts first", async (argv, name, value, what) => {
    expect(await run({ answers: done, confirm: false }, "audit", ...argv)).toMatchObject({ exit: 11, asked: [] });
    expect(await run({ answers: done }, "audit", ...argv)).toMatchObject({ exit: 2, asked: [] });
    for (const told of [
      await run({ answers: done, confirm: true }, "audit", ...argv),
      await run({ answers: done }, "audit", ...argv, "--yes"),
    ]) {
      expect(told).toMatchObject({ exit: 0, asked: [{ name, value }] });
      expect(told.out).toMatch(what);
    }
    expect((await run({ answers: done }, "audit", ...argv, "--json")).exit).toBe(2);
    expect(JSON.parse((await run({ answers: done }, "audit", ...argv, "--json", "--yes")).out)).toBeTruthy();
  });

  test("prompts for a passphrase where presence is required", async () => {
    const needs = ({ presence }: { presence: unknown }): Answer<unknown> =>
      presence === null
        ? { ok: false, code: "presence_required", message: "who are you?", fix: null }
        : { ok: true, value: { key: "k3" } };
    const answers = { "presence.list": { ok: true, value: { names: ["ann"] } }, "audit.rotate": needs } as const;
    const told = await run({ answers, confirm: true }, "audit", "rotate");
    expect(told).toMatchObject({ exit: 0 });
    expect(told.asked.at(-1)?.value).toEqual({ presence: { name: "ann", passphrase: "a passphrase" } });
    expect((await run({ answers }, "audit", "rotate", "--yes")).exit).toBe(4);
  });

  test.each([["0"], ["-1"], ["1.5"], ["99999"], ["ten"], [""]])("%s days of retention are refused", async (days) => {
    expect(await run({ answers: done }, "audit", "retain", "--yes", `--days=${days}`)).toMatchObject({
      exit: 2,
      asked: [],
    });
  });

  test("removing nothing is not an error", async () => {
    const answers = { "audit.retain": { ok: true, value: { removed: 0, first: 1 } } } as const;
    const told = await run({ answers }, "audit", "retain", "--days", "90", "--yes");
    expect(told).toMatchObject({ exit: 0, out: expect.stringContaining("nothing was removed") });
  });
});

test("every command has help with examples", async () => {
  for (const command of ["verify", "export", "key", "rotate", "retain"])
    expect((await run({}, "audit", command, "--help")).out).toContain("Examples:");
});
