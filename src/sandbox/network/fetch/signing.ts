// Signatures of outgoing requests: HMAC over parts of the request, and AWS Signature Version 4. They are computed on what is
// sent, after handles are replaced.

import { createHash, createHmac } from "node:crypto";
import type { HeaderLine } from "../../../core/authority/axes/http-request.ts";
import type { AwsSignature, HmacSignature, RequestSignature } from "../../../core/authority/axes/request-signature.ts";
import type { Failure } from "../../../core/base/result.ts";
import type { HopRequest } from "./fetch-hop.ts";
import { originText } from "./fetch-request.ts";

type SigningResult = { readonly ok: true; readonly sent: HopRequest } | Failure;

/** Adds the headers of the signature. `now`: milliseconds since 1970. The caller wipes `value`. */
export function signRequest(sent: HopRequest, signature: RequestSignature, value: Buffer, now: number): SigningResult {
  const add = (lines: readonly HeaderLine[]): SigningResult => ({
    ok: true,
    sent: { ...sent, headers: [...sent.headers, ...lines] },
  });
  if (signature.scheme === "aws-sigv4") return add(awsHeaders(sent, signature, value, now));
  const key = keyOf(signature, value);
  if (key === null) return { ok: false, message: `the secret ${signature.secret} is not ${signature.key}` };
  try {
    return add([[signature.header, hmacValue(sent, signature, key)]]);
  } finally {
    key.fill(0);
  }
}

/** A copy; null if the stored text is not in the encoding. */
function keyOf({ key }: HmacSignature, value: Buffer): Buffer | null {
  if (key === "text") return Buffer.from(value);
  const text = value.toString("latin1");
  const isEncoded = key === "hex" ? /^(?:[0-9A-Fa-f]{2})+$/ : /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/;
  return isEncoded.test(text) ? Buffer.from(text, key) : null;
}

function hmacValue({ method, path, body }: HopRequest, signature: HmacSignature, key: Buffer): string {
  const hmac = createHmac(signature.hash, key);
  // Placeholders in a path or a body are not replaced: only the tool's own text is split.
  for (const part of signature.message.split(/(\{method\}|\{path\}|\{body\})/)) {
    if (part === "{method}") hmac.update(method);
    else if (part === "{path}") hmac.update(path, "latin1");
    else if (part === "{body}") hmac.update(body ?? Buffer.alloc(0));
    else hmac.update(part, "utf8");
  }
  return signature.value.replace("{signature}", () => hmac.digest(signature.encoding));
}

/** S3 wants the digest of the body as a header, and its keys are not normalised like other paths. */
function awsHeaders(sent: HopRequest, signature: AwsSignature, secret: Buffer, now: number): readonly HeaderLine[] {
  const { keyId, region, "service": product } = signature;
  const isStorage = /^s3(?:-|$)/.test(product);
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const digest = sha256(sent.body ?? "");
  const own: readonly HeaderLine[] = [
    ["X-Amz-Date", time],
    ...(isStorage ? [["X-Amz-Content-Sha256", digest] as const] : []),
  ];
  const lines = canonicalHeaders([["host", hostText(sent)], ...sent.headers.filter(isStable), ...own]);
  const names = lines.map(([name]) => name).join(";");
  const mark = sent.path.indexOf("?");
  const [path, query] = mark < 0 ? [sent.path, ""] : [sent.path.slice(0, mark), sent.path.slice(mark + 1)];
  const canonical = [
    ...[sent.method, isStorage ? storagePath(path) : normalPath(path), canonicalQuery(query)],
    ...[...lines.map(([name, value]) => `${name}:${value}`), "", names, digest],
  ].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/${product}/aws4_request`;
  const message = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(Buffer.from(canonical, "latin1"))}`;
  const first = Buffer.concat([Buffer.from("AWS4"), secret]);
  const key = [...scope.split("/"), message].reduce((before, part) => {
    const next = createHmac("sha256", before).update(part).digest();
    before.fill(0);
    return next;
  }, first);
  const credential = `Credential=${keyId}/${scope}, SignedHeaders=${names}, Signature=${key.toString("hex")}`;
  return [...own, ["Authorization", `AWS4-HMAC-SHA256 ${credential}`]];
}

/** As it is sent in the header `Host`. */
function hostText({ url }: HopRequest): string {
  return originText(url).replace(/^https?:\/\//, "");
}

/** The broker writes this header itself, and a proxy may change it. */
function isStable([name]: HeaderLine): boolean {
  return name.toLowerCase() !== "accept-encoding";
}

/** By name; values of one name are joined in their order. */
function canonicalHeaders(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const plain = value.replace(/[ \t]+/g, " ").trim();
    values.set(lower, [...(values.get(lower) ?? []), plain]);
  }
  return [...values].map(([name, all]): HeaderLine => [name, all.join(",")]).sort(byText);
}

/** By name, then by value, as bytes. `+` is a space, as servers read it. */
function canonicalQuery(query: string): string {
  const pairs = query.split("&").filter((pair) => pair !== "");
  return pairs
    .map((pair): HeaderLine => {
      const at = pair.indexOf("=");
      const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      return [encoded(decoded(name.replaceAll("+", " "))), encoded(decoded(value.replaceAll("+", " ")))];
    })
    .sort(byText)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function storagePath(path: string): string {
  return path
    .split("/")
    .map((segment) => encoded(decoded(segment)))
    .join("/");
}

/** Without empty and dot segments, encoded once more than it is sent. */
function normalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(encoded(Buffer.from(segment, "latin1")));
  }
  const isFolder = segments.length > 0 && /\/\.{0,2}$/.test(path);
  return `/${segments.join("/")}${isFolder ? "/" : ""}`;
}

function decoded(text: string): Buffer {
  const bytes = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}

function encoded(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^A-Za-z0-9\-_.~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function byText(left: HeaderLine, right: HeaderLine): number {
  if (left[0] !== right[0]) return left[0] < right[0] ? -1 : 1;
  return left[1] < right[1] ? -1 : left[1] > right[1] ? 1 : 0;
}
