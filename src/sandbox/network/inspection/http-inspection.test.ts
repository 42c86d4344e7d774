import fc from "fast-check";
import { expect, test } from "vitest";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import { headBytesMax } from "../limits.ts";
import { HttpInspection } from "./http-inspection.ts";
import { type InspectionStep, spokenHost } from "./inspection.ts";

const NAME = "api.example.test";

function inspectionOf(host = NAME): HttpInspection {
  const destination = spokenHost(host);
  if (destination === null) throw new Error(host);
  return new HttpInspection(destination, 80);
}

function shown(step: InspectionStep): string {
  if (step.kind === "pass") return `pass ${step.bytes.reduce((sum, part) => sum + part.length, 0)}`;
  return step.other === null ? step.reason : `${step.reason} ${destinationText(step.other)}`;
}

const head = (...lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const get = (host: string, ...more: readonly string[]): string => head("GET / HTTP/1.1", `Host: ${host}`, ...more);
const good = get(NAME);

test.each<[string, string, string | null]>([
  ["the host", good, null],
  ["the host with its port", get(`${NAME}:80`), null],
  ["the host in upper case with a dot", get("API.example.test."), null],
  ["the host without a space", head("GET / HTTP/1.1", `host:${NAME}`), null],
  ["another host", get("evil.example"), "name_differs evil.example"],
  ["another port", get(`${NAME}:8080`), "name_differs"],
  ["a user name before it", get(`evil.example@${NAME}`), "name_differs"],
  ["two hosts in one", get(`${NAME}, evil.example`), "name_differs"],
  ["two host lines", get(NAME, "Host: evil.example"), "protocol"],
  ["the same host line twice", get(NAME, `Host: ${NAME}`), "protocol"],
  ["no host", head("GET / HTTP/1.1", "Accept: */*"), "name_missing"],
  ["no host in HTTP/1.0", head("GET / HTTP/1.0"), "name_missing"],
  ["an empty host", get(""), "name_missing"],
  ["a space before the colon", head("GET / HTTP/1.1", `Host : ${NAME}`), "protocol"],
  ["a folded line", get(NAME, "X: a", " b"), "protocol"],
  ["a line feed alone", head("GET / HTTP/1.1", `X: a\nHost: evil.example`, `Host: ${NAME}`), "protocol"],
  ["a carriage return alone", head("GET / HTTP/1.1", `X: a\rHost: evil.example`, `Host: ${NAME}`), "protocol"],
  ["a zero byte", get(NAME, "X: a\0b"), "protocol"],
  ["a name with a space", get(NAME, "X Y: a"), "protocol"],
  ["an empty line first", `\r\n\r\n${good}`, "protocol"],
  ["an absolute URL in the request line", head(`GET http://${NAME}/a HTTP/1.1`, `Host: ${NAME}`), null],
  [
    "another absolute URL in the request line",
    head("GET http://evil.example/a HTTP/1.1", `Host: ${NAME}`),
    "name_differs evil.example",
  ],
  [
    "the right URL with another Host header",
    head(`GET http://${NAME}/ HTTP/1.1`, "Host: evil.example"),
    "name_differs evil.example",
  ],
  ["another scheme", head(`GET https://${NAME}/ HTTP/1.1`, `Host: ${NAME}`), "protocol"],
  ["a user name in the URL", head(`GET http://u@${NAME}/ HTTP/1.1`, `Host: ${NAME}`), "protocol"],
  ["OPTIONS *", head("OPTIONS * HTTP/1.1", `Host: ${NAME}`), null],
  ["a star for another method", head("GET * HTTP/1.1", `Host: ${NAME}`), "protocol"],
  ["a tunnel", head(`CONNECT ${NAME}:80 HTTP/1.1`, `Host: ${NAME}`), "protocol"],
  ["an upgrade", get(NAME, "Connection: upgrade", "Upgrade: websocket"), "protocol"],
  ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "protocol"],
  ["HTTP/0.9", "GET /\r\n\r\n", "protocol"],
  ["TLS", "\x16\x03\x01\x00\x05hello\r\n\r\n", "protocol"],
  ["a length", `${get(NAME, "Content-Length: 3")}abc`, null],
  ["a length with a sign", get(NAME, "Content-Length: +3"), "protocol"],
  ["a hexadecimal length", get(NAME, "Content-Length: 0x3"), "protocol"],
  ["two lengths", get(NAME, "Content-Length: 3", "Content-Length: 3"), "protocol"],
  ["a list of lengths", get(NAME, "Content-Length: 3, 3"), "protocol"],
  ["a length that overflows", get(NAME, "Content-Length: 9999999999999999"), "protocol"],
  ["a length and chunked encoding", get(NAME, "Content-Length: 3", "Transfer-Encoding: chunked"), "protocol"],
  ["chunks", `${get(NAME, "Transfer-Encoding: chunked")}3\r\nabc\r\n0\r\n\r\n`, null],
  ["chunks in HTTP/1.0", head("POST / HTTP/1.0", `Host: ${NAME}`, "Transfer-Encoding: chunked"), "protocol"],
  ["another coding", get(NAME, "Transfer-Encoding: gzip, chunked"), "protocol"],
  ["a coding after a vertical tab", get(NAME, "Transfer-Encoding: \x0bchunked"), "protocol"],
  [
    "a coding after a character that only some parsers take for a space",
    get(NAME, "Transfer-Encoding: \xa0chunked"),
    "protocol",
  ],
  ["two codings", get(NAME, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), "protocol"],
  ["a chunk with an extension", `${get(NAME, "Transfer-Encoding: chunked")}3;x\r\n`, "protocol"],
  ["a chunk that ends in a line feed alone", `${get(NAME, "Transfer-Encoding: chunked")}3\n`, "protocol"],
  ["a chunk longer than its size", `${get(NAME, "Transfer-Encoding: chunked")}3\r\nabcd\r\n`, "protocol"],
  ["a chunk size of nine digits", `${get(NAME, "Transfer-Encoding: chunked")}000000003\r\n`, "protocol"],
  [
    "trailers after the last chunk",
    `${get(NAME, "Transfer-Encoding: chunked")}0\r\nHost: evil.example\r\n\r\n`,
    "protocol",
  ],
  ["a second request", good + good, null],
  ["a second request to another host", good + get("evil.example"), "name_differs evil.example"],
  [
    "another host after a body",
    `${get(NAME, "Content-Length: 3")}abc${get("evil.example")}`,
    "name_differs evil.example",
  ],
  [
    "another host after chunks",
    `${get(NAME, "Transfer-Encoding: chunked")}1\r\na\r\n0\r\n\r\n${get("evil.example")}`,
    "name_differs evil.example",
  ],
  [
    "a body that looks like a request",
    `${get(NAME, `Content-Length: ${get("evil.example").length}`)}${get("evil.example")}`,
    null,
  ],
])("%s", (_, text, wanted) => {
  const bytes = Buffer.from(text, "latin1");
  expect(shown(inspectionOf().push(bytes))).toBe(wanted ?? `pass ${bytes.length}`);
});

