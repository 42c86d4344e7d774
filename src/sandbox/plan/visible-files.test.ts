// What a program sees of its root: what every link covers for `fs.read`, as far as folders and single files can express
// it.
import { describe, expect, test } from "vitest";
import { pathText } from "../../core/authority/axes/path.ts";
import { visibleFiles, visibleUntil } from "../../core/gate/programs/visible-files.ts";
import { foldersToList, hiddenNames } from "./hidden-names.ts";
import { at, FACTS } from "./testing/plan.ts";
import { authorityOf, planDecisionFor, plannedBy, requestOf } from "./testing/planning.ts";

const ROOT = "/srv/p";
const RUN = `proc.exec{in=${ROOT}}`;
const LINE = `proc.exec in=${ROOT} -- ls`;
const read = (...paths: readonly string[]): string => `fs.read{in=${ROOT},paths=[${paths.join(",")}]}`;

/** The visible paths, "all", or the code of the refusal. */
function view(links: readonly (readonly string[])[], approved: 0 | 1 = 0): string {
  const one = planDecisionFor(authorityOf([links]), requestOf(LINE), approved);
  if (one === null) throw new Error("undecided");
  const visible = visibleFiles(one, at(ROOT), FACTS);
  if (!visible.ok) return visible.refused.code;
  if (visible.value === null) return "all";
  return visible.value
    .map(({ path, isTree }) => `${pathText(path.slice(2))}${isTree ? "/**" : ""}`)
    .sort()
    .join(" ");
}

const ROWS: readonly (readonly [what: string, links: readonly (readonly string[])[], visible: string])[] = [
  ["everything if no link mentions reading", [[RUN], [RUN]], "all"],
  ["everything if reading covers the root", [[RUN, `fs.read{in=${ROOT}}`]], "all"],
  ["everything if reading covers a folder around it", [[RUN, "fs.read{in=/srv}"]], "all"],
  ["everything if stars cover it together", [[RUN, read("*", "*/**")]], "all"],
  ["not everything if one level is left out", [[RUN, read("*/*/**")]], "scope_violation"],
  ["the folders that are written", [[RUN, read("pub/**", "a/b/**")]], "/a/b/** /pub/**"],
  ["single files", [[RUN, read("one.txt")]], "/one.txt"],
  ["outermost folders alone", [[RUN, read("pub/**", "pub/deep/**", "pub/x.txt")]], "/pub/**"],
  ["nothing if nothing is written", [[RUN, read()]], ""],
  ["nothing of a folder beside the root", [[RUN, "fs.read{in=/srv/other}"]], ""],
  ["nothing if one link is silent and another is not", [[RUN, read("pub/**")], [RUN]], ""],
  [
    "what two links have in common",
    [
      [RUN, read("pub/**", "doc/**")],
      [RUN, read("pub/**")],
    ],
    "/pub/**",
  ],
  [
    "the deeper one of two folders",
    [
      [RUN, read("pub/**")],
      [RUN, read("pub/deep/**")],
    ],
    "/pub/deep/**",
  ],
  [
    "a file in a folder of the other",
    [
      [RUN, read("pub/**")],
      [RUN, read("pub/x.txt", "y.txt")],
    ],
    "/pub/x.txt",
  ],
  ["no pattern", [[RUN, read("'**/*.md'".replaceAll("'", ""))]], "scope_violation"],
  ["no star at the top", [[RUN, read("*.md")]], "scope_violation"],
  ["no star in a folder", [[RUN, read("pub/*")]], "scope_violation"],
  ["a star inside a visible folder", [[RUN, read("pub/**", "pub/*.md")]], "/pub/**"],
  ["a star outside of the root", [[RUN, read("pub/**"), "fs.read{in=/srv/other,paths=[*.md]}"]], "/pub/**"],
  [
    "a star that another link excludes",
    [
      [RUN, read("pub/**", "*.md")],
      [RUN, read("pub/**")],
    ],
    "/pub/**",
  ],
  [
    "no star that another link includes",
    [
      [RUN, `fs.read{in=${ROOT}}`],
      [RUN, read("*.md")],
    ],
    "scope_violation",
  ],
  [
    "no star below a folder of another link",
    [
      [RUN, read("pub/*.md")],
      [RUN, read("pub/**")],
    ],
    "scope_violation",
  ],
  ["nothing that needs approval", [[RUN, `fs.read{in=${ROOT},ask}`]], ""],
  ["nothing that is counted", [[RUN, `fs.read{in=${ROOT},calls=3}`]], ""],
  ["nothing that has expired", [[RUN, `fs.read{in=${ROOT},expires=1969-12-31T00:00:00Z}`]], ""],
];

