// What the tour looks at: why it is on the tour, the exit status it must end with, and the words.

/** Decisions alone, over the example workspace. */
export const decisions = [
  ["a project that no person has reviewed yet", 14, ["can", "scout", "net.get", "https://api.github.com/repos"]],
  ["a person looks, and trusts it", 0, ["trust", "--yes"]],
  ["a host below a granted name", 0, ["can", "scout", "net.get", "https://api.github.com/repos"]],
  ["a look-alike of it", 10, ["can", "scout", "net.get", "https://github.com.evil.example/"]],
  [
    "an address that hands out credentials",
    10,
    ["can", "scout", "net.get", "http://169.254.169.254/latest/meta-data/"],
  ],
  ["a verb that asks a person first", 11, ["can", "scout", "net.post", "https://api.github.com/repos"]],
  ["a file of the project", 0, ["can", "scout", "fs.read", "README.md"]],
  ["the way out of it", 10, ["can", "scout", "fs.read", "../../../.ssh/id_ed25519"]],
  ["a command that only looks", 0, ["can", "scout", "proc.exec", "--", "git", "log", "--oneline"]],
  ["an option that would run another program", 10, ["can", "scout", "proc.exec", "--", "git", "log", "--ext-diff"]],
  ["a tool from elsewhere within its bounds", 11, ["can", "scout", "tool.invoke", "send_money", '{"amount": 5}']],
  ["the same tool beyond them", 10, ["can", "scout", "tool.invoke", "send_money", '{"amount": 5000}']],
  ["passing on what it holds", 0, ["can", "scout", "agent.grant", "aide", "net.get{hosts=[api.github.com]}"]],
  ["passing on more than it holds", 10, ["can", "scout", "agent.grant", "aide", "net.get{hosts=[*]}"]],
  ["widening itself", 10, ["can", "scout", "agent.grant", "scout", "records.read"]],
  ["a preset: what only looks runs", 0, ["can", "coder", "proc.exec", "--", "git", "status"]],
  ["a preset: the rest asks", 11, ["can", "coder", "proc.exec", "--", "rm", "-rf", "build"]],
  ["an organisation's table: ask", 11, ["can", "clerk", "net.get", "https://example.com/"]],
  ["a manifest of tokens", 0, ["can", "courier.manifest.yml", "net.connect", "mail.example.com:443"]],
  ["Caveats in JSON: a program they name", 0, ["can", "builder.caveats.json", "proc.exec", "--", "cargo", "build"]],
  ["Caveats in JSON: one they do not", 10, ["can", "builder.caveats.json", "proc.exec", "--", "rm", "-rf", "/"]],
  ["a tool's declaration: what it needs", 0, ["can", "weather.tool.yml", "net.get", "https://api.weather.gov/points"]],
  ["a tool's declaration: what it never does", 10, ["can", "weather.tool.yml", "fs.read", "/etc/hosts"]],
  ["Caveats in TOML", 0, ["can", "builder.caveats.toml", "fs.read", "/srv/build/Cargo.toml"]],
];

/** Programs that really run, in a project made for the tour. `fails` is any status but 0: it is the program's own. */
const HAND_ON =
  '{"agent": "aide", "grants": ["memory.write{keys=[plans/**]}", "memory.read{keys=[plans/**]}"], "seconds": 600}';
const TOO_MUCH = '{"agent": "aide", "grants": ["net.get{hosts=[*]}"]}';

export const programs = [
  ["a person trusts the project of the maker", 0, ["trust", "--yes"]],
  ["a program in its root", 0, ["exec", "maker", "--shell", "--", "echo built > result.txt; cat result.txt"]],
  ["the same program's way to the machine", "fails", ["exec", "maker", "--", "ls", "/root", "/home", "/etc/shadow"]],
  [
    "a hook that your own git would run: it stays a draft, and never lands",
    0,
    ["exec", "maker", "--shell", "--", "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"],
  ],
  [
    "what decides about it: the same",
    0,
    ["exec", "maker", "--shell", "--", "echo '- net.get' >> .ambit/agents/maker.md"],
  ],
  ["what programs wrote and is not in the project", 0, ["changes", "list"]],
  ["a program that was not granted", 125, ["exec", "narrow", "--", "ls"]],
  [
    "what is left running after its time",
    124,
    ["exec", "maker", "--timeout", "1", "--shell", "--", "setsid sleep 60 & sleep 60"],
  ],
  ["a sandbox with nothing of this machine", 0, ["exec", "maker", "--throwaway", "--", "sh", "-c", "pwd; ls -A"]],
];

