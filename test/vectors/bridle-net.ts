// Which addresses a caveat lets a name resolve to, and which addresses no name reaches unless they are opened.

import { type Opening, parseHostPattern } from "../../src/core/authority/axes/destination.ts";
import { screen } from "../../src/core/authority/axes/screen.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { DEEP } from "../../src/core/authority/patterns/segment.ts";
import { type Address, addressText, parseAddress, parseRange } from "../../src/core/base/address.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { caveatsLink } from "./caveats.ts";
import { answerOf, authorityOf, momentOf } from "./machine.ts";
import { allowOrDeny, type Family, ourCode, yesOrNo } from "./outcome.ts";
import { fetchOf } from "./requests.ts";
import { has, type Row, textAt, textsAt, textsOr } from "./row.ts";
import { readWritten } from "./written.ts";

export const netScreen: Family = {
  answers: ["expect", "code", "pinned"],
  run: (row) => {
    const { grants } = caveatsLink({ net: row["net"] as Json });
    const openings = openingsOf(row);
    const got = screened(
      grants.map((grant) => opened(grant, openings)),
      textAt(row, "host"),
      textsAt(row, "resolved"),
    );
    const expected: Record<string, Json> = { expect: textAt(row, "expect") };
    if (has(row, "code")) expected["code"] = ourCode(textAt(row, "code"));
    if (has(row, "pinned")) expected["pinned"] = textsAt(row, "pinned").map(canonical).sort();
    return allowOrDeny(expected, got);
  },
};

function screened(grants: readonly Grant[], host: string, answers: readonly string[] | null): JsonObject {
  const request = fetchOf(`http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}/`);
  if (!request.ok) return { expect: "deny", code: "invalid_input", pinned: [] };
  const authority = authorityOf(grants);
  const [chain] = authority;
  if (chain === undefined) throw new Error("an authority without a chain");
  const { decision, pinned } = screen(authority, request.value, answers, momentOf(chain));
  return { ...answerOf(decision), pinned: pinned.map(addressText).sort() };
}

/** Names in `net_private` open each address of the answer as itself; `all` opens what the widest range still opens. */
function openingsOf(row: Row): readonly Opening[] {
  const opened = row["net_private"];
  const addresses = textsAt(row, "resolved").flatMap((text) => parseAddress(text) ?? []);
  if (opened === "all")
    return addresses.map((address) => ({ name: [DEEP], range: around(address, address.family === 4 ? 8 : 32) }));
  const names = isJsonObject(opened) ? textsOr(opened, "only", []) : [];
  return names.flatMap((text) => {
    const name = parseHostPattern(text, toAscii);
    return name.ok
      ? addresses.map((address) => ({ name: name.value, range: around(address, address.family === 4 ? 32 : 128) }))
      : [];
  });
}

function around(address: Address, prefix: number): Opening["range"] {
  const size = 1n << BigInt((address.family === 4 ? 32 : 128) - prefix);
  const range = parseRange(
    `${addressText({ ...address, number: address.number - (address.number % size) })}/${prefix}`,
  );
  if (!range.ok) throw new Error(range.message);
  return range.value;
}

function opened(grant: Grant, openings: readonly Opening[]): Grant {
  return {
    ...grant,
    scopes: grant.scopes.map((scope) => (scope.kind === "destinations" ? { ...scope, openings } : scope)),
  };
}

function canonical(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : addressText(address);
}

/** Both ways to an address must agree: as a literal, and as what a name resolves to. Null: not an address at all. */
export const ssrfAddress: Family = {
  answers: ["blocked"],
  run: (row) => {
    const text = textAt(row, "ip");
    const expected = row["blocked"] as boolean | null;
    const { grants } = readWritten([{ "net.get": { hosts: ["*"] } }]);
    const isAddress = parseAddress(text) !== null;
    const literal = screened(grants, text, null)["expect"] !== "allow";
    const named = screened(grants, "name.example", [text])["expect"] !== "allow";
    const got = isAddress ? (literal === named ? literal : "as a literal and as an answer it is not the same") : null;
    const refused = literal && named;
    if (!isAddress && !refused)
      return { kind: "compared", expected: { blocked: expected }, got: { blocked: "let through" }, wider: true };
    return {
      ...yesOrNo("blocked", false, false),
      expected: { blocked: expected },
      got: { blocked: got },
      wider: expected !== false && got === false,
    };
  },
};
