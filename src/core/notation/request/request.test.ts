import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { methodVerb } from "../../authority/axes/http-request.ts";
import { CATALOG } from "../../authority/catalog.ts";
import type { Request } from "../../authority/request.ts";
import { HOSTILE_TEXTS } from "../testing/coverage.ts";
import { READING } from "../testing/notation.ts";
import { readRequest, readRequestText } from "./request.ts";
import { requestIdentity, requestText } from "./request-printer.ts";

function asked(line: string): Request {
  const result = readRequestText(line, READING);
  if (!result.ok) throw new Error(`${line}: ${result.message}`);
  return result.value;
}

describe("a request is parsed, and printed so that it parses again", () => {
  test.each([
    ["net.get https://api.github.com/x?y#z", "net.get https://api.github.com/"],
    ["net.get HTTPS://API.GitHub.com.", "net.get https://api.github.com/"],
    ["net.post http://a.com/", "net.post http://a.com/"],
    ["net.put https://a.com:8443/", "net.put https://a.com:8443/"],
    ["net.get http://a.com:8443/", "net.get http://a.com:8443/"],
    ["net.get HTTP://a.com:443/", "net.get http://a.com:443/"],
    ["net.get https://a.com:80/", "net.get https://a.com:80/"],
    ["net.get http://db.internal:81/ address=10.0.0.1", "net.get http://db.internal:81/ address=10.0.0.1"],
    ["net.delete https://[::1]/", "net.delete 'https://[::1]/'"],
    ["net.get https://db.internal/ address=10.0.0.1", "net.get https://db.internal/ address=10.0.0.1"],
    ["net.connect Example.com:443", "net.connect example.com:443"],
    ["net.connect [2606:4700::1]:22 raw=true", "net.connect '[2606:4700::1]:22' raw=true"],
    ["fs.read ./src/../a.ts", "fs.read /work/a.ts"],
    ["fs.read '/with space'", "fs.read '/with space'"],
    ['fs.write "/it\'s"', "fs.write '/it'\\''s'"],
    ["fs.delete ~/x", "fs.delete /home/u/x"],
    ["proc.exec -- git log --oneline", "proc.exec in=/work -- git log --oneline"],
    ["proc.exec git -- x", "proc.exec in=/work -- git -- x"],
    ["proc.exec in=src root=rw -- git", "proc.exec in=/work/src root=rw -- git"],
    ["proc.exec in=src", "proc.exec in=/work -- in=src"],
    ["proc.exec -- echo ''", "proc.exec in=/work -- echo ''"],
    ["proc.eval", "proc.eval in=/work"],
    ["proc.eval root=rw", "proc.eval in=/work root=rw"],
    ["records.update class=note id=notes/today", "records.update id=notes/today class=note"],
    ["records.read", "records.read"],
    ["agent.update scout", "agent.update scout"],
    ["memory.write a/b", "memory.write a/b"],
    ["obs.query scout", "obs.query scout"],
    ["secret.use openai-key", "secret.use openai-key"],
    ["secret.use k host=a.com tool=web_fetch", "secret.use k tool=web_fetch host=a.com"],
    ["tool.invoke web_fetch", "tool.invoke web_fetch"],
    ['tool.invoke a.b {"x": [1, "y z"]}', `tool.invoke a.b '{"x":[1,"y z"]}'`],
    ["tool.invoke a.b '{\"x\": 1}'", `tool.invoke a.b '{"x":1}'`],
    ["task.schedule", "task.schedule"],
    ["sandbox.exec", "sandbox.exec"],
    ["provider.code_execution", "provider.code_execution"],
    ["provider.web_search a.com", "provider.web_search a.com"],
    [
      "agent.grant scout net.get{hosts=[a.com]} memory.read{keys=[a]}",
      "agent.grant scout 'net.get{hosts=[a.com]}' 'memory.read{keys=[a]}'",
    ],
    [
      'agent.grant scout proc.exec{in=/w,patterns=["git log **"]}',
      `agent.grant scout 'proc.exec{in=/w,patterns=["git log **"]}'`,
    ],
  ])("%s", (line, printed) => {
    const request = asked(line);
    expect(requestText(request)).toBe(printed);
    const again = asked(printed);
    expect(again.values).toEqual(request.values);
    expect(again.delegation?.proposed.length).toBe(request.delegation?.proposed.length);
  });
});

test("the scheme of a URL is shown, and is not part of the request", () => {
  const [plain, secure] = [asked("net.get http://a.com:8443/"), asked("net.get https://a.com:8443/")];
  expect(requestText(plain)).not.toBe(requestText(secure));
  expect(plain.values).toEqual(secure.values);
  expect(requestIdentity(plain)).toBe(requestIdentity(secure));
  expect(requestIdentity(plain)).not.toBe(requestIdentity(asked("net.get http://a.com:8444/")));
});

describe("missing values of a request stay unset", () => {
  test.each([
    ["records.update class=note", [{ segments: ["note"], guarded: null }, undefined]],
    ["agent.discover", [undefined, undefined]],
    ["memory.read", [undefined]],
    ["tool.invoke x", [{ segments: ["tool", "x"], guarded: null }, undefined]],
    ["provider.web_fetch", [undefined]],
  ])("%s", (line, values) => {
    expect(asked(line).values).toEqual(values);
  });
  test("a missing value is shown as unknown in its place", () => {
    expect(requestText(asked("memory.read"))).toBe("memory.read '<unknown>'");
    const { verb } = asked("net.get https://a.com/");
    expect(requestText({ verb, values: [asked("net.get https://a.com/").values[0], undefined] })).toBe(
      "net.get 'https://a.com:<unknown>/'",
    );
  });
  test("an id is on both axes of an agent", () => {
    const [id, path] = asked("agent.update scout").values;
    expect(id).toEqual(path);
  });
  test("a protected path is guarded in a process's root as in a file's path", () => {
    expect(asked("proc.exec in=~/.ssh -- ls").values[0]).toMatchObject({ guarded: [true, true, true] });
    expect(asked("fs.read ~/.ssh/id").values[0]).toMatchObject({ guarded: [true, true, true, false] });
  });
});

