// International host names to ASCII, for a process that reads only what its daemon and its sandboxes send.
import { domainToASCII } from "node:url";
import type { ToAscii } from "../../../core/authority/axes/destination.ts";

/**
 * Names arrive in ASCII: from DNS, and in specs that were parsed before. What remains to check is whether a label that
 * begins with `xn--` decodes.
 */
export const toAscii: ToAscii = (host) => {
  if (!/^[A-Za-z0-9._-]+$/.test(host)) return null;
  const ascii = domainToASCII(host);
  return /^[a-z0-9._-]+$/.test(ascii) && !/(?:^|\.)\d+\.?$/.test(ascii) ? ascii : null;
};
