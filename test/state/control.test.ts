// Who may widen: a person, never a process started by an agent's session; and only with presence where that is configured.
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Presence } from "../../src/core/ports/daemon/daemon-control.ts";
import type { Caller, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
/** Has no session of its own until a test opens one. */
let caller: Caller;

const ANN: Presence = { name: "ann", passphrase: "correct horse of ann" };

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("asking", ["memory.write{ask}", "memory.read"]);
  await fixture.begin();
  caller = fixture.caller();
});
afterAll(() => fixture?.remove());

async function asked(session: Session, key: string): Promise<string> {
  const { said, value } = await session.do("memory_set", { key, value: "x" });
  expect(said).toBe("approval_required");
  return String(value["approval"]);
}

/** Every message that is refused to the processes of a session. */
function widening(id: string): readonly (readonly [string, object])[] {
  const secret = {
    name: "key",
    value: "secret of a user",
    binding: { tools: [], hosts: [], uses: null },
    username: null,
  };
  return [
    ["approvals.approve", { id, step: "exact", uses: 1, milliseconds: 60_000, presence: null }],
    ["control.admit", { command: "trust", what: "x", isWidening: true, presence: null }],
    ["presence.set", { ...ANN, presence: null }],
    ["presence.delete", { name: "ann", presence: null }],
    ["thaw", { presence: null }],
    ["secrets.set", { ...secret, isCanary: false, isRotation: false, presence: null }],
    ["secrets.policy", { name: "key", binding: secret.binding, presence: null }],
    ["secrets.delete", { name: "key" }],
    ["secrets.unlock", { passphrase: "x", identity: null, bus: null }],
    ["secrets.source", {}],
    ["secrets.key", { key: { source: "file" }, presence: null }],
    ["audit.rotate", { presence: null }],
    ["audit.retain", { days: 1, presence: null }],
  ];
}

describe("a process of a session", () => {
  test("may send every message that only narrows", async () => {
    const own = fixture.caller();
    const session = expectValue(await own.open(fixture.project, "asking"));
    const id = await asked(session, "narrowed");
    const narrowing: readonly (readonly [string, object])[] = [
      ["approvals.refuse", { id, reason: "x" }],
      ["control.admit", { command: "revoke", what: "x", isWidening: false, presence: null }],
      ["links.revoke", { id: "l_x", kill: false }],
      ["secrets.lock", {}],
      ["freeze", {}],
      ["agent.stop", { cwd: fixture.project, agent: "asking" }],
    ];
    for (const [name, value] of narrowing) {
      const answer = await own.ask(name, value, "n", {}, "control").answer;
      expect([name, answer.ok ? "done" : answer.code]).not.toEqual([name, "control_refused"]);
    }
    expect(await own.ask("thaw", { presence: null }, "n", {}, "control").answer).toMatchObject({
      code: "control_refused",
    });
    expectValue(await fixture.control("thaw", { presence: null }));
  });

  test("is refused every message that widens, and so are its children", async () => {
    const own = fixture.caller();
    const session = expectValue(await own.open(fixture.project, "asking"));
    const id = await asked(session, "own");
    const codes = await Promise.all(
      widening(id).map(async ([name, value]) => {
        const answer = await own.ask(name, value, "1", {}, "control").answer;
        return [name, answer.ok ? "done" : answer.code];
      }),
    );
    expect(codes).toEqual(widening(id).map(([name]) => [name, "control_refused"]));
    const ran = await own.spawn(fixture.project, ...fixture.words("approve", id, "--yes", "--json"));
    expect([ran.status === 0, ran.out.includes("control_refused")]).toEqual([false, true]);
    const deeper = ["sh", "-c", 'sh -c \'"$@"\' sh "$@"', "sh", ...fixture.words("approve", id, "--yes", "--json")];
    expect((await own.spawn(fixture.project, ...deeper)).out).toContain("control_refused");
    expect((await session.do("memory_set", { key: "own", value: "x" })).said).toBe("approval_required");
    expect(expectValue(await fixture.control("daemon.status", {})).isFrozen).toBe(false);
  });

  test("is still refused after its session is closed", async () => {
    const own = fixture.caller();
    const session = expectValue(await own.open(fixture.project, "asking"));
    const id = await asked(session, "over");
    await session.close();
    await own.hangUp();
    const approve = { id, step: "exact", uses: 1, milliseconds: 60_000, presence: null };
    expect(await own.ask("approvals.approve", approve, "2", {}, "control").answer).toMatchObject({
      ok: false,
      code: "control_refused",
    });
    const ran = await own.spawn(fixture.project, ...fixture.words("approve", id, "--yes", "--json"));
    expect(ran.out).toContain("control_refused");
    expectValue(await fixture.approve(id));
  });

  test("is still refused after the daemon restarts", async () => {
    const own = fixture.caller();
    const session = expectValue(await own.open(fixture.project, "asking"));
    const id = await asked(session, "restarted");
    await own.hangUp();
    await fixture.killDaemon();
    await fixture.startDaemon();
    const approve = { id, step: "exact", uses: 1, milliseconds: 60_000, presence: null };
    expect(await own.ask("approvals.approve", approve, "3", {}, "control").answer).toMatchObject({
      code: "control_refused",
    });
    expectValue(await fixture.approve(id));
  });

  test("that connected before it opened a session is refused on that connection, too", async () => {
    const own = fixture.caller();
    expect(await own.ask("daemon.status", {}, "early", {}, "control").answer).toMatchObject({ ok: true });
    expectValue(await own.open(fixture.project, "asking"));
    const thaw = { presence: null };
    expect(await own.ask("thaw", thaw, "early", {}, "control").answer).toMatchObject({ code: "control_refused" });
  });

  test("includes the parent where the session was opened for it, also on a terminal that the parent made", async () => {
    // The person of this file is the caller's parent: use only requests here that the restarted daemon forgets.
    const lonely = await Fixture.make();
    try {
      lonely.agent("asking", ["memory.write{ask}"]);
      await lonely.begin();
      const child = lonely.caller();
      expectValue(await child.open(lonely.project, "asking", { isForParent: true }));
      expect((await lonely.ambit("thaw")).out).toContain("control_refused");
      expect(await lonely.control("thaw", { presence: null })).toMatchObject({ ok: false, code: "control_refused" });
    } finally {
      await lonely.remove();
    }
  });
});

