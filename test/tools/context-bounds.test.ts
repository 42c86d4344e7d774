// Limits on what one session may hold of the daemon through its contexts, over the real sockets: other sessions are not starved.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../src/core/base/version.ts";
import type { CallMessages, CallPermit } from "../../src/core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../../src/core/ports/daemon/exchange.ts";
import { contextSender } from "../../src/daemon/contexts/context-sender.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let call: MessageClient<CallMessages>;

beforeAll(async () => {
  fixture = await Fixture.make();
  mkdirSync(join(fixture.project, "files"));
  writeFileSync(join(fixture.project, "files", "a.txt"), "hello");
  for (const agent of ["crowd", "scout"])
    fixture.agent(agent, [`fs.read{in=${join(fixture.project, "files")},calls=400}`, "tool.invoke{tools=[weather]}"]);
  await fixture.begin();
  call = expectValue(await connect("call", { folder: fixture.folder, version: VERSION }));
}, 240_000);
afterAll(async () => {
  call?.close();
  await fixture?.remove();
});

async function open(agent: string): Promise<string> {
  const opened = await call.ask("session.open", {
    ...{ cwd: fixture.project, agent, user: null, trace: null, face: "library", pledge: null, token: null },
    ...{ environment: {}, isForParent: false },
  });
  return expectValue(opened).session;
}

function commit(session: string): Promise<Answer<unknown>> {
  const path = join(fixture.project, "files", "a.txt");
  return call.ask("call.commit", {
    ...{ session, tool: "weather", input: {}, requests: [`fs.read ${path}`], waitMilliseconds: 0 },
    declaration: { fs_reach: { read: [join(fixture.project, "files")] } },
  });
}

test("the number of unsettled calls is limited, before anything is charged", async () => {
  const session = await open("crowd");
  const answers = await Promise.all(Array.from({ length: 256 }, () => commit(session)));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(256);
  for (let more = 0; more < 20; more++)
    expect(await commit(session)).toMatchObject({ ok: false, code: "not_available" });
  const other = await open("scout");
  const permitted = expectValue(await commit(other)) as CallPermit;
  expect(permitted).toMatchObject({ outcome: "allowed" });
  const use = { instrument: "files", method: "readText", arguments: [join(fixture.project, "files", "a.txt")] };
  expect(await contextSender(call, other, permitted.receipt)(use)).toEqual({ ok: true, value: "hello" });
  const { receipt } = expectValue(answers[0] as Answer<CallPermit>);
  expectValue(await call.ask("call.settle", { session, receipt, ended: "done", milliseconds: 1, isUntrusted: false }));
  const next = expectValue(await commit(session)) as CallPermit;
  expect(next).toMatchObject({ outcome: "allowed" });
  // Of 400: one charge for each of the 257 that were permitted, and none for the others.
  expect(next.left).toMatchObject([{ left: 143 }]);
}, 120_000);

test("a large use of an unknown call is refused before all of it has arrived", async () => {
  const session = await open("scout");
  let isAnswered = (): void => undefined;
  const answered = new Promise<void>((give) => {
    isAnswered = give;
  });
  async function* endless(): AsyncIterable<Uint8Array> {
    yield new Uint8Array(65_536);
    await answered;
  }
  const asked = { session, receipt: "c_nonsense", use: {}, hasInput: true };
  const answer = await call.ask("context.use", asked, { input: endless() });
  isAnswered();
  expect(answer).toMatchObject({ ok: true, value: { answer: { ok: false, code: "revoked" } } });
}, 60_000);
