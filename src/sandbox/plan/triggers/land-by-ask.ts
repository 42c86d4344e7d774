// Names that are ordinary parts of a project and that tools also run or obey: an agent's change of one needs approval.
// Data. Absent on purpose: `Makefile`, `justfile`, `package.json`, tests and build scripts, which a person runs deliberately; names that
// are read in a home folder alone (`.tmux.conf`, `.psqlrc`, `.ssh`); files that select an official version (`.nvmrc`, `.python-version`).
import { type Trigger, type TriggerRow, triggersOf } from "./trigger.ts";

const SERVERS: readonly TriggerRow[] = [["MCP clients", "anywhere", [".mcp.json", "mcp.json"]]];

const ENVIRONMENTS: readonly TriggerRow[] = [
  ["direnv", "anywhere", [".envrc", ".direnv"]],
  ["mise", "anywhere", [".mise.toml", ".mise.local.toml", "mise.toml", "mise.local.toml", ".mise", ".rtx.toml"]],
  ["mise", "anywhere", [".config/mise", ".config/mise.toml", ".mise.*.toml", "mise.*.toml", "mise/config.toml"]],
  ["asdf", "anywhere", [".tool-versions"]],
  ["autoenv", "anywhere", [".autoenv.zsh", ".autoenv", ".env.leave"]],
  ["shell plugins that load it when a folder is entered", "anywhere", [".env"]],
  ["Nix", "anywhere", ["flake.nix", "shell.nix", "devenv.nix", "devenv.yaml", "devenv.local.nix", "devbox.json"]],
  [
    "interactive interpreters",
    "anywhere",
    [".pdbrc", ".irbrc", ".pryrc", ".Rprofile", ".Renviron", ".ghci", ".ocamlinit"],
  ],
  ["interactive interpreters", "anywhere", [".octaverc", ".perldb"]],
];

const GIT: readonly TriggerRow[] = [
  ["git", "anywhere", [".gitattributes", ".gitmodules", ".gitconfig"]],
  ["pre-commit", "anywhere", [".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml"]],
  ["husky", "anywhere", [".husky", ".huskyrc", ".huskyrc.*"]],
  ["lefthook", "anywhere", ["lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook"]],
  ["lint-staged", "anywhere", [".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*"]],
  ["Overcommit", "anywhere", [".overcommit.yml", ".git-hooks"]],
  ["simple-git-hooks", "anywhere", [".simple-git-hooks.*", "simple-git-hooks.*"]],
  ["commitlint", "anywhere", [".commitlintrc", ".commitlintrc.*", "commitlint.config.*"]],
  [
    "hook runners",
    "anywhere",
    ["captainhook.json", "grumphp.yml", ".grumphp.yml", ".rusty-hook.toml", "hk.pkl", "prek.toml"],
  ],
  ["git hooks", "anywhere", [".githooks"]],
  ["git-lfs", "anywhere", [".lfsconfig"]],
  ["Perforce", "anywhere", [".p4config"]],
  ["Arcanist", "anywhere", [".arcconfig"]],
];

const PACKAGES: readonly TriggerRow[] = [
  ["npm", "anywhere", [".npmrc"]],
  ["Yarn", "anywhere", [".yarnrc", ".yarnrc.yml", ".yarn/releases", ".yarn/plugins", ".yarn/sdks", ".pnp.cjs"]],
  ["Yarn", "anywhere", [".pnp.loader.mjs"]],
  ["pnpm", "anywhere", [".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", "pnpm-workspace.yaml"]],
  ["Bun", "anywhere", ["bunfig.toml", ".bunfig.toml"]],
  ["Cargo", "anywhere", [".cargo/config", ".cargo/config.toml"]],
  ["rustup", "anywhere", ["rust-toolchain", "rust-toolchain.toml"]],
  ["pip", "anywhere", ["pip.conf", "pip.ini"]],
  ["uv", "anywhere", ["uv.toml"]],
  ["Bundler", "anywhere", [".bundle/config"]],
  ["Gradle", "anywhere", ["gradle/wrapper"]],
  ["Maven", "anywhere", [".mvn"]],
  ["Bazel", "anywhere", [".bazelrc", ".bazeliskrc", ".bazelversion", "tools/bazel"]],
  ["Buck", "anywhere", [".buckconfig", ".buckconfig.local"]],
  ["NuGet", "anywhere", ["nuget.config"]],
  ["Ansible", "anywhere", ["ansible.cfg"]],
  ["sbt", "anywhere", [".sbtopts", ".jvmopts"]],
];

