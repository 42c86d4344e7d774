// Package managers in `ambit run`, against a registry on loopback: they work with its host granted, and say what to grant
// where it is not. Certificates and addresses of registries reach them; credentials do not.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { type Ran, root } from "./ambit.ts";

let fixture: Fixture;
let registry: Server;
let port = 0;

function files(folder: string, texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function output(program: string, words: readonly string[], cwd: string): Buffer {
  const { status, stdout } = spawnSync(program, words, { cwd });
  if (status !== 0) throw new Error(`${program} failed`);
  return stdout;
}

/** Package, wheel, crate and module, each with one function. */
function packages(base: string): Readonly<Record<"npm" | "wheel" | "crate" | "module", Buffer>> {
  files(base, {
    "package/package.json": JSON.stringify({ name: "left", version: "1.0.0", main: "index.js" }),
    "package/index.js": 'module.exports = () => "left";\n',
    "wheel/leftpy.py": 'NAME = "leftpy"\n',
    "wheel/leftpy-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: leftpy\nVersion: 1.0.0\n",
    "wheel/leftpy-1.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "wheel/leftpy-1.0.0.dist-info/RECORD":
      "leftpy.py,,\nleftpy-1.0.0.dist-info/METADATA,,\nleftpy-1.0.0.dist-info/WHEEL,,\nleftpy-1.0.0.dist-info/RECORD,,\n",
    "crate/leftrs-1.0.0/Cargo.toml": '[package]\nname = "leftrs"\nversion = "1.0.0"\nedition = "2021"\n',
    "crate/leftrs-1.0.0/src/lib.rs": 'pub fn left() -> &\'static str { "leftrs" }\n',
    "module/left.example/left@v1.0.0/go.mod": GO_MODULE,
    "module/left.example/left@v1.0.0/left.go": 'package left\n\nfunc Name() string { return "leftgo" }\n',
  });
  // Without entries for folders, which Go refuses.
  output(
    PYTHON,
    ["-c", ZIP, "../left.zip", ...["go.mod", "left.go"].map((one) => `left.example/left@v1.0.0/${one}`)],
    join(base, "module"),
  );
  output(PYTHON, ["-m", "zipfile", "-c", "../leftpy.whl", "leftpy.py", "leftpy-1.0.0.dist-info"], join(base, "wheel"));
  return {
    npm: output("tar", ["cz", "package"], base),
    wheel: readFileSync(join(base, "leftpy.whl")),
    crate: output("tar", ["cz", "leftrs-1.0.0"], join(base, "crate")),
    module: readFileSync(join(base, "left.zip")),
  };
}

const GO_MODULE = "module left.example/left\n\ngo 1.16\n";
const ZIP = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as z:\n for one in sys.argv[2:]: z.write(one)";
const PYTHON = "/usr/bin/python3";
const found = (words: readonly [string, ...string[]]): boolean =>
  spawnSync(words[0], words.slice(1), { stdio: "ignore" }).status === 0;
const hasPip = found([PYTHON, "-m", "pip", "--version"]);
const hasCargo = found(["cargo", "--version"]);
const hasGo = found(["go", "version"]);

beforeAll(async () => {
  fixture = await Fixture.make();
  const folder = mkdtempSync(join(fixture.base, "packages-"));
  const { npm, wheel, crate, module } = packages(folder);
  rmSync(folder, { recursive: true });
  const integrity = `sha512-${createHash("sha512").update(npm).digest("base64")}`;
  const digest = createHash("sha256").update(crate).digest("hex");
  const at = (path: string): string => `http://localhost:${port}${path}`;
  registry = createServer((request, response) => {
    const dist = { tarball: at("/npm/left.tgz"), integrity };
    const version = { name: "left", version: "1.0.0", main: "index.js", dist };
    const pages: Readonly<Record<string, string | Buffer>> = {
      "/npm/left": JSON.stringify({ name: "left", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }),
      "/npm/left.tgz": npm,
      "/simple/leftpy/": '<a href="/files/leftpy-1.0.0-py3-none-any.whl">leftpy-1.0.0-py3-none-any.whl</a>',
      "/files/leftpy-1.0.0-py3-none-any.whl": wheel,
      "/index/config.json": JSON.stringify({ dl: at("/crates/{crate}-{version}.crate") }),
      "/index/le/ft/leftrs": `${JSON.stringify({ name: "leftrs", vers: "1.0.0", deps: [], cksum: digest, features: {}, yanked: false })}\n`,
      "/crates/leftrs-1.0.0.crate": crate,
      "/go/left.example/left/@v/list": "v1.0.0\n",
      "/go/left.example/left/@v/v1.0.0.info": JSON.stringify({ Version: "v1.0.0" }),
      "/go/left.example/left/@v/v1.0.0.mod": GO_MODULE,
      "/go/left.example/left/@v/v1.0.0.zip": module,
    };
    const page = pages[request.url ?? ""];
    if (request.url?.startsWith("/simple/") === true) response.setHeader("content-type", "text/html");
    if (page === undefined) response.writeHead(404).end("{}");
    else response.end(page);
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  port = (registry.address() as { port: number }).port;
  const grants = ["proc.exec{root=live}", "fs.read", "fs.write", "fs.delete"];
  const connect = `net.connect{hosts=[localhost],ports=[${port}]}`;
  fixture.agent("open", [...grants, connect], "sandbox: .\n");
  fixture.agent("closed", grants, "sandbox: .\n");
  files(fixture.project, {
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", dependencies: { left: "1.0.0" } }),
    "package-lock.json": JSON.stringify({
      ...{ name: "x", version: "1.0.0", lockfileVersion: 3, requires: true },
      packages: {
        "": { name: "x", version: "1.0.0", dependencies: { left: "1.0.0" } },
        "node_modules/left": { version: "1.0.0", resolved: at("/npm/left.tgz"), integrity },
      },
    }),
    "module/go.mod": "module x.example/x\n\ngo 1.16\n\nrequire left.example/left v1.0.0\n",
    "module/x_test.go": `package x\n\nimport (\n\t"testing"\n\n\t"left.example/left"\n)\n\nfunc TestName(t *testing.T) {\n\tif left.Name() != "leftgo" {\n\t\tt.Fail()\n\t}\n}\n`,
    "crate/Cargo.toml":
      '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nleftrs = "1.0.0"\n',
    "crate/src/main.rs": 'fn main() { println!("{}", leftrs::left()); }\n',
    "crate/.cargo/config.toml": `[source.crates-io]\nreplace-with = "local"\n[source.local]\nregistry = "sparse+${at("/index/")}"\n`,
  });
  await fixture.begin();
}, 120_000);

afterAll(async () => {
  registry?.close();
  await fixture?.remove();
});

async function ambit(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
    ...{ cwd: fixture.project, env: { ...fixture.environment, ...more }, stdio: ["ignore", "pipe", "pipe"] },
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (err += part));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, err };
}

/** A line of a shell in `ambit run`. */
const inside = (agent: string, line: string, more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  ambit(["run", agent, "--", "sh", "-c", line], more);

const npm = (): string => `npm ci --no-audit --no-fund --registry http://localhost:${port}/npm/`;
const pip = (): string =>
  `${PYTHON} -m pip --isolated install --retries 0 --no-cache-dir --target lib --index-url http://localhost:${port}/simple/ leftpy`;

test("npm ci installs from the granted registry, and what it installed is in the project", async () => {
  const ran = await inside("open", `${npm()} && node -e 'console.log(require("left")())'`);
  expect({ status: ran.status, out: ran.out.split("\n").slice(-2) }).toEqual({ status: 0, out: ["left", ""] });
  expect(readFileSync(join(fixture.project, "node_modules/left/index.js"), "utf8")).toContain("left");
  // Its cache is in the agent's own home, which stays.
  expect((await inside("open", "ls -d ~/.npm/_cacache")).out).toBe("/run/ambit/home/.npm/_cacache\n");
  expect((await inside("closed", "ls -d ~/.npm/_cacache")).status).toBe(2);
}, 120_000);

test.skipIf(!hasPip)(
  "pip install works with the registry granted",
  async () => {
    const ran = await inside("open", `${pip()} && PYTHONPATH=lib ${PYTHON} -c 'import leftpy; print(leftpy.NAME)'`);
    expect({ status: ran.status, out: ran.out.split("\n").slice(-2) }).toEqual({ status: 0, out: ["leftpy", ""] });
  },
  120_000,
);

test.skipIf(!hasCargo)(
  "cargo build works with the registry granted",
  async () => {
    const ran = await inside("open", "cd crate && cargo build -q && ./target/debug/x");
    expect({ status: ran.status, out: ran.out, err: ran.status === 0 ? "" : ran.err }).toEqual({
      status: 0,
      out: "leftrs\n",
      err: "",
    });
  },
  120_000,
);

/** As a person has it in their environment; the database of checksums is a host of its own. */
const goVariables = (host: string): Record<string, string> => ({
  GOPROXY: host,
  GONOSUMDB: "*",
});

test.skipIf(!hasGo)(
  "go test works with the proxy of modules granted, and names the grant where it is not",
  async () => {
    const ran = await inside("open", "cd module && go test -mod=mod ./...", goVariables(`http://localhost:${port}/go`));
    expect({ status: ran.status, err: ran.status === 0 ? "" : `${ran.out}${ran.err}` }).toEqual({ status: 0, err: "" });
    expect(ran.out).toMatch(/^ok\s+x\.example\/x/);
    const denied = await inside(
      "closed",
      "cd module && go test -mod=mod ./...",
      goVariables("https://proxy.example.test"),
    );
    expect(denied.status).not.toBe(0);
    expect(denied.err).toContain("ambit agents grant closed 'net.connect{hosts=[proxy.example.test],ports=[443]}'");
  },
  180_000,
);

test("a registry on this machine's loopback that is not granted: the grant is named", async () => {
  const grant = `net.connect{hosts=[localhost],ports=[${port}]}`;
  const ran = await inside("closed", `${npm()} --fetch-retries=0`);
  expect({ isFine: ran.status === 0, hasGrant: ran.err.includes(grant) }).toEqual({ isFine: false, hasGrant: true });
}, 120_000);

test("a registry elsewhere that is not granted: the host is denied, and the grant is named", async () => {
  const ran = await inside("open", "npm view left --fetch-retries=0 --registry https://registry.example.test/");
  expect(ran.status).not.toBe(0);
  expect(ran.err).toContain("ambit agents grant open 'net.connect{hosts=[registry.example.test],ports=[443]}'");
  expect((await ambit(["log", "--outcome", "deny"])).out).toContain("registry.example.test");
}, 120_000);

test("--learn lists what was refused to this run, with the grants, and grants nothing", async () => {
  const look = "getent hosts one.example.test; getent hosts two.example.test; exit 3";
  const ran = await ambit(["run", "--learn", "open", "--", "sh", "-c", look]);
  expect(ran.status).toBe(3);
  const [, list = ""] = ran.err.split("as in `ambit log --refused`:\n");
  expect(list).toMatch(/^open {2}scope_violation {2}net\.connect one\.example\.test/);
  expect(list).not.toContain("registry.example.test");
  const again = await ambit(["run", "--learn", "open", "--", "sh", "-c", "getent hosts one.example.test; exit 3"]);
  expect(again.err).toContain("net.connect one.example.test");
  expect(await ambit(["run", "--learn", "--json", "open", "--", "true"])).toMatchObject({ status: 2 });
});

test("files of certificates that variables name are inside, as certificates and nothing else", async () => {
  const [certificate = ""] = rootCertificates;
  const file = join(fixture.base, "company.pem");
  writeFileSync(file, `# ours\n${certificate}\n-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n`);
  const script = 'echo "$SSL_CERT_FILE"; cat "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS"; echo "[$PIP_CERT]"';
  const ran = await inside("open", script, { SSL_CERT_FILE: file, NODE_EXTRA_CA_CERTS: file, PIP_CERT: "/etc/passwd" });
  expect(ran.out).toBe(
    `/run/ambit/home/.ambit/certificates/ssl_cert_file.pem\n${certificate}\n${certificate}\n[]\n`.replaceAll("\r", ""),
  );
  expect(ran.err).toContain("PIP_CERT is not passed on: it contains no certificate");
  // Another run without the variables has neither.
  expect((await inside("open", 'ls ~/.ambit/certificates; echo "[$SSL_CERT_FILE]"')).out).toBe("[]\n");
});

test("addresses of registries are inside, and one with a credential is not", async () => {
  const variables = {
    PIP_INDEX_URL: "https://pypi.example.test/simple",
    GOPROXY: "https://me:pass-word@go.example.test",
  };
  const ran = await inside("open", 'echo "[$PIP_INDEX_URL][$GOPROXY]"', variables);
  expect(ran.out).toBe("[https://pypi.example.test/simple][]\n");
  expect(ran.err).toContain("GOPROXY is not passed on: it contains a credential");
});

test("doctor names the folders of the search path that are inside, and those that are not", async () => {
  const other = join(fixture.base, "other");
  mkdirSync(other);
  const path = `${other}:${fixture.environment["PATH"] ?? ""}`;
  expect((await ambit(["doctor"], { PATH: path })).out).toContain(`on PATH and not inside \`ambit run\`: ${other}`);
  fixture.write("config/ambit/config.yml", `programs: { add: [${other}] }\n`);
  expect((await ambit(["doctor"], { PATH: path })).out).toContain(`programs.add (${other})`);
  const ran = await ambit(["run", "open", "--", "sh", "-c", "echo $PATH"], { PATH: path });
  expect(ran.out).toMatch(new RegExp(`^/run/ambit/bin:${other}:`));
});
