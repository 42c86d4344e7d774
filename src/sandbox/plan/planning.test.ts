// A plan reaches as far as the deciding grants have in common, and never to authority files.
import { describe, expect, test } from "vitest";
import { ANY } from "../../core/authority/axes/scope.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { compile } from "../../core/authority/compiled.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import type { Plan } from "./plan.ts";
import { planOf as planned } from "./planning.ts";
import { at, FACTS } from "./testing/plan.ts";
import { authorityOf, grantOf, planDecisionFor, plannedBy, requestOf } from "./testing/planning.ts";

const RUN = "proc.exec{in=/home/u/work/ws}";
const WRITE = "fs.write{in=/home/u/work/ws}";

/** `mode path in directory`, the code of the refusal, or "undecided". */
function place(links: readonly (readonly string[])[], request: string, facts: Partial<typeof FACTS> = {}): string {
  const result = plannedBy(links, request, facts);
  if (result === null) return "undecided";
  if (!result.ok) return result.refused.code;
  const { root, directory } = result.plan;
  return root === null
    ? `none in /${directory.join("/")}`
    : `${root.mode} /${root.path.join("/")} in /${directory.join("/")}`;
}

function planOf(links: readonly (readonly string[])[], request: string, facts: Partial<typeof FACTS> = {}): Plan {
  const result = plannedBy(links, request, facts);
  if (result?.ok !== true) throw new Error(JSON.stringify(result));
  return result.plan;
}

describe("the root", () => {
  test.each([
    [
      "the grant's folder, wherever in it the command starts",
      [[RUN]],
      "proc.exec in=/home/u/work/ws/a -- ls",
      "ro /home/u/work/ws in /home/u/work/ws/a",
    ],
    [
      "the deepest folder the links have in common",
      [[RUN], ["proc.exec{in=/home/u/work/ws/a}"], ["proc.exec{in=/home}"]],
      "proc.exec in=/home/u/work/ws/a/b -- ls",
      "ro /home/u/work/ws/a in /home/u/work/ws/a/b",
    ],
    ["nothing that is not covered", [[RUN]], "proc.exec in=/home/u/work -- ls", "undecided"],
    [
      "for a shell line as for a program",
      [["proc.eval{in=/home/u/work/ws}"]],
      "proc.eval in=/home/u/work/ws/a",
      "ro /home/u/work/ws in /home/u/work/ws/a",
    ],
    ["none for a throw-away sandbox", [["sandbox.exec"]], "sandbox.exec", "none in /tmp"],
    ["none for what needs no sandbox", [["fs.read{in=/srv}"]], "fs.read /srv/a", "invalid_input"],
  ])("is %s", (_, links, request, wanted) => expect(place(links, request)).toBe(wanted));

  test.each([
    ["if the same chain covers writing all of it", [[RUN, WRITE]], "draft /home/u/work/ws"],
    ["not if it covers a part", [[RUN, "fs.write{in=/home/u/work/ws,paths=[src/**]}"]], "undecided"],
    ["not if only one link does", [[RUN, WRITE], ["proc.exec{in=/home}"]], "undecided"],
    [
      "not if a link says ro",
      [
        [RUN, WRITE],
        ["proc.exec{in=/home,root=ro}", "fs.write{in=/home}"],
      ],
      "undecided",
    ],
    [
      "if every link does",
      [
        [RUN, WRITE],
        ["proc.exec{in=/home}", "fs.write{in=/home}"],
      ],
      "draft /home/u/work/ws",
    ],
    ["as far as it may be written and no further", [["proc.exec{in=/home/u/work}", WRITE]], "draft /home/u/work/ws"],
  ])("is writable %s", (_, links, wanted) => {
    const got = place(links, "proc.exec in=/home/u/work/ws root=rw -- make");
    expect(got).toBe(wanted === "undecided" ? wanted : `${wanted} in /home/u/work/ws`);
  });

  test("is the requested folder if the grants are for the whole machine, and never that machine", () => {
    const grant = { ...grantOf("proc.exec{in=/srv}"), scopes: [ANY, ANY, ANY] };
    const authority: Authority = [
      [compile({ id: "own", role: "own", issuer: "", holder: "", grants: [grant], validity: ALWAYS, calls: null })],
    ];
    const root = (request: string): unknown => {
      const one = planDecisionFor(authority, requestOf(request));
      const result = one === null ? null : planned(one, FACTS);
      return result?.ok === true ? result.plan.root : result?.refused.code;
    };
    expect(root("proc.exec in=/srv/app -- ls")).toEqual({ path: at("/srv/app"), mode: "ro" });
    expect(root("proc.exec in=/ -- ls")).toBe("scope_violation");
  });

  test("is writable only at the approved level of presence", () => {
    const links = [[RUN, "fs.write{in=/home/u/work/ws,ask}"]];
    const request = "proc.exec in=/home/u/work/ws root=rw -- make";
    expect(plannedBy(links, request, {}, 0)).toBeNull();
    expect(plannedBy(links, request, {}, 1)?.ok).toBe(true);
  });

  test("is writable where writing asks, if the grant that the run was approved by asks as much", () => {
    const planBy = (run: string): boolean | undefined => {
      const links = [[run, "fs.write{in=/home/u/work/ws,ask}"]];
      const one = planDecisionFor(authorityOf([links]), requestOf("proc.exec in=/home/u/work/ws root=rw -- make"), 1);
      return one === null ? undefined : planned({ ...one, level: 0 }, FACTS).ok;
    };
    expect(planBy("proc.exec{in=/home/u/work/ws,ask}")).toBe(true);
    expect(planBy(RUN)).toBe(false);
  });

  test("is writable no further than what was approved", () => {
    const links = [["proc.exec{in=/home/u/work}", "fs.write{in=/home/u/work,ask}", WRITE]];
    expect(place(links, "proc.exec in=/home/u/work/ws root=rw -- make")).toBe(
      "draft /home/u/work/ws in /home/u/work/ws",
    );
  });

  test("is never writable where the person's own tools read what to run", () => {
    const run = "proc.exec{in=/home/u/.ssh}";
    const request = "proc.exec in=/home/u/.ssh root=rw -- ssh-keygen";
    expect(place([[run, "fs.write{in=/home/u}"]], request)).toMatch(/scope_violation|undecided/);
    expect(place([[run, "fs.write{in=/home/u/.ssh}"]], request)).toBe("self_modification");
  });

  test("is not readable where it was requested as writable, and the other way round", () => {
    expect(place([[RUN, WRITE]], "proc.exec in=/home/u/work/ws -- make")).toMatch(/^ro /);
  });
});

