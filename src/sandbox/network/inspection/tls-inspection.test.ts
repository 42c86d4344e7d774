import fc from "fast-check";
import { expect, test } from "vitest";
import { destinationText } from "../../../core/authority/axes/destination.ts";
import { helloBytesMax } from "../limits.ts";
import {
  ENCLOSED,
  extension,
  GREASE,
  handshake,
  helloBody,
  helloTo,
  RETRY_HELLO,
  records,
  SERVER_HELLO,
  serverNames,
} from "../testing/hello.ts";
import { type InspectionStep, spokenHost } from "./inspection.ts";
import { TlsInspection } from "./tls-inspection.ts";

const NAME = "api.example.test";

function inspectionOf(host = NAME): TlsInspection {
  const destination = spokenHost(host);
  if (destination === null) throw new Error(host);
  return new TlsInspection(destination);
}

function shown(step: InspectionStep): string {
  if (step.kind === "pass") return `pass ${step.bytes.reduce((sum, part) => sum + part.length, 0)}`;
  return step.other === null ? step.reason : `${step.reason} ${destinationText(step.other)}`;
}

const own = serverNames(NAME);
const hello = (...extensions: readonly Uint8Array[]): Buffer => records(handshake(1, helloBody(...extensions)));
const whole = (bytes: Uint8Array): string => `pass ${bytes.length}`;

test.each<[string, Uint8Array, string | null]>([
  ["the name", hello(own), null],
  ["the name among unknown extensions", hello(GREASE, own, extension(0x2a2a, Buffer.from([0]))), null],
  ["the name in upper case", hello(serverNames("API.Example.test")), null],
  ["the name with a trailing dot", hello(serverNames(`${NAME}.`)), null],
  ["the name, one byte per record", records(handshake(1, helloBody(own)), 1), null],
  ["another name", hello(serverNames("evil.example")), "name_differs evil.example"],
  ["a subdomain", hello(serverNames(`x.${NAME}`)), `name_differs x.${NAME}`],
  ["a name with two trailing dots", hello(serverNames(`${NAME}..`)), "name_differs"],
  ["a zero byte in the name", hello(serverNames(`${NAME}\0.evil.example`)), "protocol"],
  ["two names", hello(serverNames(NAME, "evil.example")), "protocol"],
  ["two lists of names", hello(own, serverNames("evil.example")), "protocol"],
  ["the same list twice", hello(own, own), "protocol"],
  ["an empty name", hello(serverNames("")), "protocol"],
  ["no name", hello(GREASE), "name_missing"],
  ["no extensions at all", hello(), "name_missing"],
  ["an encrypted client hello", hello(own, ENCLOSED), "name_hidden"],
  ["an encrypted server name, old draft", hello(own, extension(0xffce, Buffer.alloc(8))), "name_hidden"],
  ["a byte after the hello", records(handshake(1, Buffer.concat([helloBody(own), Buffer.from([0])]))), "protocol"],
  ["half a byte of extensions", records(handshake(1, Buffer.concat([helloBody(), Buffer.from([0])]))), "protocol"],
  [
    "two messages in one record",
    records(Buffer.concat([handshake(1, helloBody(own)), handshake(1, helloBody(own))])),
    "protocol",
  ],
  ["another message", records(handshake(2, helloBody(own))), "protocol"],
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\n"), "protocol"],
  ["SSH", Buffer.from("SSH-2.0-x\r\n"), "protocol"],
  ["an SSL 2 hello", Buffer.from([0x80, 0x2e, 1, 3, 1, 0, 0]), "protocol"],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0]), "protocol"],
  ["a record that is too long", Buffer.from([22, 3, 1, 0x40, 1]), "protocol"],
  ["a message that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0]), "protocol"],
])("%s", (_, bytes, wanted) => {
  expect(shown(inspectionOf().push(bytes))).toBe(wanted ?? whole(bytes));
});

test.each([
  ["nothing said", hello(GREASE), null],
  ["some server name", hello(serverNames(NAME)), `name_differs ${NAME}`],
  ["an encrypted client hello", hello(ENCLOSED), "name_hidden"],
])("to a literal address: %s", (_, bytes, wanted) => {
  expect(shown(inspectionOf("203.0.113.7").push(bytes))).toBe(wanted ?? whole(bytes));
});

