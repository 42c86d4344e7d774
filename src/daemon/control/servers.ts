// MCP servers for a person: which there are, what each says about itself beside what is pinned, and pinning it.
import { BUILTIN_TOOLS } from "../../core/authority/axes/name.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { optionalText, textIn, textsIn } from "../../core/base/fields.ts";
import { compactText } from "../../core/notation/printer.ts";
import { argumentMapText } from "../../core/notation/servers/argument-map.ts";
import { endpointSecrets } from "../../core/notation/servers/server-endpoint.ts";
import { requiredRisk } from "../../core/notation/servers/server-file.ts";
import { type PinnedPackage, packageText } from "../../core/notation/servers/server-package.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { ServerDetails, ServerToolView, ServerView } from "../../core/ports/daemon/server-messages.ts";
import { offeredName, type ServerDescription } from "../../gateway/definitions.ts";
import { hasHiddenText, namedElsewhere, pinChanges, pinOf, pinText } from "../../gateway/pins.ts";
import { sha256 } from "../../platform/digest.ts";
import type { SignIns } from "../oauth/sign-ins.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { CatalogServer } from "../servers/server-catalog.ts";
import type { ServerOwner } from "../servers/server-run.ts";
import type { DaemonServers } from "../servers/servers.ts";
import type { Admission } from "./admission.ts";

const pathCharactersMax = 4_096;
const digestsMax = 64;
const hostsMax = 8;
const codeCharactersMax = 8_192;
/** RFC 8252: what comes back reaches a program of this machine alone. */
const REDIRECT = /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/;

export interface ServerAnswersOptions {
  readonly servers: DaemonServers;
  readonly signIns: SignIns;
  workspaceOf(cwd: string): string | null;
  /** Removes known secrets from text of a server. */
  redacted(text: string): string;
  hasPackage(pin: PinnedPackage): boolean;
  id(): string;
}

