import { expect, test } from "vitest";
import { packageCommand, packageRequest } from "./package-command.ts";

test.each([
  ["npx -y @scope/server@1.2.3 /a b", ["@scope/server", "1.2.3", null, ["/a", "b"]]],
  ["npx server", ["server", "latest", null, []]],
  ["/usr/bin/npx --yes server@^1.0", ["server", "^1.0", null, []]],
  ["npx -y -p @scope/server@2 other --flag", ["@scope/server", "2", "other", ["--flag"]]],
  ["npx --package=server@next -- bin", ["server", "next", "bin", []]],
  ["npm exec -y -- server@1.0.0 -x", ["server", "1.0.0", null, ["-x"]]],
  ["bunx server", ["server", "latest", null, []]],
  ["pnpm dlx server@1.0.0", ["server", "1.0.0", null, []]],
  ["pnpx server --port 1", ["server", "latest", null, ["--port", "1"]]],
])("%s", (line, [name, range, program, rest]) => {
  expect(packageCommand(line.split(" "))).toEqual({ ok: true, value: { package: { name, range }, program, rest } });
});

test.each(["node server.js", "npm start", "pnpm run server", "uv run server.py", "pipx list", "mynpx server", ""])(
  "%s fetches nothing",
  (line) => {
    expect(packageCommand(line.split(" "))).toBeNull();
  },
);

test.each([
  ["npx -y", "names no package"],
  ["npx -p server", "names no package"],
  ["npx -p a -p b bin", "is one package"],
  ["npx --registry=http://evil.test server", "is not supported here"],
  ["npx -c server", "is not supported here"],
  ["npx --prefix /tmp server", "is not supported here"],
  ["uvx server", "Python packages"],
  ["uv tool run server", "Python packages"],
  ["pipx run server", "Python packages"],
])("%s is refused", (line, why) => {
  expect(packageCommand(line.split(" "))).toMatchObject({ ok: false, message: expect.stringContaining(why) });
});

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
])("%j is no package of a registry", (spec) => {
  expect(packageRequest(spec).ok).toBe(false);
});
