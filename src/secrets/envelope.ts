// Envelope encryption: each value under its own key, and that key under the state key. The label is authenticated data:
// a row combined from two others does not open.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { SealedSecret, SecretBinding } from "../core/ports/stores/secret-store.ts";
import type { StateKey } from "./key.ts";

const CIPHER = "aes-256-gcm";
const FORMAT = 1;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const wrappedBytes = nonceBytes + keyBytes + tagBytes;

/** What is stored beside a sealed value and must not change without it. */
export type SealLabel = Pick<SealedSecret, "name" | "version" | "binding" | "username" | "isCanary">;

export function seal(value: Uint8Array, label: SealLabel, key: StateKey): string {
  const own = randomBytes(keyBytes);
  try {
    const about = aboutBytes(label, key.id);
    const envelope = [Buffer.of(FORMAT), encrypt(own, key.bytes, about), encrypt(value, own, about)];
    return Buffer.concat(envelope).toString("base64");
  } finally {
    own.fill(0);
  }
}

/** Null: another key, another label, or modified data. The caller wipes the result. */
export function unseal(sealed: string, label: SealLabel, key: StateKey): Buffer | null {
  const envelope = Buffer.from(sealed, "base64");
  if (envelope[0] !== FORMAT || envelope.length < 1 + wrappedBytes + nonceBytes + tagBytes) return null;
  const about = aboutBytes(label, key.id);
  const own = decrypt(envelope.subarray(1, 1 + wrappedBytes), key.bytes, about);
  if (own === null) return null;
  try {
    return own.length === keyBytes ? decrypt(envelope.subarray(1 + wrappedBytes), own, about) : null;
  } finally {
    own.fill(0);
  }
}

/** One encoding for everything that is bound, so that no two labels encode alike. */
function aboutBytes({ name, version, binding, username, isCanary }: SealLabel, keyId: string): Buffer {
  const { tools, hosts, uses, isSignOnly }: SecretBinding = binding;
  const label = ["ambit secret", FORMAT, keyId, name, version, tools, hosts, uses, username, isCanary];
  return Buffer.from(JSON.stringify(isSignOnly === true ? [...label, "sign"] : label));
}

/** Nonce, ciphertext, tag. */
export function encrypt(value: Uint8Array, key: Uint8Array, about: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(about);
  return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(sealed: Uint8Array, key: Uint8Array, about: Uint8Array): Buffer | null {
  if (sealed.length < nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(about);
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const first = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
  try {
    const whole = Buffer.concat([first, decipher.final()]);
    return whole;
  } catch {
    return null;
  } finally {
    first.fill(0);
  }
}
