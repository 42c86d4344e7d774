// The page of `ambit --help`: commands in groups, and in each the ones that are needed first.
import { Command, Help, type Option } from "commander";

const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ["Start here", ["init", "trust", "status", "can", "exec"]],
  [
    "Write and test policies",
    ["agents", "org", "test", "diff", "doctor", "compile", "import", "explain", "schema", "lsp"],
  ],
  [
    "Let agents act",
    [
      "run",
      "tasks",
      "schedules",
      "store",
      "connect",
      "disconnect",
      "hook",
      "call",
      "mcp",
      "tokens",
      "tools",
      "skills",
      "records",
      "secrets",
      "profiles",
    ],
  ],
  ["Answer and review", ["approvals", "approve", "changes", "undo", "presence"]],
  ["Stop", ["stop", "freeze", "thaw"]],
  ["Look back", ["log", "why", "audit"]],
  ["This machine", ["daemon", "upgrade", "uninstall", "completion", "help"]],
];

/** A command that no group names is in the last one. */
const LAST = "Other commands";
const ORDER = GROUPS.flatMap(([, names]) => names);

export class GroupedHelp extends Help {
  /** The name alone: arguments are in the command's own help, and leave no room for descriptions in 80 columns. */
  override subcommandTerm(command: Command): string {
    return command.name();
  }

  override groupItems<T extends Command | Option>(
    _inOrderOfCode: T[],
    visible: T[],
    groupOf: (item: T) => string,
  ): Map<string, T[]> {
    const sorted = visible.toSorted((one, other) => placeOf(one) - placeOf(other));
    const titleOf = (item: T): string => (item instanceof Command ? `${commandGroup(item.name())}:` : groupOf(item));
    return super.groupItems(sorted, sorted, titleOf);
  }
}

function placeOf(item: Command | Option): number {
  const at = ORDER.indexOf(item.name());
  return item instanceof Command && at < 0 ? ORDER.length : at;
}

export function commandGroup(name: string): string {
  return GROUPS.find(([, names]) => names.includes(name))?.[0] ?? LAST;
}
