// Unmodified programs in a real sandbox: granted connections succeed and their nearest variants are refused.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BACKENDS, Fixture, type Inside, ownAddress } from "./fixture.ts";
import { ServersOutside } from "./servers-outside.ts";

describe.each(BACKENDS)("%s", (backend) => {
  const fixture = new Fixture(backend);
  const servers = new ServersOutside();
  const here = ownAddress(1);
  const PORT = 17_007;
  const CLIENT = `${fixture.inside}/client`;
  /** Ports 80 and 443 may be forbidden for the user who runs the tests; then the rows that need them are reported as not tried. */
  let hasLowPorts = true;

  const C_CLIENT = `
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int count, char **words) {
  struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
  if (count != 3 || getaddrinfo(words[1], words[2], &wanted, &found) != 0) return puts("no name"), 1;
  const int connection = socket(found->ai_family, SOCK_STREAM, 0);
  if (connect(connection, found->ai_addr, found->ai_addrlen) != 0) return puts("no connection"), 2;
  if (write(connection, "12345", 5) != 5 || shutdown(connection, SHUT_WR) != 0) return puts("no writing"), 3;
  char text[64] = {0};
  const ssize_t length = read(connection, text, sizeof text - 1);
  return length > 0 ? (fputs(text, stdout), 0) : (puts("no answer"), 4);
}
`;

  beforeAll(async () => {
    await fixture.start();
    await servers.counting(here, PORT);
    try {
      await servers.http(here, 80);
      await servers.https(here, 443);
    } catch {
      hasLowPorts = false;
    }
    for (const name of ["api", "git", "raw"]) fixture.names.names.set(`${name}.example.test`, [[here]]);
    const source = join(fixture.folder, "client.c");
    writeFileSync(source, C_CLIENT);
    execFileSync("cc", ["-o", join(fixture.root, "client"), source]);
  });

  afterAll(async () => {
    await fixture.stop();
    await servers.stop();
  });

  function grant(name: string, ports: string, more = ""): string {
    return `net.connect{hosts=[${name}],ports=[${ports}],private=[${name}=${here}]${more}}`;
  }

  async function inside(specs: readonly string[], run: (sandbox: Inside) => Promise<void>): Promise<void> {
    const sandbox = await fixture.open({ specs, ports: [80, 443, PORT] });
    try {
      await run(sandbox);
    } finally {
      await sandbox.end();
    }
  }

  describe("a program that opens a socket itself", () => {
    test("reaches the granted name on the granted port, half-closes, and gets the response", () =>
      inside([grant("api.example.test", `${PORT}`)], async (sandbox) => {
        expect((await sandbox.run(CLIENT, "api.example.test", `${PORT}`)).output).toBe("took 5\n");
        expect((await sandbox.run(CLIENT, "API.Example.TEST.", `${PORT}`)).output).toBe("took 5\n");
        expect(await sandbox.refused()).toEqual([]);
        expect(await sandbox.run(CLIENT, "evil.example.test", `${PORT}`)).toMatchObject({
          value: 1,
          output: "no name\n",
        });
        expect(await sandbox.run(CLIENT, "xapi.example.test", `${PORT}`)).toMatchObject({ value: 1 });
        expect(await sandbox.refused()).toEqual([
          "scope_violation net.connect evil.example.test:443 (question)",
          "scope_violation net.connect xapi.example.test:443 (question)",
        ]);
      }));

    test("is reset on a port that is served but not granted for the name, and reaches no server on any other port", () =>
      inside([grant("api.example.test", `${PORT}`)], async (sandbox) => {
        expect((await sandbox.run(CLIENT, "api.example.test", "443")).value).toBeGreaterThan(2);
        expect(await sandbox.refused()).toEqual(["scope_violation net.connect api.example.test:443 (authority)"]);
        const other = await sandbox.run(CLIENT, "api.example.test", "444");
        // Without namespaces every connection comes to the broker, on ports that are not listed too.
        if (fixture.hasNamespaces) return expect(other.output).toBe("no connection\n");
        expect(other.value).toBeGreaterThan(2);
        expect(await sandbox.refused()).toEqual(["scope_violation net.connect api.example.test:444 (authority)"]);
      }));

    test("cannot use an address in place of a name", () =>
      inside([grant("api.example.test", `${PORT}`)], async (sandbox) => {
        const before = servers.taken;
        // Addresses of the sandbox's own loopback reach the listener; they are decided as literal addresses.
        expect((await sandbox.run(CLIENT, here, `${PORT}`)).value).toBeGreaterThan(2);
        expect((await sandbox.run(CLIENT, "198.18.200.1", `${PORT}`)).value).toBeGreaterThan(2);
        const elsewhere = await sandbox.run(CLIENT, "203.0.113.7", `${PORT}`);
        expect(elsewhere.value).toBeGreaterThanOrEqual(2);
        expect(servers.taken).toBe(before);
        expect(await sandbox.refused()).toEqual([
          `scope_violation net.connect ${here}:${PORT} (authority)`,
          `scope_violation net.connect 198.18.200.1:${PORT} (authority)`,
          ...(fixture.hasNamespaces ? [] : [`scope_violation net.connect 203.0.113.7:${PORT} (authority)`]),
        ]);
      }));

    test("may use an address that is granted as an address", () =>
      inside([`net.connect{hosts=[${here}],ports=[${PORT}]}`], async (sandbox) => {
        expect((await sandbox.run(CLIENT, here, `${PORT}`)).output).toBe("took 5\n");
        expect((await sandbox.run(CLIENT, ownAddress(2), `${PORT}`)).value).toBeGreaterThan(2);
        expect(await sandbox.refused()).toEqual([`scope_violation net.connect ${ownAddress(2)}:${PORT} (authority)`]);
      }));

    test("can resolve names over TCP as well", () =>
      inside([grant("api.example.test", `${PORT}`)], async (sandbox) => {
        const run = (name: string): ReturnType<Inside["run"]> =>
          sandbox.run("env", "RES_OPTIONS=use-vc", CLIENT, name, `${PORT}`);
        expect(await run("api.example.test")).toMatchObject({ errors: "", output: "took 5\n" });
        expect((await run("evil.example.test")).output).toBe("no name\n");
      }));
  });

  /** Each command prints what the server said, or nothing. */
  const PROGRAMS: Readonly<Record<string, (url: string) => readonly string[]>> = {
    curl: (url) => ["curl", "-sS", "--max-time", "60", url],
    node: (url) => [
      "node",
      "-e",
      `fetch(${JSON.stringify(url)}).then((a) => a.text()).then((t) => process.stdout.write(t))`,
    ],
    python: (url) => [
      "python3",
      "-c",
      `import urllib.request as u; print(u.urlopen(${JSON.stringify(url)}).read().decode(), end="")`,
    ],
  };

  const SECURE = `
  const tls = require("node:tls");
  const [servername, ...protocols] = process.argv.slice(1);
  const socket = tls.connect({ host: "api.example.test", port: 443, servername, rejectUnauthorized: false }, () => {
    socket.write("GET / HTTP/1.1\\r\\nHost: api.example.test\\r\\nConnection: close\\r\\n\\r\\n");
  });
  socket.on("data", (bytes) => process.stdout.write(bytes));
  socket.on("error", (error) => { console.log(error.code); process.exit(1); });
`;

  describe("HTTP clients", () => {
    test.for(Object.keys(PROGRAMS))("%s fetches from the granted name and from no other", async (program, { skip }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      await inside([grant("api.example.test", "80,443")], async (sandbox) => {
        const fetched = async (url: string): Promise<string> => {
          const { output } = await sandbox.run(...(PROGRAMS[program] as (url: string) => readonly string[])(url));
          return output;
        };
        expect(await fetched("https://api.example.test/")).toBe("hello api.example.test");
        expect(await fetched("http://api.example.test/")).toBe("hello api.example.test");
        expect(await sandbox.refused()).toEqual([]);
        expect(await fetched("https://evil.example.test/")).toBe("");
        expect(await fetched("https://git.example.test/")).toBe("");
        expect(await sandbox.refused()).toEqual([
          "scope_violation net.connect evil.example.test:443 (question)",
          "scope_violation net.connect git.example.test:443 (question)",
        ]);
      });
    });

    test("the git relay adds the credential for its hosts alone, and to git's own requests alone", async ({ skip }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      const asked: string[] = [];
      let isAllowed = true;
      const sandbox = await fixture.open({
        specs: [grant("git.example.test", "443"), grant("api.example.test", "443")],
        ports: [443],
        gitHosts: ["git.example.test", "evil.example.test"],
        credential: async ({ host, repository, service }) => {
          asked.push(`${host} ${repository} ${service}`);
          if (!isAllowed) return { credential: null, code: "revoked", message: "secret.use is denied" };
          return { credential: { username: "someone", password: "secret" } };
        },
      });
      const relay = "http://198.18.0.2:1";
      const listed = await sandbox.run("git", "ls-remote", `${relay}/git.example.test/repository`);
      expect(listed.output).toBe(`${"1234567890".repeat(4)}\tHEAD\n${"1234567890".repeat(4)}\trefs/heads/main\n`);
      expect(asked).toEqual(["git.example.test repository git-upload-pack"]);
      isAllowed = false;
      const denied = await sandbox.run("git", "ls-remote", `${relay}/git.example.test/repository`);
      expect(denied.errors).toContain("remote: ambit: secret.use is denied (revoked)");
      expect(asked).toHaveLength(2);
      const said = async (target: string, ...more: readonly string[]): Promise<string> =>
        (await sandbox.run("curl", "-sS", "--path-as-is", ...more, `${relay}${target}`)).output;
      expect(await said("/git.example.test/")).toMatch(/^ambit: only fetch and push of git pass here/);
      expect(await said("/git.example.test/../git.example.test/repository/git-upload-pack", "-d", "x")).toMatch(
        /^ambit: only/,
      );
      // It is no host of the relay, and not one that is granted.
      expect(await said("/api.example.test/repository/info/refs?service=git-upload-pack")).toMatch(
        /^ambit: no secret for git is kept for api\.example\.test/,
      );
      expect(await said("/evil.example.test/repository/info/refs?service=git-upload-pack")).toMatch(
        /^ambit: this request is not allowed: https:\/\/evil\.example\.test/,
      );
      expect(asked).toHaveLength(2);
      expect(await sandbox.refused()).toEqual([
        "invalid_input secret.use (credential) x2",
        "secret_refused net.connect api.example.test:443 (credential)",
        "scope_violation net.connect evil.example.test:443 (authority)",
      ]);
      await sandbox.end();
    });

    test.for<readonly [string, string, string, readonly string[]]>([
      ["the name", "api.example.test", "hello api.example.test", []],
      [
        "another name",
        "git.example.test",
        "ECONNRESET",
        ["scope_violation net.connect git.example.test:443 (name_differs)"],
      ],
      ["no name", "", "ECONNRESET", ["scope_violation net.connect api.example.test:443 raw=true (name_missing)"]],
    ])("a TLS client hello with %s", async ([_, name, said, refused], { skip }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      await inside([grant("api.example.test", "443"), grant("git.example.test", "443")], async (sandbox) => {
        expect((await sandbox.run("node", "-e", SECURE, name)).output).toContain(said);
        expect(await sandbox.refused()).toEqual(refused);
      });
    });

    test("a TLS client hello without a name is forwarded if the grant says raw", async ({ skip }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      await inside([grant("api.example.test", "443", ",raw")], async (sandbox) => {
        expect((await sandbox.run("node", "-e", SECURE, "")).output).toContain("hello api.example.test");
        expect(await sandbox.refused()).toEqual([]);
      });
    });

    test("a request for another host is not forwarded, not even as the second one on a connection", async ({
      skip,
    }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      await inside([grant("api.example.test", "80")], async (sandbox) => {
        const before = servers.taken;
        const wrong = await sandbox.run("curl", "-sS", "-H", "Host: git.example.test", "http://api.example.test/");
        expect(wrong.output).toBe("");
        expect(servers.taken).toBe(before);
        const second = await sandbox.run(
          ...[
            "curl",
            "-sS",
            "http://api.example.test/",
            "--next",
            "-H",
            "Host: git.example.test",
            "http://api.example.test/",
          ],
        );
        expect(second.output).toBe("hello api.example.test");
        // A program may retry on a new connection.
        expect(await sandbox.refused()).toEqual([
          expect.stringMatching(/^scope_violation net.connect git.example.test:80 \(name_differs\) x[23]$/),
        ]);
      });
    });

    test("traffic that is not TLS is not forwarded on port 443", async ({ skip }) => {
      skip(!hasLowPorts, "this user may not bind ports 80 and 443");
      await inside([grant("api.example.test", "443")], async (sandbox) => {
        expect((await sandbox.run(CLIENT, "api.example.test", "443")).value).toBeGreaterThan(2);
        expect(await sandbox.refused()).toEqual([
          "scope_violation net.connect api.example.test:443 raw=true (protocol)",
        ]);
      });
    });
  });
});
