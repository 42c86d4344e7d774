import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256 } from "../../platform/digest.ts";
import { registeredWorkspaces } from "./registered-workspaces.ts";
import { trustStore } from "./trust-file.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "ambit-state-"));
  chmodSync(state, 0o700);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

test("trusted workspaces are listed, and revoked ones are not", () => {
  expect(trustStore(state, "/home/u/one", sha256).trust([], "d")).toEqual({ ok: true });
  expect(trustStore(state, `/home/u/${"long".repeat(100)}`, sha256).trust([], "d")).toEqual({ ok: true });
  expect(registeredWorkspaces(state)?.toSorted()).toEqual([`/home/u/${"long".repeat(100)}`, "/home/u/one"].toSorted());
  trustStore(state, "/home/u/one", sha256).revoke();
  expect(registeredWorkspaces(state)).toHaveLength(1);
});

test("without state or trust there are no workspaces; a damaged entry is ignored", () => {
  expect(registeredWorkspaces(null)).toEqual([]);
  expect(registeredWorkspaces(state)).toEqual([]);
  mkdirSync(join(state, "trust", "x"), { recursive: true });
  writeFileSync(join(state, "trust", "x", "project.json"), "{");
  expect(registeredWorkspaces(state)).toEqual([]);
});

test("a folder that is a file gives no answer", () => {
  writeFileSync(join(state, "trust"), "");
  expect(registeredWorkspaces(state)).toBeNull();
});
