// The note of a call, on a clock that the test sets: it opens for its own call alone, and not for long.
import { expect, test } from "vitest";
import { type ResumeToken, ResumeTokens, type StateOwner, stateMilliseconds } from "./call-states.ts";

const OWNER: StateOwner = { session: "s_1", agent: "/p scout", server: "notes d1", tool: "ask", input: { a: 1 } };
const NOTE: ResumeToken = { held: null, state: "its own", asks: [["who", "elicitation"]], roots: [], rounds: 1 };

test("a resume token is valid until it expires, and not afterwards", () => {
  let now = 1_000;
  const states = new ResumeTokens(() => now);
  const sealed = states.seal(NOTE, OWNER);
  expect(sealed).not.toContain("its own");
  expect(states.open(sealed, OWNER)).toEqual(NOTE);
  now += stateMilliseconds - 1;
  expect(states.open(sealed, OWNER)).toEqual(NOTE);
  now += 1;
  expect(states.open(sealed, OWNER)).toBeNull();
  now += stateMilliseconds;
  expect(states.open(sealed, OWNER)).toBeNull();
  // One that is made now is not older than it is.
  expect(states.open(states.seal(NOTE, OWNER), OWNER)).toEqual(NOTE);
});

test.each<[string, Partial<StateOwner>]>([
  ["session", { session: "s_2" }],
  ["agent", { agent: "/p other" }],
  ["entry of the server", { server: "notes d2" }],
  ["tool", { tool: "asks" }],
  ["argument", { input: { a: 2 } }],
])("a note does not open for another %s", (_, other) => {
  const states = new ResumeTokens(() => 0);
  expect(states.open(states.seal(NOTE, OWNER), { ...OWNER, ...other })).toBeNull();
});

test("a note of another daemon process, a changed one and a text that is none do not open", () => {
  const [states, others] = [new ResumeTokens(() => 0), new ResumeTokens(() => 0)];
  const sealed = states.seal(NOTE, OWNER);
  expect(others.open(sealed, OWNER)).toBeNull();
  for (const text of ["", "x", `${sealed}A`, sealed.slice(0, -4), "A".repeat(200_000), `${sealed}\n`])
    expect(states.open(text, OWNER)).toBeNull();
});