describe("folders that are never a root", () => {
  const protectedPaths: typeof FACTS.protectedPaths = [];
  test.each([
    ["/home/u/.local/state/ambit", "self_modification", "self_modification"],
    ["/home/u/.local/state/ambit/deep", "self_modification", "self_modification"],
    ["/home/u/.config/ambit", "self_modification", "self_modification"],
    ["/run/user/1000/ambit", "self_modification", "self_modification"],
    ["/home/u/work/ws/.ambit", "self_modification", "self_modification"],
    ["/home/u/other/.ambit/agents", "self_modification", "self_modification"],
    ["/opt/ambit", "self_modification", "ro"],
    ["/opt/ambit/dist", "self_modification", "ro"],
    ["/opt/ambitious", "draft", "ro"],
    ["/home/u/.local/state/ambitious", "draft", "ro"],
    ["/proc/1", "scope_violation", "scope_violation"],
    ["/sys", "scope_violation", "scope_violation"],
    ["/dev/shm", "scope_violation", "scope_violation"],
    ["/etc", "scope_violation", "scope_violation"],
    ["/etc/nginx", "draft", "ro"],
    ["/run", "scope_violation", "scope_violation"],
    ["/run/ambit", "scope_violation", "scope_violation"],
    ["/run/ambit/tmp", "scope_violation", "scope_violation"],
    ["/run/user", "draft", "ro"],
    ["/usr", "scope_violation", "ro"],
    ["/usr/bin", "scope_violation", "ro"],
    ["/usr/local", "scope_violation", "ro"],
    ["/bin", "scope_violation", "ro"],
    ["/usr/src/app", "draft", "ro"],
    ["/tmp", "draft", "ro"],
    ["/home/u/work/ws/.git/hooks", "self_modification", "ro"],
    ["/home/u/work/ws/.vscode", "self_modification", "ro"],
    ["/home/u/work/ws/.git", "self_modification", "ro"],
    ["/home/u/.config/fish/conf.d", "self_modification", "ro"],
    ["/home/u/.config/other", "draft", "ro"],
  ])("%s: %s to write, %s to read", (path, written, read) => {
    const word = (mode: string): string =>
      place([[`proc.exec{in=${path}}`, `fs.write{in=${path}}`]], `proc.exec in=${path} root=${mode} -- ls`, {
        protectedPaths,
      }).split(" ")[0] as string;
    expect([word("rw"), word("ro")]).toEqual([written, read]);
  });
});

