// When a decision ends by itself.
import { expect, test } from "vitest";
import { chain, grant, link, moment, verb } from "../../../test/forge/authority.ts";
import { tree } from "./axes/path.ts";
import type { Authority } from "./chain.ts";
import type { Grant } from "./grant.ts";
import { segmentsOf } from "./patterns/sequence.ts";
import type { Request } from "./request.ts";
import { coveredUntil } from "./until.ts";

const read = (root: string, expires: number | null, ask: 0 | 1 = 0): Grant =>
  grant("fs.read", [{ kind: "sequences", of: [tree([root])] }], { expires, ask });
const request: Request = { verb: verb("fs.read"), values: [segmentsOf(["w", "a"])] };
const until = (...grants: readonly Grant[]): number | null =>
  coveredUntil([chain(link("own", [...grants]))], request, { ...moment(), now: 100 });

test.each<[string, readonly Grant[], number | null]>([
  ["without an end", [read("w", null)], null],
  ["at its grant's end", [read("w", 200)], 200],
  ["never, if another grant goes on", [read("w", 200), read("w", null)], null],
  ["with the last of several", [read("w", 200), read("w", 300)], 300],
  ["not with a grant for something else", [read("x", 200), read("w", null)], null],
  ["when only approval is left", [read("w", 200), read("w", null, 1)], 200],
  ["now, if it is denied", [read("x", null)], 100],
  ["now, if it has expired", [read("w", 50)], 100],
])("%s", (_, grants, expected) => {
  expect(until(...grants)).toBe(expected);
});

test("every link counts", () => {
  const authority: Authority = [chain(link("own", [read("w", null)]), link("limit", [read("w", 150)], {}, "limit"))];
  expect(coveredUntil(authority, request, { ...moment(), now: 100 })).toBe(150);
});