test("an endless hello is refused when it is too long", () => {
  const inspection = inspectionOf();
  const long = records(handshake(1, Buffer.alloc(helloBytesMax)), 1000);
  let step: InspectionStep = { kind: "pass", bytes: [] };
  for (let at = 0; at < long.length && step.kind === "pass"; at += 100)
    step = inspection.push(long.subarray(at, at + 100));
  expect(shown(step)).toBe("protocol");
});

test("what follows the hello is held until the server has responded, and is forwarded then", () => {
  const inspection = inspectionOf();
  inspection.push(helloTo(NAME));
  expect(shown(inspection.push(Buffer.alloc(9)))).toBe("pass 0");
  expect(shown(inspection.answer(SERVER_HELLO.subarray(0, 20)))).toBe("pass 0");
  expect(inspection.settled).toBe(false);
  expect(shown(inspection.answer(SERVER_HELLO.subarray(20)))).toBe("pass 9");
  expect(inspection.settled).toBe(true);
});

test("a server's first record with more than its hello is accepted as well", () => {
  const inspection = inspectionOf();
  inspection.push(helloTo(NAME));
  inspection.answer(Buffer.concat([Buffer.from([22, 3, 3, 0x10, 0]), SERVER_HELLO.subarray(5)]));
  expect(inspection.settled).toBe(true);
});

const compatibility = records(Buffer.from([1]), 1, 20);
const early = records(Buffer.alloc(50), 50, 23);

test.each([
  ["the same name", [helloTo(NAME)], null],
  ["the same name after permitted records", [compatibility, early, helloTo(NAME)], null],
  ["another name", [helloTo("evil.example")], "name_differs evil.example"],
  [
    "another name after permitted records",
    [compatibility, early, helloTo("evil.example")],
    "name_differs evil.example",
  ],
  ["no name", [hello(GREASE)], "name_missing"],
])("after a retry request, the second hello has %s", (_, second, wanted) => {
  for (const isEarly of [false, true]) {
    const inspection = inspectionOf();
    inspection.push(helloTo(NAME));
    const bytes = Buffer.concat(second);
    // Sent without waiting: it must not have been forwarded before the server asked for it.
    const first = isEarly ? shown(inspection.push(bytes)) : "pass 0";
    expect(first).toBe("pass 0");
    const answered = inspection.answer(RETRY_HELLO);
    expect(shown(isEarly ? answered : inspection.push(bytes))).toBe(wanted ?? whole(bytes));
  }
});

const anyHello = fc
  .tuple(
    fc.constantFrom(NAME, "evil.example", `${NAME}.evil.example`, ""),
    fc.integer({ min: 1, max: 400 }),
    fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 3 }),
  )
  .map(([name, size, changes]) => {
    const bytes = records(handshake(1, helloBody(GREASE, serverNames(name))), size);
    for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

test("nothing is forwarded but a hello with the name, however it was split; and nothing throws", () => {
  fc.assert(
    fc.property(
      fc.oneof(anyHello, fc.uint8Array({ maxLength: 200 })),
      fc.integer({ min: 1, max: 90 }),
      (bytes, cut) => {
        const inspection = inspectionOf();
        const out: Uint8Array[] = [];
        let refused = false;
        for (let at = 0; at < bytes.length && !refused; at += cut) {
          const step = inspection.push(bytes.slice(at, at + cut));
          if (step.kind === "pass") out.push(...step.bytes);
          else refused = true;
        }
        const sent = Buffer.concat(out);
        expect(Buffer.from(bytes.subarray(0, sent.length))).toEqual(sent);
        const atOnce = inspectionOf().push(bytes);
        expect(atOnce.kind === "refused").toBe(refused);
        // Searched without our parser: the payload of the records contains the name, as the only name.
        if (sent.length === 0) return;
        const payload: number[] = [];
        for (let at = 0; at < sent.length; at += 5 + sent.readUInt16BE(at + 3))
          payload.push(...sent.subarray(at + 5, at + 5 + sent.readUInt16BE(at + 3)));
        const text = Buffer.from(payload).toString("latin1").toLowerCase();
        expect(text).toContain(`\0\x10${NAME}`);
        expect(text).not.toContain("evil");
      },
    ),
    { numRuns: 2000 },
  );
});
