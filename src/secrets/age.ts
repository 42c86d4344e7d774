// The state key sealed for an age recipient: the identity that opens it need not be on this machine. The format is
// age's own, written by age's library, so `age -d -i FILE` opens it too. The library is loaded on demand: most states
// have no age key.
import type { Answer, Refusal } from "../core/ports/daemon/exchange.ts";
import { readPrivate } from "./references.ts";

const identitiesMax = 16;
/** Of the stored sealed text. */
export const sealedCharactersMax = 4096;

/** X25519 only: no plug-ins, no ssh keys, nothing that prompts. */
const RECIPIENT = /^age1[02-9ac-hj-np-z]{58}$/;
const IDENTITY = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/;

export async function sealForRecipient(bytes: Buffer, recipient: string): Promise<Answer<string>> {
  if (!RECIPIENT.test(recipient)) return NOT_A_RECIPIENT;
  const library = await ageLibrary();
  if (library === null) return NOT_INSTALLED;
  const sealing = new library.Encrypter();
  try {
    sealing.addRecipient(recipient);
  } catch {
    return NOT_A_RECIPIENT;
  }
  const sealed = await sealing.encrypt(bytes);
  return { ok: true, value: Buffer.from(sealed).toString("base64") };
}

/** The caller wipes the result. */
export async function openWithIdentity(sealed: string, path: string, home: string | null): Promise<Answer<Buffer>> {
  const read = readPrivate(path, home);
  if (!read.ok) return refused(read.message, null);
  const text = read.value.toString("utf8");
  read.value.fill(0);
  const identities = identitiesIn(text);
  if (typeof identities === "string") return refused(`${path} ${identities}`, null);
  const library = await ageLibrary();
  if (library === null) return NOT_INSTALLED;
  const opening = new library.Decrypter();
  try {
    for (const identity of identities) opening.addIdentity(identity);
  } catch {
    return refused(`${path} contains a damaged identity`, null);
  }
  try {
    const opened = await opening.decrypt(Buffer.from(sealed, "base64"));
    const bytes = Buffer.from(opened);
    opened.fill(0);
    return { ok: true, value: bytes };
  } catch {
    return refused(`the identity in ${path} does not decrypt the key`, "ambit secrets unlock --identity FILE");
  }
}

/** Null if the installation is incomplete. */
function ageLibrary(): Promise<typeof import("age-encryption") | null> {
  return import("age-encryption").catch(() => null);
}

/** The identities, or a message that says why there are none. */
function identitiesIn(text: string): readonly string[] | string {
  if (/^(?:age-encryption\.org\/|-----BEGIN AGE)/.test(text))
    return "is encrypted with a passphrase: decrypt it with `age -d` first";
  const lines = text.split("\n").map((line) => line.trim());
  const found = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (found.length === 0) return "contains no identity";
  if (found.length > identitiesMax) return `contains more than ${identitiesMax} identities`;
  return found.every((line) => IDENTITY.test(line))
    ? found
    : "contains lines that are not X25519 identities (AGE-SECRET-KEY-1...)";
}

const NOT_A_RECIPIENT: Refusal = {
  ok: false,
  code: "invalid_input",
  message: "this is not an age X25519 recipient (age1 and 58 more characters)",
  fix: "age-keygen -y IDENTITY_FILE",
};

const NOT_INSTALLED: Refusal = {
  ok: false,
  code: "not_available",
  message: "the package age-encryption cannot be loaded",
  fix: "install ambit again",
};

function refused(message: string, fix: string | null): Refusal {
  return { ok: false, code: "secret_refused", message, fix };
}