export function serverAnswers(
  { servers, signIns, workspaceOf, redacted, hasPackage, id }: ServerAnswersOptions,
  admission: Admission,
): readonly (readonly [string, MessageHandler])[] {
  /** What was shown to a person, by its digest: only that can be pinned. */
  const shown = new Map<string, ServerDescription>();
  const all = (cwd: string): readonly CatalogServer[] => servers.catalog.of(workspaceOf(cwd), cwd).servers;
  const view = (one: CatalogServer, among: readonly CatalogServer[]): ServerView =>
    viewOf(one, servers, { redacted, hasPackage }, elsewhere(servers, among, one), signIns.view(one));
  const named = (cwd: string, name: string): Answer<CatalogServer> => {
    const found = all(cwd).find(({ server }) => server.name === name);
    return found === undefined
      ? refusal("unknown_server", `there is no server ${JSON.stringify(name)}`, "ambit mcp list")
      : { ok: true, value: found };
  };
  return [
    [
      "servers.list",
      async ({ value }) => {
        const cwd = textIn(value, "cwd", pathCharactersMax);
        if (cwd === null) return refusal("invalid_input", "needs a folder");
        return { ok: true, value: { servers: all(cwd).map((one, _, among) => view(one, among)) } };
      },
    ],
    [
      "servers.show",
      async (exchange) => {
        const cwd = textIn(exchange.value, "cwd", pathCharactersMax);
        const name = textIn(exchange.value, "name", 256);
        if (cwd === null || name === null) return refusal("invalid_input", "needs a folder and the name of a server");
        const found = named(cwd, name);
        if (!found.ok) return found;
        const one = found.value;
        // Code of a project that no person trusted is not even started.
        if (one.waits !== null) return refusal("not_available", `${name}: ${one.waits}`, "ambit trust");
        const owner = personOwner(id(), workspaceOf(cwd), cwd);
        try {
          const description = await servers.look(owner, one);
          if ("message" in description) {
            const why = servers.failure(one) ?? description.message;
            const fix = description.code === "sign_in_required" ? `ambit mcp login ${name}` : null;
            return refusal("not_available", `${name} could not be started: ${redacted(why)}`, fix);
          }
          const digest = sha256(pinText(pinOf(description)));
          shown.set(digest, description);
          for (const oldest of shown.keys()) if (shown.size > digestsMax) shown.delete(oldest);
          return {
            ok: true,
            value: detailsOf(one, description, { servers, among: all(cwd), view: view(one, all(cwd)), digest }),
          };
        } finally {
          owner.close();
        }
      },
    ],
    [
      "servers.pin",
      async (exchange) => {
        const cwd = textIn(exchange.value, "cwd", pathCharactersMax);
        const name = textIn(exchange.value, "name", 256);
        const digest = textIn(exchange.value, "digest", 128);
        if (cwd === null || name === null || digest === null)
          return refusal("invalid_input", "needs a folder, the name of a server, and a digest");
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const found = named(cwd, name);
        if (!found.ok) return found;
        const description = shown.get(digest);
        if (description === undefined)
          return refusal(
            "not_available",
            "the server's description changed since it was shown",
            `ambit mcp pin ${name}`,
          );
        const failed = await servers.pin(found.value, description, { ...admitted.value, digest });
        return failed === null
          ? { ok: true, value: { tools: description.tools.length } }
          : refusal("audit_unavailable", failed);
      },
    ],
    [
      "servers.login",
      async (exchange) => {
        const { value } = exchange;
        const [cwd, name] = [textIn(value, "cwd", pathCharactersMax), textIn(value, "name", 256)];
        const [redirect, hosts] = [textIn(value, "redirect", 256), textsIn(value, "hosts", hostsMax)];
        const clientId = optionalText(value, "clientId", 1_024);
        const clientSecret = optionalText(value, "clientSecret", codeCharactersMax);
        const isClient = clientId !== undefined && clientSecret !== undefined;
        if (cwd === null || name === null || hosts === null || !isClient)
          return refusal("invalid_input", "needs a folder, the name of a server, and hosts");
        if (clientSecret !== null && (clientId === null || !/^[\x21-\x7e]+$/.test(clientSecret)))
          return refusal("invalid_input", "the secret of a client is printable ASCII, and needs the client's id");
        if (redirect === null || !REDIRECT.test(redirect))
          return refusal("invalid_input", "the redirect of a sign-in must be a loopback address");
        const found = named(cwd, name);
        if (!found.ok) return found;
        if (found.value.waits !== null) return refusal("not_available", `${name}: ${found.value.waits}`, "ambit trust");
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const step = await signIns.start(found.value, { redirect, hosts, clientId, clientSecret });
        return step.ok
          ? { ok: true, value: { page: null, issuer: null, scope: null, host: null, ...step.value } }
          : step;
      },
    ],
    [
      // Its state is known to the person who began it, and to the page that they opened.
      "servers.signin",
      async ({ value }) => {
        const [state, code] = [textIn(value, "state", 256), textIn(value, "code", codeCharactersMax)];
        const iss = optionalText(value, "iss", 1_024);
        if (state === null || code === null || iss === undefined)
          return refusal("invalid_input", "needs a state and a code");
        const finished = await signIns.finish({ state, code, iss });
        if (!finished.ok) return finished;
        const { one, view: signIn } = finished.value;
        servers.signedIn(one);
        return { ok: true, value: { name: one.server.name, signIn } };
      },
    ],
    [
      "servers.logout",
      async ({ value }) => {
        const [cwd, name] = [textIn(value, "cwd", pathCharactersMax), textIn(value, "name", 256)];
        if (cwd === null || name === null) return refusal("invalid_input", "needs a folder and the name of a server");
        const found = named(cwd, name);
        return found.ok ? signIns.remove(found.value) : found;
      },
    ],
    [
      "servers.forget",
      async (exchange) => {
        const { value } = exchange;
        const [cwd, name] = [textIn(value, "cwd", pathCharactersMax), textIn(value, "name", 256)];
        const level = (["user", "project"] as const).find((one) => one === textIn(value, "level", 16));
        if (cwd === null || name === null || level === undefined)
          return refusal("invalid_input", "needs a folder, the name of a server, and its level");
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const kept = await servers.forget({ name, level }, workspaceOf(cwd), cwd, { ...admitted.value });
        return kept === null
          ? { ok: true, value: {} }
          : refusal("not_available", `the pin of ${name} was not deleted: ${kept}`);
      },
    ],
  ];
}

