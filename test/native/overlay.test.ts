// The root as an overlay: changes go to the draft, masked names do not exist, and no layer is reachable but through the overlay.
// As root and as an ordinary user.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openKernelFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { bytes, type Owner, PROJECT, type Ready, start } from "./owner.ts";
import { users, variants } from "./program.ts";

const [READ_ONLY, DRAFT] = [1, 2];
const EEXIST = 17;

const callers = variants.flatMap(([variant, program]) =>
  users.map((user) => [variant, user ?? "self", program] as const),
);

describe.each(callers)("%s, as %s", (_variant, caller, program) => {
  const user = caller === "self" ? null : caller;
  let folder: string;
  let root: string;
  let draft: string;
  let owner: Owner | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ambit-overlay-"));
    [root, draft] = [join(folder, "root , a:b\\c"), join(folder, "draft")];
    for (const one of ["sub/deep", "closed"]) mkdirSync(join(root, one), { recursive: true });
    for (const one of ["upper", "work"]) mkdirSync(join(draft, one), { recursive: true, mode: 0o700 });
    for (const file of [".env", "sub/deep/key", "sub/file", "plain"]) writeFileSync(join(root, file), `of ${file}\n`);
    chmodSync(root, 0o750);
    if (user !== null) own(folder, user);
  });

  afterEach(async () => {
    expect(await owner?.end()).not.toBe(99);
    owner = undefined;
    openKernelFolders(join(draft, "work"));
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(masked: readonly string[], mode = DRAFT): Promise<Owner> {
    const more = [
      ...["--dir", PROJECT, "--perms", "0700", "--tmpfs", "/run/ambit/layers"],
      ...["--ro-bind", root, "/run/ambit/layers/lower"],
      ...(mode === DRAFT ? ["--bind", draft, "/run/ambit/layers/draft"] : []),
    ];
    const { owner: started } = await start({ program, user, more });
    owner = started;
    started.send("V", new PayloadWriter().u8(mode).text(bytes(PROJECT)).done());
    for (const path of masked) started.send("M", new PayloadWriter().text(bytes(path)).done());
    started.send("G");
    return started;
  }

  async function ready(masked: readonly string[] = [], mode = DRAFT): Promise<Ready> {
    return (await begin(masked, mode)).ready();
  }

  async function sh(script: string): Promise<string> {
    const { output, errors } = await (owner as Owner).run({ argv: ["sh", "-c", script], directory: PROJECT });
    return output + errors;
  }

  test("changes are in the draft, and the root is unchanged", async () => {
    const before = lstatSync(join(root, "plain"), { bigint: true });
    await ready();
    expect(await sh("echo two > plain; rm .env; mkdir new; touch new/x; cat plain; ls -A")).toBe(
      "two\nclosed\nnew\nplain\nsub\n",
    );
    expect(readFileSync(join(root, "plain"), "utf8")).toBe("of plain\n");
    expect(lstatSync(join(root, "plain"), { bigint: true }).ctimeNs).toBe(before.ctimeNs);
    expect(readdirSync(join(draft, "upper")).sort()).toEqual([".env", "new", "plain"]);
    expect(lstatSync(join(draft, "upper", ".env"))).toMatchObject({ rdev: 0, size: 0 });
    expect(lstatSync(join(draft, "upper", ".env")).isCharacterDevice()).toBe(true);
  });

  test("a command that changes nothing leaves nothing in the draft", async () => {
    await ready([".env"]);
    await sh("ls -R; cat plain");
    expect(readdirSync(join(draft, "upper"))).toEqual([]);
  });

  test("the root inside has the mode of the real root", async () => {
    await ready();
    expect(await sh("stat -c %a .")).toBe("750\n");
  });

  test("masked names do not exist, and stay so when the real file is replaced or appears", async () => {
    await ready([".env", "sub/deep/key", "later", "none/at/all"]);
    expect(await sh("ls -A . sub/deep; cat .env sub/deep/key later none/at/all 2>/dev/null; echo end")).toBe(
      ".:\nclosed\nplain\nsub\n\nsub/deep:\nend\n",
    );
    for (const name of [".env", "sub/deep/key", "later"]) {
      writeFileSync(join(root, "fresh"), "secret\n");
      renameSync(join(root, "fresh"), join(root, name));
    }
    mkdirSync(join(root, "none", "at"), { recursive: true });
    writeFileSync(join(root, "none", "at", "all"), "secret\n");
    expect(await sh("cat .env sub/deep/key later none/at/all 2>/dev/null; ls -A; echo end")).toBe(
      "closed\nplain\nsub\nend\n",
    );
  });

  test("a masked name can be created inside: it is in the draft, and is not what was masked", async () => {
    await ready([".env", "none/at/all"]);
    expect(await sh("echo mine > .env; mkdir -p none/at; echo x > none/at/all; cat .env none/at/all")).toBe(
      "mine\nx\n",
    );
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("of .env\n");
    expect(existsSync(join(root, "none"))).toBe(false);
  });

  test("a parent folder of a masked name keeps its mode and its other names", async () => {
    chmodSync(join(root, "sub"), 0o711);
    await ready(["sub/deep/key"]);
    expect(await sh("stat -c %a sub; cat sub/file")).toBe("711\nof sub/file\n");
  });

  test("no mask replaces a link or a file of the root", async () => {
    symlinkSync("sub", join(root, "linked"));
    symlinkSync("/etc", join(root, "outside"));
    await ready(["linked/deep/key", "outside/x", "plain/below"]);
    expect(await sh("readlink linked outside; cat plain linked/deep/key")).toBe(
      "sub\n/etc\nof plain\nof sub/deep/key\n",
    );
  });

  test("a masked name that is a link does not exist", async () => {
    symlinkSync("plain", join(root, "linked"));
    await ready(["linked"]);
    expect(await sh("ls -A")).toBe(".env\nclosed\nplain\nsub\n");
  });

  test("read-only: masked names do not exist, and nothing can be written", async () => {
    expect((await ready([".env"], READ_ONLY)).start).toBeGreaterThan(0n);
    expect(await sh("ls -A; cat .env 2>/dev/null; touch x 2>/dev/null || echo no; cat plain")).toBe(
      "closed\nplain\nsub\nno\nof plain\n",
    );
    expect(readdirSync(join(draft, "upper"))).toEqual([]);
  });

  test("no layer is visible inside, by name, mount or process", async () => {
    await ready([".env"]);
    const seen = await sh(
      `ls -A /run/ambit/layers; grep -c /layers/ /proc/self/mountinfo; ls /proc/1/cwd 2>&1 | head -1`,
    );
    // The one line is the overlay itself, whose options name its layers.
    expect(seen).toMatch(/^1\n/);
    expect(await sh(`grep /layers/ /proc/self/mountinfo | cut -d ' ' -f 5`)).toBe(`${PROJECT}\n`);
    expect(await sh("umount /project 2>&1; mount -t tmpfs x /mnt 2>&1; ls -A")).toMatch(/closed\nplain\nsub\n$/);
  });

  test("a program has no capability left, and no device works in the draft", async () => {
    await ready();
    expect(await sh("grep Cap /proc/self/status | cut -f 2 | sort -u")).toBe("0000000000000000\n");
    expect(await sh("mknod null c 1 3 2>/dev/null || echo no; mknod hidden c 0 0 2>/dev/null || echo no")).toBe(
      "no\nno\n",
    );
  });

  test("no overlay attribute can be set from inside", async () => {
    await ready();
    const tried = await sh(
      `python3 -c 'import os\ntry:\n os.setxattr("sub", "user.overlay.opaque", b"y")\n print(os.listxattr("sub"))\nexcept OSError as e:\n print("no")'`,
    );
    // Newer kernels store it under another name, older ones refuse it.
    expect(tried).toMatch(/^(no|\[.*\])\n$/);
    expect(await sh("ls sub")).toBe("deep\nfile\n");
  });

  test("the start is before the command, by the clock that file systems use", async () => {
    const before = BigInt(Date.now()) * 1_000_000n - 20_000_000n;
    const { start: moment } = await ready();
    expect(moment).toBeGreaterThan(before);
    // Changed from outside after the sandbox is ready: later than the start, however soon.
    writeFileSync(join(root, "plain"), "changed\n");
    expect(lstatSync(join(root, "plain"), { bigint: true }).ctimeNs).toBeGreaterThan(moment);
  });

  test("a mask above an earlier one fails the setup", async () => {
    const failing = await begin(["sub/deep/key", "sub/deep"]);
    expect(await failing.failure()).toEqual({ errno: EEXIST, stage: "overlay mask" });
    expect(await failing.exit()).toBe(125);
  });

  test("without its layers the setup fails", async () => {
    const { owner: started } = await start({ program, user, more: ["--dir", PROJECT] });
    owner = started;
    started.send("V", new PayloadWriter().u8(DRAFT).text(bytes(PROJECT)).done());
    started.send("G");
    expect((await started.failure()).stage).toBe("overlay lower");
    expect(await started.exit()).toBe(125);
  });
});

function own(folder: string, user: number): void {
  chownSync(folder, user, user);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) own(path, user);
    else chownSync(path, user, user);
  }
}
