// Signatures against answers that were computed without this code: constants that AWS publishes, and openssl.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { HeaderLine } from "../../../core/authority/axes/http-request.ts";
import { type RequestSignature, readSignature } from "../../../core/authority/axes/request-signature.ts";
import { parseUrl } from "../../../core/authority/axes/url.ts";
import { toAscii } from "../names/ascii.ts";
import type { Method } from "./fetch-messages.ts";
import { signRequest } from "./signing.ts";

const KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const STORAGE_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0);

interface Sample {
  readonly method?: Method;
  readonly url: string;
  readonly headers?: readonly HeaderLine[];
  readonly body?: string;
}

function headersOf(sample: Sample, sign: RequestSignature, key: string, now: number): ReadonlyMap<string, string> {
  const { method = "GET", url, headers = [], body } = sample;
  const parsed = parseUrl(url, toAscii);
  if (!parsed.ok) throw new Error(parsed.message);
  const sent = {
    method,
    url: parsed.value,
    path: parsed.value.rest,
    headers,
    body: body === undefined ? null : Buffer.from(body),
  };
  const result = signRequest(sent, sign, Buffer.from(key), now);
  if (!result.ok) throw new Error(result.message);
  return new Map(result.sent.headers);
}

function aws(product: string, keyId = "AKIDEXAMPLE"): RequestSignature {
  return { scheme: "aws-sigv4", secret: "aws", keyId, region: "us-east-1", "service": product };
}

function openssl(...words: readonly string[]): (input: string) => string {
  return (input) => execFileSync("openssl", ["dgst", ...words, "-r"], { input, encoding: "latin1" }).slice(0, 64);
}

/** The signature of a canonical request that the test writes out, by openssl alone. */
function expected(canonical: string, product = "service"): string {
  const steps = ["20150830", "us-east-1", product, "aws4_request"];
  const scope = steps.join("/");
  const text = `AWS4-HMAC-SHA256\n20150830T123600Z\n${scope}\n${openssl("-sha256")(canonical)}`;
  let key = Buffer.from(`AWS4${KEY}`).toString("hex");
  for (const step of [...steps, text]) key = openssl("-sha256", "-mac", "HMAC", "-macopt", `hexkey:${key}`)(step);
  return key;
}

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

