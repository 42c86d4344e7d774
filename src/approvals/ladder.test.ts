// The ladder: the steps offered for each request; every step covers it and is within the next.

import { describe, expect, test } from "vitest";
import { sizeFor } from "../../test/house/long.ts";
import { runSeed } from "../../test/house/seed.ts";
import { CATALOG } from "../core/authority/catalog.ts";
import { compile } from "../core/authority/compiled.ts";
import { ALWAYS } from "../core/authority/link.ts";
import { within } from "../core/authority/witness/within.ts";
import { readSpecs, specsCover } from "./cover.ts";
import { EXACT_STEP, ladderOf } from "./ladder.ts";
import { askingWidenedMax } from "./limits.ts";
import { READING, requestOf } from "./testing/approval.ts";

function offered(...texts: readonly string[]): readonly string[] {
  return ladderOf(
    texts.map((text) => requestOf(text)),
    READING,
  ).map(({ name, specs }) => (specs === null ? name : `${name}: ${specs.join(" ")}`));
}

const RUN = "in=/work/p,";

describe("the offered steps", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [
      "proc.exec -- git push origin main",
      [
        'command: proc.exec{in=/work/p,patterns=["git push origin main"],root=ro}',
        'prefix: proc.exec{in=/work/p,patterns=["git push **"],root=ro}',
        'program: proc.exec{in=/work/p,patterns=["git **"],root=ro}',
      ],
    ],
    [
      "proc.exec root=rw -- npm run build",
      [
        `command: proc.exec{${RUN}patterns=["npm run build"]}`,
        `prefix: proc.exec{${RUN}patterns=["npm run build **"]}`,
      ],
    ],
    ["proc.exec -- python3 x.py", [`command: proc.exec{${RUN}patterns=["python3 x.py"],root=ro}`]],
    ["proc.exec -- /usr/bin/bash x.sh", [`command: proc.exec{${RUN}patterns=["/usr/bin/bash x.sh"],root=ro}`]],
    ["proc.exec -- docker run x", [`command: proc.exec{${RUN}patterns=["docker run x"],root=ro}`]],
    [
      "proc.exec -- kubectl -n prod delete pod",
      [`command: proc.exec{${RUN}patterns=["kubectl -n prod delete pod"],root=ro}`],
    ],
    [
      "proc.exec -- ls a",
      [`command: proc.exec{${RUN}patterns=["ls a"],root=ro}`, `program: proc.exec{${RUN}patterns=["ls **"],root=ro}`],
    ],
    // An explicitly named risky option is approved with the whole command line, or not at all.
    ["proc.exec -- git -c core.pager=x log", []],
    ["proc.exec -- git push --receive-pack=x", []],
    ["proc.exec -- find . -delete", []],
    ["proc.eval", []],
    [
      "fs.write /work/p/src/a.ts",
      [
        "file: fs.write{in=/work/p/src,paths=[a.ts]}",
        "folder: fs.write{in=/work/p/src,paths=[*]}",
        "tree: fs.write{in=/work/p/src}",
      ],
    ],
    ["fs.write /work/p/a.ts", ["file: fs.write{in=/work/p,paths=[a.ts]}", "folder: fs.write{in=/work/p,paths=[*]}"]],
    ["fs.read /a", ["file: fs.read{in=/,paths=[a]}"]],
    ["fs.delete /work/p/src/a.ts", ["file: fs.delete{in=/work/p/src,paths=[a.ts]}"]],
    ["fs.read /home/u/.ssh/id", ["file: fs.read{in=/home/u/.ssh,paths=[id]}"]],
    ["fs.write /work/p/.git/hooks/pre-push", ["file: fs.write{in=/work/p/.git/hooks,paths=[pre-push]}"]],
    ["fs.write '/work/p/a*b'", []],
    [
      "net.post https://api.example.com/x",
      ["endpoint: net.post{hosts=[api.example.com],ports=[443]}", "host: net.post{hosts=[api.example.com]}"],
    ],
    [
      "net.connect db.example.com:5432",
      [
        "endpoint: net.connect{hosts=[db.example.com],ports=[5432]}",
        "host: net.connect{hosts=[db.example.com],ports=[*]}",
      ],
    ],
    ["net.get http://127.0.0.1:8080/", ["endpoint: net.get{hosts=[127.0.0.1],ports=[8080]}"]],
    ["net.get http://8.8.8.8/", ["endpoint: net.get{hosts=[8.8.8.8],ports=[80]}", "host: net.get{hosts=[8.8.8.8]}"]],
    [
      "net.get https://db.internal/ address=10.1.2.3",
      ["endpoint: net.get{hosts=[db.internal],private=[db.internal=10.1.2.3],ports=[443]}"],
    ],
    ["memory.write notes", ["key: memory.write{keys=[notes]}"]],
    ["memory.write notes/today", ["key: memory.write{keys=[notes/today]}", "group: memory.write{keys=[notes/**]}"]],
    [
      "records.update id=log/today class=note",
      [
        "record: records.update{classes=[note],paths=[log/today]}",
        "group: records.update{classes=[note],paths=[log/**]}",
      ],
    ],
    ["records.delete id=log/today class=note", ["record: records.delete{classes=[note],paths=[log/today]}"]],
    ["agent.delegate helper", ["agent: agent.delegate{id=helper}"]],
    ["agent.create helper", []],
    ["agent.update helper", []],
    ["agent.grant helper fs.read{in=/work/p}", []],
    [
      "secret.use key tool=web_fetch host=api.example.com",
      ["secret: secret.use{names=[key],tools=[web_fetch],hosts=[api.example.com]}"],
    ],
    // The request does not name a tool or host, and one approval never covers all of them.
    ["secret.use key", []],
    ['tool.invoke send_money {"amount": 5}', ["tool: tool.invoke{tools=[send_money]}"]],
    ["obs.query scout", ["agent: obs.query{agents=[scout]}"]],
    ["sandbox.exec", ["any: sandbox.exec"]],
    ["task.schedule", ["any: task.schedule"]],
    ["model.use anthropic claude-x", ["model: model.use{providers=[anthropic],models=[claude-x]}"]],
    ["mcp.resource docs docs://pages/a", ["resource: mcp.resource{servers=[docs],uris=[docs://pages/a]}"]],
    ["provider.code_execution", []],
    ["provider.web_search docs.example.com", ["host: provider.web_search{hosts=[docs.example.com]}"]],
  ];
  for (const [request, steps] of rows) test(request, () => expect(offered(request)).toEqual(["exact", ...steps]));

  test("every verb has a row", () => {
    const named = new Set(rows.map(([request]) => request.split(" ", 1)[0]?.split(".", 1)[0]));
    const families = new Set(CATALOG.map(({ verb }) => verb.split(".", 1)[0]));
    expect([...families].filter((family) => !named.has(family))).toEqual([]);
  });

  test("several requests are widened together, each as far as it goes", () => {
    expect(offered("fs.read /work/p/src/a", "net.get https://x.example/")).toEqual([
      "exact",
      "file+endpoint: fs.read{in=/work/p/src,paths=[a]} net.get{hosts=[x.example],ports=[443]}",
      "folder+host: fs.read{in=/work/p/src,paths=[*]} net.get{hosts=[x.example]}",
      "tree+host: fs.read{in=/work/p/src} net.get{hosts=[x.example]}",
    ]);
    expect(offered("fs.read /work/p/src/a", "proc.eval")).toEqual(["exact"]);
    expect(offered("fs.read /work/p/src/a", "fs.read /work/p/src/a")[1]).toBe(
      "file: fs.read{in=/work/p/src,paths=[a]}",
    );
  });

  test("no request, or too many of them, can only be approved exactly", () => {
    expect(ladderOf([], READING)).toEqual([EXACT_STEP]);
    const many = Array.from({ length: askingWidenedMax + 1 }, (_, at) => requestOf(`memory.read k${at}`));
    expect(ladderOf(many, READING)).toEqual([EXACT_STEP]);
    expect(ladderOf(many.slice(1), READING)).toHaveLength(2);
  });

  test("a text that does not parse covers nothing, not even together with one that does", () => {
    const covers = specsCover(READING);
    const request = requestOf("fs.read /work/p/src/a");
    expect(covers(["fs.read{in=/work/p}"], request)).toBe(true);
    expect(covers(["fs.read{in=/work/p}", "fs.raed{in=/}"], request)).toBe(false);
    expect(covers([], request)).toBe(false);
  });
});

