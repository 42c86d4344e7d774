// Workers that die, that cannot be started, and that violate the protocol.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { filesIn, newFolder, path, said, text } from "../../../test/files/fixture.ts";
import { nativeMissing } from "../../../test/files/native.ts";
import { isRunning } from "../../../test/house/processes.ts";
import { until } from "../../../test/house/until.ts";

const scripts = mkdtempSync(join(tmpdir(), "ambit-scripts-"));
afterAll(() => {
  rmSync(scripts, { recursive: true });
});

function script(name: string, line: string): string {
  const file = join(scripts, name);
  writeFileSync(file, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
  return file;
}

const gone = "not_available: the file worker ended";

describe.skipIf(nativeMissing() !== null)("a worker that dies", () => {
  test("fails every pending request, and the next one starts another", async () => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "content");
    const files = filesIn({ granted: [["read", root]] });
    for (let round = 0; round < 20; round++) {
      expect(await text(files, join(root, "file"))).toBe("content");
      const victim = files.processId as number;
      process.kill(victim, "SIGSTOP");
      const waiting = Array.from({ length: 10 }, () => text(files, join(root, "file")));
      process.kill(victim, "SIGKILL");
      expect(await Promise.all(waiting)).toEqual(Array.from({ length: 10 }, () => gone));
      expect(files.processId).not.toBe(victim);
    }
  });

  test("or hangs is killed at its timeout", { timeout: 60_000 }, async () => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "content");
    const files = filesIn({ granted: [["read", root]], limits: { silenceMillisecondsMax: 2_000 } });
    expect(await text(files, join(root, "file"))).toBe("content");
    const still = files.processId as number;
    process.kill(still, "SIGSTOP");
    expect(await text(files, join(root, "file"))).toBe(gone);
    await until(() => !isRunning(still), "it is killed");
    const silent = filesIn({
      granted: [["read", root]],
      program: script("silent", "exec sleep 60"),
      limits: { silenceMillisecondsMax: 200 },
    });
    expect(await text(silent, join(root, "file"))).toBe(gone);
  });

  test("is not started again once its owner has closed it", async () => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "content");
    const files = filesIn({ granted: [["read", root]] });
    expect(await text(files, join(root, "file"))).toBe("content");
    const waiting = text(files, join(root, "file"));
    files.close();
    expect(await waiting).toBe(gone);
    expect(await text(files, join(root, "file"))).toBe(gone);
    expect(files.processId).toBeUndefined();
  });

  test("answers concurrent requests in order", async () => {
    const root = newFolder();
    for (let at = 0; at < 50; at++) writeFileSync(join(root, `file-${at}`), String(at));
    const files = filesIn({ granted: [["read", root]] });
    const asked = Array.from({ length: 500 }, (_, at) => text(files, join(root, `file-${at % 50}`)));
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 500 }, (_, at) => String(at % 50)));
  });
});

describe.skipIf(nativeMissing() !== null)("a program that is not a worker", () => {
  test.each([
    ["is missing", join(scripts, "none")],
    ["exits at once", "/bin/false"],
    ["says nonsense", script("nonsense", "printf 'what is this' >&3; exec sleep 60")],
    [
      "is ready with other trees",
      script("other", "printf '\\006\\000\\000\\000R\\001\\001\\000\\000\\000\\000' >&3; exec sleep 60"),
    ],
    ["fails", script("fails", "printf '\\006\\000\\000\\000F\\001\\000\\000\\000x\\000' >&3; exec sleep 60")],
  ])("and %s is given up", async (_, program) => {
    const root = newFolder();
    writeFileSync(join(root, "file"), "content");
    const files = filesIn({ granted: [["read", root]], program });
    for (let at = 0; at < 6; at++)
      expect(said(await files.read(path(join(root, "file")), { offset: 0, bytesMax: 1 }))).toBe(gone);
    expect(files.processId).toBeUndefined();
  });
});
