// Canonical spelling of hosts: our parsed host against the source's expected spelling.
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { destinationText, parseHost } from "../../src/core/authority/axes/destination.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { compareAnswers, HELD, type Outcome } from "./tally.ts";

/** `becomes`: the canonical spelling, or null if the text must be refused. */
export function canonicalOutcome(host: string, becomes: string | null): Outcome {
  const read = parseHost(host, toAscii);
  if (!read.ok) {
    const reason = becomes === null ? undefined : strictness.find(([, holds]) => holds(host, becomes))?.[0];
    return reason === undefined ? compareAnswers(becomes !== null, false, refusal(host)) : { kind: "decided", reason };
  }
  const ours = destinationText(read.value);
  if (becomes === null) return { kind: "missed", note: "no host, but read as one" };
  return plain(ours) === plain(becomes) ? HELD : { kind: "missed", note: `read as ${ours}` };
}

/** What we refuse although other tools accept it. */
const strictness: readonly (readonly [string, (host: string, becomes: string) => boolean])[] = [
  ["port in the host", (host) => /^(\[[^\]]*\]|[^:]*):\d*$/.test(host)],
  ["zone", (host) => host.includes(":") && host.includes("%")],
  ["empty label", (_, becomes) => /^\.|\.\./.test(becomes)],
  ["label longer than 63", (_, becomes) => becomes.split(".").some((label) => label.length > 63)],
  ["name longer than 253", (_, becomes) => becomes.replace(/\.$/, "").length > 253],
  ["outside the host alphabet", (host) => /[^A-Za-z0-9._-]/.test(host.replace(/[^\p{ASCII}]/gu, ""))],
  ["not the Punycode of a name", (host) => /(^|\.)xn--/i.test(host) && domainToASCII(host) === ""],
  ["versions of Unicode disagree", (host) => /\u1e9e/.test(host)],
  ["last label is a number", (_, becomes) => /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(becomes) && isIP(becomes) === 0],
];

function refusal(host: string): string {
  return domainToASCII(host) === "" ? "unknown to this Node's tables" : "no named difference";
}

/** An address has many spellings and brackets are not part of it; a name has one. */
function plain(text: string): string {
  const inner = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  return isIP(inner) === 6 ? new URL(`http://[${inner}]/`).hostname : inner;
}
