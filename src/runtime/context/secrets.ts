// Secrets as a tool sees them: whether one exists, and the placeholder for it in a request. Never the value.
import type { SecretsPort } from "../../core/ports/instruments.ts";
import type { Asker } from "./asker.ts";
import { closed } from "./closed.ts";
import type { Life } from "./life.ts";
import { optionsOf } from "./option.ts";
import { placeholderOf } from "./placeholder.ts";
import { denied, invalid, type Used, used } from "./used.ts";

export interface SecretOptions {
  /** Where it will be used; a grant may restrict it to hosts. */
  readonly host?: string | undefined;
}

export interface SecretsInstrument {
  has(name: string, options?: SecretOptions): Promise<Used<boolean>>;
  /** A placeholder for a header or a body; `net.fetch` substitutes the value when sending. */
  use(name: string, options?: SecretOptions): Promise<Used<string>>;
}

export function secretsInstrument(port: SecretsPort | null, asker: Asker, life: Life): SecretsInstrument {
  const named = <T>(
    name: string,
    options: unknown,
    act: (secrets: SecretsPort) => Promise<Used<T>>,
  ): Promise<Used<T>> =>
    life.use("secret.use", async () => {
      const read = optionsOf(options, ["host"]);
      if (read === null) return invalid("secret.use", "a secret is used at a host");
      const granted = asker.ask({ verb: "secret.use", name, host: read["host"] as string | undefined });
      if (!granted.ok) return granted;
      return port === null ? denied("not_available", "secret.use", "there are no secrets here") : act(port);
    });
  return closed({
    has: (name: string, options?: SecretOptions) =>
      named(name, options, async (secrets) => used((await secrets.has(name)) === true)),
    use: (name: string, options?: SecretOptions) =>
      named(name, options, async (secrets) =>
        (await secrets.has(name)) === true
          ? used(placeholderOf(name))
          : denied("not_available", "secret.use", "there is no such secret"),
      ),
  });
}
