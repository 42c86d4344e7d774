import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TrustedFile, TrustStore } from "../../core/ports/trust.ts";
import { sha256 } from "../../platform/digest.ts";
import { openTrust, trustStore } from "./trust-file.ts";

const workspace = "/srv/project";
const digest = "0".repeat(64);
const file = (path: string, text: string): TrustedFile => ({
  path,
  text,
  roots: [["/srv/project", "/srv/project"]],
  digest: sha256(text),
  config: null,
});

let base = "";
let state = "";
const open = (): TrustStore => trustStore(state, workspace, sha256);
const folder = (): string => join(state, "trust", encodeURIComponent(workspace));

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ambit-trust-"));
  state = join(base, "ambit");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("the trusted texts", () => {
  test("are returned as stored, for this project and no other", () => {
    expect(open()).toMatchObject({ exists: false, digest: null });
    expect(open().trust([file("a.md", "a"), file("b.md", "ü\n")], digest)).toEqual({ ok: true });
    expect(open()).toMatchObject({ exists: true, digest });
    expect(open().file("b.md")).toEqual(file("b.md", "ü\n"));
    expect(open().file("c.md")).toBe(null);
    expect([...open().paths()].sort()).toEqual(["a.md", "b.md"]);
    expect(trustStore(state, "/srv/projects", sha256).exists).toBe(false);
  });

  test("are exactly those trusted last", () => {
    open().trust([file("a.md", "a"), file("b.md", "b")], digest);
    open().trust([file("a.md", "c")], digest);
    expect(open().file("a.md")?.text).toBe("c");
    expect(open().file("b.md")).toBe(null);
  });

  test("can be changed one text at a time, but not before there is trust", () => {
    expect(open().trustFile(file("a.md", "a"))).toMatchObject({ ok: false });
    open().trust([file("a.md", "a"), file("b.md", "b")], digest);
    expect(open().trustFile(file("b.md", "x"))).toEqual({ ok: true });
    expect([open().file("a.md")?.text, open().file("b.md")?.text]).toEqual(["a", "x"]);
  });

  test("are gone once revoked", () => {
    open().trust([file("a.md", "a")], digest);
    expect(open().revoke()).toEqual({ ok: true });
    expect(open().exists).toBe(false);
    expect(open().file("a.md")).toBe(null);
    expect(open().revoke()).toEqual({ ok: true });
  });

  test("have a file name of their own however long the project's path is", () => {
    const long = [`.ambit/agents/${"a/".repeat(400)}x.md`, `.ambit/agents/${"a/".repeat(400)}y.md`];
    open().trust(
      long.map((path) => file(path, path)),
      digest,
    );
    for (const path of long) expect(open().file(path)?.text).toBe(path);
  });
});

describe("trust on disk", () => {
  test("is readable and writable by the user alone", () => {
    open().trust([file("a.md", "a")], digest);
    for (const one of [state, join(state, "trust"), folder()]) expect(statSync(one).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder());
    expect(names).toHaveLength(2);
    for (const name of names) expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
  });

  test.each<[string, () => void]>([
    ["a file that others may write", () => chmodSync(join(folder(), "a.md.json"), 0o666)],
    ["a folder that others may write", () => chmodSync(folder(), 0o777)],
    ["a parent folder that others may write", () => chmodSync(join(state, "trust"), 0o777)],
    ["half a file", () => writeFileSync(join(folder(), "a.md.json"), '{"version":1,"workspace":"/srv/project"')],
    ["another version", () => rewrite("a.md.json", (text) => text.replace('"version":1', '"version":2'))],
    ["another project's", () => rewrite("a.md.json", (text) => text.replace("/srv/project", "/srv/other"))],
    ["another text's", () => rewrite("a.md.json", (text) => text.replace('"path":"a.md"', '"path":"b.md"'))],
    ["invalid roots", () => rewrite("a.md.json", (text) => text.replace('"roots":[[', '"roots":[[1,'))],
    ["no JSON", () => writeFileSync(join(folder(), "a.md.json"), "trusted")],
    [
      "a link",
      () => {
        writeFileSync(join(base, "elsewhere"), readFileSync(join(folder(), "a.md.json")), { mode: 0o600 });
        rmSync(join(folder(), "a.md.json"));
        symlinkSync(join(base, "elsewhere"), join(folder(), "a.md.json"));
      },
    ],
  ])("%s counts as no trust", (_, damage) => {
    open().trust([file("a.md", "a")], digest);
    expect(open().file("a.md")).not.toBe(null);
    damage();
    expect(open().file("a.md")).toBe(null);
  });

  test("a state folder that others may write is closed before anything is stored there", () => {
    mkdirSync(state);
    chmodSync(state, 0o777);
    expect(open().trust([file("a.md", "a")], digest)).toEqual({ ok: true });
    expect(statSync(state).mode & 0o022).toBe(0);
    expect(open().exists).toBe(true);
  });

  test("a state folder that is a link is refused", () => {
    mkdirSync(join(base, "elsewhere"));
    symlinkSync(join(base, "elsewhere"), state);
    expect(open().trust([file("a.md", "a")], digest)).toMatchObject({ ok: false });
    expect(open().exists).toBe(false);
  });
});

function rewrite(name: string, change: (text: string) => string): void {
  const path = join(folder(), name);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

describe("when trust is needed", () => {
  const folders = (): { config: string; state: string } => ({ config: join(base, "config/ambit"), state });
  test("not without a workspace, or for the user's own configuration", () => {
    mkdirSync(join(base, "config/ambit"), { recursive: true });
    mkdirSync(join(base, "home"));
    symlinkSync(join(base, "config/ambit"), join(base, "home/.ambit"));
    expect(openTrust(null, folders(), sha256)).toBe(null);
    expect(openTrust(join(base, "config/ambit"), folders(), sha256)).toBe(null);
    expect(openTrust(join(base, "home"), folders(), sha256)).toBe(null);
    expect(openTrust(join(base, "config"), folders(), sha256)).not.toBe(null);
  });

  test("nothing is ever trusted if it cannot be stored", () => {
    const store = openTrust(base, { config: null, state: null }, sha256);
    expect(store?.exists).toBe(false);
    expect(store?.trust([], digest)).toMatchObject({ ok: false });
  });
});