describe("AWS Signature Version 4", () => {
  test("the published answer for a plain GET", () => {
    const headers = headersOf({ url: "https://example.amazonaws.com/" }, aws("service"), KEY, NOW);
    expect(headers.get("Authorization")).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, " +
        "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    );
  });
  test("the published answer for an object of S3 with a range", () => {
    const url = "https://examplebucket.s3.amazonaws.com/test.txt";
    const time = Date.UTC(2013, 4, 24);
    const sample = { url, headers: [["Range", "bytes=0-9"] as const] };
    const headers = headersOf(sample, aws("s3", "AKIAIOSFODNN7EXAMPLE"), STORAGE_KEY, time);
    expect(headers.get("Authorization")).toContain(
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, " +
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
  });
  const plain = (path: string, query = "", method = "GET", digest = EMPTY): string =>
    `${method}\n${path}\n${query}\nhost:h.example\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n${digest}`;
  test.each<readonly [string, Sample, string]>([
    ["POST without a body", { method: "POST", url: "https://h.example/" }, plain("/", "", "POST")],
    ["a query out of order", { url: "https://h.example/?b=2&a=1&a=0" }, plain("/", "a=0&a=1&b=2")],
    ["a name without a value", { url: "https://h.example/?acl" }, plain("/", "acl=")],
    [
      "names sorted as bytes after encoding",
      { url: "https://h.example/?a-=1&a=2&%C3%A9=3" },
      plain("/", "%C3%A9=3&a=2&a-=1"),
    ],
    ["characters that need no encoding", { url: "https://h.example/?x=-._~Az09" }, plain("/", "x=-._~Az09")],
    ["characters that do", { url: "https://h.example/?x=a/b:c&y=a+b%2fc" }, plain("/", "x=a%2Fb%3Ac&y=a%20b%2Fc")],
    ["an equals sign in a value", { url: "https://h.example/?x=a=b" }, plain("/", "x=a%3Db")],
    ["dot segments", { url: "https://h.example/a/./b/../c" }, plain("/a/c")],
    ["above the root", { url: "https://h.example/../.." }, plain("/")],
    ["double slashes and a folder", { url: "https://h.example//a//b/" }, plain("/a/b/")],
    ["a space, encoded once more", { url: "https://h.example/a%20b" }, plain("/a%2520b")],
    [
      "headers trimmed, joined and sorted",
      {
        url: "https://h.example/",
        headers: [
          ["My-B", " x   y "],
          ["My-A", "2"],
          ["my-b", "1"],
          ["Accept-Encoding", "br"],
        ],
      },
      `GET\n/\n\nhost:h.example\nmy-a:2\nmy-b:x y,1\nx-amz-date:20150830T123600Z\n\nhost;my-a;my-b;x-amz-date\n${EMPTY}`,
    ],
    [
      "a session token",
      { url: "https://h.example/", headers: [["X-Amz-Security-Token", "AQ+/="]] },
      "GET\n/\n\nhost:h.example\nx-amz-date:20150830T123600Z\nx-amz-security-token:AQ+/=\n\n" +
        `host;x-amz-date;x-amz-security-token\n${EMPTY}`,
    ],
    [
      "a body, and a port in the host",
      { method: "POST", url: "http://h.example:8080/", body: "Param1=value1" },
      "POST\n/\n\nhost:h.example:8080\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n" +
        "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
    ],
  ])("%s", (_, sample, canonical) => {
    const headers = headersOf(sample, aws("service"), KEY, NOW);
    expect(headers.get("Authorization")?.slice(-64)).toBe(expected(canonical));
    expect(headers.has("X-Amz-Content-Sha256")).toBe(false);
  });
  test("keys of S3 are signed as they are, and with the digest of the body", () => {
    const url = "https://h.example/a//b/../c%20d";
    const headers = headersOf({ url }, aws("s3"), KEY, NOW);
    const canonical = `GET\n/a//b/../c%20d\n\nhost:h.example\nx-amz-content-sha256:${EMPTY}\nx-amz-date:20150830T123600Z\n\nhost;x-amz-content-sha256;x-amz-date\n${EMPTY}`;
    expect(headers.get("Authorization")?.slice(-64)).toBe(expected(canonical, "s3"));
    expect(headers.get("X-Amz-Content-Sha256")).toBe(EMPTY);
  });
});

function hmac(more: object): RequestSignature {
  const sign = readSignature({ scheme: "hmac", secret: "hook", header: "X-Sign", ...more });
  if (typeof sign === "string") throw new Error(sign);
  return sign;
}

describe("HMAC", () => {
  const sample: Sample = { method: "POST", url: "https://h.example/a?b={body}", body: '{"path":"{path}"}' };
  test.each<readonly [string, object, string, string]>([
    ["the body, as hexadecimal", {}, "sha256", '{"path":"{path}"}'],
    [
      "a template, in which only its own places are replaced",
      { message: "v0:17:{method} {path}\n{body}" },
      "sha256",
      'v0:17:POST /a?b={body}\n{"path":"{path}"}',
    ],
    ["another digest", { hash: "sha512" }, "sha512", '{"path":"{path}"}'],
  ])("%s", (_, more, hash, message) => {
    const words = ["dgst", `-${hash}`, "-hmac", "key-of-the-hook", "-r"];
    const wanted = execFileSync("openssl", words, { input: message, encoding: "utf8" }).split(" ")[0];
    expect(headersOf(sample, hmac(more), "key-of-the-hook", NOW).get("X-Sign")).toBe(wanted);
  });
  test("a prefix, base64, and a key that is stored in base64", () => {
    const sign = hmac({ value: "t=1,v1={signature}", encoding: "base64", key: "base64" });
    const key = Buffer.from("key-of-the-hook");
    const words = ["dgst", "-sha256", "-hmac", "key-of-the-hook", "-binary"];
    const wanted = execFileSync("openssl", words, { input: sample.body }).toString("base64");
    expect(headersOf(sample, sign, key.toString("base64"), NOW).get("X-Sign")).toBe(`t=1,v1=${wanted}`);
    expect(() => headersOf(sample, sign, "not base64!", NOW)).toThrow("the secret hook is not base64");
    expect(() => headersOf(sample, hmac({ key: "hex" }), "abc", NOW)).toThrow("the secret hook is not hex");
  });
});

describe("what does not describe a signature", () => {
  test.each<readonly [object, string]>([
    [{}, '`sign.scheme` is "hmac" or "aws-sigv4"'],
    [{ scheme: "hmac", header: "X" }, "`sign.secret` is the name of a secret"],
    [{ scheme: "hmac", secret: "a b", header: "X" }, "`sign.secret`"],
    [{ scheme: "hmac", secret: "a" }, "`sign.header`"],
    [{ scheme: "hmac", secret: "a", header: "X\r\nY" }, "`sign.header`"],
    [{ scheme: "hmac", secret: "a", header: "X", hash: "md5" }, "`sign.hash` is sha256"],
    [{ scheme: "hmac", secret: "a", header: "X", message: "{bdy}" }, "not {bdy}"],
    [{ scheme: "hmac", secret: "a", header: "X", message: "{{secret:b}}" }, "must not contain a secret handle"],
    [{ scheme: "hmac", secret: "a", header: "X", message: "x".repeat(8193) }, "at most 8192 characters"],
    [{ scheme: "hmac", secret: "a", header: "X", value: "sha256=" }, "one {signature}"],
    [
      { scheme: "hmac", secret: "a", header: "X", value: "{signature}{{secret:b}}" },
      "must be ASCII without a secret handle",
    ],
    [{ scheme: "hmac", secret: "a", header: "X", value: "{signature}\r\nY: 1" }, "must be ASCII"],
    [{ scheme: "hmac", secret: "a", header: "X", region: "r" }, "the options of an hmac are"],
    [{ scheme: "aws-sigv4", secret: "a", keyId: "AKIDEXAMPLE", region: "us-east-1" }, "`sign.service`"],
    [
      { scheme: "aws-sigv4", secret: "a", keyId: "A, SignedHeaders=", region: "us-east-1", "service": "s3" },
      "`sign.keyId`",
    ],
    [{ scheme: "aws-sigv4", secret: "a", keyId: "AKIDEXAMPLE", region: "us/east", "service": "s3" }, "`sign.region`"],
    [
      { scheme: "aws-sigv4", secret: "a", keyId: "AKIDEXAMPLE", region: "r", "service": "s3", header: "X" },
      "the options of aws",
    ],
  ])("%j", (given, why) => {
    expect(readSignature({ ...given })).toContain(why);
  });
});
