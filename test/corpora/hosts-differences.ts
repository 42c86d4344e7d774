// Differences between other tools' host patterns and ours. Each is recognized from the input alone, and excuses only the answer
// that our rule predicts.
import { baseOf, canonical, isAddress, isRange } from "./hosts-reference.ts";

export interface HostInput {
  readonly patterns: readonly string[];
  /** Null if only the pattern matters. */
  readonly host: string | null;
  readonly semantics: string;
}

export interface HostDifference {
  readonly name: string;
  readonly holds: (input: HostInput) => boolean;
}

const foreign = /[^A-Za-z0-9._*+-]/;

export const PORT_IN_HOST = "port in the host";

/** The first that matches names the case, so the most obvious one comes first. */
export const hostDifferences: readonly HostDifference[] = [
  { name: PORT_IN_HOST, holds: ({ host }) => host !== null && hasPort(host) },
  { name: "port in the pattern", holds: ({ patterns }) => patterns.some(hasPort) },
  { name: "zone", holds: (input) => anyText(input, (text) => text.includes(":") && text.includes("%")) },
  { name: "star inside a label", holds: ({ patterns }) => patterns.some((each) => /[^.*]\*|\*[^.*]/.test(each)) },
  { name: "double star", holds: ({ patterns }) => patterns.some((each) => each.includes("**")) },
  { name: "star below the first label", holds: ({ patterns }) => patterns.some((each) => /\.\*/.test(each)) },
  { name: "empty label", holds: (input) => anyText(input, (text) => !text.includes(":") && /^\.|\.\./.test(text)) },
  {
    name: "apex",
    holds: ({ patterns, host, semantics }) =>
      !/includes the apex/.test(semantics) && trees(patterns).some((base) => same(base, host)),
  },
  {
    name: "any depth",
    holds: ({ patterns, host, semantics }) =>
      /one label|exactly one/.test(semantics) && trees(patterns).some((base) => depth(base, host) > 1),
  },
  {
    name: "star over a top-level domain",
    holds: ({ patterns, host, semantics }) =>
      /not for|pattern validation/.test(semantics) &&
      trees(patterns).some(
        (base) => !base.replace(/\.$/, "").includes(".") && (host === null || depth(base, host) === 1),
      ),
  },
  { name: "lone star", holds: ({ patterns }) => patterns.includes("*") },
  { name: "range of addresses", holds: ({ patterns }) => patterns.some(isRange) },
  {
    name: "literal address",
    holds: ({ patterns, host, semantics }) =>
      (host === null || /tls/.test(semantics)) &&
      patterns.some((each) => isAddress(each) && (host === null || same(each, host))),
  },
  {
    name: "single label",
    holds: ({ patterns, host, semantics }) =>
      host === null && /pattern validation/.test(semantics) && patterns.some((each) => !each.includes(".")),
  },
  { name: "hyphen at the edge of a label", holds: (input) => anyText(input, (text) => /(^|\.)-|-(\.|$)/.test(text)) },
  { name: "trailing dot", holds: (input) => anyText(input, (text) => text.endsWith(".")) },
  { name: "international name", holds: (input) => anyText(input, (text) => /[^\p{ASCII}]/u.test(text)) },
  { name: "case", holds: (input) => anyText(input, (text) => text !== text.toLowerCase()) },
  {
    name: "last label is a number",
    holds: (input) => anyText(input, (text) => /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(text)),
  },
  { name: "outside the host alphabet", holds: (input) => anyText(input, (text) => foreign.test(text)) },
];

function anyText({ patterns, host }: HostInput, holds: (text: string) => boolean): boolean {
  return patterns.some(holds) || (host !== null && holds(host));
}

/** `name:80`, `[address]:80` and a bare `name:`; never the colons of an address. */
function hasPort(text: string): boolean {
  return /^(\[[^\]]*\]|[^:]*):[^:]*$/.test(text);
}

function trees(patterns: readonly string[]): readonly string[] {
  return patterns.filter((each) => each.startsWith("*.")).map((each) => baseOf(each) as string);
}

function same(left: string, right: string | null): boolean {
  return right !== null && canonical(left) !== null && canonical(left) === canonical(right);
}

/** How many labels a host has below a base; 0 if it is not below it. */
function depth(base: string, host: string | null): number {
  const [known, name] = [canonical(base), host === null ? null : canonical(host)];
  if (known === null || name === null || !name.endsWith(`.${known}`)) return 0;
  return name.slice(0, -known.length - 1).split(".").length;
}