const EDITORS: readonly TriggerRow[] = [
  ["VS Code", "anywhere", ["*.code-workspace"]],
  ["vim", "anywhere", [".exrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".local.vimrc"]],
  ["Neovim", "anywhere", [".nvim.lua", ".nvimrc", ".lazy.lua"]],
  ["Emacs", "anywhere", [".dir-locals.el", ".dir-locals-2.el", ".projectile"]],
  ["Sublime Text", "anywhere", ["*.sublime-project"]],
  ["Helix", "anywhere", [".helix"]],
  ["Kakoune", "anywhere", [".kakrc"]],
  ["gdb", "anywhere", [".gdbinit", "*-gdb.py", "*-gdb.gdb"]],
  ["lldb", "anywhere", [".lldbinit"]],
  ["JetBrains", "anywhere", [".run"]],
  ["Visual Studio", "anywhere", [".vs"]],
  ["Eclipse", "anywhere", [".settings", ".externalToolBuilders"]],
  [
    "language servers",
    "anywhere",
    ["lsp.json", ".vim", ".neoconf.json", ".ycm_extra_conf.py", ".luarc.json", ".luarc.jsonc"],
  ],
  ["build servers", "anywhere", [".bsp", "buildServer.json", ".sourcekit-lsp"]],
];

const AUTOMATION: readonly TriggerRow[] = [
  ["GitHub", "anywhere", [".github/workflows", ".github/actions", ".github/dependabot.yml"]],
  ["Gitea", "anywhere", [".gitea/workflows", ".forgejo/workflows"]],
  ["GitLab", "anywhere", [".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab"]],
  ["CI", "anywhere", [".circleci", ".travis.yml", ".drone.yml", ".woodpecker", ".woodpecker.yml", ".cirrus.yml"]],
  ["CI", "anywhere", ["azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", ".buildkite"]],
  ["Jenkins", "anywhere", ["Jenkinsfile"]],
  ["Gitpod", "anywhere", [".gitpod.yml", ".gitpod.Dockerfile"]],
  ["cloud editors", "anywhere", [".replit", "replit.nix", ".idx", "devfile.yaml", ".devfile.yaml", ".codesandbox"]],
  ["Renovate", "anywhere", ["renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json"]],
  ["Vagrant", "anywhere", ["Vagrantfile"]],
];

/** Files that agents read as instructions. */
const INSTRUCTIONS: readonly TriggerRow[] = [
  ["agents", "anywhere", ["AGENTS.md", "AGENTS.*.md", "AGENT.md"]],
  ["Claude Code", "anywhere", ["CLAUDE.md", "CLAUDE.local.md"]],
  ["Gemini", "anywhere", ["GEMINI.md"]],
  ["Qwen Code", "anywhere", ["QWEN.md"]],
  ["Crush", "anywhere", ["CRUSH.md"]],
  ["Goose", "anywhere", [".goosehints"]],
  ["Cursor", "anywhere", [".cursorrules"]],
  ["Windsurf", "anywhere", [".windsurfrules"]],
  ["Cline", "anywhere", [".clinerules"]],
  ["Roo Code", "anywhere", [".roorules", ".roorules-*", ".roomodes"]],
  ["GitHub Copilot", "anywhere", [".github/copilot-instructions.md", ".github/instructions", ".github/prompts"]],
  ["GitHub Copilot", "anywhere", [".github/chatmodes", ".github/agents", ".github/skills"]],
  ["aider", "anywhere", [".aider.model.settings.yml", ".aider.model.metadata.json"]],
  ["Zed", "anywhere", [".rules"]],
  ["Warp", "anywhere", ["WARP.md"]],
];

export const LAND_BY_ASK: readonly Trigger[] = triggersOf(
  [...SERVERS, ...ENVIRONMENTS, ...GIT, ...PACKAGES, ...EDITORS, ...AUTOMATION, ...INSTRUCTIONS],
  { class: "ask", isFixed: false },
);
