// The tour: a scripted agent asks for a dozen things, in every notation, and each verdict is shown with its reason.
// It ends with status 0 when every verdict was the expected one.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const ambit = join(here, "..", "bin", "ambit");
const workspace = join(here, "workspace");

/** What the agent asks, what must be answered (as an exit status), and why it is on the tour. */
const stops = [
  ["a project nobody has looked at yet", 14, ["scout", "net.get", "https://api.github.com/repos"]],
  ["a person looks, and trusts it", 0, ["--yes"], "trust"],
  ["a host below a granted name", 0, ["scout", "net.get", "https://api.github.com/repos"]],
  ["a look-alike of it", 10, ["scout", "net.get", "https://github.com.evil.example/"]],
  ["an address that hands out credentials", 10, ["scout", "net.get", "http://169.254.169.254/latest/meta-data/"]],
  ["a verb that asks a person first", 11, ["scout", "net.post", "https://api.github.com/repos"]],
  ["a file of the project", 0, ["scout", "fs.read", "README.md"]],
  ["the way out of it", 10, ["scout", "fs.read", "../../../.ssh/id_ed25519"]],
  ["a command that only looks", 0, ["scout", "proc.exec", "--", "git", "log", "--oneline"]],
  ["an option that would run another program", 10, ["scout", "proc.exec", "--", "git", "log", "--ext-diff"]],
  ["a tool from elsewhere within its bounds", 11, ["scout", "tool.invoke", "send_money", '{"amount": 5}']],
  ["the same tool beyond them", 10, ["scout", "tool.invoke", "send_money", '{"amount": 5000}']],
  ["passing on what it holds", 0, ["scout", "agent.grant", "aide", "net.get{hosts=[api.github.com]}"]],
  ["passing on more than it holds", 10, ["scout", "agent.grant", "aide", "net.get{hosts=[*]}"]],
  ["widening itself", 10, ["scout", "agent.grant", "scout", "records.read"]],
  ["a preset: what only looks runs", 0, ["coder", "proc.exec", "--", "git", "status"]],
  ["a preset: the rest asks", 11, ["coder", "proc.exec", "--", "rm", "-rf", "build"]],
  ["an organisation's table: ask", 11, ["clerk", "net.get", "https://example.com/"]],
  ["a manifest of tokens", 0, ["courier.manifest.yml", "net.connect", "mail.example.com:443"]],
  ["Caveats in JSON: a program they name", 0, ["builder.caveats.json", "proc.exec", "--", "cargo", "build"]],
  ["Caveats in JSON: one they do not", 10, ["builder.caveats.json", "proc.exec", "--", "rm", "-rf", "/"]],
  ["a tool's declaration: what it needs", 0, ["weather.tool.yml", "net.get", "https://api.weather.gov/points"]],
  ["a tool's declaration: what it never does", 10, ["weather.tool.yml", "fs.read", "/etc/hosts"]],
  ["Caveats in TOML", 0, ["builder.caveats.toml", "fs.read", "/srv/build/Cargo.toml"]],
];

const outcomes = new Map([
  [0, "allow"],
  [10, "deny"],
  [11, "ask"],
  [14, "not trusted"],
]);

// What is trusted on the tour is forgotten after it.
const state = mkdtempSync(join(tmpdir(), "ambit-tour-"));
const environment = {
  ...process.env,
  XDG_STATE_HOME: state,
  ...(process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {}),
};

let unexpected = 0;
for (const [why, wanted, request, command = "can"] of stops) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [ambit, command, ...request], {
    cwd: workspace,
    encoding: "utf8",
    env: environment,
  });
  process.stdout.write(`\n# ${why}\n${stdout}${stderr}`);
  if (error !== undefined || status !== wanted) {
    unexpected++;
    process.stdout.write(
      `  UNEXPECTED: wanted ${outcomes.get(wanted)}, got ${outcomes.get(status ?? -1) ?? `status ${status}`}\n`,
    );
  }
}
rmSync(state, { recursive: true, force: true });
process.stdout.write(`\n${stops.length - unexpected} of ${stops.length} verdicts as expected\n`);
process.stdout.write(
  "Try it yourself: cd examples/workspace && ../../bin/ambit trust && ../../bin/ambit can scout fs.write notes.md\n",
);
process.exitCode = unexpected === 0 ? 0 : 1;
