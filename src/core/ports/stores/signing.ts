// Signing what was written down, and checking it with nothing but the public key.

/** Holds a private key. */
export interface Signer {
  /** The public half as text: `ambit-audit-key+<eight hexadecimal digits>+<base64>`. */
  readonly key: string;
  /** Ed25519 over the text's UTF-8: 64 bytes. */
  sign(text: string): Uint8Array;
}

/** Whether this is a signature of exactly this text by the private half of this key. Never throws. */
export type CheckSignature = (key: string, text: string, signature: Uint8Array) => boolean;
