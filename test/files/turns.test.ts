// Walking and searching large folders: the event loop gets a turn after a bounded number of decisions, so control and other
// sessions are served in between.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entriesPerTurn } from "../../src/sandbox/files/tree-search.ts";
import { filesIn, newFolder, path, said } from "./fixture.ts";

const FOLDERS = 10;
const FILES = 1_000;

function manyFiles(): string {
  const root = newFolder();
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(root, `f${folder}`));
    for (let file = 0; file < FILES; file++) writeFileSync(join(root, `f${folder}`, `${file}.txt`), "word\n");
  }
  return root;
}

/** How many decisions are made between two event-loop turns, at most. */
async function decisionsPerTurn(
  act: (count: () => void) => Promise<void>,
): Promise<readonly [most: number, all: number]> {
  let [most, all, now, isOver] = [0, 0, 0, false];
  const turn = (): void => {
    now = 0;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await act(() => {
    now++;
    all++;
    most = Math.max(most, now);
  });
  isOver = true;
  return [most, all];
}

describe("a folder of ten thousand entries, with one decision for each", () => {
  const root = manyFiles();

  test.each<[string, (files: ReturnType<typeof filesIn>) => Promise<string>]>([
    ["glob", async (files) => said(await files.glob(path(root), "**/*.txt", 10_000))],
    ["search", async (files) => said(await files.search(path(root), "word", 10_000))],
    ["list", async (files) => said(await files.list(path(`${root}/f0`), 10_000))],
  ])("%s yields to the event loop", async (_, act) => {
    const [most, all] = await decisionsPerTurn(async (onDecision) => {
      const files = filesIn({ granted: [["read", root, ["**"]]], onDecision });
      expect(await act(files)).toBe("done");
    });
    expect(all).toBeGreaterThanOrEqual(FILES);
    // A few decisions are about the start of the walk.
    expect(most).toBeLessThanOrEqual(entriesPerTurn + 16);
  });
});
