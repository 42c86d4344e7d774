// `help` before a name, or after a group, shows the page of the name.
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
  // Unknown names are reported by the program.
  ["help nonsense", "nonsense"],
  ["help agents grnat", "agents grnat"],
  ["agents help grnat", "agents grnat"],
  // An argument of another command.
  ["can help fs.read a", "can help fs.read a"],
  ["can scout fs.read help", "can scout fs.read help"],
  ["agents grant help", "agents grant help"],
  ["--json help", "--json help"],
  ["", ""],
])("%s is %s", (written, meant) => {
  const words = (line: string): string[] => line.split(" ").filter((word) => word !== "");
  expect(helpWords(program, words(written))).toEqual(words(meant));
});
