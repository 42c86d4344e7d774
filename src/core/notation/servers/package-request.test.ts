import { expect, test } from "vitest";
import { bareName, packageRequest, requestText, versionSpec } from "./package-request.ts";

test.each([
  ...["github:a/b", "a/b", "git+https://x.test/a.git", "https://x.test/a.tgz", "file:../a", "../a", "/a", "."],
  ...[
    "a@npm:b@1.0.0",
    "a@file:../b",
    "a@github:b/c",
    "a@https://x.test/a",
    "Upper",
    "@scope",
    "@scope/",
    "a@",
    "",
    "-g",
  ],
  ...["a@1.0.0\n--registry=x", `a@${"1".repeat(200)}`, "a b", "a@$(id)"],
])("%j is no package of npm's registry", (spec) => {
  expect(packageRequest("npm", spec).ok).toBe(false);
});

test.each([
  ...["git+https://x.test/a.git", "https://x.test/a-1.0.whl", "file:../a", "../a", "/a", ".", "a@https://x.test/a"],
  ...["a @ https://x.test/a", "a/b", "a.whl/../b", "@scope/a", "-r", "--index-url=x", "a;python_version<'3'", ""],
  ...[
    "a==",
    "a==1.0 --hash",
    "a==1.0\n-e .",
    "a[",
    "a[-x]",
    "a[x",
    "a===1.0",
    "a==$(id)",
    "a==1||2",
    "a==1,",
    "a_",
    "ａ",
  ],
  ...[`a==${"1".repeat(200)}`, "n".repeat(101), "a@1.0 b"],
])("%j is no package of an index of Python", (spec) => {
  expect(packageRequest("pypi", spec).ok).toBe(false);
});

test.each([
  ["Mcp.Server__Time", "mcp-server-time", "latest"],
  ["a[Cli, x_y]==1.0", "a[cli,x-y]", "==1.0"],
  ["a [] >= 1, != 1.5", "a", ">=1,!=1.5"],
  ["a==1.*", "a", "==1.*"],
  ["a@1.0+local", "a", "==1.0+local"],
])("%j is a package of Python", (spec, name, range) => {
  const value = { kind: "pypi" as const, name, range };
  expect(packageRequest("pypi", spec)).toEqual({ ok: true, value });
  // INVARIANT: what is sent to the daemon is read there as it was here.
  expect(packageRequest("pypi", requestText(value))).toEqual({ ok: true, value });
});

test.each([
  ["npm", "@a/b", "1.0.0", "@a/b@1.0.0"],
  ["npm", "@a/b", null, "@a/b@latest"],
  ["pypi", "a[b]", "1.0", "a[b]==1.0"],
  ["pypi", "a", ">=2", "a>=2"],
  ["pypi", "a", null, "a"],
] as const)("%s %s to %s is %s", (kind, name, to, spec) => {
  expect(versionSpec({ kind, name }, to)).toBe(spec);
});

test.each([
  ["npm", "@a/b", "b"],
  ["pypi", "a[b]", "a"],
] as const)("the bare name of %s %s is %s", (kind, name, bare) => {
  expect(bareName({ kind, name })).toBe(bare);
});