/** Names of tools that a server's text has no reason to speak of. */
function elsewhere(servers: DaemonServers, among: readonly CatalogServer[], one: CatalogServer): readonly string[] {
  const others = among.filter((other) => other !== one);
  return [
    ...BUILTIN_TOOLS.filter((name) => name.includes("_")),
    ...others.flatMap((other) =>
      (servers.pinOf(other)?.tools ?? []).flatMap(({ name }) => [
        // A plain word, such as `read`, says nothing.
        ...(/[_.-]/.test(name) ? [name] : []),
        offeredName(other.server.name, name),
      ]),
    ),
  ];
}

function viewOf(
  one: CatalogServer,
  servers: DaemonServers,
  { redacted, hasPackage }: Pick<ServerAnswersOptions, "redacted" | "hasPackage">,
  others: readonly string[],
  signIn: ServerView["signIn"],
): ServerView {
  const { server, waits } = one;
  const { endpoint } = server;
  const pin = servers.pinOf(one);
  const latest = servers.latest(one);
  const held = pin === null || latest === null ? 0 : latest.tools.length - servers.callable(pin, latest).size;
  const failure = servers.failure(one);
  const pinned = endpoint.kind === "program" ? endpoint.package : null;
  return {
    ...{ name: server.name, level: server.level, waits, held, signIn },
    command: endpoint.kind === "program" ? endpoint.command : null,
    package: pinned === null ? null : { text: packageText(pinned), isStored: hasPackage(pinned) },
    url: endpoint.kind === "http" ? endpoint.address : null,
    secrets: endpointSecrets(endpoint),
    requires: server.requires.map((grant) => compactText(grant)),
    risk: requiredRisk(server.requires),
    runtime: endpoint.kind === "program" ? endpoint.runtime.map((tree) => pathText(tree)) : [],
    environment: endpoint.kind === "program" ? endpoint.environment.map(({ name }) => name) : [],
    isEnabled: server.isEnabled,
    isClean: server.isClean,
    pinned: pin === null ? null : pin.tools.length,
    shadowing: (pin?.tools ?? []).flatMap((tool) => {
      const names = namedElsewhere(tool, others);
      return names.length === 0 ? [] : [{ tool: tool.name, others: names }];
    }),
    failure: failure === null ? null : redacted(failure),
  };
}

function detailsOf(
  one: CatalogServer,
  description: ServerDescription,
  {
    servers,
    among,
    view,
    digest,
  }: {
    readonly servers: DaemonServers;
    readonly among: readonly CatalogServer[];
    readonly view: ServerView;
    readonly digest: string;
  },
): ServerDetails {
  const { identity, instructions, refused } = description;
  const pin = servers.pinOf(one);
  const callable = pin === null ? new Set<string>() : servers.callable(pin, description);
  const names = elsewhere(servers, among, one);
  const tools = description.tools.map((tool): ServerToolView => {
    const map = servers.mapOf(one, tool, pinOf(description));
    return {
      name: offeredName(one.server.name, tool.name),
      tool: tool.name,
      title: tool.title,
      description: tool.description,
      input: tool.inputSchema,
      annotations: tool.annotations,
      map: map === null ? null : argumentMapText(map.map),
      mapSource: map?.source ?? null,
      isPinned: callable.has(tool.name),
      hasHiddenText: hasHiddenText(tool),
      namesOthers: namedElsewhere(tool, names),
    };
  });
  const changes = pin === null ? [] : pinChanges(pin, description);
  return {
    server: view,
    version: `${identity.name} ${identity.version}`.trim(),
    instructions,
    tools,
    refused,
    changes,
    digest,
  };
}

/** A person who looks at a server: its process ends with the look. */
function personOwner(id: string, workspace: string | null, cwd: string): ServerOwner & { close(): void } {
  const rings: (() => void)[] = [];
  let isClosed = false;
  return {
    facts: { id, name: { agent: "person", workspace }, cwd },
    get isClosed() {
      return isClosed;
    },
    onClose: (ring) => void rings.push(ring),
    close: () => {
      isClosed = true;
      for (const ring of rings.splice(0)) ring();
    },
  };
}
