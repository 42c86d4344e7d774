// A registry of npm on loopback: packages of the test's own, and those that this checkout has in node_modules, packed when they are
// asked for. It counts what it is asked.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { root } from "../e2e/ambit.ts";

interface Published {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  pack(): Buffer;
  /** In place of what the registry would say about the archive. */
  readonly dist?: Readonly<Record<string, unknown>>;
}

export class Registry {
  readonly #base: string;
  readonly #packages = new Map<string, Map<string, Published>>();
  readonly #packed = new Map<string, Buffer>();
  readonly #tags = new Map<string, string>();
  readonly #server: Server;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** Archives that are never answered, by a part of their path. */
  readonly held: Set<string> = new Set();
  onHeld: () => void = () => undefined;

  constructor(base: string) {
    this.#base = mkdtempSync(join(base, "registry-"));
    this.#server = createServer((request, response) => this.#answer(decodeURIComponent(request.url ?? ""), response));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as { readonly port: number }).port}/`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#base, { recursive: true, force: true });
  }

  /** The newest is `latest`. */
  publish(manifest: Published["manifest"], files: Readonly<Record<string, string>>, dist?: Published["dist"]): void {
    const folder = join(this.#base, manifest.name.replaceAll("/", "+"), manifest.version, "package");
    for (const [path, text] of Object.entries({ ...files, "package.json": JSON.stringify(manifest) })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { mode: 0o755 });
    }
    this.#packed.delete(`${manifest.name}@${manifest.version}`);
    this.#add({ manifest, pack: () => tar(dirname(folder), ["package"]), ...(dist === undefined ? {} : { dist }) });
    this.#tags.set(manifest.name, manifest.version);
  }

  /** Every package of this checkout, as it is in its lock. */
  publishInstalled(): void {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: object };
    for (const path of Object.keys(lock.packages)) {
      const folder = join(root, path);
      if (path === "" || !existsSync(join(folder, "package.json"))) continue;
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Published["manifest"];
      const pack = (): Buffer =>
        tar(folder, ["--exclude=./node_modules", "--transform=s,^\\./,package/,", "--mode=u+w", "."]);
      this.#add({ manifest, pack });
      if (!path.includes("/node_modules/")) this.#tags.set(manifest.name, manifest.version);
    }
  }

  #add(published: Published): void {
    const { name, version } = published.manifest;
    const versions = this.#packages.get(name) ?? new Map<string, Published>();
    this.#packages.set(name, versions.set(version, published));
  }

  #answer(path: string, response: ServerResponse): void {
    this.asked.push(path);
    const [, name = "", version] = /^\/(.+?)(?:\/-\/(.+)\.tgz)?$/.exec(path) ?? [];
    const versions = this.#packages.get(name);
    if (versions === undefined) {
      response.writeHead(404).end("{}");
      return;
    }
    if (version !== undefined) {
      if ([...this.held].some((part) => path.includes(part))) {
        this.onHeld();
        return;
      }
      const found = versions.get(version);
      if (found === undefined) response.writeHead(404).end();
      else response.end(this.#archive(found));
      return;
    }
    const listed = [...versions.values()].map((one) => [one.manifest.version, this.#described(one)] as const);
    const [newest] = listed.at(-1) ?? [];
    const latest = this.#tags.get(name) ?? newest;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest }, versions: Object.fromEntries(listed) }));
  }

  #described(one: Published): object {
    const { name, version, scripts } = one.manifest as Published["manifest"] & { readonly scripts?: object };
    const integrity = `sha512-${createHash("sha512").update(this.#archive(one)).digest("base64")}`;
    const dist = one.dist ?? { tarball: `${this.url}${name}/-/${version}.tgz`, integrity };
    const hasScripts = ["preinstall", "install", "postinstall"].some((key) => Object.hasOwn(scripts ?? {}, key));
    return { ...one.manifest, dist, ...(hasScripts ? { hasInstallScript: true } : {}) };
  }

  #archive(one: Published): Buffer {
    const key = `${one.manifest.name}@${one.manifest.version}`;
    const known = this.#packed.get(key) ?? one.pack();
    this.#packed.set(key, known);
    return known;
  }
}

function tar(cwd: string, words: readonly string[]): Buffer {
  const order = ["--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0"];
  const { status, stdout, stderr } = spawnSync("tar", ["cz", ...order, ...words], { cwd, maxBuffer: 268_435_456 });
  if (status !== 0) throw new Error(String(stderr));
  return stdout;
}
