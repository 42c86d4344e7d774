// An independent check of addresses with Node's own block list: which are special, and which a written range opens.
import { BlockList, isIP } from "node:net";

/** The IANA special-purpose registries, multicast, ranges that embed other addresses, and all but global unicast. */
const SPECIAL = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24",
  "203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20",
].flatMap((line) => line.split(" "));

const METADATA = [
  "169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 169.254.169.123 169.254.0.23 100.100.100.200",
  "192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:ec2::23 fd20:ce::254",
].flatMap((line) => line.split(" "));

const GLOBAL_UNICAST = "2000::/3";

export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

export function isMetadata(text: string): boolean {
  return METADATA.some((one) => contains(one, text));
}

export function isSpecial(text: string): boolean {
  if (SPECIAL.some((range) => contains(range, text)) || isMetadata(text)) return true;
  return isIP(text) === 6 && !isMapped(text) && !contains(GLOBAL_UNICAST, text);
}

export function inRanges(ranges: readonly string[], address: string): boolean {
  return isAddress(address) && ranges.some((range) => isAddress(range.split("/")[0] ?? "") && contains(range, address));
}

function isMapped(text: string): boolean {
  return contains("::ffff:0:0/96", text, true);
}

/** Whether this entry of `hosts` opens this literal address. */
export function literalOpens(entry: string, address: string): boolean {
  if (entry === "*") return !isSpecial(address);
  const [base = "", prefix] = bare(entry).split("/");
  if (!isAddress(base) || !contains(bare(entry), address)) return false;
  const isSingle = prefix === undefined || Number(prefix) === (isIP(base) === 4 ? 32 : 128);
  if (isMetadata(address)) return isSingle;
  return !isSpecial(address) || isSingle || Number(prefix) >= (isIP(base) === 4 ? 8 : 32);
}

export function bare(text: string): string {
  return text.replace(/^\[(.*)\]$/, "$1");
}

/** `exactFamily`: a mapped address is checked as the IPv6 address it is written as. */
function contains(range: string, address: string, exactFamily = false): boolean {
  const [base = "", prefix] = range.split("/");
  const list = new BlockList();
  const family = isIP(base) === 4 ? "ipv4" : "ipv6";
  if (prefix === undefined) list.addAddress(base, family);
  else list.addSubnet(base, Number(prefix), family);
  if (!exactFamily && isIP(address) === 6) {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    if (mapped !== undefined) return family === "ipv4" && list.check(mapped, "ipv4");
  }
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
