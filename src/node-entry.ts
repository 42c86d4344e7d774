// The door `ambit/node`: ambit inside an application on this machine. Beside it, `ambit` has what tools are made of.
import { fileURLToPath } from "node:url";
import { type Ambit, type AmbitOptions, openLibrary } from "./library/library.ts";

export type { CallAnswer, CallCode, CallOptions, CallRefused, SessionTool } from "./adapters/session.ts";
export { AmbitRefused } from "./library/answers.ts";
export type {
  Ambit,
  AmbitOptions,
  ApprovalsView,
  Caveats,
  ProjectTrust,
  RegisterOptions,
  SessionOptions,
} from "./library/library.ts";
export type { Session } from "./library/session.ts";
export type { Provider, ProviderSettings } from "./tools/provider/provider-catalog.ts";
export { type ProviderTools, providerTools } from "./tools/provider/provider-tools.ts";

/** Rejects with `AmbitRefused` where no daemon can be reached or started. */
export function createAmbit(options: AmbitOptions = {}): Promise<Ambit> {
  const machine = {
    program: fileURLToPath(new URL("..", import.meta.url)),
    cwd: process.cwd(),
    environment: process.env,
    now: () => Date.now(),
  };
  return openLibrary(machine, options);
}
