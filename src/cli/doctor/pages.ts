// A page for every finding of `ambit doctor`, in the shape of the other codes.
import type { FindingCode } from "../../doctor/finding.ts";
import type { Page } from "../explain/pages.ts";

export const FINDINGS: Readonly<Record<FindingCode, Page>> = {
  records_writable: {
    means:
      "A grant to write or delete files covers the records folder, or `.ambit` itself. Changing those files changes what agents may do.",
    doThis: "Exclude that folder from the grant; change records with records.* and agent.*.",
    example: "fs.write{in=~/project,paths=[src/**]}",
  },
  unscoped_exec: {
    means: "proc.exec names no folder, command or pattern, so it runs any program in the inherited root.",
    doThis: "Name the programs or the patterns.",
    example: 'proc.exec{patterns=["git log **"]}',
  },
  exec_everywhere: {
    means: "Processes run with your whole home folder, or the whole machine, as their root.",
    doThis: "Use the folder of the project.",
    example: "proc.exec{in=~/project,cmds=[make]}",
  },
  grants_widely: {
    means: "The agent has agent.grant and very broad grants, and may delegate both without approval.",
    doThis: "Write `pass: use` on the broad grant, narrow it, or put `ask: true` on agent.grant.",
    example: "net.get{hosts=[*],pass=use}",
  },
  files_everywhere: {
    means:
      "A grant of file verbs covers your whole home folder, or the whole machine. Only protected paths are left out.",
    doThis: "Use the folder of the project, and `paths` for single files elsewhere.",
    example: "fs.write{in=~/project}",
  },
  every_secret: {
    means: "`secret.use` covers every secret, also those that are stored later for other agents.",
    doThis: "Name the secrets the agent needs.",
    example: "secret.use{names=[github-token]}",
  },
  inert_grants: {
    means:
      "Grants of fs.* and proc.* cover nothing without a root: an `in`, a `sandbox` of the agent, or a configured one.",
    doThis: "Add a root.",
    example: "sandbox: ~/project",
  },
  lethal_combination: {
    means:
      "The agent can read private data, read untrusted content, and send data out, all without approval. Text it reads can make it leak data. Reading from any host is enough to leak: the URL carries the data.",
    doThis:
      "Remove one of the three: narrow the hosts, require approval, add `clean: true`, or split the agent. If it is intended, accept it in the record with a reason.",
    example: 'doctor: { accept: [{ code: lethal_combination, reason: "reads our own wiki only" }] }',
  },
  dead_rule: {
    means:
      "Other grants of the agent already cover everything in this one. Grants add up and the least restrictive one decides, so a narrower grant beside a wider one has no effect, and its `ask` is never used.",
    doThis: "Delete it, or narrow the wider one.",
    example: "net.post{hosts=[*]} beside net.post{hosts=[api.x.com],ask}",
  },
  expired_grant: {
    means: "The grant has expired. It covers nothing.",
    doThis: "Delete it, or renew it with a new `expires`.",
    example: "expires: 2027-01-01T00:00:00Z",
  },
  interpreter_pattern: {
    means:
      "A pattern allows any arguments for a program that runs other programs: python, sh, env, npx. The other patterns then limit nothing.",
    doThis: "Name the script or program it runs; use the star for the arguments of that script.",
    example: 'patterns: ["python scripts/report.py **"]',
  },
  unasked_script: {
    means:
      "The agent may run, without approval, a program that executes files of the project (`npm test`, `make`, `node script.js`), and may write those files. It thus controls what the program does inside the sandbox. The presets require approval for these commands.",
    doThis: "Require approval for the command, or exclude the files it runs from `fs.write`.",
    example: 'proc.exec{patterns=["npm test **"],ask}',
  },
  unheld_read: {
    means:
      "Programs see the part of their root that `fs.read` covers, and a sandbox can show only whole folders and single files. If a pattern is neither, programs of this agent are denied with `scope_violation`.",
    doThis: "Use whole folders or single files, or run the program in a folder that `fs.read` covers.",
    example: "fs.read{paths=[docs/**,README.md]}",
  },
  older_preset: {
    means:
      "The record extends a preset that has a newer version. Presets never change, so problems are fixed in the next version: `ambit:coder@1` runs `npm test` without approval, although the agent may have written what it runs.",
    doThis: "Extend the newer version, and review the difference with `ambit diff`.",
    example: "extends: ambit:coder@2",
  },
  protected_opened: {
    means:
      "The grant names a protected path: keys, credentials, histories, controls of the machine. Wildcards never match those paths, but literal names do.",
    doThis: "If it is intended, name only the file that is needed. Otherwise remove it.",
    example: "fs.read{in=~/.config/gh,paths=[hosts.yml]}",
  },
  unknown_argument: {
    means:
      "A grant limits an argument that the tool does not have. Limited arguments are required, so the grant covers no call of the tool.",
    doThis: "Use an argument name of the tool's schema.",
    example: "tool.invoke{tools=[send_money],args={amount={range=[0,100]}}}",
  },
  tool_exceeds_agents: {
    means:
      "A tool declares more than any agent that may call it is granted. A tool gets only what both cover, so the rest of its declaration is denied in every call.",
    doThis: "Narrow the declaration, or grant the rest to an agent that calls the tool.",
    example: 'capabilities: { network: { allowedHosts: ["api.weather.gov"] } }',
  },
  unreachable_loopback: {
    means:
      "The grant names this machine's loopback, and no call can use it. Programs connect to `localhost` or 127.0.0.1, with a port; tools such as web_fetch need the address 127.0.0.1, because names that resolve to this machine are refused.",
    doThis: "Write the address or the name that is reachable, or remove the grant.",
    example: "net.connect{hosts=[localhost],ports=[5432]}",
  },
  deny_overruled: {
    means:
      "A `deny` in `policy:` of a configuration is a default. A record with a `policy` of its own overrules it, so it denies nothing to that agent.",
    doThis: "Deny it to the agent by name in `agents:`, which a record cannot overrule, or change the record.",
    example: "agents: { scout: { web: deny } }",
  },
  unknown_agent: {
    means: "`agents:` of a configuration names an agent that does not exist here, so its rulings limit nothing.",
    doThis: "Write the id of an agent, or remove the entry.",
    example: "agents: { scout: { web: ask } }",
  },
  users_in_project: {
    means:
      "Records of users limit what is done for a user. A project must not say who its users are, so it has no such records.",
    doThis: "Move the folder to `users` beside your own config.yml.",
    example: "mv .ambit/users ~/.config/ambit/users",
  },
  missing_workspace: {
    means:
      "A user's record names a workspace that is not on this machine. Sessions for the user are refused everywhere but in the workspaces that exist.",
    doThis: "Correct the path, or remove it.",
    example: "workspaces: [~/project]",
  },
  bad_acceptance: {
    means: "An entry of `doctor: accept` cannot be parsed, has no reason, or no longer matches a finding.",
    doThis: "Write the code of the finding and a reason that others can judge, or delete the entry.",
    example: 'doctor: { accept: [{ code: records_writable, reason: "keeps the agents\' records" }] }',
  },
  not_checked: {
    means: "A check could not run, or would have taken too long. Its result is unknown.",
    doThis: "Check it yourself, or split what is too large.",
    example: "ambit doctor --json",
  },
  unreadable_file: {
    means:
      "A file among the agents cannot be read: no permission, a broken or circular link, not text, or too large. It grants nothing.",
    doThis: "Fix the file or remove it from the folder.",
    example: "ls -l .ambit/agents",
  },
  untrusted_project: {
    means: "A project's `.ambit` files have no effect until you trust the project; later additions need trust again.",
    doThis: "Review what the project's agents could do, and trust it.",
    example: "ambit trust",
  },
  sandbox_missing: {
    means: "This machine has no sandbox. Programs of agents are refused.",
    doThis: "Install bubblewrap.",
    example: "sudo apt-get install bubblewrap",
  },
  sandbox_blocked: {
    means: "bubblewrap is installed, but the system does not let it create namespaces. Programs of agents are refused.",
    doThis:
      "Enable user namespaces, or give bubblewrap an AppArmor profile; in a container, allow namespaces and a /proc of its own (docs/guides/containers.md).",
    example: "bwrap --unshare-all --ro-bind / / --proc /proc true",
  },
  sandbox_weaker: {
    means:
      "Namespaces are refused here, so programs of agents run in a sandbox of Landlock, a system call filter and a supervisor. File content, signals and the network are still enforced; names and sizes of other files are visible, programs work in a copy of the project, and they cannot listen on a port.",
    doThis:
      "Nothing, if that is enough (docs/concepts/walls.md compares both). Otherwise allow namespaces, or refuse such sandboxes: `namespaces: required` in your own config.yml.",
    example: "namespaces: required",
  },
  landlock_missing: {
    means:
      "The kernel has no Landlock, or only version 1. Programs that write are refused, because the process that applies their changes to the project cannot be confined.",
    doThis:
      "Boot a kernel of 5.19 or later with Landlock, or accept an unconfined one: `bare: true` in your own config.yml.",
    example: "cat /sys/kernel/security/lsm",
  },
  program_missing: {
    means: "The native program that is pid 1 of every sandbox is not built, so neither programs nor file tools run.",
    doThis: "Install the package again, or a C compiler, and build it in the folder of the package.",
    example: "sudo apt-get install gcc libc6-dev && node scripts/native.mjs program",
  },
  kernel_too_old: {
    means: "The kernel lacks mounts by file descriptor or seccomp filters, which every sandbox needs.",
    doThis: "Boot a kernel of 5.12 or later with seccomp.",
    example: "uname -r",
  },
  drafts_unavailable: {
    means:
      "Programs change files in a draft, a kernel overlay in the state folder. This kernel or the file system of the state folder does not support overlays, so programs with a writable root are refused.",
    doThis:
      "Load the overlay module, or move the state folder to a local disk (ext4, xfs, btrfs) and restart the daemon.",
    example: "XDG_STATE_HOME=/var/tmp/state ambit doctor",
  },
  network_narrower: {
    means:
      "The kernel cannot redirect every connection to ambit. Programs reach granted hosts only on individually listed ports; connections to raw addresses or other ports fail without a report, and wide port ranges are truncated.",
    doThis: "Load the kernel's transparent proxy support.",
    example: "sudo modprobe nft_tproxy",
  },
  limits_weaker: {
    means:
      "Limits on memory and processes apply to each process, not to the whole process tree: many small processes can use more together.",
    doThis: "Let systemd delegate control groups to you, or start ambit inside a scope of your own.",
    example: "systemd-run --user --scope -p Delegate=yes ambit exec scout -- make",
  },
  home_ignored: {
    means:
      "The environment variable HOME names another folder than the password database. ambit uses the one of the database. A user id without an entry there, as in a container, uses HOME if that folder belongs to it.",
    doThis: "Nothing, if you meant the home folder; otherwise name the folders for ambit.",
    example: "XDG_STATE_HOME=/srv/state XDG_CONFIG_HOME=/srv/config ambit doctor",
  },
  state_missing: {
    means:
      "There is no folder for the state: the log, keys, budgets and drafts. Every call is denied, because nothing can be recorded. In a container this is the case for a user id that the image does not know: its HOME is `/`.",
    doThis: "Name a folder that the user can write.",
    example: "docker run --user 4242 --volume /srv/user:/home/user --env HOME=/home/user ambit doctor",
  },
  sink_behind: {
    means:
      "Your config.yml configures a second copy of the log, and the copy is incomplete or unreachable. While it is behind for longer than its timeout, every call is denied with `audit_unavailable`.",
    doThis:
      "Fix the cause (a full disk, a stopped collector, a moved file), or configure another sink. Calls continue as soon as the copy has caught up.",
    example: "audit: { sink: /mnt/log/ambit.jsonl, timeout: 2s }",
  },
  secrets_locked: {
    means:
      "The secret store is locked: its passphrase was not entered, or the keychain, identity or reference does not provide its key. Secrets cannot be used, set or redacted.",
    doThis: "Fix what the message names, then unlock the store. ambit never replaces the key by itself.",
    example: "ambit secrets unlock",
  },
  server_shadows_tool: {
    means:
      "The text of a tool of an MCP server names tools of another server or of ambit. Such a text can make a model use the other tools differently.",
    doThis: "Read the text. If it has no reason to mention the other tools, disable or remove the server.",
    example: "ambit mcp show docs",
  },
  server_held: {
    means:
      "An MCP server describes itself or some of its tools differently than when it was pinned, or has new tools. They are not offered and cannot be called.",
    doThis: "Review what changed, and pin it if you agree.",
    example: "ambit mcp pin docs",
  },
};
