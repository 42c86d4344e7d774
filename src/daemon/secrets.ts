// Secrets in the daemon: stored sealed, opened to redact output, handed out for one bound use.

import type { Url } from "../core/authority/axes/url.ts";
import type { Json } from "../core/base/json.ts";
import type { SecretUse } from "../core/ports/stores/ledger.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { SecretStore, SettingStore } from "../core/ports/stores/secret-store.ts";
import { notRedactable } from "../log/redaction/known-secret.ts";
import { type Redactor, redactorOf, type StreamRedactor as StreamRedacting } from "../log/redaction/redactor.ts";
import { homeFolder } from "../platform/path-settings.ts";
import { isBoundTo, refusesBoundHosts } from "../sandbox/network/fetch/handles-binding.ts";
import { keySourceEnvironment } from "../secrets/sources.ts";
import { SecretVault } from "../secrets/vault.ts";
import type { StreamingRedactor, Vault } from "./parts.ts";
import type { AskSecret, SecretHosts } from "./programs/git-credentials.ts";
import type { BoundSecret, SecretForUrl } from "./programs/models.ts";
import { RedactedStreams } from "./redacted-stream.ts";
import type { Session } from "./session.ts";

export interface DaemonSecretsOptions {
  readonly secrets: SecretStore;
  readonly settings: SettingStore;
  readonly state: string;
  now(): number;
  entry(outcome: string, name: string): LogEntry;
  /** A canary was seen in output, of this session if known. */
  alarm(name: string, session: Session | null): void;
  /** The session of the current work; null if there is none. */
  session?(): Session | null;
}

export interface DaemonSecrets {
  readonly vault: Vault;
  /** Values that are not redacted, as sentences for a person. */
  problems(): readonly string[];
  readonly redacting: StreamingRedactor;
  /** For streamed output. */
  stream(): StreamRedacting;
  /** Requests the key if the store is locked, and continues without it after a timeout. */
  begin(): Promise<void>;
  /** Waits for the key if the store is locked and its source was not queried recently. */
  ready(): Promise<void>;
  readonly bound: AskSecret;
  readonly boundHosts: SecretHosts;
  /** By the whole address of a request: the port counts, and TLS unless it is a loopback address. */
  readonly boundTo: SecretForUrl;
  /** By its name; `url` null: it is given to a program, and the hosts it is bound to do not matter. */
  named(tool: string, name: string, url: Url | null): ReturnType<AskSecret>;
  /** Raises an alarm for canary names in a text: only a reader of the canary could have written them. */
  readonly open: SecretVault["open"];
}

/** The start of the daemon waits this long. */
const beginMillisecondsMax = 3_000;
const NO_PROBLEM = { problem: null, fix: null };

