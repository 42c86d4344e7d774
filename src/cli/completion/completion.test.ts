// Tab completion: the words typed so far, and the completions of the last one.
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { EXIT } from "../terminal/exit.ts";
import { type CompletionPorts, complete } from "./completion.ts";

function program(): Command {
  const top = new Command("ambit");
  top.command("can").argument("<agent>").argument("<request...>").option("--json", "one object");
  top.command("diff").argument("<before>").argument("<after>");
  top.command("explain").argument("<name>");
  const agents = top.command("agents");
  agents.command("grant").argument("<agent>").argument("[spec]").option("--for <time>", "how long").option("--yes", "");
  agents.command("list").option("--can <spec>", "which hold at least that");
  top.command("skills").option("--agent <id>", "an agent");
  top.command("__complete");
  return top;
}

function offered(words: readonly string[], more: Partial<CompletionPorts> = {}): readonly string[] {
  const lines: string[] = [];
  const ports: CompletionPorts = {
    agentIds: () => ["scout", "team/aide", "$(reboot)", "a b", "x;y", "-rf", "new\nline"],
    print: (text) => lines.push(...text.split("\n")),
    ...more,
  };
  expect(complete(ports, program(), words)).toBe(EXIT.ok);
  return lines.map((line) => line.split("\t")[0] ?? "");
}

describe("the last word", () => {
  const rows: readonly (readonly [typed: string, words: readonly string[], offers: readonly string[]])[] = [
    ["a command", [""], ["can", "diff", "explain", "agents", "skills"]],
    ["the beginning of a command", ["ca"], ["can"]],
    ["nothing like a command", ["zz"], []],
    ["a command of a command", ["agents", ""], ["grant", "list"]],
    ["an option", ["can", "--j"], ["--json"]],
    ["an agent", ["can", "s"], ["scout"]],
    ["an agent after an option", ["can", "--json", "s"], ["scout"]],
    ["an agent after an option with its value", ["agents", "grant", "--for", "30m", "s"], ["scout"]],
    ["the value of an option", ["agents", "grant", "--for", ""], []],
    ["a verb", ["can", "scout", "net.p"], ["net.post", "net.put"]],
    ["a verb, misspelt", ["can", "scout", "nett"], []],
    ["a file of a request", ["can", "scout", "fs.read", ""], [":files"]],
    ["an agent of a request", ["can", "scout", "agent.grant", "s"], ["scout"]],
    ["behind --", ["can", "scout", "proc.exec", "--", "g"], []],
    ["a spec", ["agents", "grant", "scout", "net.g"], ["net.get"]],
    ["a spec in quotes", ["agents", "grant", "scout", "'net.g"], ["'net.get"]],
    ["a key of a spec", ["agents", "grant", "scout", "'net.get{h"], ["'net.get{hosts="]],
    ["a second key", ["agents", "grant", "scout", "'net.get{hosts=[x],as"], ["'net.get{hosts=[x],ask"]],
    ["inside a list of a spec", ["agents", "grant", "scout", "'net.get{hosts=[a"], []],
    ["a key of a verb that does not exist", ["agents", "grant", "scout", "'net.got{h"], []],
    ["a spec of an option", ["agents", "list", "--can", "memory.r"], ["memory.read"]],
    ["a code", ["explain", "scope_v"], ["scope_violation"]],
    ["two files", ["diff", "a.md", ""], [":files"]],
    ["more words than the command takes", ["diff", "a.md", "b.md", ""], []],
    ["nothing at all", [], ["can", "diff", "explain", "agents", "skills"]],
  ];
  test.each(rows)("%s: %j", (_title, words, offers) => {
    expect(offered(words)).toEqual(offers);
  });
});

test("a name that a shell could interpret is never offered", () => {
  expect(offered(["can", ""])).toEqual(["scout", "team/aide"]);
});

test("an error offers nothing", () => {
  const broken = {
    agentIds: () => {
      throw new Error("no such folder");
    },
  };
  expect(offered(["can", ""], broken)).toEqual([]);
});

test("a workspace of many agents offers a limited number", () => {
  const many = { agentIds: () => Array.from({ length: 5000 }, (_, at) => `agent-${at}`) };
  expect(offered(["can", "agent"], many).length).toBe(1000);
});
