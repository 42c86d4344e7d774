// Provider tools: which ones a request may name for given grants; and that it is never more.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHost } from "../../core/authority/axes/destination.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Authority, Chain } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import { judge } from "../../core/authority/judge.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Request } from "../../core/authority/request.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { Provider } from "./provider-catalog.ts";
import { providerTools } from "./provider-tools.ts";

const reading: Reading = {
  pathSettings: { home: ["home", "ada"], base: ["work"], protectedPaths: [] },
  toAscii: (host) => host,
  ceiling: null,
};
const moment: Moment = { now: 1000, clean: true, generation: 0, revoked: null, exhausted: null };

function link(specs: readonly string[], id = "a", calls: number | null = null): Chain[0] {
  const grants = specs.flatMap((spec) => {
    const diagnostics = new Diagnostics();
    const span = { source: spec, start: 0, end: spec.length };
    const read = readCompact(spec, { reading, diagnostics, span, root: null });
    if (read === null || diagnostics.list.some(({ severity }) => severity === "error")) throw new Error(spec);
    return [read];
  });
  return compile({ id, role: "own", issuer: "test", holder: "scout", grants, validity: ALWAYS, calls });
}

const held = (...specs: readonly string[]): Authority => [[link(specs)]];

interface Row {
  readonly specs: readonly string[];
  readonly provider: Provider;
  readonly names: readonly string[];
  readonly domains?: readonly string[] | null;
}

describe("offered", () => {
  test.each<Row>([
    { specs: [], provider: "anthropic", names: [] },
    { specs: ["net.get"], provider: "anthropic", names: [] },
    { specs: ["net.post{hosts=[github.com]}"], provider: "anthropic", names: [] },
    {
      specs: ["net.get{hosts=[github.com]}"],
      provider: "anthropic",
      names: ["web_search", "web_fetch"],
      domains: ["github.com"],
    },
    { specs: ["net.get{hosts=[github.com]}"], provider: "openai", names: ["web_search"], domains: ["github.com"] },
    {
      specs: ["net.get{hosts=[*.x.com,+.y.com,a.x.com]}"],
      provider: "openai",
      names: ["web_search"],
      domains: ["x.com"],
    },
    {
      specs: ["net.get{hosts=[x.com,a.x.com]}"],
      provider: "openai",
      names: ["web_search"],
      domains: ["a.x.com", "x.com"],
    },
    { specs: ["net.get{hosts=[+.y.com]}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[*]}"], provider: "openai", names: ["web_search"], domains: null },
    { specs: ["net.get{hosts=[github.com],ports=[443]}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[github.com],ask}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[github.com],calls=5}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[github.com],rate=5/min}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[*.com]}"], provider: "openai", names: [] },
    { specs: ["net.get{hosts=[8.8.8.8]}"], provider: "openai", names: [] },
    {
      specs: ["provider.web_search{hosts=[github.com]}"],
      provider: "anthropic",
      names: ["web_search"],
      domains: ["github.com"],
    },
    {
      specs: ["provider.web_fetch{hosts=[github.com]}"],
      provider: "anthropic",
      names: ["web_fetch"],
      domains: ["github.com"],
    },
    { specs: ["provider.code_execution"], provider: "anthropic", names: ["code_execution"] },
    { specs: ["provider.code_execution"], provider: "openai", names: ["code_interpreter"] },
    { specs: ["provider.code_execution{ask}"], provider: "openai", names: [] },
    { specs: ["provider.code_execution{calls=1}"], provider: "openai", names: [] },
    { specs: ["provider.image_generation"], provider: "openai", names: ["image_generation"] },
    { specs: ["provider.file_search"], provider: "openai", names: [] },
    { specs: ["provider.computer_use"], provider: "openai", names: [] },
  ])("$provider, $specs: $names", ({ specs, provider, names, domains }) => {
    const { tools } = providerTools(held(...specs), moment, provider);
    expect(tools.map(({ name }) => name)).toEqual(names);
    if (domains !== undefined) for (const tool of tools) expect(tool.domains).toEqual(domains);
  });

  test("by name alone if the application has to carry it out", () => {
    const authority = held("provider.computer_use", "provider.web_search{hosts=[*]}");
    const named = providerTools(authority, moment, "openai", { names: ["computer", "web_search_preview", "teleport"] });
    expect(named.tools.map(({ request }) => request)).toEqual([{ type: "web_search_preview" }, { type: "computer" }]);
    expect(named.omitted).toEqual([{ name: "teleport", why: "openai has no such tool" }]);
  });

  test("what cannot be limited to hosts is not opened by some hosts", () => {
    const authority = held("provider.web_search{hosts=[github.com]}", "net.get{hosts=[*]}");
    expect(providerTools(authority, moment, "openai", { names: ["web_search_preview"] }).tools).toEqual([]);
  });

  test("file_search searches what the application names", () => {
    const { tools } = providerTools(held("provider.file_search"), moment, "openai", { vectorStores: ["vs_1"] });
    expect(tools.map(({ request }) => request)).toEqual([{ type: "file_search", vector_store_ids: ["vs_1"] }]);
  });
});

