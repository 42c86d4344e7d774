import { expect, test } from "vitest";
import type { Json } from "../core/base/json.ts";
import { readNpmLock } from "./npm-lock.ts";

const INTEGRITY = `sha512-${"A".repeat(86)}==`;
const REGISTRY = "https://registry.example.test/npm/";
const leaf = { version: "1.0.0", integrity: INTEGRITY };
const server = { version: "2.0.0", integrity: INTEGRITY, bin: { server: "a.js", other: "b.js" } };
const lock = (packages: Record<string, Json>): Json => ({
  packages: { "": {}, "node_modules/@a/server": server, ...packages },
});
const read = (packages: Record<string, Json>): ReturnType<typeof readNpmLock> =>
  readNpmLock(lock(packages), "@a/server", REGISTRY, (path) => path !== "node_modules/other-machine");

test("every package is a line of the pin, in an order of its own", () => {
  expect(read({ "node_modules/leaf": { ...leaf, hasInstallScript: true } })).toEqual({
    ok: true,
    value: {
      ...{
        version: "2.0.0",
        integrity: INTEGRITY,
        packages: 2,
        scripts: ["leaf@1.0.0"],
        programs: ["other", "server"],
      },
      lines: `node_modules/@a/server 2.0.0 ${INTEGRITY}\nnode_modules/leaf 1.0.0 ${INTEGRITY}\n`,
    },
  });
});

test.each<[string, Json, string]>([
  ["without an integrity", { version: "1.0.0" }, "no SHA-2 integrity for leaf@1.0.0"],
  ["with SHA-1", { version: "1.0.0", integrity: "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=" }, "no SHA-2 integrity"],
  ["from a repository", { ...leaf, resolved: "git+ssh://git@github.com/a/b.git#abc" }, "from outside the registry"],
  [
    "from another host",
    { ...leaf, resolved: "https://registry.example.test.evil.test/leaf.tgz" },
    "from outside the registry",
  ],
  ["that is a link", { ...leaf, link: true }, "from outside the registry"],
  ["without a version", { integrity: INTEGRITY }, "from outside the registry"],
  ["inside the archive of another one", { version: "1.0.0", inBundle: true }, "inside the archive"],
  ["that is no object", 7, "lock file that npm wrote cannot be parsed"],
])("a package %s is refused", (_, entry, why) => {
  expect(read({ "node_modules/leaf": entry })).toEqual({ ok: false, message: expect.stringContaining(why) });
});

test.each<[string, string, Json]>([
  ["from the registry's host", "leaf", { ...leaf, resolved: "https://registry.example.test/other/leaf.tgz" }],
  ["that would be inside an archive, and was not installed", "other-machine", { version: "1.0.0", inBundle: true }],
])("a package %s is accepted", (_, name, entry) => {
  expect(read({ [`node_modules/${name}`]: entry }).ok).toBe(true);
});

test.each<[Json]>([[null], [[]], [{}], [{ packages: 7 }], [{ packages: {} }]])("%j is no lock", (value) => {
  expect(readNpmLock(value, "@a/server", REGISTRY, () => true).ok).toBe(false);
});
