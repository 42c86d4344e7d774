// A person approves while an application waits. The application is a separate process: a process with a session cannot approve.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { expectValue } from "../state/fixture.ts";
import { type LibraryFixture, libraryFixture } from "./fixture.ts";

const PROGRAM = `
import { createAmbit } from ${JSON.stringify(join(root, "dist", "node-entry.js"))};
import { defineTool } from ${JSON.stringify(join(root, "dist", "index.js"))};
let runs = 0;
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  execute: ({ amount }) => ({ paid: amount, runs: ++runs }),
});
const ambit = await createAmbit();
ambit.register(pay);
const session = await ambit.session("payer");
process.on("message", async ({ amount, waitSeconds }) => {
  process.send(await session.call("pay", { amount }, { waitSeconds }));
});
process.send("ready");
`;

let library: LibraryFixture;
let child: ChildProcess;
beforeAll(async () => {
  library = await libraryFixture({ payer: ["tool.invoke{tools=[pay],ask}"] });
  library.fixture.write("project/payer.mjs", PROGRAM);
  child = fork(join(library.fixture.project, "payer.mjs"), [], {
    cwd: library.fixture.project,
    env: library.fixture.environment,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: [],
  });
  expect(await once(child, "message")).toEqual(["ready", undefined]);
});
afterAll(async () => {
  if (child !== undefined) {
    const over = once(child, "close");
    child.kill("SIGKILL");
    await over;
  }
  await library?.remove();
});

async function paid(amount: number, waitSeconds = 0): Promise<Record<string, unknown>> {
  const heard = once(child, "message");
  child.send({ amount, waitSeconds });
  const [answer] = (await heard) as [Record<string, unknown>];
  return answer;
}

test("an approval that is given while the call waits lets it run", async () => {
  const waiting = paid(5, 600);
  let id = "";
  await until(async () => {
    const [approval] = await library.fixture.approvals("pending");
    id = approval?.id ?? "";
    return id !== "";
  }, "it is asked");
  expectValue(await library.fixture.approve(id));
  expect(await waiting).toMatchObject({ ok: true, value: { paid: 5, runs: 1 } });
});

test("one that is given afterwards serves the next call, once, and no other", async () => {
  const first = await paid(7);
  expect(first).toMatchObject({ ok: false, code: "approval_required" });
  expectValue(await library.fixture.approve(String(first["approval"])));
  expect(await paid(8)).toMatchObject({ ok: false, code: "approval_required" });
  expect(await paid(7)).toMatchObject({ ok: true, value: { paid: 7 } });
  expect(await paid(7)).toMatchObject({ ok: false, code: "approval_required" });
});

test("a refusal is returned with its reason", async () => {
  const asked = await paid(9);
  expectValue(await library.fixture.control("approvals.refuse", { id: String(asked["approval"]), reason: "too much" }));
  expect(await paid(9)).toMatchObject({ ok: false, code: "approval_refused", reason: "too much" });
});

test("no adapter loads the package it is for", () => {
  const folder = join(root, "dist", "adapters");
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  expect(files).toEqual(expect.arrayContaining(["ai-sdk.js", "anthropic.js", "openai-agents.js"]));
  for (const name of files) {
    const imported = [...readFileSync(join(folder, name), "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)];
    expect(imported.map(([, from]) => from).filter((from) => !from?.startsWith("."))).toEqual([]);
  }
});
