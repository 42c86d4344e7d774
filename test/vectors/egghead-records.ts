// Records and lists of capabilities: what they grant, and the diagnostics about their mistakes.
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { type Diagnostic, Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { treeOf } from "./json-tree.ts";
import { grantTexts, isWithin, NO_SPAN, READING, sameAuthority } from "./machine.ts";
import { agrees, type Compared, type Family } from "./outcome.ts";
import { flagAt, has, listAt, mapAt, type Row, textAt } from "./row.ts";
import { readWritten } from "./written.ts";

/** Authority against authority, and whether there was a diagnostic. */
export function authorityCompared(
  row: Row,
  expected: readonly Grant[],
  got: readonly Grant[],
  diagnostics: readonly Diagnostic[],
): Compared {
  const isSame = sameAuthority(expected, got);
  const said: JsonObject = has(row, "warning") || has(row, "error") ? { told: true } : {};
  const shownGot: JsonObject = {
    grants: isSame ? grantTexts(expected) : grantTexts(got),
    told: diagnostics.length > 0,
  };
  return {
    kind: "compared",
    expected: { grants: grantTexts(expected), ...said },
    got: shownGot,
    wider: !isWithin(got, expected),
    answers: (answer) => (has(answer, "each") ? isEach(answer, got) : agrees(answer, shownGot)),
  };
}

/** Every item by itself, one beside the other. */
function isEach(answer: JsonObject, got: readonly Grant[]): boolean {
  const each = listAt(answer, "each").flatMap((item) => readWritten([item]).grants);
  return sameAuthority(each, got);
}

export const accessAndDefaults: Family = {
  answers: ["grants", "valid_access", "warning"],
  run: (row) => {
    const meta = mapAt(row, "meta");
    const record = readRecord(treeOf(meta), READING);
    if (has(row, "valid_access")) {
      const { access: _, ...rest } = meta;
      const isRefused =
        record.diagnostics.length > 0 && isWithin(record.grants, readRecord(treeOf(rest), READING).grants);
      const isValid = !isRefused && record.diagnostics.every(({ severity }) => severity !== "error");
      const expected = flagAt(row, "valid_access");
      return {
        kind: "compared",
        expected: { valid_access: expected },
        got: { valid_access: isRefused ? false : isValid ? true : null },
        wider: isValid && !expected,
      };
    }
    // Written out as a list, so that both sides get a record's default grants.
    const written = readRecord(treeOf({ capabilities: listAt(row, "grants") }), READING);
    return authorityCompared(row, written.grants, record.grants, record.diagnostics);
  },
};

export const parse: Family = {
  answers: ["grants", "warning", "ok", "error"],
  run: (row) => {
    if (has(row, "spec")) return parseSpec(row);
    const { grants, diagnostics } = readWritten(row["input"] ?? []);
    const expected = readWritten(listAt(row, "grants").map((item) => keyed(item as JsonObject)));
    return authorityCompared(row, expected.grants, grants, diagnostics);
  },
};

function keyed(item: JsonObject): JsonObject {
  return { [textAt(item, "key")]: item["scope"] as Json };
}

function parseSpec(row: Row): Compared {
  const spec = textAt(row, "spec");
  const diagnostics = new Diagnostics();
  const grant = readCompact(spec, { reading: READING, diagnostics, span: NO_SPAN, root: null });
  const isOk = grant !== null && diagnostics.list.every(({ severity }) => severity !== "error");
  if (!has(row, "ok"))
    return {
      kind: "compared",
      expected: { ok: false },
      got: { ok: isOk || diagnostics.list.length === 0 },
      wider: isOk,
    };
  const expected = readWritten([row["ok"] as Json]).grants;
  const { grants } = readWritten([spec]);
  const compared = authorityCompared(row, expected, grants, diagnostics.list);
  const { answers: _, ...rest } = compared;
  return { ...rest, expected: { ok: true, ...compared.expected }, got: { ok: isOk, ...compared.got } };
}

/** `ok` is the absence of errors; a warning, such as a grant that covers nothing, is none. */
export const checkedList: Family = {
  answers: ["ok", "suggestion"],
  run: (row) => {
    const { diagnostics } = readWritten(row["input"] ?? []);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    const expected: Record<string, Json> = { ok: flagAt(row, "ok") };
    if (has(row, "suggestion")) expected["suggestion"] = row["suggestion"] as Json;
    const suggestion = errors.find((error) => error.suggestion !== null)?.suggestion ?? null;
    const got = { ok: errors.length === 0, suggestion };
    return { kind: "compared", expected, got, wider: got.ok && expected["ok"] === false };
  },
};
