// Concurrent writes of file tools: harmless alone, a repository together.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftProject } from "./project.ts";

const rounds = 12;

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    afterEach(() => fixture.end());

    test("two concurrent calls do not complete a bare repository", async () => {
      fixture = new DraftProject(user);
      fixture.repository();
      const words = fixture.command(["mcp", "serve", "--agent", "writer"]);
      const server = spawn(...words, {
        cwd: fixture.project,
        env: fixture.environment,
        stdio: ["pipe", "pipe", "ignore"],
      });
      const waiting = new Map<number, (isDone: boolean) => void>();
      createInterface({ input: server.stdout }).on("line", (line) => {
        const { id, result } = JSON.parse(line) as { id: number; result?: { isError?: boolean } };
        waiting.get(id)?.(result?.isError !== true);
      });
      let count = 0;
      const write = (path: string, content: string): Promise<boolean> => {
        const id = ++count;
        const params = { name: "fs_write", arguments: { path, content } };
        server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
        return new Promise((done) => waiting.set(id, done));
      };
      let written = 0;
      for (let round = 0; round < rounds; round++) {
        const folder = `x${round}`;
        const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${fixture.base}/marker; false"\n`;
        await Promise.all([write(`${folder}/objects/k`, "1"), write(`${folder}/config`, settings)]);
        const both = await Promise.all([
          write(`${folder}/HEAD`, "ref: refs/heads/main"),
          write(`${folder}/refs/k`, "1"),
        ]);
        written += both.filter((isDone) => isDone).length;
        fixture.person("git", "-C", folder, "status");
      }
      server.stdin.end();
      expect(existsSync(join(fixture.base, "marker"))).toBe(false);
      expect(written).toBe(rounds);
    });
  });
