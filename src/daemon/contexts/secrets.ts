// Secrets of a context: bound to the tool and to where the request goes, counted, and never handed to the tool.
import { parseUrl } from "../../core/authority/axes/url.ts";
import type { PortFailure, SecretsPort } from "../../core/ports/instruments.ts";
import type { SealedSecret } from "../../core/ports/stores/secret-store.ts";
import { toAscii } from "../../platform/ascii.ts";
import { isBoundTo } from "../../sandbox/network/fetch/handles-binding.ts";
import type { Session } from "../session.ts";
import type { WebSecrets } from "../tools/web-secrets.ts";

/** What one of these may be used by: the tool it is bound to. */
export function isSecretOf({ binding, isCanary }: SealedSecret, tool: string): boolean {
  return !isCanary && binding.tools.includes(tool);
}

export function contextSecrets(secrets: WebSecrets, session: Session, tool: string): SecretsPort {
  const told = new Set<string>();
  /** Once a call for each: the log is not for whoever asks to fill. */
  const refuse = (name: string, secret: SealedSecret | null): PortFailure => {
    if (secret !== null && !told.has(name) && told.size < 16) {
      told.add(name);
      secrets.probed(name, session);
    }
    // The same words whatever is the matter: nobody learns here which secrets there are.
    return { ok: false, code: "secret_refused", message: `no secret ${name} for this tool and host` };
  };
  return {
    has: async (name) => {
      const secret = secrets.get(name);
      return secret !== null && isSecretOf(secret, tool);
    },
    open: async (name, use) => {
      const url = parseUrl(`${use.origin}/`, toAscii);
      const isFor = (one: SealedSecret | null): one is SealedSecret =>
        one !== null && url.ok && isSecretOf(one, tool) && isBoundTo(one.binding.hosts, url.value);
      if (isFor(secrets.get(name))) await secrets.ready();
      const secret = secrets.get(name);
      if (!isFor(secret)) return refuse(name, secret);
      const opened = secrets.open(name);
      if (!opened.ok) return refuse(name, null);
      const { value } = opened.value;
      try {
        if (!(await secrets.use(secret, session))) return refuse(name, null);
        return { ok: true, value: Buffer.from(value).toString("utf8") };
      } finally {
        value.fill(0);
      }
    },
  };
}
