// Handles `{{secret:name}}` of an outgoing request: replaced by the value in the encoding of their position.

import { handlePattern, type ValueEncoding } from "../../../core/authority/axes/http-request.ts";
import type { Url } from "../../../core/authority/axes/url.ts";
import type { Failure } from "../../../core/base/result.ts";
import { isBoundTo } from "./handles-binding.ts";

/** As the daemon passes it for one request. Wiped afterwards. */
export interface SecretValue {
  readonly name: string;
  readonly value: Buffer;
  readonly hosts: readonly string[];
  readonly isSignOnly: boolean;
}

export type FillResult = { readonly ok: true; readonly text: string; readonly used: readonly SecretValue[] } | Failure;

/** Replaces each handle by its value, for this URL only; one that cannot be filled refuses the whole text. */
export function fill(text: string, place: ValueEncoding, secrets: readonly SecretValue[], to: Url): FillResult {
  const used = new Set<SecretValue>();
  let problem: string | null = null;
  const filled = text.replace(handlePattern(place), (_, name: string) => {
    const secret = secrets.find((one) => one.name === name);
    if (secret === undefined) problem ??= `there is no secret ${name} for this request`;
    else if (!isBoundTo(secret.hosts, to)) problem ??= `the secret ${name} is not for this address`;
    else if (secret.isSignOnly) problem ??= `the secret ${name} only signs requests and is never sent`;
    else if (place === "header" && !isHeaderValue(secret.value))
      problem ??= `the secret ${name} has characters that a header cannot contain`;
    else {
      used.add(secret);
      return written(secret.value, place);
    }
    return "";
  });
  return problem === null ? { ok: true, text: filled, used: [...used] } : { ok: false, message: problem };
}

function isHeaderValue(value: Buffer): boolean {
  return value.every((byte) => byte >= 0x20 && byte !== 0x7f);
}

function written(value: Buffer, place: ValueEncoding): string {
  switch (place) {
    case "header":
    case "plain":
      return value.toString("latin1");
    case "query":
    case "form":
      return value.toString("latin1").replace(/[^A-Za-z0-9\-_.~]/g, (one) => `%${hex(one)}`);
    case "json":
      return Buffer.from(JSON.stringify(value.toString("utf8")).slice(1, -1)).toString("latin1");
    default:
      return place satisfies never;
  }
}

/**
 * Every encoding a value is sent in, to be redacted from the response: a server may echo it as received, encoded once
 * more.
 */
export function writtenForms({
  name,
  value,
}: SecretValue): readonly { readonly name: string; readonly bytes: Buffer }[] {
  const texts = new Set((["plain", "query", "json"] as const).map((place) => written(value, place)));
  return [...texts].map((text) => ({ name, bytes: Buffer.from(text, "latin1") }));
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
}
