// `ambit doctor` as a user runs it: a real workspace folder with every kind of faulty file in it.
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ambit, inFolder, type Ran, root } from "./ambit.ts";

const GOOD = "---\ncapabilities: [records.read]\n---\n";
const agents = ".ambit/agents";

/** In a trusted project, so that only the agents and the machine are reported. */
function doctor(folder: string, ...words: readonly string[]): Ran {
  ambit(folder, "trust", "--yes");
  return ambit(folder, "doctor", ...words);
}

interface Said {
  readonly sections: readonly {
    readonly about: string;
    readonly title: string;
    readonly findings: readonly { readonly code: string; readonly message: string; readonly severity: string }[];
  }[];
  readonly passed: number;
  readonly failed: number;
}

function said({ out }: Ran): Said {
  return JSON.parse(out) as Said;
}

function about({ sections }: Said, kind: string): Said["sections"][number]["findings"] {
  return sections.filter((section) => section.about === kind).flatMap(({ findings }) => findings);
}

describe("a workspace", () => {
  test("without mistakes passes, apart from the machine", () => {
    inFolder({ [`${agents}/scout.md`]: GOOD }, (folder) => {
      const ran = doctor(folder);
      expect(ran.out).toMatch(/^scout {2}\.ambit\/agents\/scout\.md\n {2}✓ 2 grants\n/);
      expect(ran.out.trimEnd().split("\n").at(-1)).toMatch(/^\d+ passed, 0 failed, \d+ warnings$/);
      expect(ran).toMatchObject({ status: 0, err: "" });
    });
  });

  test("with records of users says that they have no effect there", () => {
    inFolder({ [`${agents}/scout.md`]: GOOD, ".ambit/users/ann.md": "---\ncapabilities: []\n---\n" }, (folder) => {
      expect(about(said(doctor(folder, "--json")), "project")).toMatchObject([{ code: "users_in_project" }]);
      expect(ambit(folder, "explain", "users_in_project").out).toContain("config.yml");
    });
  });

  test("with a misspelt word shows file, line, caret and the intended word", () => {
    inFolder({ [`${agents}/scout.md`]: "---\ncapabilities:\n  - net.get: { host: [x.com] }\n---\n" }, (folder) => {
      const { status, out } = doctor(folder);
      expect(status).toBe(3);
      expect(out).toContain(".ambit/agents/scout.md:3:16");
      expect(out).toContain("^^^^");
      expect(out).toContain("did you mean hosts?");
    });
  });

  test("reports an agent that may write its own authority", () => {
    // A root around `.ambit` does not include it; a grant that names it does.
    const named = "---\ncapabilities:\n  - fs.write: { in: .ambit }\n---\n";
    inFolder({ [`${agents}/around.md`]: "---\nsandbox: .\n---\n", [`${agents}/scout.md`]: named }, (folder) => {
      const ran = doctor(folder, "--json");
      expect(about(said(ran), "agent")).toMatchObject([
        { code: "records_writable", severity: "warning" },
        { code: "protected_opened", severity: "warning" },
      ]);
      expect([0, 1]).toContain(ran.status);
    });
  });

  test("has one clear line for every unusable file, and still checks the others", () => {
    const files = {
      [`${agents}/a-good.md`]: GOOD,
      [`${agents}/huge.md`]: `---\nid: huge\n---\n${"x".repeat(1_100_000)}`,
      [`${agents}/bytes.md`]: Uint8Array.of(0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x0a),
      [`${agents}/half.md`]: "---\ncapabilities:\n  - net.get: { hosts: [x.c",
      [`${agents}/empty.md`]: "",
      [`${agents}/locked.md`]: GOOD,
    };
    inFolder(files, (folder) => {
      const at = (name: string): string => join(folder, agents, name);
      symlinkSync("loop.md", at("loop.md"));
      symlinkSync("round-b.md", at("round-a.md"));
      symlinkSync("round-a.md", at("round-b.md"));
      symlinkSync("nowhere", at("dangling.md"));
      symlinkSync("/dev/zero", at("device.md"));
      symlinkSync("..", at("up"));
      symlinkSync(".", at("up-again"));
      expect(spawnSync("mkfifo", [at("pipe.md")]).status).toBe(0);
      chmodSync(at("locked.md"), 0o000);
      const ran = doctor(folder, "--json");
      expect(ran).toMatchObject({ status: 3, err: "" });
      const told = said(ran);
      const broken = about(told, "project").map(({ code, message }) => [code, message] as const);
      // Root can read files of mode 0.
      const locked = process.getuid?.() === 0 ? [] : ["locked"];
      const links = ["loop", "round-a", "round-b", "dangling", "device"];
      for (const name of ["bytes", "huge", "pipe", ...locked, ...links]) {
        const lines = broken.filter(([, message]) => message.includes(`${agents}/${name}.md: `));
        expect([name, lines.length, lines[0]?.[0]]).toEqual([name, 1, "unreadable_file"]);
        expect(lines[0]?.[1]).not.toContain("\n");
      }
      expect(broken.length).toBeLessThanOrEqual(11);
      expect(told.sections.filter(({ title }) => title.startsWith("up"))).toEqual([]);
      expect(about(told, "agent").map(({ code }) => code)).toEqual(["syntax", "syntax"]);
      expect(told.sections.map(({ title }) => title)).toContain("a-good");
    });
  });

  test("lists findings that an author accepts separately, with the reason", () => {
    const record =
      '---\ncapabilities:\n  - fs.write: { in: .ambit }\ndoctor: { accept: [{ code: records_writable, reason: "it looks after them" }] }\n---\n';
    inFolder({ [`${agents}/keeper.md`]: record }, (folder) => {
      expect(doctor(folder).out).toContain("· records_writable is accepted: it looks after them");
    });
  });
});

