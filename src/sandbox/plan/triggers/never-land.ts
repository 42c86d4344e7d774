// Names whose change by an agent never reaches the person's folder: their tools run or obey them at the next start.
// Data. Absent on purpose: git folders, which are found by their content and imported semantically; see
// `git-folders.ts`.
import { type Trigger, type TriggerRow, triggersOf } from "./trigger.ts";

/** Authority files, and our own program as package managers install it. */
const OURS: readonly TriggerRow[] = [
  ["ambit", "anywhere", [".ambit", "node_modules/ambit", "node_modules/.bin/ambit", "node_modules/.bin/ambit.*"]],
  ["ambit", "anywhere", ["node_modules/.pnpm/*/node_modules/ambit", "node_modules/.store/ambit-*"]],
  ["ambit", "home", [".config/ambit", ".local/state/ambit"]],
  ["git", "home", [".gitconfig", ".config/git"]],
];

const VERSION_CONTROL: readonly TriggerRow[] = [
  ["Mercurial", "anywhere", [".hg"]],
  ["Jujutsu", "anywhere", [".jj"]],
  ["Pijul", "anywhere", [".pijul"]],
  ["Darcs", "anywhere", ["_darcs"]],
  ["Sapling", "anywhere", [".sl"]],
  ["Subversion", "anywhere", [".svn"]],
  ["Breezy", "anywhere", [".bzr"]],
  ["Monotone", "anywhere", ["_MTN"]],
  ["repo", "anywhere", [".repo"]],
  ["Mercurial", "home", [".hgrc", ".config/hg"]],
  ["Jujutsu", "home", [".jjconfig.toml", ".config/jj"]],
  ["Breezy", "home", [".bazaar", ".config/breezy"]],
  ["Subversion", "home", [".subversion"]],
];

const EDITORS: readonly TriggerRow[] = [
  ["VS Code", "anywhere", [".vscode", ".vscode-insiders", ".vscode-server", ".vscode-oss"]],
  ["JetBrains", "anywhere", [".idea"]],
  ["Fleet", "anywhere", [".fleet"]],
  ["Zed", "anywhere", [".zed"]],
  ["development containers", "anywhere", [".devcontainer", ".devcontainer.json"]],
];

const AGENTS: readonly TriggerRow[] = [
  ["Claude Code", "anywhere", [".claude", ".claude.json", ".claude-plugin"]],
  ["Codex", "anywhere", [".codex"]],
  ["agents", "anywhere", [".agents", ".agent"]],
  ["Gemini", "anywhere", [".gemini"]],
  ["opencode", "anywhere", [".opencode", "opencode.json", "opencode.jsonc"]],
  ["Cursor", "anywhere", [".cursor"]],
  ["Windsurf", "anywhere", [".windsurf", ".codeium"]],
  ["Cline", "anywhere", [".cline"]],
  ["Roo Code", "anywhere", [".roo"]],
  ["Kilo Code", "anywhere", [".kilocode"]],
  ["Kiro", "anywhere", [".kiro"]],
  ["Continue", "anywhere", [".continue", ".continuerc.json"]],
  ["Amazon Q", "anywhere", [".amazonq"]],
  ["Junie", "anywhere", [".junie"]],
  ["Augment", "anywhere", [".augment"]],
  ["Qwen Code", "anywhere", [".qwen"]],
  ["Crush", "anywhere", [".crush", "crush.json", ".crush.json"]],
  ["Goose", "anywhere", [".goose"]],
  ["Amp", "anywhere", [".amp"]],
  ["Factory", "anywhere", [".factory"]],
  ["Trae", "anywhere", [".trae"]],
  ["GitHub Copilot", "anywhere", [".copilot", ".github/hooks", ".github/copilot", ".github/lsp.json"]],
  ["GitHub Copilot", "anywhere", [".github/extensions", ".github/plugin"]],
  ["aider", "anywhere", [".aider.conf.yml", ".aider.conf.yaml"]],
  ["OpenHands", "anywhere", [".openhands"]],
  ["Rovo Dev", "anywhere", [".rovodev"]],
  ["Warp", "anywhere", [".warp"]],
];

