// International host names to ASCII, by the tables Node brings.
import { domainToASCII } from "node:url";
import type { ToAscii } from "../core/authority/axes/destination.ts";

/** The capital sharp s: `ss` to Unicode before 15.1, a letter of its own since. Two readers, two hosts: refused. */
const UNSETTLED = /\u1e9e/;

/**
 * Node reads the text as the host of a URL: `ä.de/x` would lose its end, a tab would vanish, `%2e` would become a dot.
 * So ASCII that is no part of a name is refused before, and anything but a name after.
 */
export const toAscii: ToAscii = (host) => {
  if (/(?![A-Za-z0-9._-])\p{ASCII}/u.test(host) || UNSETTLED.test(host)) return null;
  const ascii = domainToASCII(host);
  // Digits of other scripts can spell an address; that is not a name.
  return /^[a-z0-9._-]+$/.test(ascii) && !/(?:^|\.)\d+\.?$/.test(ascii) ? ascii : null;
};