describe("the command", () => {
  test("reports an unknown agent", () => {
    inFolder({ [`${agents}/scout.md`]: GOOD }, (folder) => {
      expect(doctor(folder, "missing")).toMatchObject({ status: 1, out: "" });
      expect(said(doctor(folder, "scout", "--json")).sections[0]?.title).toBe("scout");
    });
  });

  test("shows examples in its help", () => {
    expect(ambit(root, "doctor", "--help").out).toContain("ambit doctor --fix --yes");
  });

  test("outside any workspace checks the machine alone", () => {
    inFolder({}, (folder) => {
      const told = said(doctor(folder, "--json"));
      expect(told.sections.map(({ about: kind }) => kind)).toEqual(["machine"]);
    });
  });
});

describe("--fix", () => {
  const wrong = [
    "---",
    "capabilities: # keep this",
    "  - tool.invoke",
    "  - 'net.gte{hosts=[x.com]}'",
    "  - shell.exec: { in: /x, cmds: [rg] }   # and this",
    "---",
    "Body.",
    "",
  ].join("\r\n");
  const file = `${agents}/scout.md`;
  const read = (folder: string): string => readFileSync(join(folder, file), "utf8");

  test("without confirmation changes nothing", () => {
    inFolder({ [file]: wrong }, (folder) => {
      expect(doctor(folder, "--fix").out).toContain("not written");
      expect(read(folder)).toBe(wrong);
    });
  });

  test("--yes applies edits that widen nothing, and keeps every other byte", () => {
    inFolder({ [file]: wrong }, (folder) => {
      const { out } = doctor(folder, "--fix", "--yes");
      expect(out).toContain("skipped scout");
      expect(read(folder)).toBe(wrong.replace("shell.exec", "proc.exec"));
    });
  });

  test("--yes --allow-widening applies the others too, and shows what becomes possible", () => {
    inFolder({ [file]: wrong }, (folder) => {
      const { out } = doctor(folder, "--fix", "--yes", "--allow-widening");
      expect(out).toContain("+ newly allowed: net.get https://x.com/");
      expect(read(folder)).toBe(wrong.replace("shell.exec", "proc.exec").replace("net.gte", "net.get"));
    });
  });
});

describe("someone loses an indent", () => {
  const lost = "---\ncapabilities:\n  - records.update:\nclasses: [note]\n---\n";

  test("doctor shows the line, and the agent holds nothing", () => {
    inFolder({ [`${agents}/scout.md`]: lost }, (folder) => {
      const { status, out } = doctor(folder);
      expect(status).toBe(3);
      expect(out).toContain("bad_indentation: `classes` limits a capability only below its verb");
      expect(out).toContain(".ambit/agents/scout.md:4:1");
      expect(ambit(folder, "can", "scout", "records.update", "note", "notes/a").status).not.toBe(0);
      expect(ambit(folder, "agents", "capabilities", "scout").out).toContain("0 capabilities");
    });
  });
});