export function daemonSecrets(asked: DaemonSecretsOptions): DaemonSecrets {
  const { secrets, settings, state, now, entry, alarm } = asked;
  const vault = new SecretVault({
    secrets,
    settings,
    state,
    now,
    places: keySourceEnvironment(homeFolder()),
    refusesValue: notRedactable,
    refusesHosts: refusesBoundHosts,
  });
  let redactor: Redactor | null = null;
  /** Known versions, and whether they could be opened. */
  let known = "";
  /** The last list: nearly always the same object, and then nothing changed. */
  let seen: ReturnType<SecretStore["all"]> | null = null;
  let wasLocked = false;
  let damaged: readonly string[] = [];

  const current = (): Redactor | null => {
    const all = secrets.all();
    // Without secrets it does not matter whether the key is available.
    const isLocked = all.length > 0 && vault.isLocked;
    if (all === seen && isLocked === wasLocked) return redactor;
    [seen, wasLocked] = [all, isLocked];
    const mark = `${isLocked} ${all.map(({ name, version }) => `${name} ${version}`).join("\n")}`;
    if (mark === known) return redactor;
    if (redactor !== null) streams.replace(redactor);
    redactor = null;
    damaged = [];
    known = mark;
    const opened = all.length === 0 ? null : vault.openAll();
    if (opened === null || !opened.ok) return null;
    damaged = opened.value.damaged;
    const made = redactorOf(opened.value.secrets.map(({ name, value }) => ({ name, bytes: value })));
    for (const { value } of opened.value.secrets) value.fill(0);
    redactor = made.ok ? made.redactor : null;
    return redactor;
  };
  const streams = new RedactedStreams(current);
  const heard = (names: readonly string[], session: Session | null = asked.session?.() ?? null): void => {
    for (const name of names) if (secrets.get(name)?.isCanary === true) alarm(name, session);
  };
  const ready = async (): Promise<void> => {
    if (vault.isLocked) await vault.ready();
  };
  const usable = (
    tool: string,
    isFor: (hosts: readonly string[], name: string) => boolean,
    use = "used",
  ): (NonNullable<ReturnType<AskSecret>> & BoundSecret) | null => {
    const found = secrets.all().find(({ name, binding, isCanary }) => {
      const { tools, hosts, isSignOnly } = binding;
      return !isCanary && isSignOnly !== true && tools.includes(tool) && isFor(hosts, name);
    });
    if (found === undefined) return null;
    const { name, version, username } = found;
    const value = (): string | null => {
      const opened = vault.open(name);
      if (!opened.ok) return null;
      const text = opened.value.value.toString("utf8");
      opened.value.value.fill(0);
      return text;
    };
    const nextUse = async (): Promise<SecretUse | null> => {
      await ready();
      return vault.isLocked ? null : { name, version, entry: entry(use, name) };
    };
    const read = async (): Promise<string | null> => {
      const next = await nextUse();
      const counted = next === null ? null : await secrets.use(name, version, next.entry);
      return counted?.ok === true && counted.value ? value() : null;
    };
    return { name, username, use: nextUse, value, read };
  };
  const redactedStream = (): StreamRedacting => {
    // Streamed output may arrive in another session's turn: it belongs to the session that started it.
    const session = asked.session?.() ?? null;
    return streams.open((names) => heard(names, session));
  };
  return {
    vault,
    begin: async () => {
      if (!vault.isLocked || secrets.all().length === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((done) => {
        timer = setTimeout(done, beginMillisecondsMax);
      });
      await Promise.race([vault.ready(), late]);
      clearTimeout(timer);
    },
    ready,
    problems: () => {
      current();
      const { problem, fix } = secrets.all().length === 0 ? NO_PROBLEM : vault.source();
      const unopened =
        problem === null
          ? []
          : [`secrets are locked: they cannot be used or redacted: ${problem}${fix === null ? "" : `; fix: ${fix}`}`];
      return [
        ...unopened,
        ...damaged.map((name) => `the secret ${name} cannot be decrypted, so it is not redacted; set it again`),
      ];
    },
    redacting: {
      get known() {
        return current();
      },
      text: (text) => {
        const redacted = current()?.redactText(text);
        if (redacted === undefined) return text;
        heard(redacted.names);
        return redacted.value;
      },
      json: <T extends Json>(value: T): T => {
        const redacted = current()?.redactJson(value);
        if (redacted === undefined) return value;
        heard(redacted.names);
        return redacted.value as T;
      },
      stream: redactedStream,
    },
    stream: redactedStream,
    boundHosts: (tool) =>
      secrets.all().flatMap(({ binding, isCanary }) => {
        const { tools, hosts, isSignOnly } = binding;
        return !isCanary && isSignOnly !== true && tools.includes(tool) ? hosts : [];
      }),
    bound: (tool, host) => usable(tool, (hosts) => hosts.includes(host)),
    boundTo: (tool, url) => usable(tool, (hosts) => isBoundTo(hosts, url)),
    named: (tool, wanted, url) =>
      usable(
        tool,
        (hosts, name) => name === wanted && (url === null || isBoundTo(hosts, url)),
        url === null ? "revealed" : "used",
      ),
    open: (name) => vault.open(name),
  };
}