const SHELLS: readonly TriggerRow[] = [
  ["bash", "top", [".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion"]],
  ["shells", "top", [".profile", ".shrc", ".shinit", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout"]],
  ["zsh", "top", [".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"]],
  ["fish", "top", [".config/fish"]],
  ["Nushell", "home", [".config/nushell"]],
  ["Elvish", "home", [".config/elvish"]],
  ["xonsh", "home", [".xonshrc", ".config/xonsh"]],
  ["PowerShell", "home", [".config/powershell"]],
  ["readline", "home", [".inputrc"]],
  [
    "shells",
    "home",
    [".bashrc.d", ".zshrc.d", ".zsh", ".config/zsh", ".oh-my-zsh", ".p10k.zsh", ".fzf.bash", ".fzf.zsh"],
  ],
  ["Starship", "home", [".config/starship.toml"]],
];

/** In a home folder: what starts with a session, and start-up files of programs. */
const SESSIONS: readonly TriggerRow[] = [
  ["the desktop", "home", [".config/autostart", ".config/systemd", ".config/environment.d", ".local/share/systemd"]],
  ["the desktop", "home", [".local/share/applications", ".local/share/dbus-1", ".config/plasma-workspace"]],
  ["PAM", "home", [".pam_environment"]],
  ["X11", "home", [".xprofile", ".xinitrc", ".xsessionrc", ".xsession", ".xserverrc", ".Xresources"]],
  ["launchd", "home", ["Library/LaunchAgents"]],
  ["programs on the search path", "home", ["bin", ".local/bin", ".cargo/bin", "go/bin", ".bun/bin", ".deno/bin"]],
  ["ssh", "home", [".ssh"]],
  ["GnuPG", "home", [".gnupg"]],
  ["tmux", "home", [".tmux.conf", ".config/tmux"]],
  ["vim", "home", [".vimrc", ".gvimrc", ".vim"]],
  ["Neovim", "home", [".config/nvim", ".local/share/nvim"]],
  ["Emacs", "home", [".emacs", ".emacs.el", ".emacs.d", ".config/emacs"]],
  ["VS Code", "home", [".config/Code", "Library/Application Support/Code"]],
  ["JetBrains", "home", [".config/JetBrains", ".ideavimrc"]],
  ["Zed", "home", [".config/zed"]],
  ["Cursor", "home", [".config/Cursor"]],
  ["opencode", "home", [".config/opencode"]],
  ["Goose", "home", [".config/goose"]],
  ["mise", "home", [".config/mise"]],
  ["direnv", "home", [".config/direnv", ".direnvrc"]],
  ["Python", "home", [".pythonrc", ".pythonrc.py", ".pdbrc", ".ipython", ".config/pip", ".pip"]],
  ["npm", "home", [".npmrc"]],
  ["pnpm", "home", [".config/pnpm"]],
  ["Yarn", "home", [".yarnrc", ".yarnrc.yml"]],
  ["Cargo", "home", [".cargo/config", ".cargo/config.toml", ".cargo/env"]],
  ["Gradle", "home", [".gradle"]],
  ["Maven", "home", [".m2/settings.xml", ".mavenrc"]],
  ["gdb", "home", [".gdbinit", ".config/gdb", ".gdbearlyinit"]],
  ["lldb", "home", [".lldbinit"]],
  ["curl", "home", [".curlrc", ".config/curlrc"]],
  ["wget", "home", [".wgetrc"]],
  ["Ruby", "home", [".irbrc", ".gemrc", ".bundle"]],
  ["screen", "home", [".screenrc"]],
  ["database clients", "home", [".psqlrc", ".sqliterc", ".my.cnf", ".mongorc.js", ".mongoshrc.js", ".duckdbrc"]],
  ["Ansible", "home", [".ansible.cfg", ".ansible"]],
  ["Terraform", "home", [".terraformrc", ".terraform.d"]],
  ["AWS", "home", [".aws"]],
  ["programs with passwords", "home", [".netrc", ".git-credentials", ".pypirc"]],
  [
    "version managers",
    "home",
    [".nvm", ".pyenv", ".rbenv", ".rvm", ".sdkman", ".asdf", ".asdfrc", ".volta", ".rustup"],
  ],
  ["version managers", "home", [".nodenv", ".goenv", ".jenv", ".local/share/mise"]],
  ["terminals", "home", [".config/kitty", ".config/wezterm", ".wezterm.lua", ".config/alacritty", ".config/ghostty"]],
  ["terminals", "home", [".hammerspoon", ".config/zellij"]],
  ["window managers", "home", [".config/i3", ".config/sway", ".config/hypr"]],
  ["Docker", "home", [".docker"]],
  ["Kubernetes", "home", [".kube"]],
];

export const NEVER_LAND: readonly Trigger[] = [
  ...triggersOf(OURS, { class: "never", isFixed: true }),
  ...triggersOf([...VERSION_CONTROL, ...EDITORS, ...AGENTS, ...SHELLS, ...SESSIONS], {
    class: "never",
    isFixed: false,
  }),
];
