// Handles `{{secret:name}}`: found in what is to be sent, and replaced by the value in the one way its place asks for.
import type { Url } from "../../../core/authority/axes/url.ts";
import { isBoundTo } from "./handles-binding.ts";

/** As the owner gives it for one request. Wiped when that is over. */
export interface GivenSecret {
  readonly name: string;
  readonly value: Buffer;
  readonly hosts: readonly string[];
}

const HANDLE = /\{\{secret:([A-Za-z0-9][A-Za-z0-9._-]{0,63})\}\}/g;
/** Whoever puts a handle into an address may have encoded its braces. */
const QUERY_HANDLE = /(?:\{|%7b){2}secret(?::|%3a)([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:\}|%7d){2}/gi;

/** How a value is written where it goes. */
export type Place = "header" | "query" | "json" | "form" | "plain";

export type Filled =
  | { readonly ok: true; readonly text: string; readonly used: readonly GivenSecret[] }
  | { readonly ok: false; readonly message: string };

/** Names in the order they stand. Text is bytes, one a character. */
export function handlesIn(text: string, place: Place): readonly string[] {
  return [...text.matchAll(place === "query" ? QUERY_HANDLE : HANDLE)].map((match) => match[1] as string);
}

/** Each handle by its value, for this address and no other; one that cannot be filled refuses all of it. */
export function fill(text: string, place: Place, secrets: readonly GivenSecret[], to: Url): Filled {
  const used = new Set<GivenSecret>();
  let problem: string | null = null;
  const filled = text.replace(place === "query" ? QUERY_HANDLE : HANDLE, (_, name: string) => {
    const secret = secrets.find((one) => one.name === name);
    if (secret === undefined) problem ??= `there is no secret ${name} for this request`;
    else if (!isBoundTo(secret.hosts, to)) problem ??= `the secret ${name} is not for this address`;
    else if (place === "header" && !isHeaderValue(secret.value))
      problem ??= `the secret ${name} does not fit in a header`;
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

function written(value: Buffer, place: Place): string {
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

/** Every way a value is sent in, to be looked for in what comes back: a server may say it again as it got it, encoded once more. */
export function writtenForms({
  name,
  value,
}: GivenSecret): readonly { readonly name: string; readonly bytes: Buffer }[] {
  const texts = new Set((["plain", "query", "json"] as const).map((place) => written(value, place)));
  return [...texts].map((text) => ({ name, bytes: Buffer.from(text, "latin1") }));
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
}
