// Secrets as a tool sees them: whether one exists, and its handle for a request. Never the value.

import { handleOf } from "../../core/authority/axes/http-request.ts";
import type { SecretsPort } from "../../core/ports/instruments.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import type { UseGate } from "./use-gate.ts";
import { invalid, optionsOf, type UseResult, useDenial, useResult } from "./use-result.ts";

export interface SecretOptions {
  /** Where it will be used; a grant may restrict it to hosts. */
  readonly host?: string | undefined;
}

export interface SecretsInstrument {
  has(name: string, options?: SecretOptions): Promise<UseResult<boolean>>;
  /** A handle for a header, the query or a body; `net.fetch` replaces it by the value when sending. */
  use(name: string, options?: SecretOptions): Promise<UseResult<string>>;
}

export function secretsInstrument(port: SecretsPort | null, asker: UseGate, life: ContextLifetime): SecretsInstrument {
  const named = <T>(
    name: string,
    options: unknown,
    act: (secrets: SecretsPort) => Promise<UseResult<T>>,
  ): Promise<UseResult<T>> =>
    life.use("secret.use", async () => {
      const read = optionsOf(options, ["host"]);
      if (read === null) return invalid("secret.use", "a secret needs a host");
      const granted = asker.ask({ verb: "secret.use", name, host: read["host"] as string | undefined });
      if (!granted.ok) return granted;
      return port === null ? useDenial("not_available", "secret.use", "secrets are not available here") : act(port);
    });
  return sealMembers({
    has: (name: string, options?: SecretOptions) =>
      named(name, options, async (secrets) => useResult((await secrets.has(name)) === true)),
    use: (name: string, options?: SecretOptions) =>
      named(name, options, async (secrets) =>
        (await secrets.has(name)) === true
          ? useResult(handleOf(name))
          : useDenial("not_available", "secret.use", "there is no such secret"),
      ),
  });
}
