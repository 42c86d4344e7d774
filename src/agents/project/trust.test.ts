import { describe, expect, test } from "vitest";
import { authorityDigest } from "./trust.ts";

/** In place of SHA-256: unique for each text. */
const digest = (text: string): string => JSON.stringify(text);

describe("the digest of a project's authority", () => {
  const files = [
    { path: ".ambit/config.yml", text: "sandbox: ." },
    { path: ".ambit/agents/a.md", text: "---\n---\n" },
  ];
  test("does not depend on the order of the files", () => {
    expect(authorityDigest(files, digest)).toBe(authorityDigest([...files].reverse(), digest));
  });

  test.each([
    ["a text", [{ path: ".ambit/config.yml", text: "sandbox: /" }, files[1]]],
    ["a path", [files[0], { path: ".ambit/agents/b.md", text: "---\n---\n" }]],
    ["an added file", [...files, { path: ".ambit/agents/b.md", text: "" }]],
    ["a removed file", [files[0]]],
    ["exchanged texts", files.map(({ path }, at) => ({ path, text: files[1 - at]?.text }))],
  ])("depends on %s", (_, other) => {
    expect(authorityDigest(other as typeof files, digest)).not.toBe(authorityDigest(files, digest));
  });

  test("no path can pretend to be two files", () => {
    const one = [{ path: `a 2:""\n1:b`, text: "" }];
    const two = [
      { path: "a", text: "" },
      { path: "b", text: "" },
    ];
    expect(authorityDigest(one, digest)).not.toBe(authorityDigest(two, digest));
  });
});