/** Every text that one of these parts produces, so that unusual ones are combined. */
const PATHS = [
  "/a",
  "/work/p/a b",
  "/work/p/it's",
  "/work/p/src/deep/x",
  "/home/u/.ssh/k",
  "/work/p/ü",
  "/w/{a}",
  "/w/[a]",
  "/w/q?/r/s",
];
const WORDS = [
  "git",
  "rm",
  "push",
  "-rf",
  "--",
  "*",
  "a b",
  "'",
  '"',
  "\\",
  "",
  "-c",
  "é",
  "npm",
  "run",
  "x".repeat(5000),
];

test("every step covers the request, parses back to itself, and is within the next", { timeout: 60_000 }, () => {
  const texts = [
    ...PATHS.flatMap((path) => ["fs.read", "fs.write", "fs.delete"].map((verb) => `${verb} ${JSON.stringify(path)}`)),
    ...WORDS.flatMap((first) =>
      WORDS.flatMap((second) =>
        WORDS.filter((_, at) => (at + runSeed()) % sizeFor(9, 3) === 0).map(
          (third) =>
            `proc.exec -- ${[first, second, third].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")}`,
        ),
      ),
    ),
    ...["https://x.example/", "http://x.example:81/", "https://[2001:db8::1]/", "http://10.0.0.1/"].flatMap((url) =>
      ["net.get", "net.put", "net.delete"].map((verb) => `${verb} ${url}`),
    ),
    ...["a", "a/b", "a/b/c.d", "ü/x"].flatMap((name) => [
      `memory.read ${name}`,
      `obs.query ${name}`,
      `agent.consult ${name}`,
    ]),
  ];
  const covers = specsCover(READING);
  let steps = 0;
  for (const text of texts) {
    const request = readable(text);
    if (request === null) continue;
    const ladder = ladderOf([request], READING);
    expect(ladder[0]).toBe(EXACT_STEP);
    expect(new Set(ladder.map(({ name }) => name)).size).toBe(ladder.length);
    let before: readonly string[] | null = null;
    for (const { specs } of ladder.slice(1)) {
      steps++;
      expect(specs).not.toBeNull();
      expect(covers(specs ?? [], request), `${text}: ${specs}`).toBe(true);
      if (before !== null) expect(isWithin(before, specs ?? []), `${before} in ${specs}`).toBe(true);
      // Everything that was not named stays denied.
      for (const other of [
        "fs.read /home/u/.ssh/other",
        "fs.write /work/p/.git/hooks/x",
        "net.get http://169.254.169.254/",
      ])
        expect(covers(specs ?? [], requestOf(other)), `${specs} opens ${other}`).toBe(false);
      for (const option of ["git -c x=y log", "git push --receive-pack=x", "npm --prefix /x run build", "rm x"]) {
        if (text.includes("rm")) continue;
        expect(covers(specs ?? [], requestOf(`proc.exec -- ${option}`)), `${specs} opens ${option}`).toBe(false);
      }
      before = specs;
    }
  }
  expect(steps).toBeGreaterThan(300);
});

function isWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const grants = readSpecs(outer, READING);
  const child = readSpecs(inner, READING);
  if (grants === null || child === null || child.length === 0) return false;
  const link = compile({ id: "x", role: "limit", issuer: "x", holder: "x", grants, validity: ALWAYS, calls: null });
  const { protectedPaths } = READING.pathSettings;
  return within(child, [[link]], { protectedPaths, delegating: false }).kind === "within";
}

function readable(text: string): ReturnType<typeof requestOf> | null {
  try {
    return requestOf(text);
  } catch {
    return null;
  }
}
