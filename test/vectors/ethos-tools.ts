// Programs, secrets and files of tools, and the registration of a tool under a personality.
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { type Part, readDeclaration, readPersonality } from "../../src/core/notation/tools/declaration.ts";
import { declaredGrants } from "./ethos-hosts.ts";
import { treeOf } from "./json-tree.ts";
import { answerOf, decisionOf, isWithin, READING } from "./machine.ts";
import { allowOrDeny, type Family, notRun } from "./outcome.ts";
import { type RequestValues, requestFor } from "./requests.ts";
import { has, listAt, mapAt, type Row, textAt } from "./row.ts";
import { readWritten } from "./written.ts";

export const binaries: Family = {
  answers: ["expect"],
  run: (row) =>
    declaredAnswer(row, { process: { allowedBinaries: listAt(row, "allowedBinaries") } }, "proc.exec", {
      argv: [textAt(row, "binary")],
    }),
};

export const secrets: Family = {
  answers: ["expect"],
  run: (row) => declaredAnswer(row, { secrets: listAt(row, "declared") }, "secret.use", { name: textAt(row, "ref") }),
};

function declaredAnswer(
  row: Row,
  declaration: JsonObject,
  verb: string,
  asked: RequestValues,
): ReturnType<typeof allowOrDeny> {
  const request = requestFor(verb, asked);
  const got = request.ok ? answerOf(decisionOf(declaredGrants(declaration), request.value)) : { expect: "deny" };
  return allowOrDeny({ expect: textAt(row, "expect") }, got);
}

/** A personality does not limit secrets, storage and programs. */
const HELD: readonly Part[] = ["network", "fs_reach.read", "fs_reach.write"];

/** The declaration, given by itself or as `capabilities` of a whole tool. */
export function declarationOf(row: Row): JsonObject {
  const tool = mapAt(row, "tool");
  return has(tool, "capabilities") ? mapAt(tool, "capabilities") : tool;
}

export const registration: Family = {
  answers: ["expect", "errors"],
  run: (row) => {
    const { requirement } = readDeclaration(treeOf(declarationOf(row)), READING);
    const { grants } = readPersonality(treeOf(mapAt(row, "personality")), READING);
    const failing =
      requirement === null
        ? ["declaration"]
        : requirement.parts.filter(
            (part) =>
              HELD.includes(part) &&
              !requirement.inherited.includes(part) &&
              !isWithin(
                requirement.grants.filter((grant) => grant.implied === part),
                grants,
              ),
          );
    const got = { expect: failing.length === 0 ? "accept" : "reject", errors: [...new Set(failing)].sort() };
    const expected: Record<string, Json> = { expect: textAt(row, "expect") };
    if (has(row, "errors"))
      expected["errors"] = [
        ...new Set(listAt(row, "errors").map((error) => textAt(error as JsonObject, "capability"))),
      ].sort();
    return { kind: "compared", expected, got, wider: got.expect === "accept" && expected["expect"] !== "accept" };
  },
};

/** Under the widest possible grants; then under one that names the path, which for us opens it. */
export const alwaysDenied: Family = {
  answers: ["expect"],
  run: (row) => {
    const expect = textAt(row, "expect");
    const word = /^(allow|deny)\b/.exec(expect)?.[1];
    if (word === undefined) return notRun(`not an answer this file gives: ${expect}`);
    const path = textAt(row, "path");
    const modes = ["read", "write"].filter((mode) => !/\b(read|write)\b/.test(expect) || expect.includes(mode));
    const answer = (root: string): string => {
      const answers = modes.flatMap((mode) => [path, `${path}/below`].map((one) => answered(`fs.${mode}`, root, one)));
      return answers.every((one) => one === "deny")
        ? "deny"
        : answers.every((one) => one === "allow")
          ? "allow"
          : "mixed";
    };
    const expected: Record<string, Json> = { everywhere: word };
    if (expect.includes("non-overridable")) expected["named"] = "deny";
    const got = { everywhere: answer("/"), named: answer(path) };
    return {
      kind: "compared",
      expected,
      got,
      wider: got.everywhere !== "deny" || (has(expected, "named") && got.named !== "deny"),
    };
  },
};

function answered(verb: string, root: string, path: string): string {
  const { grants } = readWritten([{ [verb]: { in: root } }]);
  const request = requestFor(verb, { path });
  return request.ok ? decisionOf(grants, request.value).outcome : "refused";
}
