// Ed25519 with Node's crypto: a public key as text and back, signatures and their verification.
import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { CheckSignature, Signer } from "../../core/ports/stores/signing.ts";

const NAME = "ambit-audit-key";
/** The kind of key, as numbered by the signed-note format. */
const ED25519 = 1;
/** The DER prefix of a 32-byte Ed25519 public key. */
const PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** Throws for a key of another kind: ours are never such. */
export function keyTextOf(key: KeyObject): string {
  const encoded = (key.type === "private" ? createPublicKey(key) : key).export({ type: "spki", format: "der" });
  if (encoded.length !== 44 || !encoded.subarray(0, 12).equals(PREFIX))
    throw new TypeError("this is not an Ed25519 key");
  const bytes = Buffer.concat([Buffer.from([ED25519]), encoded.subarray(12)]);
  return `${NAME}+${numberOf(bytes)}+${bytes.toString("base64")}`;
}

/** Null if it is not a key, or a key with another key's number. */
export function publicKeyOf(text: string): KeyObject | null {
  const match = /^ambit-audit-key\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text);
  const bytes = Buffer.from(match?.[2] ?? "", "base64");
  if (bytes.length !== 33 || bytes[0] !== ED25519 || numberOf(bytes) !== match?.[1]) return null;
  try {
    return createPublicKey({ key: Buffer.concat([PREFIX, bytes.subarray(1)]), type: "spki", format: "der" });
  } catch {
    return null;
  }
}

export function signerOf(key: KeyObject): Signer {
  return { key: keyTextOf(key), sign: (text) => sign(null, Buffer.from(text, "utf8"), key) };
}

/** Keys are parsed once: a log has few of them, and many signatures. */
export function signatureCheck(): CheckSignature {
  const known = new Map<string, KeyObject | null>();
  return (text, signed, signature) => {
    if (known.size > keysRememberedMax) known.clear();
    const key = known.get(text) ?? publicKeyOf(text);
    known.set(text, key);
    try {
      return key !== null && verify(null, Buffer.from(signed, "utf8"), key, signature);
    } catch {
      return false;
    }
  };
}

const keysRememberedMax = 1000;

/** The first four bytes of the hash over name, line end and key: the key number of signed notes. */
function numberOf(bytes: Buffer): string {
  return createHash("sha256").update(`${NAME}\n`, "utf8").update(bytes).digest("hex").slice(0, 8);
}