describe("with `control: presence`", () => {
  test("widening needs the passphrase, narrowing does not", async () => {
    expectValue(await fixture.control("presence.set", { ...ANN, presence: null }));
    fixture.write("config/ambit/config.yml", "control: presence\n");
    const session = expectValue(await caller.open(fixture.project, "asking"));
    const id = await asked(session, "present");
    const needed = { ok: false, code: "presence_required" };
    expect(await fixture.approve(id)).toMatchObject(needed);
    expect((await fixture.ambit("approve", id, "--yes", "--json")).out).toContain("presence_required");
    expect(await fixture.approve(id, { presence: { ...ANN, passphrase: "correct horse" } })).toMatchObject({
      ok: false,
    });
    expectValue(await fixture.control("freeze", {}));
    expect(await fixture.control("thaw", { presence: null })).toMatchObject(needed);
    expect((await fixture.status()).isFrozen).toBe(true);
    expectValue(await fixture.control("thaw", { presence: ANN }));
    const admit = { command: "trust", what: "x", presence: null };
    expect(await fixture.control("control.admit", { ...admit, isWidening: true })).toMatchObject(needed);
    expect(await fixture.control("control.admit", { ...admit, isWidening: false })).toMatchObject({ ok: true });
    const other = await asked(session, "present again");
    expectValue(await fixture.approve(other, { presence: ANN }));
    expectValue(await fixture.control("approvals.refuse", { id: other, reason: "changed my mind" }));
  });

  test("an invalid configuration requires it, too", async () => {
    const config = join(fixture.config, "config.yml");
    const key = () => fixture.control("secrets.key", { key: { source: "file" }, presence: null });
    fixture.write("config/ambit/config.yml", "control: [\n");
    expect(
      await fixture.control("control.admit", { command: "trust", what: "x", isWidening: true, presence: null }),
    ).toMatchObject({ ok: false, code: "presence_required" });
    // The message names the invalid configuration as the reason.
    fixture.write("config/ambit/config.yml", "contrl: ask\n");
    expect(await key()).toMatchObject({
      ok: false,
      code: "presence_required",
      message: expect.stringMatching(
        /^your configuration cannot be read, and may contain `control: presence`: .*contrl/,
      ),
      fix: expect.stringContaining("ambit doctor"),
    });
    rmSync(config);
    symlinkSync(join(fixture.base, "not-mounted"), config);
    expect(await key()).toMatchObject({
      ok: false,
      code: "presence_required",
      message: expect.stringMatching(/config\.yml is a broken link/),
    });
    rmSync(config);
    fixture.write("config/ambit/config.yml", "control: ask\n");
    expect(
      await fixture.control("control.admit", { command: "trust", what: "x", isWidening: true, presence: null }),
    ).toMatchObject({ ok: true });
  });
});
