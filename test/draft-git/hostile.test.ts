// Hostile git content in a draft: each stays a draft, or lands without the harm.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { removeFolder } from "../sandbox/fixture.ts";
import {
  draftOf,
  type GitFixture,
  git,
  gitFixture,
  land,
  plant,
  prepare,
  refusalOf,
  type SealedDraft,
  scan,
  write,
} from "./fixture.ts";

let here: GitFixture;
const folders: string[] = [];

beforeEach(() => {
  here = gitFixture();
  folders.push(here.folder);
});

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

const COMMIT = "echo three >> a.txt; git add a.txt; git commit -q -m second";

/** The content of `a.txt` in that commit. */
const NEW_BLOB = createHash("sha1").update("blob 10\0one\nthree\n").digest("hex");

/** A loose object in the draft, under its own id or another. */
function plantObject(
  draft: SealedDraft,
  type: string,
  content: Uint8Array | string,
  under?: string,
): [SealedDraft, string] {
  const body = Buffer.concat([Buffer.from(`${type} ${Buffer.byteLength(content)}\0`), Buffer.from(content)]);
  const id = createHash("sha1").update(body).digest("hex");
  const name = under ?? id;
  const path = `.git/objects/${name.slice(0, 2)}/${name.slice(2)}`;
  rmSync(join(draft.upper, path), { force: true });
  return [plant(draft, here, path, deflateSync(body)), id];
}

function commitOf(draft: SealedDraft, tree: string): [SealedDraft, string] {
  const who = "agent <agent@example.invalid> 1700000000 +0000";
  const parent = git(here, "rev-parse", "HEAD");
  return plantObject(draft, "commit", `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nplanted\n`);
}

/** A commit on `main` whose tree has one entry. */
function plantTree(mode: string, name: string | Uint8Array, id = git(here, "rev-parse", "HEAD:a.txt")): SealedDraft {
  const entry = Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, "hex")]);
  const [withTree, tree] = plantObject(draftOf(here, "true"), "tree", entry);
  const [withCommit, commit] = commitOf(withTree, tree);
  return plant(withCommit, here, ".git/refs/heads/main", `${commit}\n`);
}