describe("a program sees", () => {
  test.each(ROWS)("%s", (_, links, visible) => expect(view(links)).toBe(visible));

  test("what needs no more approval than the approved run", () => {
    const asking = [`proc.exec{in=${ROOT},ask}`, `fs.read{in=${ROOT},ask}`];
    expect(view([asking], 1)).toBe("all");
    expect(view([[`proc.exec{in=${ROOT},ask}`, `fs.read{in=${ROOT},ask=presence}`]], 1)).toBe("");
  });

  test("it until the grant that shows it expires", () => {
    const links = [[RUN, read("pub/**"), `fs.read{in=${ROOT},paths=[doc/**],expires=1970-01-01T00:00:10Z}`]];
    const one = planDecisionFor(authorityOf([links]), requestOf(LINE));
    expect(one === null ? null : visibleUntil(one, at(ROOT), FACTS)).toBe(10_000);
    const listed = [{ path: at(ROOT), names: ["pub", "doc", "priv"] }];
    const result = plannedBy(links, LINE, { listed });
    expect(result?.ok === true && result.plan.limits.wallMilliseconds).toBe(10_000);
  });
});

describe("what is hidden", () => {
  const visible = [
    { path: at(`${ROOT}/a/b`), isTree: true },
    { path: at(`${ROOT}/one.txt`), isTree: false },
  ];
  test("is everything else in the parent folders", () => {
    expect(foldersToList(visible, at(ROOT)).map(pathText)).toEqual([ROOT, `${ROOT}/a`, `${ROOT}/one.txt`]);
    const hidden = hiddenNames(visible, at(ROOT), [
      { path: at(ROOT), names: ["a", "c", "one.txt", "two.txt"] },
      { path: at(`${ROOT}/a`), names: ["b", "bb"] },
      // Now a folder: its name was granted, and nothing in it.
      { path: at(`${ROOT}/one.txt`), names: ["inside"] },
    ]);
    expect(hidden.ok && hidden.value.map(pathText)).toEqual(
      ["/c", "/two.txt", "/a/bb", "/one.txt/inside"].map((name) => ROOT + name),
    );
  });
  test.each([
    ["a folder that was not listed", [{ path: at(ROOT), names: ["a"] }]],
    ["a folder that cannot be listed", [{ path: at(ROOT), names: null }]],
    ["more names than can be hidden", [{ path: at(ROOT), names: Array.from({ length: 4097 }, (_, n) => `x${n}`) }]],
  ])("refuses the run for %s", (_, listed) => {
    const hidden = hiddenNames(visible, at(ROOT), listed);
    expect(hidden.ok ? null : hidden.refused.code).toBe("sandbox_unavailable");
  });
  test("the working folder refuses the run", () => {
    const facts = { listed: [{ path: at(ROOT), names: ["pub", "priv"] }] };
    const refusal = plannedBy([[RUN, read("pub/**")]], `proc.exec in=${ROOT}/priv -- ls`, facts);
    expect(refusal?.ok === false && refusal.refused.code).toBe("scope_violation");
    expect(plannedBy([[RUN, read("pub/**")]], `proc.exec in=${ROOT}/pub -- ls`, facts)).toMatchObject({
      ok: true,
      plan: { masked: [at(`${ROOT}/priv`)], visible: expect.stringContaining("pub/**") },
    });
  });
  test("records are, unless records.read covers every class", () => {
    const folder = "/home/u/work/ws/.ambit/records";
    const facts = { found: [{ path: at(folder), kind: "folder" as const, target: null, by: [] }] };
    const masked = (...grants: readonly string[]): boolean => {
      const result = plannedBy(
        [["proc.exec{in=/home/u/work/ws}", ...grants]],
        "proc.exec in=/home/u/work/ws -- ls",
        facts,
      );
      if (result?.ok !== true) throw new Error(JSON.stringify(result));
      return result.plan.masked.some((path) => pathText(path) === folder);
    };
    expect(masked()).toBe(true);
    expect(masked("fs.read{in=/home/u/work/ws}")).toBe(true);
    expect(masked("records.read{classes=[contact]}")).toBe(true);
    expect(masked("records.read{ask}")).toBe(true);
    expect(masked("records.read")).toBe(false);
    expect(plannedBy([["proc.exec{in=/home/u/work/ws}"]], "proc.exec in=/home/u/work/ws -- ls")).toMatchObject({
      plan: { masked: [] },
    });
  });
});
