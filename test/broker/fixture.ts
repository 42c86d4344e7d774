// A broker, an outside world on loopback, and real sandboxes whose sockets or connections the broker gets: with namespaces, and
// without them behind a filter like a container engine's, as the caller and as an ordinary user.
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import { systemFacts } from "../../src/sandbox/linux/system-facts.ts";
import { BrokerClient, type NetworkOptions, type OpenNetwork } from "../../src/sandbox/network/client.ts";
import type { Endpoint, SocketKind } from "../../src/sandbox/network/messages.ts";
import { NetworkGrants, readChains } from "../../src/sandbox/network/network-grants.ts";
import { DEFAULT_LIMITS } from "../../src/sandbox/plan/plan-facts.ts";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { supervisedFrames } from "../../src/sandbox/plan/supervised/supervised-setup.ts";
import { ORDINARY } from "../house/ordinary-user.ts";
import { type Outcome, type Owner, start, startSupervised } from "../native/owner.ts";
import { segments } from "../sandbox/fixture.ts";
import { CERTIFICATE } from "./certificate.ts";
import { NamesOutside } from "./names-outside.ts";

const NATIVE = fileURLToPath(new URL(`../../dist/native/${process.arch}/ambit-native`, import.meta.url));

/** The sandboxes whose programs the broker serves; the last two need no namespace. */
export type Backend = "namespaces" | "no namespaces" | "no namespaces, ordinary user";
export const BACKENDS: readonly Backend[] = [
  ...(["namespaces", "no namespaces"] as const),
  ...(process.getuid?.() === 0 ? (["no namespaces, ordinary user"] as const) : []),
];

/** Loopback addresses of this process alone, so that concurrent tests can use the same ports. */
export function ownAddress(last: number): string {
  return `127.${64 + ((process.pid >> 14) & 63)}.${(process.pid >> 6) & 255}.${((process.pid & 63) << 2) | last}`;
}

export interface SandboxWish {
  readonly specs: readonly string[];
  readonly ports?: readonly number[];
  readonly transparent?: boolean;
  /** Replaces the broker's own grants. */
  readonly judge?: NetworkOptions["judge"];
  readonly credential?: NonNullable<NetworkOptions["credential"]>;
  /** Hosts of the git relay. */
  readonly gitHosts?: readonly string[];
}

export interface Inside {
  readonly network: OpenNetwork;
  readonly owner: Owner;
  /** 1: one port at a time. 2: all traffic is redirected to the broker. */
  readonly mode: number;
  /** Denial events as received: code, request, reason. */
  readonly told: string[];
  readonly lost: string[];
  run(...argv: readonly string[]): Promise<Outcome>;
  /** Denials since the last call, with a count where there were several. */
  refused(): Promise<readonly string[]>;
  end(): Promise<void>;
}

export class Fixture {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ambit-broker-"));
  readonly names: NamesOutside = new NamesOutside();
  readonly backend: Backend;
  client: BrokerClient = new BrokerClient("");
  #resolver = "";
  #count = 0;

  constructor(backend: Backend = "namespaces") {
    this.backend = backend;
  }

  get hasNamespaces(): boolean {
    return this.backend === "namespaces";
  }

  /** Where programs see `root`. */
  get inside(): string {
    return this.hasNamespaces ? "/inside" : this.root;
  }

  /** Where programs see our native program. */
  get native(): string {
    return this.hasNamespaces ? "/run/ambit/ambit-native" : NATIVE;
  }

  get environment(): readonly string[] {
    const authority = this.hasNamespaces ? "/etc/authority.pem" : join(this.folder, "etc", "authority.pem");
    return [
      "PATH=/usr/bin:/bin",
      `HOME=${this.hasNamespaces ? "/tmp" : join(this.folder, "tmp")}`,
      // Not readable without namespaces, which git takes for an error.
      ...(this.hasNamespaces ? [] : ["GIT_CONFIG_NOSYSTEM=1"]),
      ...["CURL_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS"].map(
        (name) => `${name}=${authority}`,
      ),
    ];
  }

  async start(): Promise<void> {
    await bundleBroker(this.bundle);
    this.client = new BrokerClient(this.bundle);
    this.#resolver = await this.names.start();
    mkdirSync(join(this.folder, "etc"));
    mkdirSync(join(this.folder, "root"));
    writeFileSync(join(this.folder, "etc", "resolv.conf"), "nameserver 198.18.0.53\noptions timeout:30 attempts:1\n");
    writeFileSync(join(this.folder, "etc", "authority.pem"), CERTIFICATE);
    mkdirSync(join(this.folder, "tmp"));
    chmodSync(this.folder, 0o755);
    if (this.#user !== null) chownSync(join(this.folder, "tmp"), this.#user, this.#user);
  }

  get #user(): number | null {
    return this.backend === "no namespaces, ordinary user" ? ORDINARY : null;
  }