describe("requests", () => {
  test("name the hosts in the provider's format", () => {
    const authority = held("net.get{hosts=[github.com,*.npmjs.com]}", "provider.code_execution");
    expect(providerTools(authority, moment, "anthropic").tools.map(({ request }) => request)).toEqual([
      { type: "web_search_20250305", name: "web_search", allowed_domains: ["github.com", "npmjs.com"] },
      { type: "web_fetch_20250910", name: "web_fetch", allowed_domains: ["github.com", "npmjs.com"] },
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
    expect(providerTools(authority, moment, "openai").tools.map(({ request }) => request)).toEqual([
      { type: "web_search", filters: { allowed_domains: ["github.com", "npmjs.com"] } },
      { type: "code_interpreter", container: { type: "auto", network_policy: { type: "disabled" } } },
    ]);
  });

  test("a note says where the provider's rule is wider, and what was omitted", () => {
    const { notes } = providerTools(held("net.get{hosts=[github.com,*.npmjs.com,+.y.com]}"), moment, "openai");
    expect(notes).toEqual([
      "web_search: the provider also allows all subdomains of github.com; your grant covers only github.com",
      "web_search: +.y.com is omitted: a provider would include the domain itself, which is not granted",
    ]);
  });

  test("at most a hundred domains, and the note says which are left out", () => {
    const hosts = Array.from({ length: 101 }, (_, at) => `h${String(at).padStart(3, "0")}.example.org`);
    const { tools, notes } = providerTools(held(`net.get{hosts=[${hosts.join(",")}]}`), moment, "openai");
    expect(tools[0]?.domains).toEqual(hosts.slice(0, 100));
    expect(notes.at(-1)).toContain("h100.example.org is omitted");
  });

  test("omitted tools say what they would need", () => {
    const { omitted } = providerTools([], moment, "openai");
    expect(omitted).toEqual([
      { name: "web_search", why: "neither net.get nor provider.web_search is granted for any host" },
      { name: "code_interpreter", why: "provider.code_execution is not granted" },
      { name: "file_search", why: "provider.file_search is not granted" },
      { name: "image_generation", why: "provider.image_generation is not granted" },
    ]);
  });
});

describe("every link of a chain", () => {
  test("narrows the domains", () => {
    const authority: Authority = [
      [link(["net.get{hosts=[*.x.com,y.com]}"]), link(["net.get{hosts=[a.x.com,z.com]}"], "b")],
    ];
    expect(providerTools(authority, moment, "openai").tools[0]?.domains).toEqual(["a.x.com"]);
  });

  test("that is counted, expired or revoked opens nothing", () => {
    const spec = ["net.get{hosts=[x.com]}", "provider.code_execution"];
    const revoked = { ...moment, revoked: (id: string) => id === "a" };
    expect(providerTools([[link(spec, "a", 5)]], moment, "openai").tools).toEqual([]);
    expect(providerTools([[link(spec)]], revoked, "openai").tools).toEqual([]);
    expect(providerTools([[link(spec)]], moment, "openai").tools).toHaveLength(2);
  });
});

const host = fc
  .tuple(fc.constantFrom("", "*.", "+."), fc.constantFrom("x.com", "a.x.com", "b.a.x.com", "y.org", "com"))
  .map(([star, name]) => star + name);
const spec = fc
  .tuple(
    fc.constantFrom("net.get", "provider.web_search", "provider.web_fetch", "net.post"),
    fc.array(fc.oneof({ weight: 9, arbitrary: host }, { weight: 1, arbitrary: fc.constant("*") }), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.constantFrom("", "", "", ",ask", ",calls=3", ",clean"),
  )
  .map(([verb, hosts, more]) => `${verb}{hosts=[${hosts.join(",")}]${more}}`);
const links = fc.array(fc.array(spec, { maxLength: 4 }), { minLength: 1, maxLength: 3 });

test("law: no domain that is not held without approval, and its subdomains are held or noted", () => {
  const asks = (verb: string, name: string): Request => {
    const entry = verbEntry(verb);
    const to = parseHost(name, (text) => text);
    if (entry === null || !to.ok) throw new Error(name);
    return { verb: entry, values: entry.axes.map((axis) => (axis.kind === "port" ? 8443 : to.value)) };
  };
  fc.assert(
    fc.property(
      fc.array(links, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.constantFrom<Provider>("anthropic", "openai"),
      (chains, clean, provider) => {
        const authority = chains.map(
          (chain, at) => chain.map((specs, place) => link(specs, `${at} ${place}`)) as unknown as Chain,
        );
        const now = { ...moment, clean };
        const isHeld = (verbs: readonly string[], name: string): boolean =>
          verbs.some((verb) => judge(authority, asks(verb, name), now).outcome === "allow");
        const { tools, notes } = providerTools(authority, now, provider);
        for (const { name, domains } of tools) {
          const verbs = ["net.get", `provider.${name}`];
          for (const one of domains ?? ["far.example"]) {
            expect(isHeld(verbs, one)).toBe(true);
            if (!isHeld(verbs, `deep.below.${one}`)) expect(notes.some((note) => note.includes(one))).toBe(true);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
