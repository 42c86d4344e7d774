// A page for every finding of `ambit doctor`, in the shape of the other codes.
import type { FindingCode } from "../../doctor/finding.ts";
import type { Page } from "../explain/pages.ts";

export const FINDINGS: Readonly<Record<FindingCode, Page>> = {
  records_writable: {
    means:
      "A grant to write or delete files covers the folder of the records, or `.ambit` itself. Who can change those files can change what agents may do.",
    doThis: "Keep the paths of the grant outside that folder; records are changed with records.* and agent.*.",
    example: "fs.write{in=~/project,paths=[src/**]}",
  },
  unscoped_exec: {
    means: "proc.exec names no folder, no command and no pattern, so it runs any program in whatever root it inherits.",
    doThis: "Name the programs or the patterns.",
    example: 'proc.exec{patterns=["git log **"]}',
  },
  exec_everywhere: {
    means: "Processes run with your whole home folder, or the whole machine, as their root.",
    doThis: "Give them the folder of the project.",
    example: "proc.exec{in=~/project,cmds=[make]}",
  },
  grants_widely: {
    means: "The agent holds agent.grant beside grants that are very broad, and may pass both on without a person.",
    doThis: "Write `pass: use` on the broad grant, narrow it, or put `ask: true` on agent.grant.",
    example: "net.get{hosts=[*],pass=use}",
  },
  inert_grants: {
    means:
      "Grants of fs.* and proc.* cover nothing without a root: an `in`, a `sandbox` of the agent, or a configured one.",
    doThis: "Say where they count.",
    example: "sandbox: ~/project",
  },
  lethal_combination: {
    means:
      "The agent reads private data, takes in content that strangers wrote, and has a way to send something out, all without a person. Text it reads can make it send away what it knows. Reading from any host is a way out too: the data stands in the address.",
    doThis:
      "Break one of the three: narrow the hosts, ask a person, write `clean: true`, or split the agent. If it is meant, accept it in the record, with the reason.",
    example: 'doctor: { accept: [{ code: lethal_combination, reason: "reads our own wiki only" }] }',
  },
  dead_rule: {
    means:
      "The agent's other grants already cover all of this one. Grants add up and the least demanding one decides, so a narrower grant beside a wider one limits nothing, and its `ask` is never asked.",
    doThis: "Delete it, or narrow the wider one.",
    example: "net.post{hosts=[*]} beside net.post{hosts=[api.x.com],ask}",
  },
  expired_grant: {
    means: "The time of the grant is over. It covers nothing.",
    doThis: "Delete it, or renew it with a new `expires`.",
    example: "expires: 2027-01-01T00:00:00Z",
  },
  interpreter_pattern: {
    means:
      "A pattern lets a program that runs other programs be started with anything: python, sh, env, npx. The rest of the list limits nothing then.",
    doThis: "Name the script or the program behind it; the star may stand for its arguments.",
    example: 'patterns: ["python scripts/report.py **"]',
  },
  unasked_script: {
    means:
      "The agent may run, without asking, a program that does what files of the project say (`npm test`, `make`, `node script.js`), and may write those files. It decides what the program does, inside the sandbox. The presets ask for the same commands.",
    doThis: "Ask for the command, or keep `fs.write` away from the files that it runs.",
    example: 'proc.exec{patterns=["npm test **"],ask}',
  },
  unheld_read: {
    means:
      "Programs see what `fs.read` covers of their root, and a sandbox can show whole folders and single files only. Where a pattern is neither, programs of this agent are refused with `scope_violation`.",
    doThis: "Write whole folders or single files, or run the program in a folder that `fs.read` covers.",
    example: "fs.read{paths=[docs/**,README.md]}",
  },
  older_preset: {
    means:
      "The record extends a preset of which there is a newer version. A preset never changes, so what was found wrong with it is mended in the next version: `ambit:coder@1` runs `npm test` without asking, and the agent may have written what that runs.",
    doThis: "Extend the newer version, and look at the difference with `ambit diff`.",
    example: "extends: ambit:coder@2",
  },
  protected_opened: {
    means:
      "The grant names a protected path: keys, credentials, histories, controls of the machine. No star reaches those, but a name does.",
    doThis: "If it is meant, name the one file that is needed. Else take it out.",
    example: "fs.read{in=~/.config/gh,paths=[hosts.yml]}",
  },
  unknown_argument: {
    means:
      "A grant limits an argument that the tool does not have. A limited argument must be there, so no call of the tool is covered.",
    doThis: "Write the argument as the tool's schema has it.",
    example: "tool.invoke{tools=[send_money],args={amount={range=[0,100]}}}",
  },
  bad_acceptance: {
    means: "What stands under `doctor: accept` is not understood, has no reason, or accepts nothing any more.",
    doThis: "Write the code of the finding and a reason somebody else can judge, or delete the line.",
    example: 'doctor: { accept: [{ code: records_writable, reason: "keeps the agents\' records" }] }',
  },
  not_checked: {
    means: "Something could not be looked at, or would have taken too long. It is neither well nor wrong.",
    doThis: "Look yourself, or split what is too large.",
    example: "ambit doctor --json",
  },
  unreadable_file: {
    means:
      "A file among the agents cannot be read: no rights, a link that leads nowhere or in a circle, not text, too large. It grants nothing.",
    doThis: "Mend the file or take it out of the folder.",
    example: "ls -l .ambit/agents",
  },
  duplicate_agent: {
    means: "Two records have the same id. Which of them a grant, a log line or a command means cannot be told.",
    doThis: "Give one of them another `id`.",
    example: "id: scout-2",
  },
  untrusted_project: {
    means: "What a project brings along is inert until a person has looked at it; so is what it asks for beyond that.",
    doThis: "Look at what it asks for, and trust it.",
    example: "ambit trust",
  },
  sandbox_missing: {
    means: "There is nothing on this machine that could hold a process. Agents' processes are refused.",
    doThis: "Install bubblewrap.",
    example: "sudo apt-get install bubblewrap",
  },
  sandbox_blocked: {
    means: "bubblewrap is installed, but the system does not let it make namespaces. Agents' processes are refused.",
    doThis: "Switch user namespaces on, or give bubblewrap an AppArmor profile; in a container, allow namespaces.",
    example: "bwrap --unshare-all --ro-bind / / true",
  },
  landlock_missing: {
    means:
      "The kernel has no Landlock, or version 1. Programs that write are refused, because the process that carries their changes into the project could not be confined.",
    doThis:
      "Boot a kernel of 5.19 or later with Landlock, or accept an unconfined one: `bare: true` in your own config.yml.",
    example: "cat /sys/kernel/security/lsm",
  },
  program_missing: {
    means: "The small program that is pid 1 of every sandbox is not built, so no process and no file tool runs.",
    doThis: "Install a C compiler and build again; on an installed package, install it again.",
    example: "sudo apt-get install gcc libc6-dev && npm run build",
  },
  kernel_too_old: {
    means: "The kernel lacks mounts by descriptor or system call filters, which every sandbox is made of.",
    doThis: "Run a kernel of 5.12 or later, with seccomp.",
    example: "uname -r",
  },
  drafts_unavailable: {
    means:
      "Programs change files in a draft, a kernel overlay kept in the state folder. This kernel or the state folder's file system cannot have one, so programs with a writable root are refused.",
    doThis:
      "Load the overlay module, or move the state folder to a local disk (ext4, xfs, btrfs) and restart the daemon.",
    example: "XDG_STATE_HOME=/var/tmp/state ambit doctor",
  },
  network_narrower: {
    means:
      "The kernel cannot show us every connection. Programs reach granted names on the ports that are listed one by one; a raw address or another port fails without being reported, and wide port ranges are cut.",
    doThis: "Load the kernel's transparent proxy support.",
    example: "sudo modprobe nft_tproxy",
  },
  limits_weaker: {
    means:
      "Memory and processes are limited for each process, not for the whole tree: many small ones can use more together.",
    doThis: "Let systemd delegate control groups to you, or start ambit inside a scope of your own.",
    example: "systemd-run --user --scope -p Delegate=yes ambit exec scout -- make",
  },
  sink_behind: {
    means:
      "Your config.yml asks for a second copy of the log, and the copy does not have everything, or cannot be reached. While it is behind for longer than its timeout every call is denied: audit_unavailable.",
    doThis:
      "Mend what stands in its way (a full disk, a collector that does not run, a file that was moved), or write another sink. Calls go on as soon as it has caught up.",
    example: "audit: { sink: /mnt/log/ambit.jsonl, timeout: 2s }",
  },
  secrets_locked: {
    means:
      "Secrets are kept, and their key is not at hand: the passphrase was not typed, or the keychain, the identity or the reference does not give it. None of them is used, set or redacted meanwhile.",
    doThis: "Mend what the message names, and unlock them. Nothing is sealed under another key by itself.",
    example: "ambit secrets unlock",
  },
};
