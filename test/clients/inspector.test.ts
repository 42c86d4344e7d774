// The inspector, on its command line: a client we did not write, once in each era.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { inspector, newerNode } from "./place.ts";
import { type Ran, run } from "./run.ts";
import { serverWords } from "./server-words.ts";

interface InspectorResult {
  readonly tools?: readonly { readonly name: string }[];
  readonly content?: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** The inspector's exit status after a result with `isError`. */
const toolErrorStatus = 5;

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read{in=.}", "memory.read{keys=[notes/**]}"]);
  fixture.write("project/a.txt", "one line\n");
  mkdirSync(join(fixture.base, "home"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());

describe.each(["legacy", "modern"])("in the %s era", (era) => {
  /** The inspector's options come before the server's command line, which would otherwise be parsed as its own. */
  const inspect = async (...asked: readonly string[]): Promise<Ran> => {
    const env = { ...fixture.environment, HOME: join(fixture.base, "home") };
    const variables = Object.entries(fixture.environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const words = [newerNode, inspector, "--cli", "--protocol-era", era, "--format", "json", ...variables, ...asked];
    return run([...words, "--cwd", fixture.project, "--", ...serverWords("scout")], { cwd: fixture.base, env });
  };
  const call = (tool: string, input: object): Promise<Ran> =>
    inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(input));

  test("it lists the tools, and finds no error in their schemas", async () => {
    const ran = await inspect("--method", "tools/list", "--strict");
    expect(ran.status).toBe(0);
    expect(told(ran).tools?.map(({ name }) => name)).toEqual([
      ...["fs_glob", "fs_grep", "fs_list", "fs_read"],
      ...["memory_get", "memory_list"],
    ]);
  });

  test("it calls a tool", async () => {
    const ran = await call("fs_read", { path: "a.txt" });
    expect(ran.status).toBe(0);
    const { content, structuredContent, isError = false } = told(ran);
    expect(isError).toBe(false);
    expect(content?.[0]).toEqual({ type: "text", text: "one line\n" });
    expect(structuredContent).toMatchObject({ text: "one line\n" });
  });

  test("it is denied, with a code", async () => {
    const ran = await call("memory_get", { key: "diary/today" });
    expect(ran.status).toBe(toolErrorStatus);
    expect(told(ran)).toMatchObject({
      isError: true,
      structuredContent: { code: "scope_violation", need: "memory.read diary/today" },
    });
  });

  test("it calls a hundred times, eight at a time, and every call is answered", async () => {
    const asked = ["--method", "tools/call", "--tool-name", "fs_read", "--tool-args-json", '{"path":"a.txt"}'];
    const ran = await inspect(...asked, "--load", "--load-requests", "100", "--load-concurrency", "8");
    expect(told(ran)).toMatchObject({ requests: 100, ok: 100, toolErrors: 0, errors: 0 });
  });
});

function told({ out }: Ran): InspectorResult {
  return (JSON.parse(out) as { readonly result: InspectorResult }).result;
}
