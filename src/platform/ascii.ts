// International host names to ASCII, by the tables Node brings.
import { domainToASCII } from "node:url";
import type { ToAscii } from "../core/authority/axes/destination.ts";

/**
 * The capital sharp s maps to `ss` before Unicode 15.1 and to itself since. Two parsers would see two hosts, so it is
 * refused.
 */
const UNSETTLED = /\u1e9e/;

/**
 * Node parses the text as the host of a URL: `ä.de/x` would be cut, a tab dropped, `%2e` decoded to a dot. ASCII
 * characters that no name has are refused before parsing, and any result that is not a name after it.
 */
export const toAscii: ToAscii = (host) => {
  if (/(?![A-Za-z0-9._-])\p{ASCII}/u.test(host) || UNSETTLED.test(host)) return null;
  const ascii = domainToASCII(host);
  // Digits of other scripts can spell an address; that is not a name.
  return /^[a-z0-9._-]+$/.test(ascii) && !/(?:^|\.)\d+\.?$/.test(ascii) ? ascii : null;
};
