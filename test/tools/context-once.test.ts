// What a call paid for, and what a person allowed for it, through a context over the real daemon: as often as it was asked for,
// and no more. The sessions are another process's: the person is this one.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../state/calling.ts";
import { given, World } from "../state/world.ts";

let world: World;
let files = "";

beforeAll(async () => {
  world = await World.make();
  files = join(world.project, "files");
  mkdirSync(files, { recursive: true });
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(files, name), "before");
  const tools = "tool.invoke{tools=[tool:*]}";
  world.agent("counted", [`fs.read{in=${files},calls=4}`, tools]);
  world.agent("asking", [`fs.read{in=${files}}`, `fs.write{in=${files},ask}`, tools]);
  await world.begin();
}, 240_000);
afterAll(() => world?.remove());

const open = async (agent: string): Promise<Session> => given(await world.caller().open(world.project, agent));

function commit(session: Session, requests: readonly string[], tool = "weather") {
  const declaration = { fs_reach: { read: [files], write: [files] } };
  return session.ask("call.commit", { tool, input: {}, requests, declaration, waitMilliseconds: 0 }).answer;
}

async function use(session: Session, receipt: unknown, method: string, ...words: readonly string[]): Promise<unknown> {
  const one = { instrument: "files", method, arguments: words };
  return given(await session.ask("context.use", { receipt, use: one }).answer)["answer"];
}

test("what is counted serves as many uses as were asked and paid for, one after another or at once", async () => {
  const session = await open("counted");
  const path = join(files, "a.txt");
  const { outcome, receipt } = given(await commit(session, [`fs.read ${path}`, `fs.read ${path}`]));
  expect(outcome).toBe("allowed");
  const read = () => use(session, receipt, "readText", path);
  const answers = await Promise.all(Array.from({ length: 12 }, read));
  expect(answers.filter((one) => (one as { readonly ok: boolean }).ok)).toHaveLength(2);
  expect(await read()).toMatchObject({ ok: false });
});

test("what a person allowed once is done once", async () => {
  const session = await open("asking");
  const path = join(files, "b.txt");
  const { approval } = given(await commit(session, [`fs.write ${path}`]));
  expect((await world.ambit("approve", String(approval), "--yes")).out).toContain("approved");
  const { outcome, receipt } = given(await commit(session, [`fs.write ${path}`]));
  expect(outcome).toBe("allowed");
  expect(await use(session, receipt, "write", path, "once")).toMatchObject({ ok: true });
  expect(await use(session, receipt, "write", path, "twice")).toMatchObject({ code: "approval_required" });
  // What needs nobody is done as often as one likes.
  for (let again = 0; again < 3; again++)
    expect(await use(session, receipt, "readText", path)).toMatchObject({ value: "once" });
  expect(readFileSync(path, "utf8")).toBe("once");
});

test.each(["tool:web_fetch", "web_fetch", "FS_READ", "fs_re\u0430d", " ", "a/b", "builtin:mine"])(
  "a tool of the asker's is not called %j",
  async (name) => {
    expect(await commit(await open("asking"), [], name)).toMatchObject({ ok: false, code: "invalid_input" });
  },
);
