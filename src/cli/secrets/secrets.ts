// `ambit secrets`: values that agents use and never see. What is printed is everything about them but the value.

import type { SecretView } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { SecretBinding } from "../../core/ports/stores/secret-store.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail, type JsonOption } from "../terminal/problems.ts";
import { readValue, type SecretsPorts } from "./value.ts";

export interface BindingOptions {
  readonly tool?: readonly string[];
  readonly host?: readonly string[];
  readonly uses?: string;
  readonly signOnly: boolean;
}

interface ConfirmedOptions extends JsonOption {
  /** The person who confirms the change, if confirmation is required. */
  readonly presence?: string;
}

export interface SetOptions extends ConfirmedOptions, BindingOptions {
  readonly username?: string;
  readonly canary: boolean;
  readonly from?: string;
}

export interface RotateOptions extends ConfirmedOptions {
  readonly from?: string;
}

export interface PolicyOptions extends ConfirmedOptions, BindingOptions {
  readonly unbind: boolean;
}

export interface DeleteOptions extends JsonOption {
  readonly yes: boolean;
}

const NOTHING: SecretBinding = { tools: [], hosts: [], uses: null };

export async function secretsSet(ports: SecretsPorts, name: string, options: SetOptions): Promise<ExitCode> {
  const binding = bindingOf(options, NOTHING);
  if (binding === null) return fail(ports, options, EXIT.usage, NO_USES, null);
  const { username = null, canary: isCanary } = options;
  return kept(ports, name, options, { binding, username, isCanary, isRotation: false }, "set");
}

/** What it is bound to stays as it is. */
export function secretsRotate(ports: SecretsPorts, name: string, options: RotateOptions): Promise<ExitCode> {
  const rest = { binding: NOTHING, username: null, isCanary: false, isRotation: true };
  return kept(ports, name, options, rest, "rotated");
}

async function kept(
  ports: SecretsPorts,
  name: string,
  options: RotateOptions,
  rest: { binding: SecretBinding; username: string | null; isCanary: boolean; isRotation: boolean },
  done: string,
): Promise<ExitCode> {
  const read = await readValue(ports, options.from, `Value of ${name}`, null);
  if (!read.ok) return fail(ports, options, read.isUsage ? EXIT.usage : EXIT.error, read.message, null);
  const asked = { name, value: read.value, ...rest };
  return changed(ports, options, await askWidening(ports, "secrets.set", asked, options), done);
}

export async function secretsPolicy(ports: SecretsPorts, name: string, options: PolicyOptions): Promise<ExitCode> {
  const { tool, host, uses, signOnly, unbind } = options;
  if (!unbind && !signOnly && tool === undefined && host === undefined && uses === undefined)
    return fail(
      ports,
      options,
      EXIT.usage,
      "no tool, host or number of uses given",
      `ambit secrets policy ${name} --host HOST`,
    );
  const listed = await askOnce(ports, "secrets.list", {});
  if (!listed.ok) return tellRefusal(ports, listed, options.json);
  const before = listed.value.secrets.find((one) => one.name === name);
  if (before === undefined) return fail(ports, options, EXIT.error, `no secret called ${name}`, "ambit secrets list");
  const binding = bindingOf(options, unbind ? NOTHING : before.binding);
  if (binding === null) return fail(ports, options, EXIT.usage, NO_USES, null);
  return changed(ports, options, await askWidening(ports, "secrets.policy", { name, binding }, options), "bound");
}

export async function secretsList(ports: SecretsPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "secrets.list", {});
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { secrets } = answer.value;
  if (options.json) ports.print(jsonLine({ secrets }));
  else if (secrets.length === 0) ports.print("no secrets; add one: ambit secrets set NAME");
  else for (const secret of secrets) ports.print(lineOf(ports, secret));
  return EXIT.ok;
}

export async function secretsDelete(ports: SecretsPorts, name: string, options: DeleteOptions): Promise<ExitCode> {
  const question = `Delete ${visibleText(name)}? Its value cannot be recovered.`;
  const refused = await confirmation(ports, options, question, `ambit secrets delete ${name} --yes`, EXIT.ask);
  if (refused !== null) return refused;
  return reportChange(ports, options, await askOnce(ports, "secrets.delete", { name }), "deleted", name);
}

const NO_USES = "--uses must be a whole number above zero, or `any`";

/** What is given takes the place of what was; the rest stays. Null where it does not read. */
function bindingOf({ tool, host, uses, signOnly }: BindingOptions, before: SecretBinding): SecretBinding | null {
  const isNumber = uses === undefined || uses === "any" || /^[1-9]\d{0,8}$/.test(uses);
  if (!isNumber) return null;
  return {
    tools: tool ?? before.tools,
    hosts: host ?? before.hosts,
    uses: uses === undefined ? before.uses : uses === "any" ? null : Number(uses),
    ...(signOnly || before.isSignOnly === true ? { isSignOnly: true as const } : {}),
  };
}

function changed(
  ports: SecretsPorts,
  options: JsonOption,
  answer: Answer<SecretView> | ExitCode,
  done: string,
): ExitCode {
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const secret = answer.value;
  if (options.json) ports.print(jsonLine({ done, secret }));
  else {
    ports.print(`${ports.paint.good(done)} ${lineOf(ports, secret)}`);
    if (isUnbound(secret))
      ports.printError(
        `${ports.paint.warn("warning")}: it is bound to no ${secret.binding.hosts.length === 0 ? "host" : "tool"}, so it cannot be used\n  fix: ambit secrets policy ${visibleText(secret.name)} --tool TOOL --host HOST`,
      );
  }
  return EXIT.ok;
}

export function reportChange(
  ports: SecretsPorts,
  options: JsonOption,
  answer: Answer<object>,
  done: string,
  what: string,
): ExitCode {
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  if (options.json) ports.print(jsonLine({ done, what }));
  else ports.print(`${ports.paint.good(done)} ${visibleText(what)}`);
  return EXIT.ok;
}

/** Nothing written is nothing granted, for tools as for hosts. A canary is there to be found, not to be used. */
function isUnbound({ binding, isCanary }: SecretView): boolean {
  // The program of an MCP server that is shown a secret sends it nowhere by our hand.
  const isForServers = binding.tools.length > 0 && binding.tools.every((tool) => tool.startsWith("mcp."));
  return !isCanary && (binding.tools.length === 0 || (binding.hosts.length === 0 && !isForServers));
}

function lineOf({ paint }: SecretsPorts, secret: SecretView): string {
  const { name, version, binding, username, isCanary, used } = secret;
  const words = [
    ...(isCanary ? [paint.warn("canary: raises an alarm where it appears")] : []),
    ...(isUnbound(secret)
      ? [paint.warn(binding.hosts.length + binding.tools.length === 0 ? "bound to nothing" : "not bound")]
      : []),
    ...(binding.hosts.length > 0 ? [`hosts ${binding.hosts.map(visibleText).join(", ")}`] : []),
    ...(binding.tools.length > 0 ? [`tools ${binding.tools.map(visibleText).join(", ")}`] : []),
    ...(username === null ? [] : [`as ${visibleText(username)}`]),
    ...(binding.isSignOnly === true ? ["signs only"] : []),
    binding.uses === null ? `used ${used}` : `used ${used} of ${binding.uses}`,
  ];
  return `${paint.strong(visibleText(name))} ${paint.dim(`v${version}`)}  ${words.join(", ")}`;
}