describe("objects", () => {
  test("an object of the person's, overwritten under its id, is not trusted and does not land", async () => {
    const id = git(here, "rev-parse", "HEAD:folder/b.txt");
    const [draft] = plantObject(draftOf(here, COMMIT), "blob", "evil\n", id);
    await land(here, draft);
    expect(git(here, "show", "HEAD:folder/b.txt")).toBe("two");
    expect(git(here, "fsck", "--full", "--strict")).toBe("");
  });

  test("a new object under a wrong id leaves the commit incomplete", async () => {
    const draft = draftOf(here, COMMIT);
    expect(existsSync(join(draft.upper, ".git/objects", NEW_BLOB.slice(0, 2), NEW_BLOB.slice(2)))).toBe(true);
    expect(await refusalOf(here, plantObject(draft, "blob", "evil\n", NEW_BLOB)[0])).toMatch(/^bad_objects: /);
    expect(git(here, "log", "--format=%s")).toBe("first");
  });

  test("a missing object, and a file that is not an object", async () => {
    const missing = plant(draftOf(here, "true"), here, ".git/refs/heads/main", `${"1".repeat(40)}\n`);
    expect(await refusalOf(here, missing)).toMatch(/^bad_objects: /);
    const garbage = plant(draftOf(here, COMMIT), here, `.git/objects/11/${"1".repeat(38)}`, "garbage");
    expect(await refusalOf(here, plant(garbage, here, ".git/refs/heads/x", `${"1".repeat(40)}\n`))).toMatch(
      /^bad_objects: /,
    );
  });

  test("alternates to a path of the machine are never read and never imported", async () => {
    const other = gitFixture();
    folders.push(other.folder);
    git(other, "commit", "-q", "--allow-empty", "-m", "private");
    const secret = git(other, "rev-parse", "HEAD");
    const draft = plant(draftOf(here, COMMIT), here, ".git/objects/info/alternates", `${other.root}/.git/objects\n`);
    expect(await refusalOf(here, plant(draft, here, ".git/refs/heads/stolen", `${secret}\n`))).toMatch(
      /^bad_objects: /,
    );
    rmSync(join(draft.upper, ".git/refs/heads/stolen"));
    await land(here, { ...draft, changes: scan(here.root, draft.upper) });
    expect(existsSync(join(here.root, ".git/objects/info/alternates"))).toBe(false);
  });

  test("a pack with a false index, and side files of packs", async () => {
    const draft = draftOf(here, `${COMMIT}; git repack -q -a -d`);
    const file = draft.changes.map(({ path }) => path.join("/")).find((path) => path.endsWith(".idx")) ?? "";
    const kept = plant(draft, here, file.replace(/idx$/, "keep"), "");
    const index = Buffer.from(readFileSync(join(draft.upper, file)));
    const count = index.readUInt32BE(8 + 255 * 4);
    const names = Array.from({ length: count }, (_, at) => index.toString("hex", 1032 + 20 * at, 1052 + 20 * at));
    const offsetOf = (id: string): number => 1032 + 24 * count + 4 * names.indexOf(id);
    index.copy(
      index,
      offsetOf(NEW_BLOB),
      offsetOf(git(here, "rev-parse", "HEAD:a.txt")),
      offsetOf(git(here, "rev-parse", "HEAD:a.txt")) + 4,
    );
    rmSync(join(draft.upper, file));
    expect(await refusalOf(here, plant(kept, here, file, index))).toMatch(/^bad_objects: /);
  });

  test("a blob that decompresses to far more than its file", async () => {
    const bomb = Buffer.concat([Buffer.from("blob 2000000000\0"), Buffer.alloc(8)]);
    const draft = plant(draftOf(here, "true"), here, `.git/objects/22/${"2".repeat(38)}`, deflateSync(bomb));
    expect(await refusalOf(here, plant(draft, here, ".git/refs/tags/bomb", `${"2".repeat(40)}\n`))).toMatch(
      /^(bad_objects|too_large): /,
    );
  });

  test("a blob of a gigabyte of zeros in a megabyte", async () => {
    const draft = draftOf(
      here,
      "truncate -s 600M z; git -c core.bigFileThreshold=1m add z; rm z; git commit -q -m bomb",
    );
    expect(await refusalOf(here, draft)).toMatch(/^too_large: /);
  });

  test.each([
    ["40000", ".git"],
    ["40000", ".GIT"],
    ["40000", "git~1"],
    ["40000", ".git\u200c"],
    ["40000", ".."],
    ["40000", "."],
    ["100644", "a/b"],
    ["100644", ""],
    ["120000", ".gitmodules"],
  ])("a tree with an entry of mode %s named %j", async (mode, name) => {
    const id = mode === "40000" ? git(here, "rev-parse", "HEAD:folder") : git(here, "rev-parse", "HEAD:a.txt");
    expect(await refusalOf(here, plantTree(mode, name, id))).toMatch(/^bad_objects: /);
    expect(git(here, "log", "--format=%s")).toBe("first");
  });

  test("a branch that names a blob, a HEAD that names a tree", async () => {
    const id = git(here, "rev-parse", "HEAD:a.txt");
    const branch = plant(draftOf(here, "true"), here, ".git/refs/heads/blob", `${id}\n`);
    expect(await refusalOf(here, branch)).toMatch(/^conflict: .*non-commit/);
    const head = plant(draftOf(here, "true"), here, ".git/HEAD", `${git(here, "rev-parse", "HEAD^{tree}")}\n`);
    expect(await refusalOf(here, head)).toBe("malformed: HEAD of the draft is not a commit");
  });
});

