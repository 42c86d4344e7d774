// Concurrent writes: each is whole, in order, and answered on its own, as it would be alone.
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { frameOf, PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { pause } from "../house/pause.ts";
import { isRunning } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { bytes, drafts, newFolder, path, said, whole } from "./fixture.ts";
import { nativeMissing } from "./native.ts";
import { Speaker } from "./speaker.ts";

describe.skipIf(nativeMissing() !== null)("concurrent writes", () => {
  test("are all done, in every folder", async () => {
    const root = newFolder();
    const names = Array.from({ length: 150 }, (_, at) => `folder-${at % 3}/file-${at}`);
    for (const folder of ["folder-0", "folder-1", "folder-2"]) mkdirSync(join(root, folder));
    const files = whole(root);
    const written = await Promise.all(names.map((name) => files.write(path(join(root, name)), bytes(`new ${name}`))));
    expect(written.map(said)).toEqual(names.map(() => "done"));
    for (const name of names) expect(readFileSync(join(root, name), "utf8")).toBe(`new ${name}`);
    for (const name of names) expect(statSync(join(root, name)).mode & 0o7777).toBe(0o644);
    expect(drafts(root)).toEqual([]);
  });

  test("that fail do so alone, each with its own error", async () => {
    const root = newFolder();
    writeFileSync(join(root, "long"), "old");
    symlinkSync("file-0", join(root, "link"));
    mkdirSync(join(root, "folder"));
    const files = whole(root, { limits: { fileBytesMax: 10_000 } });
    await files.stat(path(root));
    const asked: readonly (readonly [string, Uint8Array, string])[] = [
      ["file-0", bytes("0"), "done"],
      ["link", bytes("x"), "scope_violation: a link is not written through"],
      ["file-1", bytes("1"), "done"],
      ["no/such", bytes("x"), "not_available: ENOENT"],
      ["long", Buffer.alloc(20_000), "not_available: EFBIG"],
      ["folder", bytes("x"), "not_available: EISDIR: not a plain file"],
      ["file-2", bytes("2"), "done"],
      ["file-0", bytes("again"), "done"],
    ];
    const answers = await Promise.all(asked.map(([name, content]) => files.write(path(join(root, name)), content)));
    expect(answers.map(said)).toEqual(asked.map(([, , expected]) => expected));
    const contents = ["file-0", "file-1", "file-2", "long"].map((name) => readFileSync(join(root, name), "utf8"));
    expect(contents).toEqual(["again", "1", "2", "old"]);
    expect(drafts(root)).toEqual([]);
  });

  test("are visible to any request after them", async () => {
    const root = newFolder();
    const files = whole(root);
    await files.stat(path(root));
    const asked = Array.from({ length: 60 }, (_, at) => {
      const file = path(join(root, `file-${at % 7}`));
      return [
        files.write(file, bytes(`content ${at}`)),
        files.write(file, bytes(`content ${at}, changed`)),
        files.read(file, { offset: 0, bytesMax: 100 }),
        ...(at % 5 === 0 ? [files.remove(file), files.stat(file)] : []),
      ];
    });
    for (const [at, answers] of asked.entries()) {
      const [one, two, read, removed, gone] = await Promise.all(answers);
      expect([one, two].map((answer) => answer && said(answer))).toEqual(["done", "done"]);
      expect(read && said(read)).toBe(`content ${at}, changed`);
      if (at % 5 === 0) expect([removed && said(removed), gone?.ok]).toEqual(["done", false]);
    }
  });

  test("each leave old or new content when the worker is killed, and answered ones are done", async () => {
    const root = newFolder();
    const names = Array.from({ length: 16 }, (_, at) => join(root, `file-${at}`));
    const [old, fresh] = ["old ".repeat(5_000), "new!".repeat(5_000)];
    for (const name of names) writeFileSync(name, old);
    const files = whole(root);
    let lost = 0;
    for (let round = 0; round < 60; round++) {
      for (let tries = 0; !(await files.stat(path(root))).ok && tries < 50; tries++);
      const wanted = round % 2 === 0 ? fresh : old;
      const writes = names.map((name) => files.write(path(name), bytes(wanted)));
      const victim = files.processId as number;
      if (round % 12 > 0) await pause(round % 12, "it is killed at different moments of the write");
      process.kill(victim, "SIGKILL");
      const answers = await Promise.all(writes);
      for (const [at, answer] of answers.entries()) {
        const content = readFileSync(names[at] as string, "utf8");
        expect([old, fresh]).toContain(content);
        if (answer.ok) expect(content).toBe(wanted);
        else lost++;
      }
      expect(drafts(root).length).toBeLessThanOrEqual(lost);
    }
    expect(lost).toBeGreaterThan(0);
  });

  test("leave no draft when they are cancelled", async () => {
    let unanswered = 0;
    for (let round = 0; round < 12; round++) {
      const root = newFolder();
      const files = whole(root);
      expect((await files.stat(path(root))).ok).toBe(true);
      const worker = files.processId as number;
      const writes = Array.from({ length: 200 }, (_, at) =>
        files.write(path(join(root, `file-${at}`)), bytes(`${at} `.repeat(2_000))),
      );
      await pause(round, "it is closed at different moments of the writes");
      files.close();
      unanswered += (await Promise.all(writes)).filter(({ ok }) => !ok).length;
      await until(() => !isRunning(worker), "the worker has exited");
      expect(drafts(root)).toEqual([]);
      for (const name of readdirSync(root))
        expect(readFileSync(join(root, name), "utf8")).toBe(`${name.slice(5)} `.repeat(2_000));
    }
    expect(unanswered).toBeGreaterThan(0);
  });

  test("are done although the owner sends an invalid frame after them", async () => {
    const root = newFolder();
    const speaker = new Speaker().tree(root, 3).say("G");
    expect((await speaker.hear())?.kind).toBe("R");
    for (let at = 0; at < 3; at++) speaker.ask("w", at, 0, `file-${at}`, content("new"));
    speaker.ask("?", 3, 0, "x");
    for (let at = 0; at < 3; at++) expect(await speaker.answer()).toEqual([at, 0]);
    expect((await speaker.hear())?.kind).toBe("F");
    expect(await speaker.ended()).toBe(125);
    for (let at = 0; at < 3; at++) expect(readFileSync(join(root, `file-${at}`), "utf8")).toBe("new");
    expect(drafts(root)).toEqual([]);
  });

  test("leave no draft if the owner is gone before the answer", async () => {
    const root = newFolder();
    const speaker = new Speaker().tree(root, 3).say("G");
    expect((await speaker.hear())?.kind).toBe("R");
    const asked = Array.from({ length: 20 }, (_, at) =>
      frameOf(
        "w",
        new PayloadWriter()
          .u32(at)
          .u32(0)
          .text(bytes(`file-${at}`))
          .bytes(content("new"))
          .done(),
      ),
    );
    speaker.raw(Buffer.concat(asked));
    await speaker.hangUp();
    expect(drafts(root)).toEqual([]);
    for (const name of readdirSync(root)) expect(readFileSync(join(root, name), "utf8")).toBe("new");
  });
});

function content(text: string): Uint8Array {
  return new PayloadWriter().u32(0o666).bytes(bytes(text)).done();
}
