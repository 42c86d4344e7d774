import { expect, test } from "vitest";
import { packageCommand } from "./package-command.ts";

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
  const request = { kind: "npm", name, range };
  expect(packageCommand(line.split(" "))).toEqual({ ok: true, value: { package: request, program, rest } });
});

test.each([
  ["uvx mcp-server-time --local-timezone UTC", ["mcp-server-time", "latest", null, ["--local-timezone", "UTC"]]],
  ["uvx Server_Time@1.2.3", ["server-time", "==1.2.3", null, []]],
  ["uvx server==1.2.3 -q", ["server", "==1.2.3", null, ["-q"]]],
  ["uvx -q --from server[cli,B_c]>=1,<2 run --fast", ["server[b-c,cli]", ">=1,<2", "run", ["--fast"]]],
  ["/usr/bin/uv tool run --from=server@latest run", ["server", "latest", "run", []]],
  ["uv x server", ["server", "latest", null, []]],
  ["pipx run server==1.0 a", ["server", "==1.0", null, ["a"]]],
  ["pipx run --spec server~=1.0 -- run a", ["server", "~=1.0", "run", ["a"]]],
])("%s", (line, [name, range, program, rest]) => {
  const request = { kind: "pypi", name, range };
  expect(packageCommand(line.split(" "))).toEqual({ ok: true, value: { package: request, program, rest } });
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
  ["uvx", "names no package"],
  ["uvx --from server", "names no package"],
  ["uvx --index-url http://evil.test server", "is not supported here"],
  ["uvx --with other server", "is not supported here"],
  ["uvx --python 3.12 server", "is not supported here"],
  ["uvx --from git+https://x.test/a run", "is not a registry package"],
  ["pipx run --pip-args=--index-url=http://evil.test server", "is not supported here"],
  ["pipx run https://x.test/a.py", "is not a registry package"],
])("%s is refused", (line, why) => {
  expect(packageCommand(line.split(" "))).toMatchObject({ ok: false, message: expect.stringContaining(why) });
});