describe("refs", () => {
  test.each([
    "refs/heads/$(id)",
    "refs/heads/`id`",
    "refs/heads/a;b",
    "refs/heads/a'b",
    'refs/heads/a"b',
    "refs/heads/%n",
    "refs/heads/a b",
    "refs/heads/a\u0007",
    "refs/heads/caf\u00e9",
    "refs/heads/-x",
    "refs/heads/HEAD",
    "refs/heads/a..b",
    "refs/heads/.a",
    "refs/tags/a!b",
    "refs/remotes/o/${x}",
    `refs/heads/${"a".repeat(40)}`,
  ])("the name %j is refused", async (name) => {
    const draft = plant(draftOf(here, COMMIT), here, `.git/${name}`, `${git(here, "rev-parse", "HEAD")}\n`);
    expect(await refusalOf(here, draft)).toMatch(/^bad_name: /);
    expect(git(here, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  });

  test("replaced objects are not imported", async () => {
    const draft = draftOf(here, `${COMMIT}; git replace HEAD~1 HEAD`);
    const outcome = await prepare(here, draft);
    if (outcome.kind !== "prepared") throw new Error(JSON.stringify(outcome));
    expect(outcome.prepared.plan.notCarried).toEqual([expect.stringMatching(/^refs\/replace\//)]);
    await outcome.prepared.commit();
    expect(git(here, "for-each-ref", "refs/replace")).toBe("");
  });

  test("symbolic refs that form a cycle, or lead out of the refs", async () => {
    const cycle = plant(draftOf(here, "true"), here, ".git/refs/heads/a", "ref: refs/heads/b\n");
    expect(await refusalOf(here, plant(cycle, here, ".git/refs/heads/b", "ref: refs/heads/a\n"))).toMatch(
      /^unsupported: /,
    );
    for (const target of ["refs/../../x", "refs/heads/$(id)", "refs/remotes/o/m", "refs/heads/a/../../../config"])
      expect(await refusalOf(here, plant(draftOf(here, "true"), here, ".git/HEAD", `ref: ${target}\n`))).toMatch(
        /^bad_name: /,
      );
    expect(await refusalOf(here, plant(draftOf(here, "true"), here, ".git/HEAD", "ref: config\n"))).toMatch(
      /^malformed: /,
    );
  });

  test("HEAD, a ref or the index that is a link", async () => {
    for (const name of ["HEAD", "refs/heads/main", "index"]) {
      const draft = draftOf(here, "true");
      mkdirSync(join(draft.upper, ".git/refs/heads"), { recursive: true });
      symlinkSync("/etc/passwd", join(draft.upper, ".git", name));
      expect(await refusalOf(here, { ...draft, changes: scan(here.root, draft.upper) })).toMatch(/^malformed: /);
    }
  });

  test("a packed-refs of a million lines is refused", async () => {
    const id = git(here, "rev-parse", "HEAD");
    const lines = Array.from({ length: 1_000_000 }, (_, at) => `${id} refs/heads/b${at}\n`).join("");
    const draft = plant(draftOf(here, "true"), here, ".git/packed-refs", lines);
    expect(await refusalOf(here, draft)).toMatch(/^too_large: /);
    const fewer = plant(draft, here, ".git/packed-refs", lines.slice(0, lines.indexOf("refs/heads/b300000\n")));
    expect(await refusalOf(here, fewer)).toMatch(/^(too_large|malformed): /);
  });
});

describe("the index", () => {
  test("flags that hide changes are not imported, and are named", async () => {
    const script =
      "echo x > new.txt; git add .; git update-index --assume-unchanged a.txt; git update-index --skip-worktree folder/b.txt";
    const draft = draftOf(here, `${script}; echo ita > ita.txt; git add -N ita.txt`);
    const outcome = await prepare(here, draft);
    if (outcome.kind !== "prepared") throw new Error(JSON.stringify(outcome));
    expect(outcome.prepared.plan.flagsNotCarried).toEqual([
      { path: "a.txt", flag: "assume-unchanged" },
      { path: "folder/b.txt", flag: "skip-worktree" },
      { path: "ita.txt", flag: "intent-to-add" },
    ]);
    await outcome.prepared.commit();
    expect(git(here, "ls-files", "-v")).toBe("H a.txt\nH folder/b.txt\nH new.txt");
  });

  test("flags the person set stay", async () => {
    git(here, "update-index", "--skip-worktree", "folder/b.txt");
    await land(here, draftOf(here, COMMIT));
    expect(git(here, "ls-files", "-v")).toBe("H a.txt\nS folder/b.txt");
  });

  test("a damaged one, a split one, one with a path into a git folder", async () => {
    expect(await refusalOf(here, plant(draftOf(here, "true"), here, ".git/index", "DIRC"))).toMatch(/^malformed: /);
    expect(await refusalOf(here, draftOf(here, "git update-index --split-index; echo x > x; git add x"))).toMatch(
      /^unsupported: .*split/,
    );
    const draft = draftOf(here, "echo x > xgit-config; git add .");
    const bytes = Buffer.from(
      readFileSync(join(draft.upper, ".git/index")).toString("latin1").replace("xgit-config", ".git/config"),
      "latin1",
    );
    const sum = createHash("sha1").update(bytes.subarray(0, -20)).digest();
    writeFileSync(join(draft.upper, ".git/index"), Buffer.concat([bytes.subarray(0, -20), sum]));
    expect(await refusalOf(here, draft)).toMatch(/^bad_name: /);
  });
});

describe("programs configured by the repository", () => {
  test("no hook, filter or fsmonitor of the person's configuration runs during an import", async () => {
    // Below the git folder, the one tree an import can write.
    const proof = join(here.root, ".git/ran");
    for (const hook of ["reference-transaction", "post-index-change", "post-checkout", "pre-commit"])
      writeFileSync(join(here.root, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> ${proof}\n`, { mode: 0o755 });
    git(here, "config", "core.fsmonitor", `echo fsmonitor >> ${proof}; false`);
    git(here, "config", "filter.x.clean", `echo clean >> ${proof}; cat`);
    git(here, "config", "filter.x.required", "true");
    const draft = draftOf(
      here,
      `echo '*.txt filter=x' > .gitattributes; git add .; ${COMMIT}; git branch other; git tag t`,
    );
    rmSync(proof, { force: true });
    await land(here, draft);
    expect(existsSync(proof)).toBe(false);
    // The same programs do run for the person, so the file would exist.
    write(here.root, "a.txt", "person\n");
    git(here, "commit", "-q", "-a", "-m", "person");
    const ran = readFileSync(proof, "utf8");
    for (const program of ["reference-transaction", "post-index-change", "fsmonitor", "clean"])
      expect(ran).toContain(program);
  });
});
