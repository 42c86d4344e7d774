// Whole documents in every notation, and ways to corrupt them.
import fc from "fast-check";

export interface Sample {
  readonly ending: string;
  readonly text: string;
}

export const RECORD = `---
id: scout
sandbox: /srv/demo
capabilities:
  - records.read
  - net.get: { hosts: ["*.github.com", api.weather.gov], ports: [443] }
  - proc.exec: { patterns: ["git log **"], root: ro }
  - fs.write: { in: /srv/demo/out, paths: [notes/**, "a{b,c}.md"] }
  - "memory.write{keys=[notes/*],calls=5,rate=10/min}"
  - secret.use:github-*
  - tool.invoke: { tools: [send_money], args: { amount: { range: [0, 100] } }, ask: presence }
access: r
---
body
`;

export const SAMPLES: readonly Sample[] = [
  { ending: ".md", text: RECORD },
  {
    ending: ".md",
    text: "---\nextends: ambit:coder@1\nsandbox: /srv/x\npolicy: { web: ask }\ntests: [{ deny: fs.read /etc/passwd }]\n---\n",
  },
  {
    ending: ".yml",
    text: 'kind: AgentManifest\nmetadata: { name: a }\nspec:\n  capabilities: [fs.read:/srv/**, "net.connect:*.example.com:443"]\n  network: local\n',
  },
  {
    ending: ".json",
    text: '{"fs_read":{"only":["/srv"]},"fs_write":{"only":[]},"exec":{"only":["git"]},"net":"all","max_calls":{"at_most":5},"valid_for_generation":"all"}',
  },
  {
    ending: ".toml",
    text: '[caveats]\nfs_read = "all"\nfs_write = { only = ["/srv"] }\nexec = { only = ["git"] }\nnet = { only = ["example.com"] }\nmax_calls = "unlimited"\nvalid_for_generation = { only = [1, 2] }\n',
  },
];

/** Pieces that have broken parsers before. */
const NASTY: readonly string[] = [
  "\0",
  "\uFEFF",
  "\u2028",
  "\u202E",
  "\uD800",
  "\uE000",
  "\u0430",
  "&a ",
  "*a",
  "!!js/function ",
  "<<: ",
  "__proto__",
  "constructor",
  "---\n",
  "...\n",
  "{",
  "}",
  "[",
  "]",
  '"',
  "'",
  "\\",
  "\r",
  "\t",
  ": ",
  "- ",
  "#",
  "? ",
  "| ",
  "> ",
  "%YAML 1.1\n",
  "~",
  "null",
  "true",
  "1e999",
  "0x10",
  "9007199254740993",
  "**",
  "*",
  "../",
  "/",
  "{a,b}",
  "{{",
  "capabilities: [fs.read: {in: /}]\n",
  "access: rw\n",
  "\n",
  "  ",
];

/** A document with a few corrupted places. */
export function spoiledDocument(sample: Sample): fc.Arbitrary<string> {
  const edit = fc.tuple(
    fc.nat({ max: sample.text.length }),
    fc.nat({ max: 12 }),
    fc.oneof(fc.constantFrom(...NASTY), fc.string({ maxLength: 6, unit: "binary" })),
  );
  return fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => {
    let text = sample.text;
    for (const [at, removed, put] of edits) text = text.slice(0, at) + put + text.slice(at + removed);
    return text;
  });
}

/** Text in place of one capability, none of which is a capability. */
export const NOT_A_CAPABILITY: readonly string[] = [
  "records.reed",
  "fs",
  "fs.",
  ".read",
  "fs.read.more",
  "FS.READ",
  "fs.read{",
  "fs.read}",
  "fs.read{in}",
  "fs.read{in=}",
  "fs.read{in=/,in=/srv}",
  "fs.read{im=/}",
  "fs.read{in=/} extra",
  "net.get{hosts=*}x",
  "net.get{hosts=[*].}",
  "net.get{hosts=[a*b]}",
  "proc.exec{in=/srv,cmd=[git]}",
  "\u0066\u0455.read{in=/}",
  "fs.read{in=/\\u0000}",
  "42",
  "null",
  "true",
  "[fs.read]",
  "{}",
  "{fs.read: 1}",
  "{fs.read: {in: [/]}}",
  "{fs.read: {in: /}, net.get: {}}",
  "{? fs.read : {in: /}}",
  "!!str fs.read",
  "*.*",
  "shell.exec:*",
  "net.connect:*",
  "proc.exec:git",
  "tool.invoke{tools=[a:b:c]}",
  "agent.grant{id=[x]}",
  "__proto__",
  "constructor",
  "fs.read{__proto__=x}",
  "fs.write{in=/srv,paths=[../etc]}",
];
