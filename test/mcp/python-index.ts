// An index of Python packages on loopback (PEP 503), with wheels and source archives of the test's own. It counts what it is asked.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { normalName } from "../../src/core/notation/servers/package-request.ts";

export interface WheelContent {
  /** Further lines of its metadata. */
  readonly metadata?: readonly string[];
  /** Programs, as `name = module:function`. */
  readonly programs?: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** Links in the archive: path and target. */
  readonly links?: Readonly<Record<string, string>>;
}

interface IndexFile {
  readonly bytes: Buffer;
  /** Where its link leads; null: to this index. */
  readonly at: string | null;
  readonly hash: string;
}

export class PythonIndex {
  readonly #server: Server;
  readonly #files = new Map<string, Map<string, IndexFile>>();
  /** Pages that lead to another address. */
  readonly redirects: Map<string, string> = new Map();
  /** Paths that were asked for. */
  readonly asked: string[] = [];

  constructor() {
    this.#server = createServer((request, response) => this.#answer(decodeURIComponent(request.url ?? ""), response));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  get url(): string {
    return `http://localhost:${this.port}/simple/`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** `hash`: what the index says in place of the digest. `at`: where the file is said to be. */
  publish(name: string, version: string, content: WheelContent, more: { hash?: string; at?: string } = {}): void {
    const file = `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`;
    this.add(name, file, wheel(name, version, content), more);
  }

  add(name: string, file: string, bytes: Buffer, { hash, at }: { hash?: string; at?: string } = {}): void {
    const files = this.#files.get(normalName(name)) ?? new Map<string, IndexFile>();
    const digest = hash ?? createHash("sha256").update(bytes).digest("hex");
    this.#files.set(normalName(name), files.set(file, { bytes, at: at ?? null, hash: digest }));
  }

  #answer(path: string, response: ServerResponse): void {
    this.asked.push(path);
    const [, kind, name = "", file = ""] = /^\/(simple|files)\/([^/]+)\/(.*)$/.exec(path) ?? [];
    const files = this.#files.get(name);
    const redirect = this.redirects.get(name);
    const found = files?.get(file);
    if (kind === "files" && found !== undefined) response.end(found.bytes);
    else if (kind === "simple" && redirect !== undefined) response.writeHead(302, { location: redirect }).end();
    else if (kind === "simple" && files !== undefined) {
      const links = [...files].map(
        ([one, { at, hash }]) => `<a href="${at ?? `/files/${name}/${one}`}#sha256=${hash}">${one}</a>`,
      );
      response.setHeader("content-type", "text/html");
      response.end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
    } else response.writeHead(404).end();
  }
}

const MAKE_WHEEL = `import base64, hashlib, json, sys, zipfile
files, links, record = json.load(sys.stdin)
lines = []
with zipfile.ZipFile(sys.stdout.buffer, "w") as archive:
    def put(path, text, mode):
        info = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
        info.external_attr = mode << 16
        archive.writestr(info, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text.encode())}")
    for path, text in files.items():
        put(path, text, 0o100644)
    for path, target in links.items():
        put(path, target, 0o120777)
    archive.writestr(zipfile.ZipInfo(record, (2026, 1, 1, 0, 0, 0)), "\\n".join([*lines, f"{record},,"]) + "\\n")
`;

const MAKE_SOURCE = `import io, json, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode="w:gz") as archive:
    for path, text in json.load(sys.stdin).items():
        info = tarfile.TarInfo(path)
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
`;

export function wheel(name: string, version: string, content: WheelContent): Buffer {
  const info = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const metadata = ["Metadata-Version: 2.1", `Name: ${name}`, `Version: ${version}`, ...(content.metadata ?? [])];
  const files = {
    ...content.files,
    [`${info}/METADATA`]: `${metadata.join("\n")}\n`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    ...(content.programs === undefined
      ? {}
      : { [`${info}/entry_points.txt`]: `[console_scripts]\n${content.programs.join("\n")}\n` }),
  };
  return python(MAKE_WHEEL, [files, content.links ?? {}, `${info}/RECORD`]);
}

/** A source archive. */
export function source(files: Readonly<Record<string, string>>): Buffer {
  return python(MAKE_SOURCE, files);
}

function python(text: string, input: unknown): Buffer {
  const ran = spawnSync("/usr/bin/python3", ["-I", "-c", text], { input: JSON.stringify(input) });
  if (ran.status !== 0) throw new Error(String(ran.stderr));
  return ran.stdout;
}