test("someone pastes the `spec:` of a manifest: it is refused in every kind of file, never a record that grants the default", () => {
  const spec = "spec:\n  capabilities:\n    - net.connect:*.example.com:443\n";
  inFolder({ [`${agents}/a.md`]: `---\n${spec}---\n`, [`${agents}/b.yml`]: spec }, (folder) => {
    const { status, out } = doctor(folder);
    expect([status, out.match(/ {2}✗ /g)?.length]).toEqual([3, 2]);
    for (const id of ["a", "b"]) expect(ambit(folder, "agents", "capabilities", id).out).toContain("0 capabilities");
  });
});

test("someone denies the web in config.yml: manifests and Caveats lose it like records", () => {
  const caveats =
    '[caveats]\nfs_read = "all"\nfs_write = { only = [] }\nexec = { only = [] }\nnet = { only = ["x.com"] }\nmax_calls = "unlimited"\nvalid_for_generation = "all"\n';
  const files = {
    ".ambit/config.yml": "policy: { web: deny }\n",
    [`${agents}/m.yml`]:
      "kind: AgentManifest\nmetadata: { name: m }\nspec: { capabilities: ['net.get:x.com', 'memory.read:a'] }\n",
    [`${agents}/c.toml`]: caveats,
    [`${agents}/r.md`]: "---\ncapabilities: [net.get: { hosts: [x.com] }]\n---\n",
  };
  inFolder(files, (folder) => {
    ambit(folder, "trust", "--yes");
    for (const id of ["m", "c", "r"]) expect(ambit(folder, "can", id, "net.get", "https://x.com/").status).toBe(10);
    expect(ambit(folder, "can", "m", "memory.read", "a").status).toBe(0);
    expect(ambit(folder, "can", "c", "fs.read", "/srv/a").status).toBe(0);
  });
});

test("someone writes grants that reach too far, or nothing: doctor names each once, the worst first", () => {
  const wide = [
    "fs.read: { in: / }",
    "fs.write: { in: / }",
    'secret.use: { names: ["*"] }',
    "net.get: { hosts: [localhost] }",
    "net.connect: { hosts: [127.0.0.2], ports: [5432] }",
    "net.connect: { hosts: [localhost], ports: [5432] }",
  ];
  const files = {
    ".ambit/config.yml": "policy: { hire: deny }\nagents: { wyde: { web: deny } }\n",
    [`${agents}/aa.md`]: GOOD,
    [`${agents}/boss.md`]: "---\npolicy: { hire: allow }\n---\n",
    [`${agents}/wide.md`]: `---\ncapabilities:\n${wide.map((one) => `  - ${one}\n`).join("")}---\n`,
  };
  inFolder(files, (folder) => {
    const ran = said(doctor(folder, "--json"));
    const codes = about(ran, "agent").map(({ code }) => code);
    const loopback = ["unreachable_loopback", "unreachable_loopback", "unreachable_loopback"];
    expect(codes).toEqual(["files_everywhere", "every_secret", ...loopback]);
    expect(ran.sections.filter((one) => one.about === "agent").map(({ title }) => title)).toEqual([
      "wide",
      "aa",
      "boss",
    ]);
    expect(about(ran, "project").map(({ code }) => code)).toEqual(["deny_overruled", "unknown_agent"]);
  });
});

test("someone asks about what the configuration denies: no grant is proposed, since none would help", () => {
  const files = {
    ".ambit/config.yml": "policy: { web: deny }\n",
    [`${agents}/r.md`]: "---\ncapabilities: [net.get: { hosts: [x.com] }, memory.read: { keys: [a] }]\n---\n",
  };
  inFolder(files, (folder) => {
    ambit(folder, "trust", "--yes");
    const denied = JSON.parse(ambit(folder, "can", "r", "net.get", "https://x.com/", "--json").out);
    expect([denied.outcome, denied.suggest]).toEqual(["deny", null]);
    const other = JSON.parse(ambit(folder, "can", "r", "memory.read", "b", "--json").out);
    expect([other.outcome, other.suggest]).toEqual(["deny", "memory.read{keys=[b]}"]);
  });
});