  get bundle(): string {
    return join(this.folder, "broker.cjs");
  }

  /** Shown inside as `inside`. */
  get root(): string {
    return join(this.folder, "root");
  }

  async stop(): Promise<void> {
    await this.client.stop();
    this.names.stop();
    rmSync(this.folder, { recursive: true });
  }

  async open(wish: SandboxWish): Promise<Inside> {
    const chains = [[wish.specs]];
    const authority = readChains(chains);
    if (authority === null) throw new Error("the specs do not parse");
    const granted = new NetworkGrants(authority, () => Date.now());
    const told: string[] = [];
    const lost: string[] = [];
    const network = await this.client.open({
      sandbox: `test-${++this.#count}`,
      chains,
      resolver: { servers: [this.#resolver] },
      judge: wish.judge ?? ((request) => granted.judge(request)),
      ...(wish.credential === undefined ? {} : { credential: wish.credential }),
      git: wish.gitHosts === undefined ? null : { hosts: wish.gitHosts, authorities: CERTIFICATE },
      events: {
        denied: (code, request, reason) => told.push(`${code} ${request} (${reason})`),
        lost: (lastWords) => lost.push(lastWords),
      },
    });
    if (network === null) throw new Error("the broker did not open a network");
    const given: Promise<boolean>[] = [];
    const owner = this.hasNamespaces ? await this.#mounted(wish, network, given) : await this.#supervised(network);
    const { network: mode } = await owner.ready();
    if (!(await Promise.all(given)).every((one) => one)) throw new Error("a socket was not accepted");
    return {
      network,
      owner,
      mode,
      told,
      lost,
      run: (...argv) => owner.run({ argv, environment: this.environment }),
      refused: async () =>
        ((await network.count())?.denials ?? []).map(
          ({ code, request, reason, times }) => `${code} ${request} (${reason})${times === 1 ? "" : ` x${times}`}`,
        ),
      end: async () => {
        await network.close();
        owner.control.destroy();
        if (owner.child.exitCode === null && owner.child.signalCode === null) await once(owner.child, "exit");
      },
    };
  }

  async #mounted(wish: SandboxWish, network: OpenNetwork, given: Promise<boolean>[]): Promise<Owner> {
    const { owner } = await start({
      program: NATIVE,
      network: true,
      more: ["--ro-bind", join(this.folder, "etc"), "/etc", "--ro-bind", this.root, this.inside],
    });
    owner.child.on("message", (message, handle: unknown) =>
      given.push(network.give((message as { readonly kind: SocketKind }).kind, handle)),
    );
    const ports = wish.ports ?? [];
    const payload = new PayloadWriter()
      .u8(wish.transparent === true ? 1 : 0)
      .u16(ports.length)
      .u16(0);
    for (const port of ports) payload.u16(port);
    owner.send("N", payload.done());
    owner.send("G");
    return owner;
  }

  async #supervised(network: OpenNetwork): Promise<Owner> {
    const { owner, landlockAbi } = await startSupervised({ program: NATIVE, user: this.#user });
    owner.child.on("message", (message, handle: unknown) => void network.connect(message as Endpoint, handle));
    const system = systemFacts(NATIVE);
    const path = segments(this.root);
    const folders = { temporary: segments(join(this.folder, "tmp")), settings: segments(join(this.folder, "etc")) };
    const frames =
      system === null
        ? null
        : supervisedFrames(
            {
              ...{ root: { path, mode: "ro" }, runtime: [], masked: [], directory: path, environment: [] },
              network: { ports: [], loopback: [], chains: [] },
              // More than the account has already: the limit is not what is tried here.
              limits: { ...DEFAULT_LIMITS, processes: 20_000 },
            },
            folders,
            system,
            { landlock: landlockAbi, treeMemoryHeld: false },
            (text) => Buffer.from(text, "utf8"),
          );
    if (frames === null) throw new Error("this kernel does not hold enough without namespaces");
    owner.control.write(Buffer.concat(frames));
    return owner;
  }
}

/** The broker bundled from the current sources. */
export async function bundleBroker(outfile: string): Promise<void> {
  const entry = fileURLToPath(new URL("../../src/sandbox/network/main.ts", import.meta.url));
  await esbuild.build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "error",
  });
}
