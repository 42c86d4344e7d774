import { describe, expect, test } from "vitest";
import { alikeAgentId, parseAgentId } from "./agent-id.ts";

describe("an agent's id", () => {
  test.each([
    "scout",
    "Scout",
    "team/scout",
    "scout-2",
    "a.b_c@d+e",
    "scout.mdx",
    "team.md/scout",
    "_base",
    "späher",
    "侦察",
    "0",
  ])("%j is one", (id) => {
    expect(parseAgentId(id)).toEqual({ ok: true, value: id });
  });

  test.each([
    "",
    " ",
    "scout ",
    " scout",
    "sco ut",
    "sco\u200but",
    "sco\u00adut",
    "scout\u2060",
    "\u3164",
    "scout\ufe0f",
    "sco\u202eut",
    "sco\tut",
    "scout\n",
    "-y",
    "--yes",
    "team/-y",
    "team//x",
    "/scout",
    "scout/",
    "..",
    "../x",
    ".hidden",
    "ﬁnder",
    "ｓcout",
    "spa\u0308her",
    "anonymous",
    "Anonymous",
    "ANONYMOUS",
    "scout*",
    "scout.md",
    "team/late.md",
    "team/late.MD",
    "scout.yml",
    "scout.Yaml",
    "scout.json",
    "scout.md.toml",
    "$(id)",
    "a".repeat(5000),
  ])("%j is not one", (id) => {
    expect(parseAgentId(id)).toMatchObject({ ok: false, code: "bad_value" });
  });

  test.each([
    ["scout", ["Scout"], "Scout"],
    ["scout", ["sco\u200but"], "sco\u200but"],
    ["straße", ["STRASSE"], "STRASSE"],
    ["scout", ["scout", "scouts"], null],
  ])("%j among %j", (id, others, alike) => {
    expect(alikeAgentId(id, others)).toBe(alike);
  });
});
