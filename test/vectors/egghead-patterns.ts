// Commands, hosts and paths against one pattern.
import { parseHostEntry } from "../../src/core/authority/axes/destination.ts";
import type { Json } from "../../src/core/base/json.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { answerOf, decisionOf, isWithin, WORK } from "./machine.ts";
import { allowOrDeny, type Compared, type Family, yesOrNo } from "./outcome.ts";
import { requestFor } from "./requests.ts";
import { flagAt, mapAt, type Row, textAt, textsAt } from "./row.ts";
import { readWritten, workingFolder } from "./written.ts";

export const argvPattern: Family = {
  answers: ["expect"],
  run: (row) => {
    const scope = mapAt(row, "scope");
    const { grants } = readWritten([{ "proc.exec": scope }]);
    const request = requestFor("proc.exec", { argv: textsAt(row, "argv"), root: workingFolder(scope) });
    return allowOrDeny(
      { expect: textAt(row, "expect") },
      request.ok ? answerOf(decisionOf(grants, request.value)) : { expect: "deny" },
    );
  },
};

/** A host with a star in it is a pattern too: the question is whether it is within the other. */
export const hostMatch: Family = {
  answers: ["matches"],
  run: (row): Compared => {
    const host = textAt(row, "host");
    const held = hostGrants(textAt(row, "pattern"));
    return yesOrNo(
      "matches",
      flagAt(row, "matches"),
      host.includes("*") ? patternWithin(host, held) : reaches(host, held),
    );
  },
};

function hostGrants(pattern: string): ReturnType<typeof readWritten>["grants"] {
  return readWritten([{ "net.get": { hosts: [pattern] } }]).grants;
}

function reaches(host: string, held: ReturnType<typeof hostGrants>): boolean {
  const request = requestFor("net.get", { host });
  return request.ok && decisionOf(held, request.value).outcome === "allow";
}

/** A refused pattern grants nothing, and nothing is within everything: that is not a match. */
function patternWithin(pattern: string, held: ReturnType<typeof hostGrants>): boolean {
  return parseHostEntry(pattern, toAscii).ok && isWithin(hostGrants(pattern), held);
}

export const pathGlob: Family = {
  answers: ["matches"],
  run: (row) => yesOrNo("matches", flagAt(row, "matches"), pathMatches(row)),
};

function pathMatches(row: Row): boolean {
  const pattern = textAt(row, "pattern");
  const root: Json = /^[/~]/.test(pattern) ? "/" : WORK;
  const { grants } = readWritten([{ "fs.read": { in: root, paths: [pattern] } }]);
  const request = requestFor("fs.read", { path: textAt(row, "path") });
  return request.ok && decisionOf(grants, request.value).outcome === "allow";
}
