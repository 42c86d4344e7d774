// What was denied to a program while it ran: a person is sent only to where it is explained.
import { expect, test } from "vitest";
import { compile } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import { PLAIN } from "../terminal/paint.ts";
import { denialText } from "./denial.ts";

const spec = "net.connect{hosts=[api.example.test,10.0.0.1],ports=[443]}";
const span = { source: "test", start: 0, end: spec.length };
const grant = readCompact(spec, { reading: READING, diagnostics: new Diagnostics(), span, root: null });
const grants = grant === null ? [] : [grant];
const link = { id: "own", role: "own", issuer: "", holder: "scout", grants, validity: ALWAYS, calls: null } as const;
const agent = { id: "scout", authority: [[compile(link)]] as const, grants, workingRoot: null };
const ports = {
  reading: READING,
  moment: { now: 0, clean: true, generation: 0, revoked: null, exhausted: null },
  paint: PLAIN,
  changeClass: () => "free" as const,
};

function told(code: DenialCode, request: string, times = 1): string {
  return denialText(ports, { agent }, { code, request, times });
}

test.each<[string, DenialCode, string, string]>([
  [
    "a name that resolves to a refused address",
    "address_refused",
    "net.connect api.example.test:443 address=127.0.0.1",
    "ambit can scout net.connect api.example.test:443 address=127.0.0.1",
  ],
  [
    "a name whose answer is refused as a whole",
    "address_refused",
    "net.connect api.example.test:443",
    "ambit explain address_refused",
  ],
  [
    "more concurrent connections than allowed",
    "budget_exhausted",
    "net.connect api.example.test:443",
    "ambit explain budget_exhausted",
  ],
  [
    "no grant",
    "scope_violation",
    "net.connect other.test:443",
    "ambit can scout net.connect other.test:443\n  grant it: ambit agents grant scout 'net.connect{hosts=[other.test],ports=[443]}'",
  ],
  [
    "no grant, and an address that no grant is proposed for",
    "scope_violation",
    "net.connect 169.254.169.254:80",
    "ambit can scout net.connect 169.254.169.254:80",
  ],
  ["text that does not parse", "invalid_input", "net.connect 'a\\x00:443'", "ambit can scout net.connect 'a\\x00:443'"],
])("%s", (_, code, request, why) => {
  expect(told(code, request)).toBe(`ambit: denied while running: ${request}  ${code}\n  why: ${why}`);
});

test("an unresolvable name is not a denial, and no grant is proposed", () => {
  expect(told("not_available", "net.connect api.example.test:443", 3)).toBe(
    "ambit: not reachable while running: net.connect api.example.test:443  not_available: the host name could not be resolved (3 times)",
  );
});

test.each(["net.connect api.example.test:443 address=1.2.3.4", "net.connect 10.0.0.1:443", "net.connect '?'"])(
  "for %s the message does not say that there was no name",
  (request) => {
    expect(told("not_available", request)).toBe(`ambit: not reachable while running: ${request}  not_available`);
  },
);
