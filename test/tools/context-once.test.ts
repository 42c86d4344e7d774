// Budgets and approvals through a context over the real daemon: a use is served as often as it was requested and paid for. The
// sessions belong to another process; this one acts as the person.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let files = "";

beforeAll(async () => {
  fixture = await Fixture.make();
  files = join(fixture.project, "files");
  mkdirSync(files, { recursive: true });
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(files, name), "before");
  const tools = "tool.invoke{tools=[tool:*]}";
  fixture.agent("counted", [`fs.read{in=${files},calls=4}`, tools]);
  fixture.agent("asking", [`fs.read{in=${files}}`, `fs.write{in=${files},ask}`, tools]);
  await fixture.begin();
}, 240_000);
afterAll(() => fixture?.remove());

const open = async (agent: string): Promise<Session> =>
  expectValue(await fixture.caller().open(fixture.project, agent));

function commit(session: Session, requests: readonly string[], tool = "weather") {
  const declaration = { fs_reach: { read: [files], write: [files] } };
  return session.ask("call.commit", { tool, input: {}, requests, declaration, waitMilliseconds: 0 }).answer;
}

async function use(session: Session, receipt: unknown, method: string, ...words: readonly string[]): Promise<unknown> {
  const one = { instrument: "files", method, arguments: words };
  return expectValue(await session.ask("context.use", { receipt, use: one }).answer)["answer"];
}

test("a counted grant serves as many uses as were requested and paid for, one after another or concurrently", async () => {
  const session = await open("counted");
  const path = join(files, "a.txt");
  const { outcome, receipt } = expectValue(await commit(session, [`fs.read ${path}`, `fs.read ${path}`]));
  expect(outcome).toBe("allowed");
  const read = () => use(session, receipt, "readText", path);
  const answers = await Promise.all(Array.from({ length: 12 }, read));
  expect(answers.filter((one) => (one as { readonly ok: boolean }).ok)).toHaveLength(2);
  expect(await read()).toMatchObject({ ok: false });
});

test("an approved use is done once", async () => {
  const session = await open("asking");
  const path = join(files, "b.txt");
  const { approval } = expectValue(await commit(session, [`fs.write ${path}`]));
  expect((await fixture.ambit("approve", String(approval), "--yes")).out).toContain("approved");
  const { outcome, receipt } = expectValue(await commit(session, [`fs.write ${path}`]));
  expect(outcome).toBe("allowed");
  expect(await use(session, receipt, "write", path, "once")).toMatchObject({ ok: true });
  expect(await use(session, receipt, "write", path, "twice")).toMatchObject({ code: "approval_required" });
  // A use that needs no approval is not limited.
  for (let again = 0; again < 3; again++)
    expect(await use(session, receipt, "readText", path)).toMatchObject({ value: "once" });
  expect(readFileSync(path, "utf8")).toBe("once");
});

test.each(["tool:web_fetch", "web_fetch", "FS_READ", "fs_re\u0430d", " ", "a/b", "builtin:mine"])(
  "a tool of the caller cannot be named %j",
  async (name) => {
    expect(await commit(await open("asking"), [], name)).toMatchObject({ ok: false, code: "invalid_input" });
  },
);
