// Shared by the adapters' tests: agents with and without grants, and one tool of the application.

import { defineTool } from "../../src/index.ts";
import type { Ambit } from "../../src/library/library.ts";
import { type LibraryFixture, libraryFixture } from "../library/fixture.ts";

export const ADD = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
} as const;

const add = defineTool({
  name: "math.add",
  description: "Adds two numbers.",
  input: ADD,
  execute: ({ a, b }) => ({ sum: a + b }),
});

export interface AdaptersFixture {
  readonly library: LibraryFixture;
  readonly ambit: Ambit;
}

export async function adaptersFixture(): Promise<AdaptersFixture> {
  const library = await libraryFixture({
    // Every tool is named, so that the list is the same whatever else comes with ambit.
    plain: ["tool.invoke{tools=[math.add,memory_get]}", "memory.read{keys=[a/**]}"],
    searching: ["tool.invoke{tools=[math.add]}", "net.get{hosts=[github.com,*.npmjs.com]}", "provider.code_execution"],
    fetching: ["tool.invoke{tools=[builtin:web_fetch]}", "net.get{hosts=[github.com]}"],
  });
  const ambit = await library.open();
  const registered = ambit.register(add);
  if (!registered.ok) throw new Error(JSON.stringify(registered.errors));
  return { library, ambit };
}
