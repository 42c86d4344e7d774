// A value that must not be shown, under the name that replaces it.
import { redactedBytesMax, redactedSecretsMax, secretBytesMax, secretCharactersMin } from "./limits.ts";
import { charactersOf } from "./utf8.ts";

export interface KnownSecret {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Why a value cannot be redacted; null if it can. Checked when a secret is set. */
export function notRedactable(bytes: Uint8Array): string | null {
  if (bytes.length > secretBytesMax) return `a secret has at most ${secretBytesMax} bytes`;
  const count = charactersOf(bytes)?.length ?? bytes.length;
  return count < secretCharactersMin
    ? `a secret has at least ${secretCharactersMin} characters: a shorter one could not be redacted`
    : null;
}

/** The same for all secrets together. */
export function notRedactableTogether(secrets: readonly KnownSecret[]): string | null {
  if (secrets.length > redactedSecretsMax) return `there are at most ${redactedSecretsMax} secrets`;
  const bytes = secrets.reduce((sum, secret) => sum + secret.bytes.length, 0);
  return bytes > redactedBytesMax ? `all secrets together have at most ${redactedBytesMax} bytes` : null;
}
