// `help` in front of a name, or behind a group, is the name's own page.
import { Command } from "commander";
import { expect, test } from "vitest";
import { helpWords } from "./help-words.ts";

const program = new Command("ambit");
program.command("can").argument("<agent>").argument("<request...>");
const agents = program.command("agents");
agents.command("grant");
agents.command("capabilities").alias("caps");

test.each([
  ["help", "--help"],
  ["help can", "can --help"],
  ["help can scout", "can --help"],
  ["help agents", "agents --help"],
  ["help agents grant", "agents grant --help"],
  ["help agents caps", "agents caps --help"],
  ["help agents grant --json", "agents grant --help"],
  ["agents help", "agents --help"],
  ["agents help grant", "agents grant --help"],
  ["help help", "--help"],
  // What is not there is the program's to complain of.
  ["help nonsense", "nonsense"],
  ["help agents grnat", "agents grnat"],
  ["agents help grnat", "agents grnat"],
  // A word of somebody else's.
  ["can help fs.read a", "can help fs.read a"],
  ["can scout fs.read help", "can scout fs.read help"],
  ["agents grant help", "agents grant help"],
  ["--json help", "--json help"],
  ["", ""],
])("%s is %s", (written, meant) => {
  const words = (line: string): string[] => line.split(" ").filter((word) => word !== "");
  expect(helpWords(program, words(written))).toEqual(words(meant));
});
