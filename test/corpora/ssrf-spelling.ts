// Page URLs that browsers repair and we refuse: the oddity of a text, recognized from the text alone.
import { strictAscii } from "./hosts-reference.ts";

const charactersMax = 8192;

const oddities: readonly (readonly [string, (url: string, authority: string, host: string) => boolean])[] = [
  ["longer than an address may be", (url) => url.length > charactersMax],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  ["space or control character", (url) => /[\u0000-\u0020\u007f]/.test(url)],
  ["reserved character", (url) => /[\ue000\ue001]/.test(url) || /\p{Surrogate}/u.test(url)],
  ["not two slashes behind the scheme", (url) => !/^https?:\/\/[^/\\]/i.test(url)],
  ["name or password before the host", (_, authority) => authority.includes("@")],
  ["backslash before the path", (url) => /^https?:\/\/[^/?#]*\\/i.test(url)],
  ["percent in the host", (_, __, host) => host.includes("%")],
  ["port out of range", (_, authority) => Number(/:(\d+)$/.exec(authority)?.[1] ?? 80) > 65_535],
  ["port 0", (_, authority) => /:0+$/.test(authority)],
  ["port with leading zeros", (_, authority) => /:0\d{5,}$/.test(authority)],
  ["empty label", (_, __, host) => /^\.|\.\./.test(plain(host))],
  [
    "label longer than 63",
    (_, __, host) =>
      plain(host)
        .split(".")
        .some((label) => label.length > 63),
  ],
  ["name longer than 253", (_, __, host) => plain(host).replace(/\.$/, "").length > 253],
  ["outside the host alphabet", (_, __, host) => /[^A-Za-z0-9._-]/.test(host.replace(/[^\p{ASCII}]/gu, ""))],
  ["not an international name here", (_, __, host) => strictAscii(host) === null],
  ["last label is a number", (_, __, host) => /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(plain(host))],
];

/** The oddity of a URL that our parser refuses; null if there is none, and the refusal is a mistake. */
export function oddity(url: string): string | null {
  const authority = /^[a-z][a-z0-9+.-]*:[\\/]*([^/\\?#]*)/i.exec(url)?.[1] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "");
  return oddities.find(([, holds]) => holds(url, authority, host))?.[0] ?? null;
}

function plain(host: string): string {
  return strictAscii(host) ?? host;
}