/** What is kept between the calls: budgets, answers, delegations, memory, and the log. */
export const kept = [
  ["the first of two calls", 0, ["exec", "counted", "--", "hostname"]],
  ["the second", 0, ["exec", "counted", "--", "hostname"]],
  ["a third: the budget is used up, whoever asks", 125, ["exec", "counted", "--", "hostname"]],
  ["something only a person may allow", 125, ["exec", "careful", "--", "date"]],
  ["the person says yes: exactly this call, once", 0, ["approve", "--yes"]],
  ["now it runs", 0, ["exec", "careful", "--", "date"]],
  ["and a second time it does not", 125, ["exec", "careful", "--", "date"]],
  ["an agent passes on what it may", 0, ["call", "lead", "agent_grant", HAND_ON]],
  ["the other one uses it", 0, ["call", "aide", "memory_set", '{"key": "plans/today", "value": "look"}']],
  ["and no more than that", 10, ["call", "aide", "memory_set", '{"key": "secrets/x", "value": "look"}']],
  ["more than the first one holds cannot be passed on", 10, ["call", "lead", "agent_grant", TOO_MUCH]],
  ["everything at a glance", 0, ["agents", "tree"]],
  ["the panic button", 0, ["freeze"]],
  ["while it is pressed, nothing is decided", 10, ["call", "aide", "memory_get", '{"key": "plans/today"}']],
  ["and released", 0, ["thaw"]],
  ["what was denied last, and why", 0, ["why"]],
  ["the last entries of the log", 0, ["log", "--count", "6"]],
  ["and the proof that none is missing or changed", 0, ["audit", "verify"]],
];

/** With a server and a resolver of the tour's own, on loopback. `get` is whatever fetches a page on this machine. */
export const connections = (get, port) => [
  [
    "a name that was granted, by a program that knows of no proxy",
    0,
    ["exec", "maker", "--", ...get, `http://api.example.test:${port}/`],
  ],
  ["another name of the same server", "fails", ["exec", "maker", "--", ...get, `http://evil.example.test:${port}/`]],
  ["the server's bare address", "fails", ["exec", "maker", "--", ...get, `http://127.0.0.1:${port}/`]],
];

/** What the scripted agent asks for, one tool after the other: why, the verdict it must hear, the tool and its arguments. */
export const asked = (port) => [
  ["a file of the project", "done", "fs_read", { path: "README.md" }],
  ["a key of yours", "scope_violation", "fs_read", { path: "~/.ssh/id_ed25519" }],
  ["a note, where it may write", "done", "fs_write", { path: "notes/plan.md", content: "look first\n" }],
  ["its own bounds", "scope_violation", "fs_write", { path: ".ambit/agents/helper.md", content: "- net.get" }],
  ["what it remembers", "done", "memory_set", { key: "plan", value: "look first" }],
  ["a script of commands it may run", "exit 0", "shell", { script: "cat notes/plan.md | wc -l && ls" }],
  ["a script with one it may not: nothing of it runs", "scope_violation", "shell", { script: "ls; rm -rf notes" }],
  ["a script that hides what it runs", "unsupported_command", "shell", { script: "cat $(echo notes/plan.md)" }],
  ["a program that reaches for more than it was granted", "exit 1", "shell", { script: "cat /etc/shadow" }],
  ["a page it may fetch", "done", "web_fetch", { url: `http://docs.example.test:${port}/` }],
  [
    "an address that hands out credentials",
    "scope_violation",
    "web_fetch",
    { url: "http://169.254.169.254/latest/meta-data/" },
  ],
  ["something only a person may allow", "approval_required", "shell", { script: "date" }],
];

/** Once the person has said yes. */
export const askedAgain = [
  ["now it runs", "exit 0", "shell", { script: "date" }],
  ["and a second time it does not", "approval_required", "shell", { script: "date" }],
];
