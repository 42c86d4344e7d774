// Signing of the log, and verification with only the public key.

/** Holds a private key. */
export interface Signer {
  /** The public key as text: `ambit-audit-key+<eight hexadecimal digits>+<base64>`. */
  readonly key: string;
  /** Ed25519 over the text's UTF-8: 64 bytes. */
  sign(text: string): Uint8Array;
}

/** Whether this is a signature of exactly this text by this key. Never throws. */
export type CheckSignature = (key: string, text: string, signature: Uint8Array) => boolean;