test.each([
  ["203.0.113.7", "203.0.113.7", null],
  ["203.0.113.7", "203.0.113.8", "name_differs 203.0.113.8"],
  ["203.0.113.7", NAME, `name_differs ${NAME}`],
  ["2001:db8::7", "[2001:db8:0::7]:80", null],
  ["2001:db8::7", "[2001:db8::8]", "name_differs [2001:db8::8]"],
])("to the literal address %s: Host %s", (host, spoken, wanted) => {
  const bytes = Buffer.from(get(spoken));
  expect(shown(inspectionOf(host).push(bytes))).toBe(wanted ?? `pass ${bytes.length}`);
});

test("an endless head is refused when it is too long", () => {
  const inspection = inspectionOf();
  expect(shown(inspection.push(Buffer.from("GET / HTTP/1.1\r\n")))).toBe("pass 0");
  expect(shown(inspection.push(Buffer.alloc(headBytesMax - 16, 0x61)))).toBe("pass 0");
  expect(shown(inspection.push(Buffer.from("a")))).toBe("protocol");
});

test("a head is forwarded whole and not before, a body as it arrives", () => {
  const inspection = inspectionOf();
  const bytes = Buffer.from(get(NAME, "Content-Length: 5"));
  for (const byte of bytes.subarray(0, -1)) expect(shown(inspection.push(Buffer.from([byte])))).toBe("pass 0");
  expect(shown(inspection.push(bytes.subarray(-1)))).toBe(`pass ${bytes.length}`);
  expect(shown(inspection.push(Buffer.from("ab")))).toBe("pass 2");
});

const piece = fc.constantFrom(
  good,
  get("evil.example"),
  get(NAME, "Content-Length: 4"),
  get(NAME, "Transfer-Encoding: chunked"),
  "4\r\n",
  "wxyz",
  "\r\n",
  "0\r\n\r\n",
  "\n",
  "\0",
  " ",
);

test("however the bytes are split, the same is forwarded; and nothing throws", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (pieces, cut) => {
      const bytes = Buffer.from(pieces.join(""), "latin1");
      const run = (size: number): { readonly sent: Buffer; readonly refused: boolean } => {
        const inspection = inspectionOf();
        const out: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += size) {
          const step = inspection.push(bytes.subarray(at, at + size));
          if (step.kind === "refused") return { sent: Buffer.concat(out), refused: true };
          out.push(...step.bytes);
        }
        return { sent: Buffer.concat(out), refused: false };
      };
      const slow = run(cut);
      const once = run(1);
      expect(slow.refused).toBe(once.refused);
      expect(bytes.subarray(0, once.sent.length)).toEqual(once.sent);
      expect(bytes.subarray(0, slow.sent.length)).toEqual(slow.sent);
      if (!slow.refused) expect(slow.sent).toEqual(once.sent);
      // Another host is forwarded only in the body of a request to ours, and a body here is four bytes long.
      expect(once.sent.toString("latin1")).not.toContain("evil.example");
    }),
    { numRuns: 3000 },
  );
});
