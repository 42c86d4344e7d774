// Cached entry parts stay correct: the text equals the entry's JSON, and contains no secret that is known by now.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chain, grant, link, moment, verb } from "../../../test/forge/authority.ts";
import { parseName } from "../../core/authority/axes/name.ts";
import type { Authority } from "../../core/authority/chain.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { compactText } from "../../core/notation/printer.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { Entry, Outcome } from "../../core/ports/stores/commit.ts";
import type { LogEntry, Who } from "../../core/ports/stores/log.ts";
import { entryBody } from "../../log/chain/entry-body.ts";
import { type Redactor, redactorOf } from "../../log/redaction/redactor.ts";
import type { Holding } from "../calls/holding.ts";
import type { OutputRedactor } from "../parts.ts";
import { Entries } from "./entries.ts";

/** Like the daemon's own: without known secrets nothing is scanned. */
class Secrets implements OutputRedactor {
  known: Redactor | null = null;
  readonly heard: string[] = [];

  know(...values: readonly string[]): void {
    const encoded = values.map((value, at) => ({ name: `s${at}`, bytes: new TextEncoder().encode(value) }));
    const made = redactorOf(encoded);
    if (!made.ok) throw new Error(made.message);
    this.known = values.length === 0 ? null : made.redactor;
  }

  text(text: string): string {
    return this.json(text);
  }

  json<T extends Json>(value: T): T {
    if (this.known === null) return value;
    const { value: told, names } = this.known.redactJson(value);
    this.heard.push(...names);
    return told as T;
  }
}

function entriesWith(secrets: Secrets): Entries {
  return new Entries({ id: (letter) => `${letter}_1`, now: () => 7, redacting: secrets });
}

const authority: Authority = [
  chain(link("record /w#scout", [grant("memory.read"), grant("tool.invoke")])),
  chain(link("given", [grant("tool.invoke")]), link("above", [grant("memory.read")], {}, "limit")),
];

function holdingAt(place: string | null): Holding {
  const record = { placeOf: () => place, policyLimits: new Map() };
  return { authority, links: [[], ["l_1"]], record, reading: { pathSettings: {} } } as unknown as Holding;
}

function memory(key: string): Request {
  const name = parseName(key);
  if (!name.ok) throw new Error(name.message);
  return { verb: verb("memory.read"), values: [name.value] };
}

function whoOf(agent: string, links: readonly string[] = []): Who {
  return { user: "ann", agent, workspace: "/w", chain: links, session: "s_1", trace: "t" };
}

const ENTRY: Entry = {
  ...{ agent: "scout", tool: "memory_get", requests: [memory("a/b")], outcome: "allow", code: null },
  basis: [{ chain: 0, grants: [0] }],
  ...{ charges: [], level: 0, need: null, approval: null, reason: null },
};

/** The same, built without the cache. */
function plain(entries: Entries, who: Who, entry: Entry, holding: Holding): LogEntry {
  const by = entry.basis.flatMap(({ chain: at, grants }) =>
    (holding.authority[at] ?? []).flatMap(({ link: one }, place): readonly JsonObject[] => {
      const found = one.grants[grants[place] ?? -1];
      if (found === undefined) return [];
      return [{ at: holding.record?.placeOf(found.span) ?? null, grant: compactText(found), link: one.id }];
    }),
  );
  const { tool, outcome, code, approval, level, reason, requests } = entry;
  const more = { approval, by, level, need: null, reason, requests: requests.map(requestText), suggest: null };
  const verbs = [...new Set(requests.map((request) => request.verb.verb))];
  return entries.make("decision", who, outcome, { id: "c_1", tool, verbs, code, more });
}

const hostile = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc.constantFrom('"', "\\", "\u0000", "\ud800", "hunter2-hunter2", "a hunter2-hunter2 b", "e\u0301", "x'y"),
);
const key = hostile.filter((text) => parseName(text).ok);

