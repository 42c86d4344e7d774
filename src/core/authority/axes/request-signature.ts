// How one HTTP request is signed with a secret: the tool describes the signature, the network broker computes it. The tool
// never sees the key.
import { type HeaderLine, handlesIn } from "./http-request.ts";

const HASHES = ["sha256", "sha384", "sha512"] as const;
const KEYS = ["text", "base64", "hex"] as const;
const ENCODINGS = ["hex", "base64"] as const;

export interface HmacSignature {
  readonly scheme: "hmac";
  /** The name of the secret that is the key. */
  readonly secret: string;
  readonly hash: (typeof HASHES)[number];
  /** How the stored text encodes the key. */
  readonly key: (typeof KEYS)[number];
  /** What is signed: text with `{method}`, `{path}` (with its query) and `{body}`. */
  readonly message: string;
  readonly header: string;
  /** The header's value: text with one `{signature}`. */
  readonly value: string;
  readonly encoding: (typeof ENCODINGS)[number];
}

export interface AwsSignature {
  readonly scheme: "aws-sigv4";
  readonly secret: string;
  /** The access key id, or the handle of a secret that holds it. */
  readonly keyId: string;
  readonly region: string;
  readonly "service": string;
}

export type RequestSignature = HmacSignature | AwsSignature;

/** As a tool writes it; omitted options have the defaults below. */
export type SignatureOptions =
  | (Pick<HmacSignature, "scheme" | "secret" | "header"> & {
      readonly [Key in "hash" | "key" | "message" | "value" | "encoding"]?: HmacSignature[Key] | undefined;
    })
  | AwsSignature;

const signatureCharactersMax = 8192;
const SECRET = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const KEY_ID = /^(?:\w{8,128}|\{\{secret:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\}\})$/;
const PLACE = /^[a-z0-9-]{1,64}$/;
const DEFAULTS = { hash: "sha256", key: "text", message: "{body}", value: "{signature}", encoding: "hex" } as const;

/** The complete signature, or why it is none. Every option is read once. */
export function readSignature(given: Readonly<Record<string, unknown>>): RequestSignature | string {
  const { scheme, ...rest } = given;
  if (scheme !== "hmac" && scheme !== "aws-sigv4") return '`sign.scheme` is "hmac" or "aws-sigv4"';
  if (typeof rest["secret"] !== "string" || !SECRET.test(rest["secret"]))
    return "`sign.secret` is the name of a secret";
  return scheme === "hmac" ? readHmac(rest) : readAws(rest);
}

function readHmac(given: Readonly<Record<string, unknown>>): HmacSignature | string {
  const names = ["secret", "header", ...Object.keys(DEFAULTS)];
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) return `the options of an hmac are ${names.join(", ")}`;
  const option = (name: keyof typeof DEFAULTS): unknown => (given[name] === undefined ? DEFAULTS[name] : given[name]);
  const hash = oneOf(HASHES, option("hash"));
  const key = oneOf(KEYS, option("key"));
  const encoding = oneOf(ENCODINGS, option("encoding"));
  const message = option("message");
  const value = option("value");
  const { secret, header } = given;
  if (hash === null) return `\`sign.hash\` is ${HASHES.join(", ")}`;
  if (key === null) return `\`sign.key\` is ${KEYS.join(", ")}`;
  if (encoding === null) return `\`sign.encoding\` is ${ENCODINGS.join(" or ")}`;
  if (typeof header !== "string" || !HEADER.test(header)) return "`sign.header` is the name of a header";
  if (typeof message !== "string" || message.length > signatureCharactersMax)
    return `\`sign.message\` is a text of at most ${signatureCharactersMax} characters`;
  const odd = [...message.matchAll(/\{\w*\}/g)].find(([one]) => !MESSAGE_PARTS.includes(one));
  if (odd !== undefined) return `\`sign.message\` has ${MESSAGE_PARTS.join(", ")}, not ${odd[0]}`;
  if (handlesIn(message, "plain").length > 0) return "`sign.message` must not contain a secret handle";
  if (typeof value !== "string" || value.length > 256 || value.split("{signature}").length !== 2)
    return "`sign.value` is a text with one {signature}";
  if (!/^[\x20-\x7e]*$/.test(value) || handlesIn(value, "header").length > 0)
    return "`sign.value` must be ASCII without a secret handle";
  return { scheme: "hmac", secret: secret as string, hash, key, message, header, value, encoding };
}

export const MESSAGE_PARTS: readonly string[] = ["{method}", "{path}", "{body}"];

function readAws(given: Readonly<Record<string, unknown>>): AwsSignature | string {
  const { secret, keyId, region, "service": product, ...rest } = given;
  if (Object.keys(rest).length > 0) return "the options of aws-sigv4 are secret, keyId, region, service";
  if (typeof keyId !== "string" || !KEY_ID.test(keyId))
    return "`sign.keyId` is an access key id, or the handle of a secret that holds it";
  if (typeof region !== "string" || !PLACE.test(region)) return "`sign.region` is a region such as eu-central-1";
  if (typeof product !== "string" || !PLACE.test(product)) return "`sign.service` is a service such as s3";
  return { scheme: "aws-sigv4", secret: secret as string, keyId, region, "service": product };
}

/** Why a request with these headers cannot be signed; null if it can. */
export function signatureFault(signature: RequestSignature, headers: readonly HeaderLine[]): string | null {
  const mine = signatureHeaders(signature).map((name) => name.toLowerCase());
  const twice = headers.find(([name]) => mine.includes(name.toLowerCase()));
  return twice === undefined ? null : `the header ${twice[0].toLowerCase()} is set by the signature`;
}

/** The headers that the signature adds. */
export function signatureHeaders(signature: RequestSignature): readonly string[] {
  return signature.scheme === "hmac" ? [signature.header] : ["Authorization", "X-Amz-Date", "X-Amz-Content-Sha256"];
}

/** The secrets of a signature: its key, and the handle of a key id. */
export function signatureSecrets(signature: RequestSignature): readonly string[] {
  return signature.scheme === "hmac" ? [signature.secret] : [signature.secret, ...handlesIn(signature.keyId, "header")];
}

function oneOf<T extends string>(words: readonly T[], value: unknown): T | null {
  return words.find((word) => word === value) ?? null;
}
