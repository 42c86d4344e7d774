// An approval of `tool.invoke` is bound to the tool: one whose code, imported module, definition or declaration changed between the
// answer and the call is not served, trusted again or not.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../house/until.ts";
import type { Called, Caller, Session } from "./calling.ts";
import { expectValue, Fixture } from "./fixture.ts";

let fixture: Fixture;
let caller: Caller;
let session: Session;

const TOOL = `
import { amountOf } from "./lib/amount.mjs";
export default {
  name: "pay",
  description: "Pays an amount.",
  capabilities: { fs_reach: { write: ["paid"] } },
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"], additionalProperties: false },
  execute: async ({ to }, { files }) => files.write("paid/" + to, amountOf()),
};
`;
const AMOUNT = 'export const amountOf = () => "5";\n';

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.write("project/.ambit/tools/pay.mjs", TOOL);
  fixture.write("project/.ambit/tools/lib/amount.mjs", AMOUNT);
  fixture.write("project/paid/.keep", "");
  fixture.agent("payer", ["fs.write", "tool.invoke{tools=[pay],ask}"], "sandbox: .\n");
  await fixture.begin();
  caller = fixture.caller();
  session = expectValue(await caller.open(fixture.project, "payer"));
}, 240_000);
afterAll(() => fixture?.remove());

function tool(name: string): string {
  return join(fixture.project, ".ambit", "tools", name);
}

const pay = (to: string): Promise<Called> => session.do("pay", { to });
const isPaid = (to: string): boolean => existsSync(join(fixture.project, "paid", to));

async function isListed(): Promise<boolean> {
  const listed = expectValue(await session.ask("tools.list", {}).answer)["tools"] as readonly {
    readonly name: string;
  }[];
  return listed.some(({ name }) => name === "pay");
}

/** The id of the approval request, once it has been approved. */
async function approved(to: string): Promise<string> {
  const { said, value } = await pay(to);
  expect(said).toBe("approval_required");
  const id = String(value["approval"]);
  expectValue(await fixture.approve(id));
  return id;
}

test("an unchanged tool is approved for one call", async () => {
  await approved("ann");
  expect((await pay("ann")).said).toBe("done");
  expect(readFileSync(join(fixture.project, "paid", "ann"), "utf8")).toBe("5");
  expect((await pay("ann")).said).toBe("approval_required");
}, 120_000);

const CHANGES: readonly (readonly [what: string, to: string, file: string, from: string, into: string])[] = [
  ["its code", "bob", "pay.mjs", '"paid/" + to, amountOf()', '"paid/" + to, amountOf() + "000"'],
  ["a module it imports", "eve", "lib/amount.mjs", '"5"', '"5000"'],
  ["its description", "dan", "pay.mjs", "Pays an amount.", "Pays any amount."],
  ["its declaration", "sam", "pay.mjs", 'write: ["paid"]', 'write: ["paid", "elsewhere"]'],
  ["its input", "kim", "pay.mjs", "additionalProperties: false", "additionalProperties: true"],
];

test.each(CHANGES)(
  "a tool with %s changed needs another approval",
  async (_, to, file, from, into) => {
    const id = await approved(to);
    const text = readFileSync(tool(file), "utf8");
    expect(text).toContain(from);
    writeFileSync(tool(file), text.replace(from, into));
    try {
      // Until the daemon has compared the files again, it runs the approved copy.
      await until(async () => !(await isListed()), "the change is noticed");
      expect((await pay(to)).said).not.toBe("done");
      expect(isPaid(to)).toBe(false);
      await fixture.trust();
      const again = await pay(to);
      expect(again.said).toBe("approval_required");
      expect(again.value["approval"]).not.toBe(id);
      expect(isPaid(to)).toBe(false);
    } finally {
      writeFileSync(tool(file), text);
      await fixture.trust();
    }
    // The approved tool is restored: the approval still serves it, once.
    expect((await pay(to)).said).toBe("done");
    expect(readFileSync(join(fixture.project, "paid", to), "utf8")).toBe("5");
  },
  120_000,
);

test("a tool that changes during the call runs as it was approved, or not at all", async () => {
  await approved("now");
  const text = readFileSync(tool("lib/amount.mjs"), "utf8");
  // A new session has no host yet: its first host is started after the change.
  const other = expectValue(await caller.open(fixture.project, "payer"));
  writeFileSync(tool("lib/amount.mjs"), text.replace('"5"', '"5000"'));
  try {
    const { said } = await other.do("pay", { to: "now" });
    expect([said, isPaid("now")]).toEqual(said === "done" ? ["done", true] : [said, false]);
    if (isPaid("now")) expect(readFileSync(join(fixture.project, "paid", "now"), "utf8")).toBe("5");
  } finally {
    writeFileSync(tool("lib/amount.mjs"), text);
  }
}, 120_000);
