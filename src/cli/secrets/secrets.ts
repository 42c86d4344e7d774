// `ambit secrets`: values that agents use and never see. What is printed is everything about them but the value.

import type { SecretView } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { SecretBinding } from "../../core/ports/stores/secret-store.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, tellRefusal } from "../control-world.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Asked, fail } from "../terminal/problems.ts";
import { readValue, type SecretsWorld } from "./value.ts";

export interface BindingOptions {
  readonly tool?: readonly string[];
  readonly host?: readonly string[];
  readonly uses?: string;
  readonly signOnly: boolean;
}

interface Vouched extends Asked {
  /** The person who confirms the change, if confirmation is required. */
  readonly presence?: string;
}

export interface SetOptions extends Vouched, BindingOptions {
  readonly username?: string;
  readonly canary: boolean;
  readonly from?: string;
}

export interface RotateOptions extends Vouched {
  readonly from?: string;
}

export interface PolicyOptions extends Vouched, BindingOptions {
  readonly unbind: boolean;
}

export interface DeleteOptions extends Asked {
  readonly yes: boolean;
}

const NOTHING: SecretBinding = { tools: [], hosts: [], uses: null };

export async function secretsSet(world: SecretsWorld, name: string, options: SetOptions): Promise<ExitCode> {
  const binding = bindingOf(options, NOTHING);
  if (binding === null) return fail(world, options, EXIT.usage, NO_USES, null);
  const { username = null, canary: isCanary } = options;
  return kept(world, name, options, { binding, username, isCanary, isRotation: false }, "set");
}

/** What it is bound to stays as it is. */
export function secretsRotate(world: SecretsWorld, name: string, options: RotateOptions): Promise<ExitCode> {
  const rest = { binding: NOTHING, username: null, isCanary: false, isRotation: true };
  return kept(world, name, options, rest, "rotated");
}

async function kept(
  world: SecretsWorld,
  name: string,
  options: RotateOptions,
  rest: { binding: SecretBinding; username: string | null; isCanary: boolean; isRotation: boolean },
  done: string,
): Promise<ExitCode> {
  const read = await readValue(world, options.from, `Value of ${name}`, null);
  if (!read.ok) return fail(world, options, read.isUsage ? EXIT.usage : EXIT.error, read.message, null);
  const asked = { name, value: read.value, ...rest };
  return changed(world, options, await askWidening(world, "secrets.set", asked, options), done);
}

export async function secretsPolicy(world: SecretsWorld, name: string, options: PolicyOptions): Promise<ExitCode> {
  const { tool, host, uses, signOnly, unbind } = options;
  if (!unbind && !signOnly && tool === undefined && host === undefined && uses === undefined)
    return fail(
      world,
      options,
      EXIT.usage,
      "no tool, host or number of uses given",
      `ambit secrets policy ${name} --host HOST`,
    );
  const listed = await askOnce(world, "secrets.list", {});
  if (!listed.ok) return tellRefusal(world, listed, options.json);
  const before = listed.value.secrets.find((one) => one.name === name);
  if (before === undefined) return fail(world, options, EXIT.error, `no secret called ${name}`, "ambit secrets list");
  const binding = bindingOf(options, unbind ? NOTHING : before.binding);
  if (binding === null) return fail(world, options, EXIT.usage, NO_USES, null);
  return changed(world, options, await askWidening(world, "secrets.policy", { name, binding }, options), "bound");
}

export async function secretsList(world: SecretsWorld, options: Asked): Promise<ExitCode> {
  const answer = await askOnce(world, "secrets.list", {});
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const { secrets } = answer.value;
  if (options.json) world.print(jsonLine({ secrets }));
  else if (secrets.length === 0) world.print("no secrets; add one: ambit secrets set NAME");
  else for (const secret of secrets) world.print(lineOf(world, secret));
  return EXIT.ok;
}

export async function secretsDelete(world: SecretsWorld, name: string, options: DeleteOptions): Promise<ExitCode> {
  if (!options.yes) {
    if (options.json || !world.terminal.isInteractive)
      return fail(
        world,
        options,
        EXIT.usage,
        "confirmation needed, and no terminal to ask at",
        `ambit secrets delete ${name} --yes`,
      );
    if (!(await world.terminal.confirm(`Delete ${shown(name)}? Its value cannot be recovered.`)))
      return fail(world, options, EXIT.ask, "nothing was changed", null);
  }
  return told(world, options, await askOnce(world, "secrets.delete", { name }), "deleted", name);
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

function changed(world: SecretsWorld, options: Asked, answer: Answer<SecretView> | ExitCode, done: string): ExitCode {
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const secret = answer.value;
  if (options.json) world.print(jsonLine({ done, secret }));
  else {
    world.print(`${world.paint.good(done)} ${lineOf(world, secret)}`);
    if (isUnbound(secret))
      world.printError(
        `${world.paint.warn("warning")}: it is bound to no ${secret.binding.hosts.length === 0 ? "host" : "tool"}, so it cannot be used\n  fix: ambit secrets policy ${shown(secret.name)} --tool TOOL --host HOST`,
      );
  }
  return EXIT.ok;
}

export function told(
  world: SecretsWorld,
  options: Asked,
  answer: Answer<object>,
  done: string,
  what: string,
): ExitCode {
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  if (options.json) world.print(jsonLine({ done, what }));
  else world.print(`${world.paint.good(done)} ${shown(what)}`);
  return EXIT.ok;
}

/** Nothing written is nothing granted, for tools as for hosts. A canary is there to be found, not to be used. */
function isUnbound({ binding, isCanary }: SecretView): boolean {
  return !isCanary && (binding.hosts.length === 0 || binding.tools.length === 0);
}

function lineOf({ paint }: SecretsWorld, secret: SecretView): string {
  const { name, version, binding, username, isCanary, used } = secret;
  const words = [
    ...(isCanary ? [paint.warn("canary: raises an alarm where it appears")] : []),
    ...(isUnbound(secret)
      ? [paint.warn(binding.hosts.length + binding.tools.length === 0 ? "bound to nothing" : "not bound")]
      : []),
    ...(binding.hosts.length > 0 ? [`hosts ${binding.hosts.map(shown).join(", ")}`] : []),
    ...(binding.tools.length > 0 ? [`tools ${binding.tools.map(shown).join(", ")}`] : []),
    ...(username === null ? [] : [`as ${shown(username)}`]),
    ...(binding.isSignOnly === true ? ["signs only"] : []),
    binding.uses === null ? `used ${used}` : `used ${used} of ${binding.uses}`,
  ];
  return `${paint.strong(shown(name))} ${paint.dim(`v${version}`)}  ${words.join(", ")}`;
}