describe("a delegation contains its proposed grants", () => {
  test("the target and the grants", () => {
    const { delegation } = asked("agent.grant scout net.get{hosts=[a.com]}");
    expect(delegation?.target).toBe("scout");
    expect(delegation?.proposed.map((one) => one.verb.verb)).toEqual(["net.get"]);
  });
  test.each([
    ["agent.grant scout net.gte{hosts=[a.com]}", "net.get"],
    ["agent.grant scout net.get{host=[a.com]}", "hosts"],
  ])("a mistake in it refuses the whole: %s", (line, fix) => {
    expect(readRequestText(line, READING)).toMatchObject({ ok: false, fix });
  });
  test("without a target there is no request", () => {
    expect(readRequest(["agent.grant"], READING).ok).toBe(false);
  });
});

describe("invalid requests are refused", () => {
  test.each([
    [""],
    ["net.get"],
    ["net.get a.com"],
    ["net.get ftp://a.com/"],
    ["net.get https://a.com/ https://b.com/"],
    ["net.get https://u:p@a.com/"],
    ["net.get https://10.0.0.1/ address=10.0.0.2"],
    ["net.get https://a.com/ address=x"],
    ["net.get https://a.com/ raw=true"],
    ["net.connect a.com"],
    ["net.connect a.com:*"],
    ["net.connect *.a.com:443"],
    ["net.connect a.com:443 raw=maybe"],
    ["net.connect a.com:443 raw=true raw=false"],
    ["GET https://a.com/"],
    ["fs.read"],
    ["fs.read a b"],
    ["fs.read 'a"],
    ["proc.exec"],
    ["proc.exec --"],
    ["proc.exec root=x -- ls"],
    ["proc.eval ls"],
    ["records.update note"],
    ["records.update id=a id=b"],
    ["records.update id=a/../b"],
    ["agent.update a b"],
    ["memory.write a*"],
    ["secret.use"],
    ["secret.use a b"],
    ["tool.invoke"],
    ["tool.invoke a {"],
    ["tool.invoke a []"],
    ['tool.invoke a {"x":1,"x":2}'],
    ["tool.invoke a*"],
    ["task.schedule now"],
    ["provider.code_execution a.com"],
  ])("%s", (line) => {
    expect(readRequestText(line, READING)).toMatchObject({ ok: false });
  });
  test("a misspelt verb gets the nearest one", () => {
    expect(readRequestText("net.gte https://a.com/", READING)).toMatchObject({ ok: false, fix: "net.get" });
    expect(readRequestText("zzz", READING)).not.toHaveProperty("fix");
  });
  test("without a working directory no process can be requested", () => {
    const reading = { ...READING, pathSettings: { ...READING.pathSettings, base: null } };
    expect(readRequestText("proc.exec -- ls", reading).ok).toBe(false);
    expect(readRequestText("proc.exec in=/w -- ls", reading).ok).toBe(true);
  });
});

describe("an HTTP method has one verb or none", () => {
  test.each([
    ["GET", "net.get"],
    ["HEAD", "net.get"],
    ["OPTIONS", "net.get"],
    ["POST", "net.post"],
    ["PUT", "net.put"],
    ["PATCH", "net.put"],
    ["DELETE", "net.delete"],
    ["get", undefined],
    ["TRACE", undefined],
    ["CONNECT", undefined],
    ["__proto__", undefined],
    ["", undefined],
  ])("%s", (method, verb) => {
    expect(methodVerb(method)?.verb).toBe(verb);
  });
});

describe("hostile arguments", () => {
  test("never throw, for any verb", () => {
    for (const { verb } of CATALOG) {
      for (const text of HOSTILE_TEXTS) {
        expect(() => readRequest([verb, text], READING)).not.toThrow();
        expect(() => readRequest([verb, "x", text, text], READING)).not.toThrow();
        expect(() => readRequestText(`${verb} ${text}`, READING)).not.toThrow();
      }
    }
  });
  test("NUL and reserved characters never enter a request", () => {
    for (const { verb } of CATALOG) {
      for (const text of ["a\0", "a\uE000", "a\uE001", "https://a\uE000.com/", 'x {"a":"\uE000"}']) {
        const result = readRequestText(`${verb} ${text}`, READING);
        if (result.ok) expect(JSON.stringify(result.value.values)).not.toMatch(/[\uE000\uE001]|\\u0000/);
      }
    }
  });
  test("random lines never throw, and a parsed one can be printed and parsed again", { timeout: 60_000 }, () => {
    const word = fc.string({
      unit: fc.constantFrom("a", "b", ".", "/", "-", "=", "'", '"', "\\", " ", ":", "é", "{", "}", "$"),
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...CATALOG.map((entry) => entry.verb)),
        fc.array(word, { maxLength: 4 }),
        (verb, words) => {
          const result = readRequest([verb, ...words], READING);
          if (!result.ok || result.value.values.includes(undefined)) return;
          const again = readRequestText(requestText(result.value), READING);
          expect(again.ok && again.value.values).toEqual(result.value.values);
        },
      ),
      { numRuns: 2000 },
    );
    fc.assert(fc.property(fc.string({ unit: "binary" }), (line) => readRequestText(line, READING).ok || true));
  });
});
