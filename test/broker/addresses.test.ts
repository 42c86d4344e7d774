// Name resolution: the broker dials exactly the addresses it screened, and the daemon decides last.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Decision } from "../../src/core/authority/decision.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import { BACKENDS, Fixture, ownAddress, type SandboxWish } from "./fixture.ts";
import { ServersOutside } from "./servers-outside.ts";

describe.each(BACKENDS)("%s", (backend) => {
  const fixture = new Fixture(backend);
  const servers = new ServersOutside();
  const good = ownAddress(1);
  const bad = ownAddress(2);
  const PORT = 17_008;

  beforeAll(async () => {
    await fixture.start();
    await servers.counting(good, PORT);
    await servers.counting(bad, PORT);
  });

  afterAll(async () => {
    await fixture.stop();
    await servers.stop();
  });

  /** Connects one after the other; returns what each server said, or the error. */
  const CONNECT = `
  const net = require("node:net");
  const [port, ...names] = process.argv.slice(1);
  (async () => {
    for (const name of names) {
      const said = await new Promise((give) => {
        const socket = net.connect({ host: name, port: Number(port), family: 4 }, () => socket.end("12345"));
        let text = "";
        socket.on("data", (bytes) => (text += bytes)).on("end", () => give(text.trim()));
        socket.on("error", (error) => give(error.code));
      });
      console.log(name.split(".")[0] + ": " + said);
    }
  })();
`;

  interface Tried {
    readonly said: readonly string[];
    readonly refused: readonly string[];
  }

  async function tried(wish: Pick<SandboxWish, "specs" | "judge">, names: readonly string[]): Promise<Tried> {
    const sandbox = await fixture.open({ ...wish, ports: [PORT] });
    try {
      const { output, errors } = await sandbox.run("node", "-e", CONNECT, `${PORT}`, ...names);
      if (errors !== "") throw new Error(errors);
      return { said: output.trim().split("\n"), refused: await sandbox.refused() };
    } finally {
      await sandbox.end();
    }
  }

  const spec = (name: string, opened = good): string =>
    `net.connect{hosts=[${name}],ports=[${PORT}],private=[${name}=${opened}]}`;

  const SPECIAL: readonly (readonly [name: string, addresses: readonly string[], shown: string])[] = [
    ["loopback", ["127.0.0.1"], "127.0.0.1"],
    ["private", ["10.1.2.3"], "10.1.2.3"],
    ["home", ["192.168.1.1"], "192.168.1.1"],
    ["metadata", ["169.254.169.254"], "169.254.169.254"],
    ["nowhere", ["0.0.0.0"], "0.0.0.0"],
    ["carrier", ["100.64.0.1"], "100.64.0.1"],
    ["fake", ["198.18.0.2"], "198.18.0.2"],
    ["loopback6", ["::1"], "::1"],
    ["mapped", ["::ffff:127.0.0.1"], "127.0.0.1"],
    ["compatible", ["::127.0.0.1"], "::7f00:1"],
    ["nat64", ["64:ff9b::127.0.0.1"], "64:ff9b::7f00:1"],
    ["sixtofour", ["2002:7f00:1::"], "2002:7f00:1::"],
    ["teredo", ["2001:0:7f00:1::"], "2001:0:7f00:1::"],
    ["unique", ["fd00:ec2::254"], "fd00:ec2::254"],
    ["local", ["fe80::1"], "fe80::1"],
    ["among", [good, "10.1.2.3"], "10.1.2.3"],
  ];

  test("no host name reaches an address outside the public Internet, whatever it resolves to and however it is written", async () => {
    for (const [name, addresses] of SPECIAL) fixture.names.names.set(`${name}.special.test`, [addresses]);
    fixture.names.names.set("fine.special.test", [[good]]);
    const before = servers.taken;
    const { said, refused } = await tried({ specs: [spec("*.special.test")] }, [
      "fine.special.test",
      ...SPECIAL.map(([name]) => `${name}.special.test`),
    ]);
    expect(said).toEqual(["fine: took 5", ...SPECIAL.map(([name]) => `${name}: ECONNRESET`)]);
    expect(servers.taken).toBe(before + 1);
    expect(refused).toEqual(
      SPECIAL.map(
        ([name, , shown]) => `address_refused net.connect ${name}.special.test:${PORT} address=${shown} (authority)`,
      ),
    );
  });

  test("an unresolvable name fails as name_unresolved, without naming a rule", async () => {
    const { said, refused } = await tried({ specs: [spec("gone.special.test")] }, ["gone.special.test"]);
    expect(said).toEqual(["gone: ECONNRESET"]);
    expect(refused).toEqual([`not_available net.connect gone.special.test:${PORT} (name_unresolved)`]);
  });

  test("a changed DNS answer is screened again, and there is no lookup between screening and dialling", async () => {
    fixture.names.names.set("turning.test", [[good], [bad]]);
    fixture.names.names.set("steady.test", [[good]]);
    const { said, refused } = await tried({ specs: [spec("turning.test"), spec("steady.test")] }, [
      ...["turning.test", "turning.test", "steady.test", "steady.test"],
    ]);
    expect(said).toEqual(["turning: took 5", "turning: ECONNRESET", "steady: took 5", "steady: took 5"]);
    expect(refused).toEqual([`address_refused net.connect turning.test:${PORT} address=${bad} (authority)`]);
    // One query per connection: with a second one before dialling, the first connection would have failed.
    expect([fixture.names.asked.get("turning.test"), fixture.names.asked.get("steady.test")]).toEqual([2, 2]);
  });

  test("if an address does not answer, the next screened one is dialled", async () => {
    const silent = ownAddress(3);
    fixture.names.names.set("several.test", [[silent, good]]);
    const specs = [
      `net.connect{hosts=[several.test],ports=[${PORT}],private=[several.test=${silent},several.test=${good}]}`,
    ];
    const asked: string[] = [];
    const judge: SandboxWish["judge"] = (request) => {
      asked.push(requestText(request));
      return { outcome: "allow", by: { chain: 0, grants: [0] } };
    };
    const { said } = await tried({ specs, judge }, ["several.test"]);
    expect(said).toEqual(["several: took 5"]);
    // The daemon decides every address that is dialled; resolvers may return any order.
    expect(asked.at(-1)).toBe(`net.connect several.test:${PORT} address=${good}`);
  });

  test.each<[string, Decision, string]>([
    ["no", { outcome: "deny", code: "revoked", at: null }, "revoked"],
    ["no more", { outcome: "deny", code: "budget_exhausted", at: null }, "budget_exhausted"],
    ["approval required", { outcome: "ask", level: 1, by: { chain: 0, grants: [0] } }, "approval_required"],
  ])("the daemon decides: %s", async (_, decision, code) => {
    fixture.names.names.set("owned.test", [[good]]);
    const before = servers.taken;
    const { said, refused } = await tried({ specs: [spec("owned.test")], judge: () => decision }, ["owned.test"]);
    expect(said).toEqual(["owned: ECONNRESET"]);
    expect(servers.taken).toBe(before);
    expect(refused).toEqual([`${code} net.connect owned.test:${PORT} address=${good} (daemon)`]);
  });

  test("a connection is refused when the daemon's decision throws", async () => {
    fixture.names.names.set("owned.test", [[good]]);
    const judge: SandboxWish["judge"] = () => {
      throw new Error("broken");
    };
    const { said, refused } = await tried({ specs: [spec("owned.test")], judge }, ["owned.test"]);
    expect(said).toEqual(["owned: ECONNRESET"]);
    expect(refused).toEqual([`not_available net.connect owned.test:${PORT} address=${good} (daemon)`]);
  });

  test("a daemon that allows everything does not widen what the broker reads in the plan", async () => {
    fixture.names.names.set("owned.test", [[good]]);
    fixture.names.names.set("other.test", [[good]]);
    const judge: SandboxWish["judge"] = () => ({ outcome: "allow", by: { chain: 0, grants: [0] } });
    const wide = await tried({ specs: [spec("owned.test"), spec("bad.test", bad)], judge }, [
      "owned.test",
      "other.test",
    ]);
    expect(wide.said).toEqual(["owned: took 5", "other: ENOTFOUND"]);
  });

  test("a grant that needs approval waits for the daemon's decision on each connection", async () => {
    fixture.names.names.set("asked.test", [[good]]);
    const specs = [`net.connect{hosts=[asked.test],ports=[${PORT}],private=[asked.test=${good}],ask}`];
    const unasked = await tried({ specs }, ["asked.test"]);
    expect(unasked.refused).toEqual([`approval_required net.connect asked.test:${PORT} address=${good} (daemon)`]);
    const judge: SandboxWish["judge"] = () => ({ outcome: "allow", by: { chain: 0, grants: [0] } });
    expect((await tried({ specs, judge }, ["asked.test"])).said).toEqual(["asked: took 5"]);
  });
});
