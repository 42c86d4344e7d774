// Where the person's toolchains are: for a folder on their search path, the trees that its programs need. INVARIANT: a list of
// known places, never the folder as it is written: a search path can be set by any program, and must not show anything else.

/** Absolute, from the top of the machine. */
type Path = readonly string[];

interface ToolchainRule {
  readonly name: string;
  /** Folders of the search path; `~` is the home folder, `*` one name. */
  readonly folders: readonly string[];
  /** What is shown, read-only; each `*` is the name of the folder at the same place. */
  readonly trees: readonly string[];
  /** So that its programs look there, and not in the home inside. */
  readonly variables?: readonly (readonly [name: string, tree: string])[];
}

const RULES: readonly ToolchainRule[] = [
  { name: "nvm", folders: ["~/.nvm/versions/node/*/bin"], trees: ["~/.nvm/versions/node/*"] },
  {
    name: "volta",
    folders: ["~/.volta/bin"],
    trees: ["~/.volta/bin", "~/.volta/tools"],
    variables: [["VOLTA_HOME", "~/.volta"]],
  },
  {
    name: "fnm",
    folders: ["~/.local/share/fnm/node-versions/*/installation/bin", "~/.fnm/node-versions/*/installation/bin"],
    trees: [],
  },
  {
    name: "asdf",
    folders: ["~/.asdf/shims", "~/.asdf/bin"],
    trees: ["~/.asdf"],
    variables: [["ASDF_DATA_DIR", "~/.asdf"]],
  },
  {
    name: "mise",
    folders: ["~/.local/share/mise/shims", "~/.local/share/mise/installs/*/*/bin", "~/.local/share/mise/installs/*/*"],
    trees: ["~/.local/share/mise/shims", "~/.local/share/mise/installs"],
    variables: [["MISE_DATA_DIR", "~/.local/share/mise"]],
  },
  {
    name: "pyenv",
    folders: ["~/.pyenv/shims", "~/.pyenv/bin", "~/.pyenv/versions/*/bin"],
    trees: ["~/.pyenv"],
    variables: [["PYENV_ROOT", "~/.pyenv"]],
  },
  {
    name: "cargo",
    folders: ["~/.cargo/bin"],
    trees: ["~/.cargo/bin", "~/.rustup"],
    variables: [["RUSTUP_HOME", "~/.rustup"]],
  },
  { name: "go", folders: ["~/go/bin"], trees: ["~/go/bin"] },
  { name: "go", folders: ["~/sdk/*/bin"], trees: ["~/sdk/*"] },
  {
    name: "sdkman",
    folders: ["~/.sdkman/candidates/*/*/bin"],
    trees: ["~/.sdkman/candidates"],
  },
  {
    // Programs of uv, pipx, some clients, and npm with the prefix ~/.local are links to these.
    name: "~/.local/bin",
    folders: ["~/.local/bin"],
    trees: [
      "~/.local/bin",
      "~/.local/lib/node_modules",
      "~/.local/share/uv/python",
      "~/.local/share/uv/tools",
      "~/.local/share/pipx/venvs",
      "~/.local/share/claude/versions",
    ],
  },
  { name: "npm", folders: ["~/.npm-global/bin"], trees: ["~/.npm-global"] },
  { name: "pnpm", folders: ["~/.local/share/pnpm"], trees: ["~/.local/share/pnpm"] },
  { name: "bun", folders: ["~/.bun/bin"], trees: ["~/.bun/bin", "~/.bun/install/global"] },
  { name: "deno", folders: ["~/.deno/bin"], trees: ["~/.deno/bin"] },
  { name: "opencode", folders: ["~/.opencode/bin"], trees: ["~/.opencode/bin"] },
  {
    name: "Homebrew",
    folders: ["/home/linuxbrew/.linuxbrew/bin", "/home/linuxbrew/.linuxbrew/sbin"],
    trees: ["/home/linuxbrew/.linuxbrew"],
  },
  { name: "Nix", folders: ["/nix/store/*/bin", "/nix/store/*/sbin"], trees: ["/nix/store"] },
  { name: "/opt", folders: ["/opt/*/bin", "/opt/*/sbin", "/opt/*/*/bin", "/opt/*"], trees: ["/opt/*"] },
];

export interface Toolchain {
  readonly name: string;
  /** The folder on the search path. */
  readonly folder: Path;
  readonly trees: readonly Path[];
  readonly variables: readonly (readonly [name: string, value: string])[];
}

/** `folder`: without links. Null for a folder that no rule knows. */
export function toolchainAt(folder: Path, home: Path | null): Toolchain | null {
  for (const { name, folders, trees, variables = [] } of RULES) {
    for (const pattern of folders) {
      const names = matched(folder, placed(pattern, home));
      if (names === null) continue;
      const fill = (text: string): Path => filled(placed(text, home) ?? [], names);
      return {
        ...{ name, folder },
        // A rule without trees shows the folder above its programs.
        trees: trees.length === 0 ? [folder.slice(0, -1)] : trees.map(fill),
        variables: variables.map(([variable, tree]) => [variable, `/${fill(tree).join("/")}`] as const),
      };
    }
  }
  return null;
}

function placed(text: string, home: Path | null): Path | null {
  if (text.startsWith("/")) return text.slice(1).split("/");
  return home === null ? null : [...home, ...text.slice(2).split("/")];
}

/** The names that stand for stars, in order; null where the folder is another one. */
function matched(folder: Path, pattern: Path | null): readonly string[] | null {
  if (pattern === null || pattern.length !== folder.length) return null;
  const isSame = pattern.every((name, at) => name === "*" || name === folder[at]);
  return isSame ? folder.filter((_, at) => pattern[at] === "*") : null;
}

function filled(pattern: Path, names: readonly string[]): Path {
  let next = 0;
  return pattern.map((name) => (name === "*" ? (names[next++] ?? "*") : name));
}