describe("program trees", () => {
  const runtime = (path: string): string =>
    place([[RUN]], "proc.exec in=/home/u/work/ws -- ls", { runtime: [at(path)] });
  test.each([
    "/home/u/.nvm/versions/node/v20",
    "/opt/go",
    "/usr/local/go",
    "/home/u/work/ws/node_modules/.bin",
    "/home/u/.aws2",
  ])("%s", (path) => expect(runtime(path)).toMatch(/^ro /));
  test.each([
    "/",
    "/home",
    "/home/u",
    "/home/u/.ssh",
    "/home/u/.ssh/bin",
    "/home/u/.aws/bin",
    "/home/u/.config",
    "/home/u/.config/ambit",
    "/home/u/.local/state/ambit/x",
    "/home/v",
    "/etc",
    "/run/user",
    "/proc",
    "/dev",
    "/home/u/work/ws/.ambit",
  ])("not %s", (path) => expect(runtime(path)).toBe("sandbox_unavailable"));

  test("the refusal names the line that is wrong", () => {
    const result = plannedBy([[RUN]], "proc.exec in=/home/u/work/ws -- ls", { runtime: [at("/home/u")] });
    expect(result).toMatchObject({
      ok: false,
      refused: { message: "`runtime: /home/u` in the configuration is or contains the home folder" },
    });
  });
});

describe("the network", () => {
  const links = (...grants: readonly string[]): readonly (readonly string[])[] => [[RUN, ...grants]];
  const network = (chain: readonly (readonly string[])[]): Plan["network"] =>
    planOf(chain, "proc.exec in=/home/u/work/ws -- ls").network;

  test("is none unless a connection is covered", () => {
    for (const grant of [
      "net.get{hosts=[a.com]}",
      "net.connect{hosts=[],ports=[443]}",
      "net.connect{hosts=[a.com],ports=[]}",
    ])
      expect(network(links(grant))).toBeNull();
    expect(network([[RUN, "net.connect{hosts=[a.com],ports=[443]}"], ["proc.exec{in=/home}"]])).toBeNull();
  });

  test("is what every link of the chain allows, as text", () => {
    expect(
      network([
        [RUN, "net.connect{hosts=[*.a.com,b.org],ports=[443,8000-9000]}"],
        ["proc.exec{in=/home}", "net.connect{hosts=[*],ports=[1-443,8500]}"],
      ]),
    ).toEqual({
      loopback: [],
      ports: [
        { low: 443, high: 443 },
        { low: 8_500, high: 8_500 },
      ],
      chains: [
        [["net.connect{hosts=[*.a.com,b.org],ports=[443,8000-9000]}"], ["net.connect{hosts=[*],ports=[1-443,8500]}"]],
      ],
    });
  });

  test("has no grant that has expired, may only be passed on, or needs a clean session after it was tainted", () => {
    expect(network(links("net.connect{hosts=[a.com],ports=[443],expires=1969-12-31T00:00:00Z}"))).toBeNull();
    expect(network(links("net.connect{hosts=[a.com],ports=[443],pass=pass}"))).toBeNull();
    const clean = plannedBy(
      links("net.connect{hosts=[a.com],ports=[443],clean}"),
      "proc.exec in=/home/u/work/ws -- ls",
      {
        moment: { ...FACTS.moment, clean: false },
      },
    );
    expect(clean).toMatchObject({ ok: true, plan: { network: null } });
  });
});

describe("limits", () => {
  const limited = (limits: Partial<typeof FACTS.limits>): string =>
    place([[RUN]], "proc.exec in=/home/u/work/ws -- ls", { limits: { ...FACTS.limits, ...limits } });

  test.each([{ wallMilliseconds: 0 }, { memoryBytes: 1 }, { memoryBytes: null }, { processes: 1 }])("%j", (limits) =>
    expect(limited(limits)).toMatch(/^ro /),
  );
  test.each([
    { wallMilliseconds: -1 },
    { wallMilliseconds: 0.5 },
    { memoryBytes: 0 },
    { processes: 0 },
    { temporaryBytes: 0 },
    { outputBytes: Number.POSITIVE_INFINITY },
    { fileBytes: Number.NaN },
    { cpuSeconds: -1 },
  ])("not %j", (limits) => expect(limited(limits)).toBe("sandbox_unavailable"));
});

test("notes say what is less than was written", () => {
  const allowed = [
    ["CI", "1"],
    ["LD_PRELOAD", "x"],
  ] as const;
  const result = plannedBy([[RUN]], "proc.exec in=/home/u/work/ws/a -- ls", { host: { ...FACTS.host, allowed } });
  expect(result).toMatchObject({
    ok: true,
    notes: [
      "runs in /home/u/work/ws/a and sees /home/u/work/ws",
      "LD_PRELOAD is not passed to programs: it can make them run or load other code",
    ],
  });
});
