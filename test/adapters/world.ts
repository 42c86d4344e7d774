// Shared by the adapters' tests: agents with and without grants, and one tool of the application.

import { defineTool } from "../../src/index.ts";
import type { Ambit } from "../../src/library/library.ts";
import { type LibraryWorld, libraryWorld } from "../library/world.ts";

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

export interface AdaptersWorld {
  readonly library: LibraryWorld;
  readonly ambit: Ambit;
}

export async function adaptersWorld(): Promise<AdaptersWorld> {
  const library = await libraryWorld({
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