describe.each([
  ["no secret is known", []],
  ["a secret is known", ["hunter2-hunter2"]],
])("if %s", (_what, values) => {
  const secrets = new Secrets();
  secrets.know(...values);
  const entries = entriesWith(secrets);

  test("a decision equals one built without the cache", () => {
    const basis = fc.array(
      fc.record({ chain: fc.nat({ max: 1 }), grants: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 }) }),
      { maxLength: 3 },
    );
    const holdings = [holdingAt("scout.md:3"), holdingAt(null), holdingAt("hunter2-hunter2")];
    fc.assert(
      fc.property(
        ...[hostile, fc.array(key, { maxLength: 3 }), basis, fc.option(hostile), fc.nat({ max: 2 }), fc.boolean()],
        (tool, keys, by, reason, at, isGiven) => {
          const entry: Entry = { ...ENTRY, tool, requests: keys.map(memory), basis: by, reason, approval: reason };
          const who = whoOf(tool, isGiven ? ["l_1"] : []);
          const holding = holdings[at] as Holding;
          // Twice: the second time uses the cache.
          for (let time = 0; time < 2; time++)
            expect(entryBody(entries.decision(who, { entry, input: {} }, holding, moment))).toBe(
              entryBody(plain(entries, who, entry, holding)),
            );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("an outcome equals one built without the cache", () => {
    const denials = fc.array(fc.record({ code: fc.constant("revoked" as const), request: hostile, times: fc.nat() }), {
      maxLength: 2,
    });
    fc.assert(
      fc.property(hostile, denials, fc.nat(), (ended, denied, wallMicroseconds) => {
        const enforcement = denied.map(({ request }) => ({ axis: request, strength: "kernel" }));
        const outcome: Outcome = { receipt: "c_9", ended, denials: denied, enforcement, wallMicroseconds };
        const milliseconds = Math.round(wallMicroseconds / 1000);
        const more = { denials: denied, ended, enforcement, milliseconds };
        const long = entries.make("outcome", whoOf("scout"), ended, { of: "c_9", more });
        expect(entryBody(entries.outcome(whoOf("scout"), outcome))).toBe(entryBody(long));
      }),
      { numRuns: 200 },
    );
  });
});

describe("the cache", () => {
  const who = whoOf("hunter2-hunter2");
  const holding = holdingAt("swordfish-9.md:1");
  const written = (entries: Entries): string =>
    entryBody(entries.decision(who, { entry: { ...ENTRY, tool: "opensesame-1" }, input: {} }, holding, moment));

  test("is dropped when a secret becomes known, and again when it is no longer known", () => {
    const secrets = new Secrets();
    const entries = entriesWith(secrets);
    const before = written(entries);
    for (const secret of ["hunter2-hunter2", "swordfish-9", "opensesame-1"]) {
      secrets.know(secret);
      expect(before).toContain(secret);
      expect(written(entries)).not.toContain(secret);
      expect(written(entries)).toContain("[REDACTED:s0]");
    }
    secrets.know("nothing of this kind");
    expect(written(entries)).toBe(before);
    secrets.know();
    expect(written(entries)).toBe(before);
  });

  test("contains no secret: a found one is reported in every entry", () => {
    const secrets = new Secrets();
    const entries = entriesWith(secrets);
    secrets.know("hunter2-hunter2", "swordfish-9", "opensesame-1");
    for (let time = 1; time <= 3; time++) {
      written(entries);
      for (const name of ["s0", "s1", "s2"]) expect(secrets.heard.filter((one) => one === name)).toHaveLength(time);
    }
  });
});

describe("the smallest grant that would help", () => {
  const entries = entriesWith(new Secrets());
  const file = (...segments: readonly string[]): Request => ({
    verb: verb("fs.read"),
    values: [{ segments, guarded: null }],
  });
  const suggested = (code: Entry["code"], need: Request, workingRoot?: readonly string[]): unknown => {
    const holding = { ...holdingAt(null), reading: { pathSettings: {}, workingRoot } } as unknown as Holding;
    const denied: Entry = { ...ENTRY, requests: [], outcome: "deny", code, basis: [], need };
    return entries.decision(whoOf("scout"), { entry: denied, input: {} }, holding, moment).more["suggest"];
  };

  test("is given inside the root of the record, and if it has none", () => {
    expect(suggested("capability_absent", file("w", "a"), ["w"])).toContain("fs.read");
    expect(suggested("capability_absent", file("etc", "passwd"))).toContain("fs.read");
    expect(suggested("capability_absent", file("w"), ["w"])).toContain("fs.read");
  });

  test("is not given outside of it, nor if trust is missing", () => {
    expect(suggested("capability_absent", file("etc", "passwd"), ["w"])).toBeNull();
    expect(suggested("capability_absent", file("wider", "a"), ["w"])).toBeNull();
    expect(suggested("untrusted_policy", file("w", "a"), ["w"])).toBeNull();
  });
});

describe("a denial contains the arguments of its call", () => {
  const secrets = new Secrets();
  secrets.know("hunter2-hunter2");
  const entries = entriesWith(secrets);
  const holding = { ...holdingAt(null), reading: { pathSettings: {} } } as unknown as Holding;
  const denied: Entry = { ...ENTRY, requests: [], outcome: "deny", code: "invalid_input", basis: [], need: null };
  const told = (input: JsonObject, entry: Entry = denied): unknown =>
    entries.decision(whoOf("scout"), { entry, input }, holding, moment).more["arguments"];

  test("without secrets, and truncated if long", () => {
    expect(told({ path: "a", text: "is hunter2-hunter2" })).toEqual({ path: "a", text: "is [REDACTED:s0]" });
    const long = told({ text: "x".repeat(100_000), list: Array.from({ length: 1000 }, () => "y".repeat(1000)) });
    expect(JSON.stringify(long).length).toBeLessThan(10_000);
    expect(JSON.stringify(long)).toContain("xxx");
  });

  test("an allowed call's are not logged", () => {
    expect(told({ path: "a" }, ENTRY)).toBeUndefined();
  });

  test("so does a denial while it ran, with the call it belongs to", () => {
    const refusal = {
      receipt: "c_1",
      tool: "proc_exec",
      denial: { code: "scope_violation", request: "net.connect evil.example:443", times: 7 },
      reason: null,
    } as const;
    const entry = entries.refusal(whoOf("scout"), { refusal, input: { argv: ["curl"] } }, holding, moment);
    expect(entry).toMatchObject({ kind: "decision", outcome: "deny", code: "scope_violation", of: "c_1" });
    expect(entry.verbs).toEqual(["net.connect"]);
    expect(entry.more).toMatchObject({
      arguments: { argv: ["curl"] },
      need: "net.connect evil.example:443",
      requests: ["net.connect evil.example:443"],
      times: 7,
    });
  });
});
