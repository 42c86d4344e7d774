// What looks like a credential in texts that people wrote: settings of clients, words of command lines, addresses. Two readers: an
// import asks the person, so it is strict; a copy into a sandbox drops what it finds, and prose in it has to survive.
// INVARIANT: every repetition of a pattern has a bound, so that a long text takes time by its length and no more.

/** Names of options, variables and parameters that speak of a credential. Not those of authors, nor of numbers of tokens. */
export const SECRET_WORD: RegExp =
  /key|token|secret|passw|pwd|passphrase|credential|auth(?!or)|cookie|session|signature|dsn|private|bearer|(?:^|[_-])pat(?:$|[_-])/i;

/** Beginnings that services give to their credentials. */
const BEGINNINGS = [
  ...["sk-", "sk_", "pk_live", "rk_", "gh[opsur]_", "github_pat_", "glpat-", "xox[abpors]-", "xapp-", "AKIA", "ASIA"],
  ...[
    "AIza",
    "ya29\\.",
    "eyJ[A-Za-z0-9_-]{8}",
    "npm_",
    "pypi-",
    "hf_",
    "ntn_",
    "secret_",
    "lin_api_",
    "shpat_",
    "dop_v1_",
  ],
  ...["sbp_", "gsk_", "xai-", "pplx-", "tvly-", "figd_", "nvapi-", "r8_", "dckr_pat_", "glrt-", "hvs\\.", "ATATT3"],
  ...["whsec_", "AGE-SECRET-KEY-1"],
].join("|");

const BEGINS = new RegExp(`(?:^|[^A-Za-z0-9])(?:${BEGINNINGS}|-----BEGIN)`);

/** A prefix with enough characters after it; a prefix that also begins ordinary names needs a digit as well. */
const WHOLE = [
  "sk-[\\w-]{16}|(?:gh[opsur]|glpat|npm|pypi|hf|xox[abprs])[_-][\\w-]{16}|github_pat_\\w{16}|AKIA[0-9A-Z]{16}|AIza[\\w-]{30}",
  "eyJ[\\w-]{8,512}\\.eyJ[\\w-]{8}",
  `(?:${BEGINNINGS})(?=[\\w.-]{0,64}\\d)[\\w.-]{16}`,
].join("|");

/**
 * Texts that are a credential wherever they stand: prefixes that providers give their keys, keys in PEM, signed tokens, a user or
 * a password before the host of a URL, both before a host that is named without one, and addresses that are one.
 */
const SECRET_TEXT = new RegExp(
  [
    `(?<![A-Za-z0-9])(?:${WHOLE})`,
    "-----BEGIN [A-Z ]{0,40}PRIVATE KEY",
    "\\bBearer\\s{1,16}\\S{8}",
    "[Aa]uthorization[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?[A-Za-z]{1,16}\\s{1,4}[\\w+/=.-]{8}",
    ":\\/\\/[^/\\s?#]{0,512}@",
    "(?:^|[\\s=\"'])[^\\s/:@]{1,128}:[^\\s/@]{1,256}@[\\w.-]",
    "hooks\\.slack\\.com\\/services\\/T|\\/api\\/webhooks\\/\\d{1,32}\\/[\\w-]{20}",
  ].join("|"),
);

/** In a text of any length, also in prose. */
export function holdsCredential(text: string): boolean {
  return SECRET_TEXT.test(text);
}

/** Within a word of a command line or a query: also a value that is assigned to a name that speaks of one. */
export function credentialIn(word: string): boolean {
  return BEGINS.test(word) || /:\/\/[^/@\s:]{0,128}:[^/@\s]{1,512}@/.test(word) || assignsCredential(word);
}

/** In a text that may be an address, a command line, a rule or prose: by whole credentials, and by what is assigned to a name. */
export function credentialInSetting(text: string): boolean {
  const words = text.split(/\s+/);
  return (
    holdsCredential(text) ||
    words.some((word, at) => assignsCredential(word) || (at > 0 && isCredentialOption(words[at - 1] ?? "", word)))
  );
}

function assignsCredential(word: string): boolean {
  // The value is looked at and not consumed: it may be an address with an assignment of its own.
  return [...word.matchAll(/(?<![\w.-])([\w.-]{1,128})[=:]\s{0,4}(?=([^&\s]{6,512}))/g)].some(
    ([, name = "", value = ""]) => SECRET_WORD.test(name) && !isPlainValue(value),
  );
}

/** The word after an option that speaks of a credential. */
export function isCredentialOption(before: string, word: string): boolean {
  const isOption = /^--?[\w-]+$/.test(before) && SECRET_WORD.test(before);
  return isOption && !word.startsWith("-") && word.length >= 6 && !isPlainValue(word);
}

const PLAIN = /^(?:~?\.{0,2}\/[\w.@-]+\/[\w./@-]*|\d+|true|false|https?:\/\/[^\s?=@]*)$/;

/** A reference to a value that is elsewhere, a path, an address without a credential, a number, a switch. */
function isPlainValue(value: string): boolean {
  return referenceIn(value) !== null || PLAIN.test(value);
}

/** `${NAME}`, `${env:NAME}`, `{env:NAME}` and `$NAME`: the client takes the value from elsewhere. */
export function referenceIn(value: string): string | null {
  return (
    /^\$?\{(?:env:|input:)?([A-Za-z_][A-Za-z0-9_-]*)(?::-[^}]*)?\}$|^\$([A-Za-z_][A-Za-z0-9_]*)$/
      .exec(value)
      ?.slice(1)
      .find(Boolean) ?? null
  );
}

/** A reference to what the client asks the person for when it starts the server. */
export function isInput(reference: string): boolean {
  return /^\$?\{input:/.test(reference);
}

/** Whether a text begins as credentials of services do. */
export function beginsLikeCredential(text: string): boolean {
  return BEGINS.test(text);
}
